"""However a session ends, the terminal is restored and the exit code is right; a defect of a view does not end it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events

from rfview.render.panels import PANELS
from rfview.render.scene import Scene
from rfview.screens.handlers.table import HANDLERS
from tests.conftest import PATIENCE_S
from tests.rfview.pilots import Driven, drive
from tests.rfview.terminal import REPOSITORY, Terminal

RECORDED = REPOSITORY / "rfview" / "learn" / "recorded" / "first.rfs"
FALLS = """
import asyncio, threading
import rfview.screens.drivers as drivers
import rfview.screens.host as host
mount = host.HostApp.on_mount
def fall(*_): raise RuntimeError("the app falls\\x1b]0;x\\x07")
async def fall_later(): fall()
def on_mount(self):
    mount(self)
    {how}
host.HostApp.on_mount = on_mount
"""
# a defect in each kind of code that Textual runs, and in what asyncio and threads run
PLACES = {
    "a timer": "self.set_timer(1.0, fall)",
    "a worker": "self.set_timer(1.0, lambda: self.run_worker(fall_later()))",
    "a worker's thread": "self.set_timer(1.0, lambda: self.run_worker(fall, thread=True))",
    "a message pump": "self.set_timer(1.0, lambda: self.call_later(fall))",
    "the input thread": "self.set_timer(1.0, lambda: setattr(drivers.InputReader, 'tick', fall))",
    "a thread": "self.set_timer(1.0, lambda: threading.Thread(target=fall).start())",
}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which none of the user's files are read or written."""
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """Return a copy of a recording."""
    return str(shutil.copy(RECORDED, tmp_path / "first.rfs"))


def came_back(terminal: Terminal) -> None:
    """Assert that the terminal is in the state that a shell expects."""
    modes = termios.tcgetattr(terminal.master)
    assert modes[3] & termios.ECHO and modes[3] & termios.ICANON and modes[3] & termios.ISIG and modes[0] & termios.ICRNL
    on = {number: terminal.raw.rfind(f"\x1b[?{number}h") for number in (1000, 1003, 1006, 1015, 1049, 2004)}
    assert on[1049] >= 0 and on[1003] >= 0
    for number, place in on.items():
        assert terminal.raw.rfind(f"\x1b[?{number}l") > place or place < 0, f"mode {number} is still on"
    assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l"), "the cursor is still hidden"
    assert "Traceback" not in terminal.raw


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_session_in_order(recording: str, home: dict[str, str], number: int, code: int) -> None:
    with Terminal(["replay", recording], environ=home) as terminal:
        terminal.wait("STALLS")
        terminal.send("5s")
        terminal.wait("cycle 5 ")
        terminal.send("e")
        terminal.wait("Esc closes")
        os.kill(terminal.process.pid, number)
        assert terminal.end() == code
        came_back(terminal)
    assert Path(recording + ".view.json").exists(), "where the reader was is kept"


def test_what_is_left_unwritten_when_the_terminal_vanishes_does_not_change_the_exit_code() -> None:
    program = """
import sys
from rfview import streams
with streams.guarded():
    sys.stdin.read()
    sys.__stdout__.write("x")
sys.exit(129)
"""
    master, slave = os.openpty()
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=slave, stderr=slave,
                               cwd=REPOSITORY, env=buffered)
    os.close(slave)
    os.close(master)
    process.communicate()
    assert process.returncode == 129


