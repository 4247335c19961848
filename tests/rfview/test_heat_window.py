"""The heat window by its keys: opening, moving, zooming, going to the writer; at every size and without colours."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.errors import InputError
from rfview.keys import Keys
from rfview.render import heat as painter
from rfview.screens import requests
from rfview.screens.windows.heat import HeatWindow
from rfview.sessions import Session, open_session
from rfview.sessions.heat import around, heat
from tests.rfview.pilots import Driven, drive

RECORDING = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
START = 1100
SIZES = ((80, 24), (120, 40), (160, 60), (60, 16))


def opener(report: Callable[..., None]) -> Session:
    session = open_session(RECORDING)
    session.goto(START)
    return session


async def opened(app: Driven, item: str) -> HeatWindow:
    await app.settle()
    await app.press(":", *f"heat {item}", "enter")
    window = app.app.screen
    assert isinstance(window, HeatWindow) and window.view is not None
    return window


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["dark", "ansi16", "mono"])
def test_it_fits_and_says_what_it_shows(size: tuple[int, int], theme: str) -> None:
    async def test(app: Driven) -> None:
        window = await opened(app, "w0.R2")
        text = app.window_text()
        rows = text.splitlines()
        assert len(rows) == size[1] - 2 and {len(row) for row in rows} == {size[0]}
        assert "REGISTER w0.R2" in rows[0] and f"{START:,}" in rows[1] and "Esc close" in rows[-1]
        assert window.view.strip.each == 1, "lanes are never joined"
        assert " wrote " in text and ("▀" in text) == (theme == "dark") and window.view.strip.of == 32

    drive(test, size=size, theme=theme, opener=opener)


def test_keys_move_in_time_and_among_lanes_zoom_and_go_to_who_wrote() -> None:
    async def test(app: Driven) -> None:
        window = await opened(app, "w0.R2")
        per = int(window.view.strip.edges[1] - window.view.strip.edges[0])
        await app.press("right")
        assert app.cycle == START + per
        await app.press("left", "-")
        assert app.cycle == START and window.view.strip.edges[1] - window.view.strip.edges[0] > per
        await app.press("+", "+", "+", "+", "+")
        assert window.view.strip.edges[1] - window.view.strip.edges[0] == 1
        await app.press("down", "down", "up", "j")
        assert window.lane == 2 and window.view.moment.row == 2 and "▸    2" in app.window_text()
        await app.press(",")
        before = app.cycle
        assert before < START and heat(app.session, "w0.R2").moment(before, 2).since == before
        await app.press(".")
        assert app.cycle > before
        await app.press("o")
        assert window.by_write and (window.view.strip.writes[1:] == 1).all()
        await app.press("l")
        assert " log " in app.window_text().splitlines()[0]
        kind = window.view.strip.kind
        await app.press("t")
        assert window.view.strip.kind != kind or heat(app.session, "w0.R2").kind == kind
        since = window.view.moment.since
        await app.press("w")
        assert any(point.item == "w0.R2[2]" for point in app.session.breakpoints.values())
        await app.press("enter")
        assert app.cycle == since and app.app.screen is app.app.main

    drive(test, opener=opener)


def test_registers_opens_it_with_enter_and_with_its_key() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("r", "j", "j", "enter")
        assert isinstance(app.app.screen, HeatWindow) and app.app.screen.item == "w0.R2"
        await app.press("escape", "u")
        assert app.app.screen.item == "w0.R2"
        await app.press("escape")
        assert app.app.screen is app.app.main

    drive(test, opener=opener)


def test_a_buffers_elements_and_the_store() -> None:
    async def test(app: Driven) -> None:
        name = app.session.info.buffers[-1].name if app.app.worker.is_open else "c"
        window = await opened(app, f"{name}[0..63]")
        await app.press("$")
        text = app.window_text()
        assert f"BUFFER {name}[0..63]" in text and "stored " in text and "element" in text.splitlines()[-1]
        moment = window.view.moment
        assert moment.since > 0 and f"w{moment.warp} lane {moment.lane}" in text
        await app.press("t")
        assert app.scene.message_kind == "error" and "as the launch declares" in app.scene.message
        await app.press("enter")
        assert app.cycle == moment.since and app.scene.warp == moment.warp

    drive(test, opener=opener)


def test_a_mistake_is_told_in_the_window() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(":", *"heat nosuch", "enter")
        assert "expected a register as w5.R3" in app.window_text()
        await app.press("enter", "right", "w", "y", "escape")
        assert app.app.screen is app.app.main

    drive(test, opener=opener)


@pytest.mark.parametrize(("line", "function"), [("heat w0.R2", "heat"), ("image y", "image")])
def test_a_request_that_fails_is_not_repeated_until_the_cursor_moves(
        line: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fails(worker: Any, *arguments: Any) -> None:
        asked.append(function)
        raise InputError("a damaged chunk")

    async def test(app: Driven) -> None:
        monkeypatch.setattr(requests, function, fails)
        await app.settle()
        await app.press(":", *line, "enter")
        assert "a damaged chunk" in app.window_text()
        before = len(asked)
        await app.press("s")
        assert len(asked) == before + 1

    drive(test, opener=opener)


def test_the_scales_end_fits_beside_it() -> None:
    shown = {0.0: "0", 1e-5: "1e-5", 0.0125: "0.013", 0.5: "0.5", 330.4: "330", 1000: "1k", 37_244.0: "37.2k", 2.5e8: "250M",
             3e12: "3e12"}
    assert {top: painter.scale_text(top) for top in shown} == shown and max(map(len, shown.values())) <= 5


def test_a_warm_screen_is_drawn_within_its_bound() -> None:
    """Reading, computing and painting take 50 ms of processor time at most; tests.bench measures a long recording."""
    with open_session(RECORDING) as session:
        session.goto(START)
        timeline, found = session.timeline, heat(session, "w0.R2")
        for per in (1, 10, 1000):
            best = 1.0
            for _ in range(3):
                begin = time.process_time()
                strip = found.strip(around(START, 104, per, timeline.first, timeline.last))
                view = painter.HeatView(strip, found.moment(START, 3), START, 3, program=tuple(session.info.program))
                assert len(painter.render(view, 120, 38, Keys())) == 38
                best = min(best, time.process_time() - begin)
            assert best < 0.05, f"{per} cycles a column: {1000 * best:.1f} ms"
