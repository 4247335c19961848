"""`rfview replay` and `rfview debug` from end to end, in a real terminal: keys in, screens out, and the way back."""

from __future__ import annotations

import shutil
import termios
import time
from pathlib import Path

import pytest

from tests.conftest import PATIENCE_S
from tests.rfview.terminal import REPOSITORY, Terminal

RECORDED = REPOSITORY / "sessions" / "recorded" / "first.rfs"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Return a copy of the bundled recording, so that marks are not written next to the original."""
    return Path(shutil.copy(RECORDED, tmp_path / "first.rfs"))


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which none of the user's files are read or written."""
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}


def cycle(screen: str) -> int:
    """Return the cycle shown in the status row."""
    return int(screen.splitlines()[0].split(" cycle ")[1].split()[0].replace(",", ""))


def test_replay_in_a_real_terminal(recording: Path, home: dict[str, str]) -> None:
    with Terminal(["replay", str(recording), "--goto", "900"], environ=home) as terminal:
        screen = terminal.wait(lambda text: "cycle 900" in text and "WHY w" in text and "s S step" in text)
        for part in ("vectoradd", "WARPS", "REGISTER FILE", "WHY w", "CODE w", "STALLS", "◄ PAST", "Σ 48 ✓", "s S step"):
            assert part in screen
        terminal.send("s")
        terminal.wait("cycle 901 ")
        terminal.send("5S")
        terminal.wait("cycle 896 ")
        terminal.send("ma:goto 50%\r")       # a burst: the prompt takes the characters after its key
        terminal.wait("cycle 8,192 ")
        terminal.send("'a")
        terminal.wait("cycle 896 ")
        assert (recording.parent / "first.rfs.marks.json").exists()
        terminal.send(":break stall wb_drain > 15\rc")
        stopped = terminal.wait(lambda text: "breakpoint 1, stall wb_drain > 15" in text and cycle(text) > 896)
        terminal.send("cC")
        terminal.wait(lambda text: "cycles back" in text and cycle(text) == cycle(stopped))
        terminal.send("a")
        terminal.wait(lambda text: "TIMELINE" in text and "1 column = 1 cycle" in text)
        terminal.resize(80, 24)
        terminal.wait(lambda text: "TIMELINE" in text.splitlines()[3] and len(text.splitlines()) == 24)
        terminal.send("\x1b")
        terminal.wait(lambda text: "WARPS" in text and "REGISTER FILE" in text)
        terminal.send("q")
        assert terminal.end() == 0
        assert "\x1b[?1049l" in terminal.raw, "the terminal gets its own screen back"
        assert "Traceback" not in terminal.raw


def test_keys_typed_at_the_first_frame_are_not_lost_and_echo_comes_back(recording: Path, home: dict[str, str]) -> None:
    with Terminal(["replay", str(recording), "--goto", "900"], environ=home) as terminal:
        terminal.wait("STALLS")
        assert not termios.tcgetattr(terminal.master)[3] & termios.ECHO
        terminal.send("ss:goto +100\rs")
        terminal.wait("cycle 1,003 ")
        terminal.send("q")
        assert terminal.end() == 0
        modes = termios.tcgetattr(terminal.master)
        assert modes[3] & termios.ECHO and modes[3] & termios.ICANON and modes[0] & termios.ICRNL
        assert terminal.raw.count("\x1b[?1049h") == terminal.raw.count("\x1b[?1049l") == 1     # switched once


def test_replay_without_colour(recording: Path, home: dict[str, str]) -> None:
    with Terminal(["replay", str(recording), "--goto", "900"], 80, 24, {**home, "NO_COLOR": "1"}) as terminal:
        terminal.wait("cycle 900")
        terminal.send("e")
        terminal.wait("Esc closes")
        terminal.send("\x1b")
        terminal.wait(lambda text: "Esc closes" not in text)
        terminal.send("\x11")
        assert terminal.end() == 0
        assert "38;2;" not in terminal.raw and "48;2;" not in terminal.raw


def with_the_users_cache(home: dict[str, str]) -> dict[str, str]:
    """Return the environment with the user's cache of compiled code, which takes minutes to build."""
    return {key: value for key, value in home.items() if key == "XDG_STATE_HOME"}


def test_keys_typed_while_a_run_is_opened_are_not_lost(home: dict[str, str]) -> None:
    with Terminal(["debug", "vectoradd"], environ=with_the_users_cache(home)) as terminal:
        terminal.wait(lambda text: bool(text.strip()))
        terminal.send("s:goto +10\rs")
        terminal.wait("cycle 12 ")
        terminal.send("q")
        assert terminal.end() == 0


def test_an_opening_can_be_left(home: dict[str, str]) -> None:
    with Terminal(["debug", "vectoradd"], environ=with_the_users_cache(home)) as terminal:
        terminal.wait(lambda text: bool(text.strip()))
        terminal.send("sq")
        assert terminal.end() == 0


def test_debug_in_a_real_terminal(home: dict[str, str]) -> None:
    with Terminal(["debug", "vectoradd"], environ=with_the_users_cache(home)) as terminal:
        assert "WARPS" in terminal.wait("WARPS")
        terminal.wait("● LIVE")
        terminal.send("200s")
        terminal.wait("cycle 200 ")
        terminal.send("S")
        terminal.wait("◄ PAST")
        terminal.send(":watch w0.pc\rc")
        terminal.wait("watch w0.pc")
        terminal.send(":stats 100 200\r")
        terminal.wait(lambda text: "WARP-CYCLES" in text and "balanced ✓" in text)
        terminal.send("\x1b")
        terminal.wait(lambda text: "WARP-CYCLES" not in text)
        terminal.send("\x11")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.raw


def test_a_terminal_that_says_nothing_about_itself_gets_text(home: dict[str, str]) -> None:
    with Terminal(["replay", str(RECORDED), "--goto", "900"], environ={**home, "TERM": "dumb"}) as terminal:
        assert terminal.end() == 0
        assert "cycle 900" in terminal.raw and "\x1b[?1049h" not in terminal.raw


def test_a_terminal_that_vanishes_without_a_signal_ends_the_program(recording: Path, home: dict[str, str]) -> None:
    """Without a controlling terminal there is no SIGHUP; the program used to read in an endless busy loop."""
    with Terminal(["replay", str(recording)], environ=home) as terminal:
        terminal.wait(lambda text: " cycle " in text.partition("\n")[0])
        terminal.vanish()
        assert terminal.process.wait(PATIENCE_S) == 129


def test_a_terminal_that_vanishes_while_it_is_written_to_ends_the_program(recording: Path, home: dict[str, str]) -> None:
    """Textual waited for ever for its thread that writes, which the terminal had taken with it."""
    with Terminal(["replay", str(recording)], environ=home) as terminal:
        terminal.wait(lambda text: " cycle " in text.partition("\n")[0])
        for number in range(150):       # what it draws is not read: what waits to be written becomes as much as may be
            terminal.resize(119 + number % 2, 40)
            time.sleep(0.03)
        terminal.vanish()
        assert terminal.process.wait(PATIENCE_S) == 129