def test_a_terminal_that_vanishes_ends_the_session(recording: str, home: dict[str, str]) -> None:
    with Terminal(["replay", recording], environ=home) as terminal:
        terminal.wait("STALLS")
        os.kill(terminal.process.pid, signal.SIGHUP)
        os.close(terminal.master)
        try:
            assert terminal.process.wait(15) == 129
        finally:
            terminal.master = os.open(os.devnull, os.O_RDONLY)


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(recording: str, home: dict[str, str]) -> None:
    with Terminal(["replay", recording, "--goto", "100"], environ=home) as terminal:
        terminal.wait("STALLS")
        for keys, shows in (("", "STALLS"), (":goto", "> goto"), ("\x1b", ""), ("e", "Esc closes")):   # prompt, window
            terminal.send(keys)
            terminal.wait(lambda text: shows in text and (shows or "> goto" not in text))
            terminal.send("\x1a")
            end = time.monotonic() + PATIENCE_S
            while not os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT):
                assert time.monotonic() < end, "the program does not stop"
                terminal._read(0.05)
            os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOHANG)
            while terminal._read(0.2) and terminal.raw.rfind("\x1b[?1049l") < terminal.raw.rfind("\x1b[?1049h"):
                assert time.monotonic() < end
            came_back(terminal)
            before = terminal.raw.count("\x1b[?1049h")
            os.kill(terminal.process.pid, signal.SIGCONT)
            terminal.wait(lambda text: terminal.raw.count("\x1b[?1049h") > before and "REGISTER FILE" in text)
        terminal.send("\x1b")
        terminal.wait(lambda text: "Esc closes" not in text)
        terminal.send("s")
        terminal.wait("cycle 101 ")
        terminal.send("q")
        assert terminal.end() == 0
        came_back(terminal)


