"""The screen of two programs, an edited file run again from a session, and kernels of other files."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from textual import events

from rfview import cli
from rfview.commands import debug
from rfview.commands.rerun import Rerun
from rfview.engine.errors import InputError
from rfview.launching import words
from rfview.render import by_line
from rfview.screens.compare.by_line import ProgramsScreen
from rfview.screens.windows.popup import TextWindow
from rfview.sessions import Session, open_session
from rfview.sessions.commands.table import execute
from tests.rfview.pilots import Driven, drive
from tests.rfview.test_compare_screen import show
from tests.two_versions import ARGUMENTS, SOURCE, write

EDITED = SOURCE.replace("i * 3;", "slow(i * 3);")


@pytest.fixture
def recordings(tmp_path: Path) -> list[str]:
    """Return recordings of two versions."""
    paths = []
    for name, version in (("a", {}), ("b", {"slow": 8, "source": EDITED})):
        ptx = write(tmp_path / name, **version)  # type: ignore[arg-type]
        paths.append(str(tmp_path / f"{name}.rfs"))
        assert cli.main(["record", f"{ptx}::k", *ARGUMENTS, "-o", paths[-1]]) == 0
    return paths


def live(folder: Path) -> tuple[Session, argparse.Namespace]:
    """Return a session of the kernel in a folder, as `rfview debug` opens it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    words.add_arguments(parser)
    args = parser.parse_args([f"{write(folder)}::k", *ARGUMENTS])
    with words.as_launch_file(args):
        session = open_session(args.target)
    session.origin = args.origin
    return session, args


@pytest.mark.parametrize("width", [40, 77, 117, 400])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_only_whole_sentences_are_said_and_a_long_first_one_is_cut_with_a_mark(width: int, rows: int) -> None:
    sentences = ("B is 3.5 times as fast.", "mm.cu:11 holds up 3,482,457 warp-cycles less: 2.0 cache lines an access instead of 16.0.",
                 "In B mm.cu:13 waits most, 66% of the resident warp-cycles: long_scoreboard 100% of that.")
    words = by_line._said(sentences, width, rows)
    assert 0 < len(words) <= rows and all(len(text) <= width for text in words)
    assert " ".join(words) in {" ".join(sentences[:count]) for count in (1, 2, 3)}
    long = by_line._said(("word " * 900 + "end.",), width, rows)
    assert len(long) == rows and long[-1].endswith("…") and by_line._said((), width, rows) == []


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (160, 60)])
def test_two_programs_are_shown_by_line_with_edits_marked(size: tuple[int, int], recordings: list[str]) -> None:
    async def test(shown: Any) -> None:
        assert isinstance(shown.app.screen, ProgramsScreen)
        lines = shown.app.screen.lines
        assert len(lines) == size[1] and all(len(line.plain) == size[0] for line in lines)
        assert "BY SOURCE LINE  1 source line edited" in shown.text and "memory differs" not in shown.text
        rows = [line.plain for line in lines if "i * 3" in line.plain]
        assert [row[1] for row in rows] == ["−", "+"] and "slow" in rows[1]
        await shown.press("k", "k", "k", "k")
        assert shown.picture.selected == 0
        await shown.press("n")
        assert shown.picture.changed[shown.picture.selected]
        await shown.press("o")
        changes = [abs(row.change) for row in shown.picture.rows]
        assert changes == sorted(changes, reverse=True)
        await shown.press("x")
        assert shown.picture.runs[0].target == "b.rfs"
        y = next(at for at, line in enumerate(shown.app.screen.lines) if line.plain.startswith("▸"))
        assert by_line.row_at(shown.picture, *size, y) == shown.picture.selected

    show(recordings, test, size)


