"""WHY turned round by its own key: what stood still, measured, and back; Enter leads to the wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.screens.compare.screen import CompareScreen
from rfview.screens.windows.after import AfterWindow
from rfview.screens.windows.why import WhyWindow
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

RECORDED = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded"


def opener(name: str, cycle: int) -> Callable[[Callable[..., None]], Session]:
    def opened(report: Callable[..., None]) -> Session:
        session = open_session(RECORDED / name)
        session.goto(cycle)
        return session
    return opened


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_e_turns_why_round_and_back(size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        text = app.window_text()
        assert isinstance(app.app.screen, AfterWindow) and "444 warp-cycles of 31 warps stood still for it" in text
        assert "≤ 175" in text and "MEASURED" not in text
        await app.press("f")
        text = app.window_text()
        assert "no claim" in text and "earlier ▒ mixed" in text and "f run on" not in text
        await app.press("e")
        assert isinstance(app.app.screen, WhyWindow)
        await app.press("e")        # rows to choose from come when the worker has them
        await app.press("j", "enter")
        assert app.app.screen is app.app.main and (app.cycle, app.scene.warp) == (799, 0)

    drive(test, size=size, opener=opener("shift.rfs", 700))


def test_n_goes_to_issues_that_came_late_and_x_compares_both_runs() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        await app.press("n")
        assert "f runs on without it" in app.app.main.shown_message and app.cycle == 700
        await app.press("x")
        assert "there is no run without it yet" in app.app.main.shown_message
        await app.press("f")
        await app.press("n")
        first = app.cycle
        assert first > 700 and "and without the delay" in app.app.main.shown_message and isinstance(app.app.screen, AfterWindow)
        await app.press("n")
        assert app.cycle > first
        await app.press("N")
        assert app.cycle == first
        await app.press("N")
        assert app.cycle == first and "no earlier issue came late" in app.app.main.shown_message
        await app.press("x")
        await app.until(lambda: isinstance(app.app.screen, CompareScreen) and app.app.screen.picture is not None)
        app.app.screen.leave()
        await app.settle()
        await app.press("e")
        assert app.app.screen is app.app.main, "the chain below would be of another cycle"

    drive(test, opener=opener("shift.rfs", 700))


def test_a_wait_for_the_register_file_is_measured_with_the_setting_that_lifts_it() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e", "f")
        assert "the setting as long as it waits" in app.window_text()
        assert "With hrf.write_cycles 1, not 4, in the cycles" in " ".join(app.window_text().split())

    drive(test, opener=opener("drain.rfs", 1450))


def test_enter_before_the_waits_are_known_says_so() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        window = app.app.screen
        window.found = None         # as it is until the worker has looked
        await app.press("enter")
        assert app.app.screen is window and "no wait to go to yet" in app.app.main.shown_message

    drive(test, opener=opener("shift.rfs", 700))


def test_the_key_that_measures_is_offered_only_where_it_can() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        text = app.window_text()
        assert "cannot be measured: w0's FADD" in " ".join(text.split()) and "f run on" not in text
        for key in "fnx":
            await app.press(key)
            assert "has a fixed latency, which the compiler counted on" in app.app.main.shown_message

    drive(test, size=(120, 40), opener=opener("promise.rfs", 746))


def test_what_cannot_be_answered_is_said_in_the_window() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        assert "no instruction holds w0 up at cycle 400 (suspended)" in " ".join(app.window_text().split())
        await app.press("f", "j", "enter", "y")
        assert isinstance(app.app.screen, AfterWindow)

    drive(test, opener=opener("dead.rfs", 400))
