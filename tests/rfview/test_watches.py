"""WATCHES: typed values, before and now, and a plot of means over the recorded cycles; shown if there is room."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfview.screens.handlers import prompt
from rfview.sessions import open_session
from tests.rfview.pilots import Driven, drive

DRAIN = Path(__file__).parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
CYCLE = 2345      # w0 has just loaded R5


def test_watches_show_values_and_the_last_1024_cycles() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.go(CYCLE)
        assert "watches" not in {place.panel for place in app.app.main.places}
        for item in ("stall.wb_drain", "w0.R5[3]", "w0.state"):
            prompt.entered(app.app.main, ":", f"watch {item}")
            await app.settle()
        held, register, state = (point.watch for point in app.scene.breakpoints)
        start = (CYCLE // 16 - 63) * 16
        values = app.session.expression("stall.wb_drain").column(start, CYCLE + 1)
        edges = np.arange(0, len(values), 16)
        means = np.add.reduceat(values, edges) / np.diff(np.append(edges, len(values)))
        assert held.last == tuple(means.tolist()) and len(held.last) == 64
        assert (held.low, held.high) == (str(values.min()), str(values.max())) and held.now == str(values[-1])
        word = app.session.value("w0.R5[3]")
        assert register.kind == "f32" and float(register.now) == float(f"{np.uint32(word).view(np.float32):.6g}")
        assert state.is_state and state.now == app.scene.look(int(state.last[-1])).name
        assert app.scene.look(app.scene.now.state[0]).name == state.now
        shown = app.screen_text()
        assert "WATCHES" in shown and "last 1,024 cycles" in shown and f"{held.low} to {held.high}" in shown
        await app.press("tab", "tab", "tab", "tab", "tab", "tab", "tab")
        assert app.scene.panel == "watches"
        await app.press("j", ",")
        assert app.cycle < CYCLE and app.session.value("w0.R5[3]") == word != app.session.value("w0.R5[3]", app.cycle - 1)
        await app.press("w")
        assert [point.watch.item for point in app.scene.breakpoints] == ["stall.wb_drain", "w0.state"]
        await app.press("enter")
        assert "BREAKPOINTS" in app.window_text() and f"{held.low} to {held.high}" in app.window_text()

    drive(test, size=(160, 50), opener=lambda report: open_session(DRAIN))