def test_enter_opens_both_runs_at_the_line_and_x_turns_to_the_other(recordings: list[str]) -> None:
    async def test(shown: Any) -> None:
        app, row = shown.app, next(at for at, row in enumerate(shown.picture.rows) if row.pair.text.strip() == "out[i] = x;")
        await shown.press(*["k"] * 9, *["j"] * row)
        issues = shown.app.main.source.first_issues()
        await shown.pilot.press("enter")
        await shown.until(lambda: app.screen is not app.main.below and getattr(app.screen, "is_open", False))
        main = app.screen
        await shown.until(lambda: main.scene.cycle == issues[1].cycle + 1)
        assert "first issue of k.cu:5 in B; X turns to A" in main.scene.message
        await shown.pilot.press("X")
        await shown.until(lambda: main.scene.cycle == issues[0].cycle + 1)
        assert main.view_command().startswith("rfview replay a.rfs")
        await shown.pilot.press("q")
        await shown.until(lambda: isinstance(app.screen, ProgramsScreen))

    show(recordings, test)


def test_enter_pressed_twice_opens_both_runs_once(recordings: list[str]) -> None:
    async def test(shown: Any) -> None:
        app, programs = shown.app, shown.app.screen
        for _ in range(2):
            programs.post_message(events.Key("enter", "\r"))
        await shown.until(lambda: app.screen is not programs and getattr(app.screen, "is_open", False))
        await shown.until(lambda: programs.worker.is_idle)
        await shown.pilot.press("q")
        await shown.until(lambda: app.screen is programs)
        assert "internal error" not in shown.text

    show(recordings, test)


def test_why_in_both_names_both_lines(recordings: list[str]) -> None:
    async def test(shown: Any) -> None:
        await shown.press(*["k"] * 9)
        await shown.pilot.press("e")
        await shown.until(lambda: isinstance(shown.app.screen, TextWindow))
        text = "\n".join(shown.app.screen.text)
        assert "A  k.cu:3, w" in text and "B  k.cu:3, w" in text

    show(recordings, test)


