"""Textual's drivers for terminal and browser, with an input thread that drops what cannot be decoded and goes on."""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput
from textual.events import Key, Resize
from textual.message import Message

READ_BYTES = 4096
TICK_S = 0.1        # between looks at a lone Esc, and at the end of the program
# a mouse report as old terminals send it: three bytes of any value, read by Textual as three characters and ignored
X10 = re.compile(rb"\x1b\[M.{0,3}", re.S)
X10_BYTES = 6
PASTE, PASTED = "\x1b[200~", "\x1b[201~"       # before and after what is pasted
MAX_CELLS = 10_000  # columns or rows of a terminal
GREETING = b"__GANGLION__\n"     # textual-serve takes what follows it for messages
AS_ASCII = bytes(range(128)) + b"~" * 128


class KeyParser(XTermParser):
    """Textual's parser, but Alt with a character is that key: Textual takes Esc 5 for ∞, and Esc f for Ctrl+→."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if len(sequence) == 2 and sequence[0] == "\x1b" and (sequence[1].isalnum() or sequence[1] in "-=§"):
            yield from () if sequence[1].isupper() else (Key(f"alt+{sequence[1]}", None),)
        else:
            yield from super()._sequence_to_key_events(sequence, alt)


class InputReader:
    """Turns the bytes of a terminal into messages. Bytes and escape sequences without a meaning are dropped."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("ignore")
        self._parser = KeyParser()
        self._before = b""      # the last bytes read: a mouse report may arrive in pieces
        self._last = ""         # characters, as many as PASTE has
        self._held: str | None = None       # of a paste, what may be the beginning of PASTED; None: nothing is being pasted

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that end with these bytes."""
        whole = self._before + data
        clean = X10.sub(lambda report: report[0].translate(AS_ASCII), whole)[len(self._before):]
        self._before = whole[1 - X10_BYTES:]
        for character in self._without_escapes(self._decoder.decode(clean)):
            yield from self._guarded(self._parser.feed(character))

    def _without_escapes(self, text: str) -> Iterator[str]:
        """Yield the characters for the parser; of a paste without escapes: Textual takes what follows one for keys typed."""
        for character in text:
            if self._held is None:
                self._last = (self._last + character)[-len(PASTE):]
                self._held = "" if self._last == PASTE else None
                yield character
                continue
            self._held += character
            if self._held == PASTED:
                yield from PASTED
                self._last, self._held = "", None
                continue
            while not PASTED.startswith(self._held):
                if self._held[0] != PASTED[0]:
                    yield self._held[0]
                self._held = self._held[1:]

    def tick(self) -> Iterator[Message]:
        """Yield the messages that are complete since nothing follows, such as a lone Esc."""
        yield from self._guarded(self._parser.tick())

    def _guarded(self, messages: Any) -> Iterator[Message]:
        """Yield the parser's messages; where it fails, begin anew with the next character."""
        try:
            for message in messages:
                if isinstance(message, Resize) and not all(0 < side <= MAX_CELLS for side in message.size):
                    self._parser.terminal_size = None       # so that the mouse is not where this would place it
                elif not (isinstance(message, Key) and _has_surrogate(message.character)):
                    yield message
        except Exception:       # a sequence that no terminal sends, such as one whose number is no character
            fresh, old = KeyParser(), self._parser
            for name in ("last_x", "last_y", "mouse_pixels", "terminal_size", "terminal_pixel_size"):
                setattr(fresh, name, getattr(old, name))
            self._parser = fresh


def _has_surrogate(text: str | None) -> bool:
    """Say whether a text could not be written as UTF-8."""
    return any("\ud800" <= char <= "\udfff" for char in text or "")


class BrowserDriver(WebDriver):
    """The driver of a screen in a browser: messages that its server frames, each with what was typed or a fact.

    A process may show several screens, one after another: only the first greets the server, each has the size that the page
    has by then, and the page ends with the process.
    """

    _has_greeted: ClassVar[bool] = False

    def start_application_mode(self) -> None:
        """Begin to draw, and to read what is typed."""
        if BrowserDriver._has_greeted:
            self._write = partial(_unless_greeting, self._write)
        BrowserDriver._has_greeted = True
        super().start_application_mode()

    def stop_application_mode(self) -> None:
        """End; what is typed from now on is for the screen after it."""
        self.exit_event.set()
        self._input_reader.close()
        self._key_thread.join()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take a fact about the page."""
        super().on_meta(packet_type, payload)
        if packet_type == "resize":
            os.environ.update(COLUMNS=str(payload["width"]), ROWS=str(payload["height"]))

    def run_input_thread(self) -> None:
        """Turn what the server sends into messages until it ends."""
        reader, packets = InputReader(), ByteStream()
        try:
            for data in self._input_reader:
                for kind, payload in packets.feed(data) if data else ():
                    if kind == "D":
                        self._post(reader.feed(payload))
                    else:
                        with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):   # unknown
                            self._on_meta(kind, payload)
                self._post(reader.tick())
        except _ExitInput:
            pass
        finally:
            self._input_reader.close()

    def _post(self, messages: Iterator[Message]) -> None:
        for message in messages:
            self.process_message(message)


def _unless_greeting(write: Callable[[bytes], int], data: bytes) -> int:
    """Write what is not the greeting; return the number of bytes."""
    return len(data) if data == GREETING else write(data)


def sturdy(base: type[Driver]) -> type[Driver]:
    """Return our driver in place of one of Textual's; another, such as the one of tests, stays."""
    if base is WebDriver:
        return BrowserDriver
    try:
        from textual.drivers.linux_driver import LinuxDriver
    except ImportError:     # not a POSIX system
        return base

    class TerminalDriver(LinuxDriver):
        """The driver of a session in a terminal."""

        def _run_input_thread(self) -> None:
            try:
                self.run_input_thread()
            except Exception as error:
                self._app.call_later(self._app._handle_exception, error)

        def run_input_thread(self) -> None:
            """Turn what is typed into messages until the program ends."""
            reader = InputReader()
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(TICK_S):
                        try:
                            data = os.read(self.fileno, READ_BYTES)
                        except OSError:     # the terminal is gone; the app notices by itself
                            return
                        if not data:        # the end of what was typed ahead
                            self.exit_event.wait(TICK_S)
                        for message in reader.feed(data):
                            self.process_message(message)
                    for message in reader.tick():
                        self.process_message(message)

    return TerminalDriver if base is LinuxDriver else base
