"""A recording opens as it was left; the state saved next to it may be missing, damaged or unwritable without harm."""

from __future__ import annotations

import os
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.errors import InputError
from rfview.view import View
from rfview.sessions import open_session
from rfview.sessions.session import Session
from tests.rfview.pilots import Driven, drive

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return Path(shutil.copy(FIRST, tmp_path / "run.rfs"))


def open_view(recording: Path, test: Callable[[Driven], Awaitable[None]], *, fresh: bool = False) -> View:
    """Open a recording as `rfview replay` does, do something, and leave it."""
    view = View(recording, fresh=fresh)
    session = open_session(recording)
    view.apply(session)

    def opener(report: Any) -> Session:
        return session

    async def within(app: Driven) -> None:
        await app.settle()
        view.begin(app.app.main)
        await app.settle()
        await test(app)

    drive(within, opener=opener)
    view.keep()
    return view


async def look_around(app: Driven) -> None:
    await app.press(":")
    await app.type("goto 700")
    await app.press("1", "2", "o", "w", ":")
    await app.type("break if stall.wb_drain > 8")
    await app.press("+", "+", "p", "r", "j", "j", "F", "L")


def test_it_opens_as_it_was_left(recording: Path) -> None:
    open_view(recording, look_around)

    async def test(app: Driven) -> None:
        scene = app.scene
        assert (app.cycle, scene.warp, scene.panel, scene.reg, scene.lane) == (700, 12, "registers", 2, 4)
        assert scene.number_format == "hex" and scene.code_source and app.app.worker.source.zoom == 2
        assert [point.text for point in app.session.breakpoints.values()] == ["watch w12.state", "if stall.wb_drain > 8"]
        assert scene.message == "as it was left, at cycle 700; replay --fresh opens it afresh"
        await app.press("escape")
        assert app.scene.panel == "warps"
        await app.press("a", "-")
        await app.press("escape", "s", ":")
        await app.type(f"overlay {recording}")

    open_view(recording, test)

    async def later(app: Driven) -> None:
        assert app.cycle == 701 and app.app.worker.source.spans.zoom == 1
        assert app.scene.over is not None and app.scene.over.lag == 0

    view = open_view(recording, later)
    assert json.loads(view.path.read_text())["overlay"] == "run.rfs"


def test_fresh_opens_it_as_for_the_first_time(recording: Path) -> None:
    open_view(recording, look_around)

    async def test(app: Driven) -> None:
        assert app.cycle == 0 and not app.session.breakpoints and app.scene.panel == "warps"

    open_view(recording, test, fresh=True)


def test_what_was_only_opened_is_not_written(recording: Path) -> None:
    async def nothing(app: Driven) -> None:
        await app.press("s", "S")

    assert not open_view(recording, nothing).path.exists()


@pytest.mark.parametrize("content", [
    "not json", "[1, 2]", '{"format": 99}', '{"format": 1, "run": ["another", "sram", "gto", "0", 5], "cycle": 70}',
])
def test_a_view_that_cannot_be_used_is_said_and_passed_over(recording: Path, content: str) -> None:
    View(recording).path.write_text(content)

    async def test(app: Driven) -> None:
        assert app.cycle == 0 and app.scene.message.startswith("opened afresh: run.rfs.view.json")
        await app.press("s")

    view = open_view(recording, test)
    assert json.loads(view.path.read_text())["cycle"] == 1


def test_values_of_another_kind_are_passed_over(recording: Path) -> None:
    open_view(recording, look_around)
    path = View(recording).path
    data = json.loads(path.read_text())
    data |= {"cycle": 1 << 40, "warp": -7, "reg": "x", "lane": 99, "panel": "nowhere", "back_to": 3, "zoomed": "yes",
             "number_format": "roman", "overview_zoom": 1e9, "timeline_zoom": True, "overlay": "gone.rfs", "speed": None,
             "breakpoints": [{"kind": "pc"}, 7, {**data["breakpoints"][0], "item": "w99.nothing"}, data["breakpoints"][1]]}
    path.write_text(json.dumps(data))

    async def test(app: Driven) -> None:
        assert app.cycle == app.session.timeline.last and app.scene.warp == 0
        assert app.scene.panel == "summary"     # what a recording that is opened at its end shows
        assert [point.text for point in app.session.breakpoints.values()] == ["if stall.wb_drain > 8"]
        assert "gone.rfs" in app.scene.message and app.scene.message_kind == "error"

    open_view(recording, test)


def test_a_cycle_that_cannot_be_read_is_not_gone_to(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_view(recording, look_around)
    session = open_session(recording)

    def damaged(cycle: int) -> Any:
        raise InputError("chunk 0 is damaged")

    monkeypatch.setattr(session.timeline, "at", damaged)
    View(recording).apply(session)
    assert session.cycle == 0 and len(session.breakpoints) == 2


def test_a_folder_that_cannot_be_written_to_is_told_and_no_more(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "fsync", refuse)
    open_view(recording, look_around)
    error = capsys.readouterr().err
    assert "the view was not saved: " in error and "run.rfs.view.json: cannot be written: Permission denied" in error and len(error.splitlines()) == 1


def test_a_breakpoint_of_the_start_up_file_is_not_doubled(recording: Path) -> None:
    open_view(recording, look_around)
    view = View(recording)
    session = open_session(recording)
    view.apply(session)
    session.add_breakpoint("if", condition="stall.wb_drain > 8")

    async def test(app: Driven) -> None:
        await app.settle()
        view.begin(app.app.main)
        assert len(app.session.breakpoints) == 2

    drive(test, opener=lambda report: session)