def test_the_command_line_compares_recordings_and_files_and_refuses_before_it_runs(
        tmp_path: Path, recordings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", *recordings, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["by"] == "source line" and "programs differ" in data["programs_differ"]
    targets = [f"{tmp_path / name / 'k.ptx'}::k" for name in "ab"]
    assert cli.main(["compare", *targets, *ARGUMENTS, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["lines"] == data["lines"]
    assert cli.main(["compare", *targets, recordings[0], *ARGUMENTS]) == 2
    error = capsys.readouterr().err
    assert "more than two runs" in error and "running" not in error


def test_reload_runs_the_edited_file_and_compares_with_the_baseline(tmp_path: Path) -> None:
    session, _ = live(tmp_path)
    with session:
        write(tmp_path, slow=8, source=EDITED)
        answer = execute(session, "reload")
        made = answer.session
        assert made is not None and "k.cu:4 before → edited" in answer.text
        data = execute(made, "compare").data
        assert data["by"] == "source line" and data["runs"][0]["cycles"] < data["runs"][1]["cycles"]
        write(tmp_path, slow=16, source=EDITED.replace("3", "5"))
        execute(made, "baseline")
        third = execute(made, "reload").session
        assert third is not None and third.branch is not None and third.branch.parent == "edit"
        assert list(session.family) == ["main", "edit", "edit2"]
        fourth = execute(third, "reload").session
        assert fourth is not None and list(session.family) == ["main", "edit", "edit2"]       # it replaces the one before
        (tmp_path / "k.ptx").write_text("nonsense")
        with pytest.raises(InputError, match=r"k\.ptx"):
            execute(fourth, "reload")
        assert list(session.family) == ["main", "edit", "edit2"]


def test_a_recording_cannot_be_reloaded_and_says_what_can(recordings: list[str]) -> None:
    with open_session(recordings[0]) as session, pytest.raises(InputError, match="rfview debug"):
        execute(session, "reload")


def test_kernel_takes_a_file_with_the_arguments_at_hand_or_its_own(tmp_path: Path) -> None:
    session, _ = live(tmp_path / "a")
    other = write(tmp_path / "b", slow=3)
    with session:
        same = execute(session, f"load {other}::k").session
        assert same is not None and same.info.launches[0].grid == session.info.launches[0].grid
        assert len(same.info.program) == len(session.info.program) + 3
        small = execute(session, f"kernel {other}::k --grid 1 --block 32 --arg out=u4[32]").session
        assert small is not None and list(small.info.launches[0].grid) == [1, 1, 1]
        assert execute(session, "kernel vectoradd").data["kernel"] == "vectoradd"
        with pytest.raises(InputError, match="unexpected --grd"):
            execute(session, f"kernel {other}::k --grd 1")


def in_session(folder: Path, test: Callable[[Driven], Awaitable[None]]) -> None:
    session, _ = live(folder)
    with session:
        drive(test, opener=lambda report: session)


def test_ctrl_r_runs_the_edited_file_and_shows_the_comparison(tmp_path: Path) -> None:
    async def test(app: Driven) -> None:
        await app.until(lambda: app.app.main.is_open)
        write(tmp_path, slow=8, source=EDITED)
        await app.until(lambda: "k.ptx was saved; Ctrl+r runs it" in app.scene.message)
        await app.press("ctrl+r")
        await app.until(lambda: isinstance(app.app.screen, ProgramsScreen) and app.app.screen.picture is not None)
        text = "\n".join(line.plain for line in app.app.screen.lines)
        assert "A main" in text and "B edit" in text and "1 source line edited" in text
        await app.press("enter")
        await app.until(lambda: app.app.screen is app.app.main and "turns to main" in app.scene.message)
        await app.press("X")
        await app.until(lambda: "turns to edit" in app.scene.message)
        assert app.session.branch is None

    in_session(tmp_path, test)


def test_a_saved_file_is_noticed_once(tmp_path: Path) -> None:
    session, args = live(tmp_path)
    header = tmp_path / "k.cuh"
    header.write_text("")
    with session:
        assert args.origin.saved([str(header), "not/there.cuh"]) == ""
        os.utime(tmp_path / "k.ptx", (1, 1))
        assert [args.origin.saved([str(header)]) for _ in range(2)] == ["k.ptx was saved", ""]
        os.utime(header, (1, 1))
        assert [args.origin.saved([str(header)]) for _ in range(2)] == ["k.cuh was saved", ""]


def rerun(*words: str) -> Rerun:
    """Return the origin of `rfview debug` with a program."""
    parser = argparse.ArgumentParser()
    debug.add_arguments(parser)
    return Rerun(parser.parse_args(["--launch", "0", *words]))


def test_a_program_has_to_be_built_when_a_source_was_saved_and_a_script_not(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("app", "app.cu", "tri.py", "tools.py")]
    for name in names:
        name.write_text("")
    sources = [str(name) for name in names]
    program, script = rerun(sources[0], "64"), rerun("python3", sources[2], "64")
    assert program.saved(sources[:2]) == script.saved(sources[2:]) == ""
    for name in (names[1], names[3]):
        os.utime(name, (1, 1))
    assert program.saved(sources[:2]) == "app.cu was saved: build app" and script.saved(sources[2:]) == "tools.py was saved"
    for name in (names[0], names[2]):
        os.utime(name, (1, 1))
    assert program.saved(sources[:2]) == "app was saved" and script.saved(sources[2:]) == "tri.py was saved"


def test_a_program_that_no_longer_makes_its_launch_says_so(tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("print('no launch here')")
    with pytest.raises(InputError, match="^--launch 0: no such launch; the program made 0"):
        rerun(str(tmp_path / "none.py")).launch_file()


def test_esc_ends_a_program_that_runs_again(tmp_path: Path) -> None:
    script, started = tmp_path / "long.py", tmp_path / "pid"
    script.write_text(f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(3600)")

    def report(share: float | None, text: str) -> None:
        assert text == "running long.py"
        if started.exists() and started.read_text():
            raise InputError("stopped")

    with pytest.raises(InputError, match="stopped"):
        rerun(str(script)).launch_file(report=report)
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(int(started.read_text()), 0)
            time.sleep(0.05)


def test_markdown_has_the_lines_that_changed(recordings: list[str]) -> None:
    async def test(shown: Any) -> None:
        text = by_line.markdown(shown.picture)
        assert text.count("\n| − |") == 1 and text.count("\n| + |") == 1 and "`float x = slow(i * 3);`" in text

    show(recordings, test)


