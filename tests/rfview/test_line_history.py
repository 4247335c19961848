"""The prompt's history from one run to the next, and keys that do nothing, which say so once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rfview.line_history import LONGEST, MAX_BYTES, MAX_LINES, LineHistory, path
from tests.rfview.pilots import Driven, drive


def test_lines_last_and_the_latest_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "state" / "history"

    async def type_two(app: Driven) -> None:
        app.app.main.prompt.past = LineHistory(file)
        await app.type(":goto 77")
        await app.type(":goto 88")
        await app.type(":goto 88")
        await app.type("/ld")

    async def recall(app: Driven) -> None:
        app.app.main.prompt.past = LineHistory(file)
        await app.press(":", "up")
        assert app.app.main.prompt.value == "goto 88"
        await app.press("up", "up", "enter")
        assert app.cycle == 77

    drive(type_two)
    assert file.read_text() == "goto 77\ngoto 88\n" and file.stat().st_mode & 0o777 == 0o600
    drive(recall)


def test_tests_and_other_apps_leave_no_lines() -> None:
    async def look(app: Driven) -> None:
        assert app.app.main.prompt.past is app.app.main.past and app.app.main.past.file is None

    drive(look)


def test_what_the_file_holds_is_text_and_never_much(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_bytes(b"\x1b[2Jgoto 5\n\xff\xfe\n\n" + b"x" * 9000 + b"\n")
    lines = LineHistory(file).lines
    assert lines[0] == "\\x1b[2Jgoto 5" and len(lines) == 3 and len(lines[2]) == LONGEST
    file.write_text("".join(f"goto {number}\n" for number in range(MAX_BYTES // 8)))
    history = LineHistory(file)
    assert len(history.lines) == MAX_LINES and history.lines[-1] == f"goto {MAX_BYTES // 8 - 1}"
    assert file.read_text().splitlines() == history.lines
    history.add("two\nlines")
    assert file.read_text().splitlines()[-1] == "two\\nlines"


@pytest.mark.parametrize("kind", ["folder", "pipe", "nowhere"])
def test_without_a_file_lines_last_as_long_as_the_program(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "history"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        (tmp_path / "a file").touch()
        file = tmp_path / "a file" / "history"
    history = LineHistory(file)
    history.add("goto 5")
    assert history.lines == ["goto 5"]


def test_the_file_lies_with_the_programs_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert path() == tmp_path / "rfview" / "history"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert path() == tmp_path / "me" / ".local" / "state" / "rfview" / "history"
    monkeypatch.delenv("HOME")
    assert path() is None


def test_a_key_that_does_nothing_says_so_once() -> None:
    async def test(app: Driven) -> None:
        await app.press("&")
        assert "& does nothing here; ? lists the keys" in app.scene.message
        await app.press("]", "z")
        assert "]z does nothing" in app.scene.message
        await app.press("s")
        at, said = app.cycle, app.scene.message
        await app.press("&", "]")
        await app.press("z")
        assert app.cycle == at and "does nothing" not in app.scene.message and app.scene.message in ("", said)
        await app.press("escape")
        assert "does nothing" not in app.scene.message

    drive(test)
