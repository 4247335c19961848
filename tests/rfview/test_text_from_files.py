"""Text from recordings, launch files and file names is shown, never interpreted, on every way out of the program."""

from __future__ import annotations

import base64
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from rfview.cli import main
from rfview.engine.escapes import visible, visible_in
from rfview.screens import requests
from rfview.sessions import open_session
from tests.rfview import hostile
from tests.rfview.pilots import Driven, drive
from tests.rfview.terminal import Terminal

COMMANDS = ("goto 50%; print w0.pc; why 0; info stalls; list; mark z; when; break if cycle == 9; info breakpoints; output; "
            "trace w0.pc")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording full of control characters, its name included."""
    return hostile.recording(tmp_path_factory.mktemp("hostile"))


def test_what_is_not_printable_is_an_escape() -> None:
    assert visible("a·é\U0001f600") == "a·é\U0001f600"
    assert visible("\0\t\n\r\x1b") == "\\x00\\t\\n\\r\\x1b" and visible("\n\t\x1b", "\n\t") == "\n\t\\x1b"
    assert visible("\x7f\x85\x9b\u202e\u2069\u2028\ud800") == "\\u007f\\u0085\\u009b\\u202e\\u2069\\u2028\\ud800"
    assert visible("\U000e0041") == "\\udb40\\udc41"
    assert visible_in({"a\x1b": ["\x1b", ("\x07", 3)], "b": None}) == {"a\\x1b": ["\\x1b", ["\\x07", 3]], "b": None}
    every = "".join(map(chr, [*range(0x300), *range(0x2000, 0x2070), 0xD800, 0xFEFF]))
    assert hostile.clean(visible(every)) and visible(visible(every)) == visible(every)


@pytest.mark.parametrize("words", [
    ["info", "FILE"], ["info", "--json", "FILE"], ["replay", "FILE"], ["replay", "--ascii", "FILE"],
    ["replay", "--plain", "FILE"], ["script", "FILE", "-c", COMMANDS], ["script", "--json", "FILE", "-c", COMMANDS],
    ["script", "FILE", "-c", "print \x1b[2Jw0.pc"], ["info", "FILE.gone"], ["run", "FILE.gone.toml"], ["\x1b[2J"],
    ["debug", "--\x1b"], ["replay", "--plain", "-c", "explain \x1b]0;owned\x07", "FILE"], ["compare", "FILE", "FILE"],
    ["assert", "FILE", "cycle < 5"], ["script", "FILE", "-x", "no\x9bfile"], ["export", "--to", "\x1b[m", "FILE"],
])
def test_nothing_that_is_printed_moves_a_cursor(recording: Path, words: list[str], capsys: pytest.CaptureFixture[str],
                                                monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    code = main([word.replace("FILE", str(recording)) for word in words])
    said = capsys.readouterr()
    assert hostile.clean(said.out) and hostile.clean(said.err)
    assert "internal error" not in said.err and (said.out or said.err) and code in (0, 1, 2)


def test_a_name_that_is_no_text_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "\udcff\udc9b.rfs"]) == 2
    assert "\\udcff\\udc9b.rfs" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["kanata", "perfetto", "vcd", "csv", "sqlite"])
def test_exports_hold_text_alone(recording: Path, form: str, tmp_path: Path) -> None:
    from rfview.sessions.export import export

    target = tmp_path / "out"
    with open_session(str(recording)) as session:
        export(session.timeline, form, target)
    if form == "sqlite":
        with sqlite3.connect(target) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            cells = [cell for table in tables for row in database.execute(f"SELECT * FROM {table}") for cell in row]
        text = "\n".join(cell for cell in cells if isinstance(cell, str))
    else:
        text = target.read_text(encoding="utf-8")
    assert hostile.clean(text) and ("owned" in text)
    if form == "vcd":
        values = [line for line in text.splitlines() if line.startswith("s") and " " in line]
        assert values and all(len(line.split(" ")) == 2 for line in values)


def test_screens_pictures_and_the_clipboard_hold_text_alone(recording: Path, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda app, text: copied.append(text))

    def opener(report: Any) -> Any:
        session = open_session(str(recording))
        session.goto("50%")
        session.mark("z")
        return session

    def check(driven: Driven, window: bool = False) -> str:
        text = driven.screen_text() + (driven.window_text() if window else "")
        assert hostile.clean(text.replace("\t", "\x1b")), text
        return text

    async def test(driven: Driven) -> None:
        await driven.settle()
        assert "\\x1b]0;ow" in check(driven)
        for key in ("p", "a", "escape", "P", "escape", "r", "escape", "z", "z", "j", "s", "M", "escape"):
            await driven.press(key)
            check(driven)
        for key in ("e", "B", "K", "?", "v", "O", "#"):
            await driven.press(key)
            check(driven, driven.app.screen is not driven.app.main)
            await driven.press("y", "escape")
        for command in ("output", "list", "explain \x1b[2J", "why 0", "break if \x1b", "overlay \x1b[2J", "goto \x9b"):
            driven.app.main.worker.ask(requests.command, command)
            await driven.settle()
            check(driven)
            await driven.press("escape")
        await driven.press("y", "Y")
        driven.app.main.open_prompt(":", "goto \x1b[2J")
        assert driven.app.main.prompt.value == "goto \\x1b[2J"
        driven.app.main.prompt.close()
        await driven.press(*":screenshot a.txt", "enter")

    drive(test, opener=opener)
    assert copied and all(hostile.clean(text) for text in copied)
    pictures = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir() if path.suffix in (".svg", ".txt")]
    assert len(pictures) == 2 and all(hostile.clean(text) for text in pictures)


def test_a_terminal_gets_no_sequence_from_a_recording(recording: Path, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    with Terminal(["replay", str(recording), "--fresh"], environ=home) as terminal:
        terminal.wait("STALLS")
        terminal.send("ep")
        terminal.wait("Esc closes")
        terminal.send("\x1b")
        terminal.wait(lambda text: "Esc closes" not in text)
        terminal.send(f"y:screenshot {tmp_path}/a.svg\r")
        terminal.wait("written")
        terminal.send("q")
        assert terminal.end() == 0
    for sequence in ("\x1b]0;", "\x1b[2J\x9b", "\x9b", "\x7f", "\u202e", "\u2066", "\x07owned"):
        assert sequence not in terminal.raw
    clips = re.findall("\x1b]52;c;([^\x07\x1b]*)", terminal.raw)
    assert clips and all(hostile.clean(base64.b64decode(clip).decode()) for clip in clips)
    assert "owned" in terminal.raw
