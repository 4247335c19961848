"""A pseudo-terminal that runs a program, and an emulation of as much of a terminal's screen as Textual uses."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.conftest import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# control sequences (parameters, final letter), operating-system commands, two-character escapes, else text
TOKEN = re.compile(r"\x1b\[([0-9;:?<>=]*)[ !$]?([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP.*?\x1b\\|\x1b[()][A-Z0-9]"
                   r"|\x1b[^\[\]P]|([\r\n\b])|([^\x1b\r\n\b]+)", re.S)
UNSET = ("NO_COLOR", "COLUMNS", "LINES", "RFVIEW_THEME")


class Screen:
    """Emulates as much of a terminal's screen as Textual uses. raw: everything written to it."""

    def __init__(self, columns: int, rows: int):
        self.columns, self.rows = columns, rows
        self.grid = [[" "] * columns for _ in range(rows)]
        self.x = self.y = 0
        self.raw = ""
        self._rest = b""

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join("".join(row).rstrip() for row in self.grid)

    def take(self, data: bytes) -> None:
        """Show a program's output."""
        self._rest += data
        text = self._rest.decode(errors="ignore")
        self.raw += data.decode(errors="replace")
        # an escape sequence or character may be split; its beginning waits for the rest
        cut = text.rfind("\x1b")
        whole = text if cut < 0 or _complete(text[cut:]) else text[:cut]
        self._rest = self._rest[len(whole.encode()):]
        for match in TOKEN.finditer(whole):
            self._take(match)

    def _take(self, match: re.Match[str]) -> None:
        """Apply one piece of output to the screen."""
        numbers, letter, control, text = match.groups()
        if letter in ("H", "f"):
            parts = [int(part or 1) for part in (numbers or "1;1").split(";")]
            self.y, self.x = parts[0] - 1, (parts[1] if len(parts) > 1 else 1) - 1
        elif letter == "J" and numbers in ("2", "3"):
            self.grid = [[" "] * self.columns for _ in range(self.rows)]
        elif control == "\r":
            self.x = 0
        elif control == "\n":
            self.y += 1
        elif text:
            for char in text:
                if 0 <= self.y < self.rows and 0 <= self.x < self.columns and char.isprintable():
                    self.grid[self.y][self.x] = char
                self.x += 1


class Terminal(Screen):
    """Runs a command in a pseudo-terminal of `columns` x `rows` and keeps its screen."""

    def __init__(self, words: list[str], columns: int = 120, rows: int = 40, environ: Mapping[str, str] | None = None,
                 folder: Path = REPOSITORY):
        super().__init__(columns, rows)
        self.master, slave = pty.openpty()
        self._size(slave)
        env = {key: value for key, value in os.environ.items() if key not in UNSET}
        env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(REPOSITORY), **(environ or {})}
        self.process = subprocess.Popen([sys.executable, "-m", "rfview", *words], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=folder, env=env, start_new_session=True)
        os.close(slave)

    def _size(self, handle: int) -> None:
        fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size, as dragging its corner does."""
        self.columns, self.rows = columns, rows
        self.grid = [[" "] * columns for _ in range(rows)]
        self._size(self.master)
        os.kill(self.process.pid, signal.SIGWINCH)

    def send(self, text: str | bytes) -> None:
        """Type a text, all at once; bytes are sent as they are."""
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def wait(self, holds: str | Callable[[str], bool], seconds: float = PATIENCE_S) -> str:
        """Read until the screen shows a text or satisfies a condition; return the screen."""
        test = holds if callable(holds) else lambda text: holds in text
        end = time.monotonic() + seconds
        while not test(self.text):
            left = end - time.monotonic()
            assert left > 0, f"{holds!r} did not come; the screen shows\n{self.text}"
            if not self._read(min(left, 0.5)):
                assert test(self.text), f"the program has ended; the screen shows\n{self.text}\n{self.raw[-2000:]}"
        return self.text

    def end(self, seconds: float = PATIENCE_S) -> int:
        """Read until the program has ended; return its exit code."""
        end = time.monotonic() + seconds
        while self._read(0.2) and time.monotonic() < end:
            pass
        return self.process.wait(max(0.1, end - time.monotonic()))

    def vanish(self) -> None:
        """Close the terminal, as the end of its emulator does; the program is not notified."""
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        """End the program if it is still running."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            os.close(self.master)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, seconds: float) -> bool:
        """Read the program's output; return False when it has ended."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False        # Linux raises this when the other end is closed
        self.take(data)
        return True


def _complete(tail: str) -> bool:
    """Say whether text that begins with an escape contains the whole sequence."""
    match = TOKEN.match(tail)
    return match is not None and match.group(0) != "\x1b"


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
