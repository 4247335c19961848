"""The PIPELINE panel: rows and links of the focused warp, its keys, and its layout at both sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.render import pipeline
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

FIRST = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"


def opener(report: Callable[..., None]) -> Session:
    session = open_session(FIRST)
    session.goto(251)
    return session


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_rows_links_and_keys(size: tuple[int, int]) -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("3", "o", "P")
        text = app.screen_text()
        assert "PIPELINE  w3   1 column = 1 cycle" in text and "▸   10 add" in text
        assert "R0+ ▸" in text and "R2+ ▸" in text and "w3's 10th" in text and "R0 R1 of its 8th, R2 R3 of its" in text
        row = next(line for line in text.splitlines() if "▸   10" in line)
        assert "↓↓↓" in row
        if size[0] >= 120:
            assert "Ixxx" in row
        await app.press("j")
        assert app.session.cycle == 277 and app.scene.now.state[3] == 0
        await app.press("-", "-")
        assert "1 column = 5 cycles" in app.screen_text()
        await app.press("o")
        assert "PIPELINE  w2" in app.screen_text()
        await app.press("escape")
        assert app.scene.panel == "warps" and app.app.worker.source.pipes.columns == 0

    drive(test, opener=opener, size=size)


def test_a_click_goes_to_the_cycle_of_its_column() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("3", "o", "P")
        place = next(place for place in app.app.main.places if place.panel == "pipeline")
        panel = app.app.main.views["pipeline"]
        await app.until(lambda: panel.region.size == (place.width, place.height))       # Textual lays it out later
        x = pipeline.label_of(120) + 30
        await app.pilot.click("#panel-pipeline", offset=(x, 5))
        await app.settle()
        assert app.scene.pipes.column(app.session.cycle) == 30

    drive(test, opener=opener)


def test_ascii_draws_ascii() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press("3", "o", "P")
        palette = app.app.strips.palette
        panel = app.app.main.views["pipeline"]
        assert all(palette.text(line.plain).isascii() for line in panel.lines)

    drive(test, opener=opener, ascii_only=True)
