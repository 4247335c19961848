"""A stretch of the run, selected by key, name or dragging: its ends, its picture, and the same numbers as `stats`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from rfview.engine.errors import InputError
from rfview.keys import Keys
from rfview.screens.scenes.brush import BrushSource
from rfview.sessions import Session, open_session
from rfview.engine.wording import energy_unit
from rfview.sessions.reports.statistics import Brief, between, brief
from tests.rfview.pilots import Driven, drive

RECORDING = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


def opener(report: Callable[..., None]) -> Session:
    session = open_session(RECORDING)
    session.goto(1000)
    return session


@pytest.mark.parametrize(("first", "last"), [(0, 1), (200, 900), (1, 1500)])
def test_brief_numbers_are_those_of_the_statistics(first: int, last: int) -> None:
    with open_session(RECORDING) as session:
        full, short = between(session.timeline, first, last), brief(session.timeline, first, last)
        assert short.ipc == full.ipc and short.energy_pj == pytest.approx(full.energy_pj)
        assert short.energy_delay_js == pytest.approx(full.energy_delay_js)
        waits = {name: count for name, count in full.states.items()
                 if name not in ("issued", "not_selected", "finished", "no_cta")}
        if waits:
            assert short.most is not None and waits[short.most[0]] == max(waits.values())
            assert short.most[1] == pytest.approx(max(waits.values()) / full.resident)


@pytest.mark.parametrize(("pj", "said"), [(0.0, ("pJ", 1)), (0.4, ("pJ", 1)), (12.0, ("pJ", 1)), (4.1e3, ("nJ", 1e3)),
                                          (22.56e6, ("µJ", 1e6)), (-3e9, ("mJ", 1e9))])
def test_energies_have_units_that_fit(pj: float, said: tuple[str, float]) -> None:
    assert energy_unit(pj) == said


def test_small_energies_are_not_zero_microjoules() -> None:
    short = Brief(0, 10, 0.5, None, {"dynamic": 410.0, "leakage": 0.0, "refresh": 0.0, "total": 410.0}, 3.5e-13)
    assert "RF 410 pJ" in short.text


def test_a_stretch_follows_the_cursor_until_it_is_ended() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("V", ")", "9", "9", "}")
        assert (app.scene.brush.first, app.scene.brush.last, app.scene.brush.is_open) == (1000, 10910, True)
        text = app.screen_text()
        assert "1,000 to 10,910: 9,910 cycles" in text and "EDP" in text and "├──────" in text
        await app.press("9", "9", "{", "2", "0", "S")
        assert (app.scene.brush.first, app.scene.brush.last) == (990, 1000)
        await app.press("V", "9", "}")
        assert (app.scene.brush.first, app.scene.brush.last, app.scene.brush.is_open) == (990, 1000, False)
        assert "990 to 1,000: 10 cycles" in app.screen_text()
        await app.press("#")
        assert "990" in app.window_text() and "1,000" in app.window_text()
        await app.press("escape", "escape")
        assert app.scene.brush is None and "├" not in app.screen_text()

    drive(test, opener=opener)


def test_a_drag_takes_a_stretch_and_the_numbers_follow_the_pointer() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        view = app.app.main.views["overview"]
        x, y = view.region.x, view.region.y + 1

        def mouse(kind: Any, column: int, button: int = 1) -> Any:
            return kind(view, column, 1, 0, 0, button, False, False, False, x + column, y)

        view.on_mouse_down(mouse(events.MouseDown, 20))
        seen = []
        for column in (30, 40):
            view.on_mouse_move(mouse(events.MouseMove, column))
            await app.settle()
            seen.append((app.scene.brush.first, app.scene.brush.last, app.scene.cycle, app.scene.brush.text))
        view.on_mouse_up(mouse(events.MouseUp, 40))
        view.on_click(mouse(events.Click, 40))
        await app.settle()
        assert seen[0][0] == seen[1][0] < seen[0][1] < seen[1][1] and seen[1][1] == seen[1][2] and seen[0][3] != seen[1][3]
        assert not app.scene.brush.is_open and app.scene.brush.text in app.screen_text()

    drive(test, opener=opener)


def test_places_can_be_named(tmp_path: Path) -> None:
    async def test(app: Driven) -> None:
        await app.press("m", "a", ":")
        await app.type("range 100 @a")
        assert (app.scene.brush.first, app.scene.brush.last) == (100, 1000)
        await app.press(":")
        await app.type("range nowhere 5")
        assert app.scene.message_kind == "error" and "nowhere" in app.screen_text()

    async def settled(app: Driven) -> None:
        await app.settle()
        await test(app)

    def copied(report: Callable[..., None]) -> Session:
        (tmp_path / "first.rfs").write_bytes(RECORDING.read_bytes())     # marks are saved next to it
        session = open_session(tmp_path / "first.rfs")
        session.goto(1000)
        return session

    drive(settled, opener=copied, size=(80, 24))


def test_an_empty_stretch_is_none() -> None:
    with open_session(RECORDING) as session:
        brush = BrushSource(session)
        brush.turn(Keys())
        assert brush.view() is None and brush.start == 0
        assert brush.turn(Keys()) == "range dropped" and brush.start is None
        with pytest.raises(InputError, match="two places"):
            brush.of_text("1")