@pytest.mark.parametrize("place", PLACES)
def test_a_defect_that_ends_the_program_is_told_after_the_terminal_is_back(recording: str, home: dict[str, str],
                                                                           tmp_path: Path, place: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(FALLS.format(how=PLACES[place]))
    path = f"{tmp_path}{os.pathsep}{REPOSITORY}"
    with Terminal(["replay", recording], environ={**home, "PYTHONPATH": path}) as terminal:
        assert terminal.end() == 70
        came_back(terminal)
        said = terminal.raw[terminal.raw.rfind("\x1b[?1049l"):]
        assert said.count("rfview: error: internal error: RuntimeError: the app falls\\x1b]0;x\\x07; report:") == 1
    reports = list((tmp_path / "state" / "rfview").glob("rfview-crash-*"))
    assert len(reports) == 1 and str(reports[0]) in said.replace("\r\n", "")
    assert "in fall" in reports[0].read_text()


def test_a_panic_that_textual_knows_only_as_text_is_a_defect_like_any_other(recording: str, home: dict[str, str],
                                                                            tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FALLS.format(how="self.set_timer(1.0, lambda: self.panic('no way on'))"))
    with Terminal(["replay", recording], environ={**home, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}) as terminal:
        assert terminal.end() == 70
        came_back(terminal)
        assert "internal error: RuntimeError: Textual's panic: no way on; report:" in terminal.raw


def test_every_key_of_the_palette_is_safe(recording: str, home: dict[str, str]) -> None:
    with Terminal(["replay", recording, "--goto", "100"], environ=home) as terminal:
        terminal.wait("STALLS")
        terminal.send("\x10")
        terminal.wait("EVERY ACTION")
        terminal.send("\x1b[6~\x1b[5~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[B\x1b[A\x1b[H\x1b[F\t")
        terminal.resize(80, 24)
        terminal.send("no such action\x1b[6~\x15reverse-step\r")
        terminal.wait("cycle 99 ")
        terminal.send("q")
        assert terminal.end() == 0
        came_back(terminal)


def test_the_palette_narrows_and_chooses() -> None:
    async def test(app: Driven) -> None:
        await app.press("ctrl+p")
        assert "EVERY ACTION" in app.window_text() and " step " in app.window_text()
        await app.press("pagedown", "pagedown", "pageup", "down", "up", *"registers")
        assert "▸ registers" in app.window_text() and "next-activity" not in app.window_text()
        await app.press(*" xyz")
        assert "no action has these words" in app.window_text()
        await app.press("enter")
        assert app.app.screen is app.app.main
        await app.press("ctrl+p", *"regi", "enter")
        assert app.scene.panel == "registers"
        await app.press("ctrl+p", "backspace")
        assert app.app.screen is app.app.main

    drive(test)


@pytest.mark.parametrize("key", ["e", "?", "B", "ctrl+p", "v", "M"])
def test_a_window_closes_once_however_fast_one_types(key: str) -> None:
    async def test(app: Driven) -> None:
        app.app.main.say("something to show")
        await app.press(key)
        window = app.app.screen
        assert window is not app.app.main
        for typed in ("escape", "escape", "escape"):
            window.post_message(events.Key(typed, None))
        window.post_message(events.Key("s", "s"))       # meant for the screen below
        await app.settle()
        assert app.app.screen is app.app.main and app.cycle == 151

    drive(test)


@pytest.mark.parametrize(("window", "key", "line"), [("v", "p", "swap sram[wb"), ("O", "f", "kernel wb"), ("B", "a", "break wb")])
def test_a_command_begun_in_a_window_has_every_key_typed_after_it(window: str, key: str, line: str) -> None:
    async def test(app: Driven) -> None:
        await app.press(window)
        for typed in (key, "w", "b"):       # in one go, as a fast hand or a paste sends them
            app.app.post_message(events.Key(typed, typed))
        await app.settle()
        assert app.app.screen is app.app.main
        assert app.app.main.prompt.value == line

    drive(test)


def test_a_key_for_a_window_below_another_leaves_both_as_they_are() -> None:
    async def test(app: Driven) -> None:
        await app.press("e")
        below = app.app.screen
        app.app.show_text(("a line",), "ANSWER")
        await app.settle()
        below.post_message(events.Key("escape", None))
        await app.settle()
        assert app.app.screen is not below and app.app.screen is not app.app.main
        await app.press("escape")
        assert app.app.screen is below
        await app.press("escape", "s")
        assert app.app.screen is app.app.main and app.cycle == 151

    drive(test)


def raised(*_: Any) -> Any:
    """Replace a function by one with a defect."""
    raise ZeroDivisionError("by nothing\x1b[2J")


@pytest.mark.parametrize("where", ["painter", "the event row's painter", "handler", "request", "window"])
def test_a_defect_is_one_line_and_a_report_and_the_session_goes_on(where: str, monkeypatch: pytest.MonkeyPatch,
                                                                   tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("rfview.crash._written", {})

    async def test(app: Driven) -> None:
        if where == "painter":
            monkeypatch.setitem(PANELS, "stalls", replace(PANELS["stalls"], paint=raised))
        elif where == "the event row's painter":
            monkeypatch.setitem(PANELS, "event", replace(PANELS["event"], paint=raised))
        elif where == "handler":
            monkeypatch.setitem(HANDLERS, "zoom", raised)
        elif where == "request":
            monkeypatch.setattr(type(app.session), "step", raised)
        else:
            monkeypatch.setattr("rfview.screens.windows.why.why.render_popup", raised)
        await app.press({"handler": "z", "window": "e"}.get(where, "s"))
        assert "internal error: ZeroDivisionError: by nothing\\x1b[2J; report: " in app.scene.message
        assert app.scene.message_kind == "error" and app.app.screen is app.app.main
        if where == "painter":
            assert "cannot be drawn" in app.screen_text() and "WARPS" in app.screen_text()
        if where == "the event row's painter":
            assert "internal error" in app.screen_text()
        reports = list((tmp_path / "rfview").iterdir())
        assert len(reports) == 1 and str(reports[0]) in app.scene.message and "raised" in reports[0].read_text()
        await app.press("j", "z", "z", "j")
        assert len(list((tmp_path / "rfview").iterdir())) == 1, "a defect that comes with every frame is told once"
        monkeypatch.undo()
        await app.go(120)
        await app.press("s")
        assert app.cycle == 121 and isinstance(app.scene, Scene)
        app.app.survived = 0

    drive(test)
