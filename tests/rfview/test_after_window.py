"""WHY turned round by its own key: what stood still, measured, and back; Enter leads to the wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_what_cannot_be_answered_is_said_in_the_window() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("e", "e")
        assert "no instruction holds w0 up at cycle 400 (suspended)" in " ".join(app.window_text().split())
        await app.press("f", "j", "enter", "y")
        assert isinstance(app.app.screen, AfterWindow)

    drive(test, opener=opener("dead.rfs", 400))
