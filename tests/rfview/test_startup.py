"""Commands run when a session opens: the start-up file, -x, -c, and the errors for lines that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from rfview.engine.errors import InputError
from rfview import startup
from rfview.commands import screen
from tests.rfview.fakes import make_session
from tests.rfview.pilots import Driven, drive


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the start-up file in a separate config folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "rfview" / "startup.txt"
    file.parent.mkdir()
    return file


def test_file_then_x_then_c_then_goto(own_file: Path, tmp_path: Path) -> None:
    own_file.write_text("goto 10; mark own\nbreak cycle 300  # stays\n")
    (tmp_path / "more.txt").write_text("step 5\nmark more")
    start = startup.Startup(screen.defaults(commands=str(tmp_path / "more.txt"), command="step 2; mark last", goto="40"))
    session = start.apply(make_session())
    assert {mark.name: mark.cycle for mark in session.marks} == {"own": 10, "more": 15, "last": 17}
    assert session.cycle == 40 and [point.value for point in session.breakpoints.values()] == [300]
    assert not start.wrong and len(start.answers) == 7


def test_a_wrong_line_of_the_file_is_told_and_passed_over(own_file: Path) -> None:
    own_file.write_text("goto 10\nfrobnicate\nmark here\n")
    start = startup.Startup(screen.defaults())
    session = start.apply(make_session())
    assert session.marks.get("here").cycle == 10
    assert len(start.wrong) == 1 and f"{own_file}: line 2, `frobnicate`" in start.wrong[0]
    assert startup.Startup(screen.defaults(no_startup=True)).commands == []


@pytest.mark.parametrize(("given", "words"), [
    ({"command": "step; stpe"}, "-c, `stpe`: no command"),
    ({"commands": "/nowhere/x.txt"}, "/nowhere/x.txt: cannot be read"),
])
def test_a_wrong_line_asked_for_is_an_error(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        startup.Startup(screen.defaults(**given)).apply(make_session())


def test_the_screens_own_commands_wait_for_the_first_frame(own_file: Path) -> None:
    own_file.write_text("goto 120; format hex; warp 4; registers")
    start = startup.Startup(screen.defaults())
    assert start.apply(make_session()).cycle == 120 and start.later == ["format hex", "warp 4", "registers"]

    async def test(app: Driven) -> None:
        start.begin(app.app.main)
        await app.settle()
        assert (app.scene.number_format, app.scene.warp, app.scene.panel) == ("hex", 4, "registers")

    drive(test)


def test_the_command_line_does_them(own_file: Path, rfview_process: Callable[..., CompletedProcess[str]]) -> None:
    own_file.write_text("nonsense\n")
    home = {"XDG_CONFIG_HOME": str(own_file.parents[1])}
    done = rfview_process("replay", "sessions/recorded/first.rfs", "-c", "goto 77; print cycle", **home)
    assert done.returncode == 0 and "cycle = 77" in done.stdout and "line 1, `nonsense`" in done.stderr
    wrong = rfview_process("replay", "sessions/recorded/first.rfs", "-c", "goto x", "--no-startup")
    assert wrong.returncode == 2 and len(wrong.stderr.splitlines()) == 1 and "-c, `goto x`" in wrong.stderr


def test_the_linear_mode_does_them_too(rfview_process: Callable[..., CompletedProcess[str]]) -> None:
    done = rfview_process("replay", "sessions/recorded/first.rfs", "--plain", "-c", "goto 77; warp 3")
    assert done.returncode == 0 and "w3:" in done.stdout and "Cycle 77" in done.stdout
