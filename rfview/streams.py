"""The standard streams during a command: open, and restricted to text in characters that they can encode."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.escapes import escape, visible

KEPT = "\n\t"       # what standard output may contain besides printable characters
# how closed streams are reopened: input is empty, writing output is an error, error messages are discarded
CLOSED = {0: os.O_RDONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}


class TextStream:
    """An output stream for text only: no escape sequences from data, no characters that it cannot encode.

    is_ascii: draw with ASCII characters only, as --ascii does.
    """

    def __init__(self, stream: Any, name: str, is_ascii: bool):
        self.stream, self.name = stream, name
        self._codec = "ascii" if is_ascii else getattr(stream, "encoding", None) or "utf-8"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write text; raises InputError if the stream cannot be written."""
        self.control(self._fitting(visible(text, KEPT)))
        return len(text)

    def control(self, sequence: str) -> None:
        """Write one of our own control sequences."""
        try:
            self.stream.write(sequence)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from None

    def flush(self) -> None:
        """Flush the buffer; raises InputError if the stream cannot be written."""
        try:
            self.stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from None

    def _fitting(self, text: str) -> str:
        """Return the text in characters that the stream can encode: replacement glyphs, else escapes."""
        if text.isascii():
            return text
        try:
            text.encode(self._codec)
            return text
        except UnicodeEncodeError:
            from rfview.palette import ASCII_GLYPHS     # start-up: most streams can encode everything

            return "".join(char if _has(self._codec, char) else escape(char) for char in text.translate(ASCII_GLYPHS))

    def _failed(self, error: OSError) -> InputError:
        give_up(self.stream)
        return InputError(f"{self.name} cannot be written: {error.strerror or error}")


def _has(codec: str, char: str) -> bool:
    try:
        char.encode(codec)
        return True
    except UnicodeEncodeError:
        return False


def give_up(stream: Any) -> None:
    """Discard what is buffered in a stream that cannot be written, so that Python does not complain at exit."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def is_ascii() -> bool:
    """Return whether the locale is ASCII only or standard output cannot encode the screens' glyphs."""
    environ = os.environ
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if locale in ("C", "POSIX") and not environ.get("PYTHONIOENCODING") and environ.get("PYTHONUTF8") != "1":
        return True
    return not _has(getattr(sys.stdout, "encoding", None) or "utf-8", "█")


@contextmanager
def guarded() -> Iterator[None]:
    """Keep the standard streams open and restricted to text while a command runs."""
    _open_closed()
    before = sys.stdout, sys.stderr
    ascii_only = is_ascii()
    sys.stdout = TextStream(sys.stdout, "standard output", ascii_only)  # type: ignore[assignment]
    sys.stderr = TextStream(sys.stderr, "standard error", ascii_only)  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in before:       # Textual's writing thread may have left something for a terminal that is gone
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                give_up(stream)


def _open_closed() -> None:
    """Reopen closed standard streams: otherwise the next file opened would take their place and receive what is printed."""
    for number, flags in CLOSED.items():
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, flags)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            os.set_inheritable(number, True)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
