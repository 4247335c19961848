"""The WHY window tries its relief by keys: the gain below the chain, both runs to their ends, comparison, branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.keys import Pressed
from rfview.screens.compare.screen import CompareScreen
from rfview.screens.windows.why import WhyWindow
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

RECORDING = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
AT = 1450


def opener(report: Callable[..., None]) -> Session:
    session = open_session(RECORDING)
    session.goto(AT)
    return session


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 60)])
def test_f_shows_the_gain_beside_the_chain(size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e")
        assert "f try the relief" in app.window_text()
        await app.press("f")
        text = app.window_text()
        assert "RELIEF  hrf.write_cycles 4 → 1" in text and "the whole run: not measured yet" in text and "as it ran" in text and "1,513" in text and "−48" in text
        assert app.cycle == AT and set(app.session.family) == {"main", "relief1"}
        assert "48 cycles earlier" in app.scene.message
        await app.press("F")
        assert "by chance: not measured; no gain is called one yet" in app.window_text()
        assert "the run, cycles" in app.window_text() and "3,177" in app.window_text() and "F both" not in app.window_text()
        await app.press("f")
        assert len(app.session.family) == 2, "what was tried is kept"
        await app.press("s")
        assert "RELIEF" not in app.window_text(), "another cycle has another chain"

    drive(test, size=size, opener=opener)


def test_the_compare_screen_shows_both_runs_and_the_window_is_still_there_below_it() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "f")
        app.app.screen.act(Pressed("compare"))
        await app.until(lambda: isinstance(app.app.screen, CompareScreen) and app.app.screen.picture is not None)
        text = "\n".join(line.plain for line in app.app.screen.lines)
        assert "A hrf lrr 3,177" in text and "B hrf[write_cycles=1] lrr 2,356" in text and "memory equal" in text
        assert app.app.screen.worker is app.app.worker, "one thread reads the runs"
        app.app.screen.leave()
        await app.settle()
        assert isinstance(app.app.screen, WhyWindow)
        await app.press("B")
        assert app.session.branch.name == "relief1" and app.app.screen is app.app.main

    drive(test, opener=opener)


def test_what_cannot_be_tried_is_told_in_the_event_row() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("$")        # wait: a key acts on what is shown when it is pressed
        await app.press("e", "f")
        assert app.scene.message_kind == "error" and "does not wait" in app.scene.message
        assert "f try" not in app.window_text()
        await app.press("x", "B", "escape")

    drive(test, opener=opener)
