"""Lines typed at the prompt, kept from one run to the next: $XDG_STATE_HOME/rfview/history, a line each, the latest last."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rfview import crash
from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.escapes import visible

MAX_LINES = 1000
MAX_BYTES = 256 << 10      # a longer file is cut down to its last lines
LONGEST = 2000


class LineHistory:
    """Lines typed, and the file that keeps them; without a file they last as long as the program.

    Errors in reading and writing are ignored: no work depends on the history, and a message in each run would be a nuisance.
    """

    def __init__(self, file: Path | None = None):
        self.file = file
        self.lines: list[str] = self._read() if file is not None else []

    def add(self, text: str, *, lasts: bool = True) -> None:
        """Add a line unless it equals the last one; lasts: to the file as well."""
        if self.lines and self.lines[-1] == text:
            return
        self.lines.append(text)
        if self.file is not None and lasts:
            self._append(visible(text)[:LONGEST])

    def _read(self) -> list[str]:
        """Return the last lines of the file without control characters; a long file is cut down to these."""
        assert self.file is not None
        try:
            handle = os.open(self.file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)     # a pipe without a writer would block
            with open(handle, "rb") as held:
                about = os.fstat(handle)
                if not stat.S_ISREG(about.st_mode):
                    return []
                held.seek(max(0, about.st_size - MAX_BYTES))
                raw = held.read(MAX_BYTES)
            is_long = about.st_size > MAX_BYTES
            if is_long:
                raw = raw.partition(b"\n")[2]
            lines = [visible(line)[:LONGEST] for line in raw.decode(errors="replace").split("\n") if line][-MAX_LINES:]
            if is_long:
                files.write(self.file, "".join(f"{line}\n" for line in lines))
        except (OSError, InputError):
            return []
        return lines

    def _append(self, line: str) -> None:
        assert self.file is not None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(self.file, flags, 0o600), "w", encoding="utf-8") as out:
                out.write(f"{line}\n")
        except OSError:
            return


def path(name: str = "history") -> Path | None:
    """Return the file for the lines, None if the environment names no home folder. name: of the file."""
    folder = crash.state_folder()
    return folder / name if folder is not None else None
