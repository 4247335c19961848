"""End to end in tmux: `rfview replay` and `rfview debug` started by a shell, driven by keys, read off the screen."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "sessions" / "recorded" / "first.rfs"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]


class Window:
    """A terminal of a given size inside tmux."""

    def __init__(self, columns: int, lines: int):
        self._server = ["tmux", "-L", f"rfview-test-{uuid.uuid4().hex}"]     # a separate server, which ends with the test
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(ROOT), "sh")

    def _tmux(self, *words: str) -> str:
        return subprocess.run([*self._server, *words], capture_output=True, text=True, check=True).stdout

    def type(self, text: str) -> None:
        """Type text literally, without Enter."""
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys, given by tmux's names."""
        self._tmux("send-keys", *keys)

    def screen(self) -> str:
        """Return the screen's text."""
        return self._tmux("capture-pane", "-p")

    def wait(self, there: str | Callable[[str], bool]) -> str:
        """Wait until the screen matches a pattern or satisfies a condition; return the screen."""
        found = there if callable(there) else lambda screen: re.search(there, screen) is not None
        end = time.monotonic() + PATIENCE_S
        while not found(screen := self.screen()):
            assert time.monotonic() < end, f"{there} is not on the screen:\n{screen}"
            time.sleep(0.1)
        return screen

    def close(self) -> None:
        """End the terminal and everything in it."""
        subprocess.run([*self._server, "kill-server"], capture_output=True, check=False)


@pytest.fixture(params=[(80, 24), (120, 40)], ids=["80x24", "120x40"])
def window(request: pytest.FixtureRequest) -> Iterator[Window]:
    """Return a terminal with a shell in it."""
    try:
        found = Window(*request.param)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"tmux cannot open a terminal here: {error.stderr.strip()}")
    try:
        yield found
    finally:
        found.close()


def start(window: Window, command: str) -> None:
    """Start rfview in the shell, which prints the exit code afterwards."""
    window.type(f"NO_COLOR=1 {sys.executable} -m rfview {command}; echo exit=$?")
    window.press("Enter")


def test_replay_steps_both_ways_says_why_and_ends(window: Window, tmp_path: Path) -> None:
    recording = shutil.copy(RECORDING, tmp_path / "first.rfs")      # the view's state is saved next to it
    start(window, f"replay {recording} --no-startup")
    window.wait(r"cycle 0\b")
    window.type("20s")
    window.wait(r"cycle 20\b")
    window.type("5S")
    window.wait(r"cycle 15\b")
    window.type(":goto 50%")
    window.press("Enter")
    window.wait(r"cycle 8,192\b")
    window.type("]w")
    window.wait(lambda screen: re.search(r"cycle 8,192\b", screen) is None and "cycle 8," in screen)
    window.type("e")
    window.wait(r"WHY w\d+ does not issue at.*Esc closes")
    window.press("Escape")
    window.wait(lambda screen: "Esc closes" not in screen)      # the next key, if sent at once, would become Alt with it
    window.type("q")
    assert "exit=0" in window.wait(r"exit=\d")


def test_debug_runs_the_machine_and_comes_back(window: Window) -> None:
    start(window, "debug vectoradd --no-startup")
    window.wait(r"cycle 0\b")
    window.type(":goto 3000")
    window.press("Enter")
    window.wait(r"cycle 3,000\b")
    window.type("100S")
    window.wait(r"cycle 2,900\b")
    window.type("i")
    window.wait(lambda screen: re.search(r"cycle 2,9\d\d\b", screen) is not None and "cycle 2,900" not in screen)
    window.type("q")
    assert "exit=0" in window.wait(r"exit=\d")
