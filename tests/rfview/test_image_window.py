"""The picture window by its keys: pixels, errors by size, zoom, going to the store and the lost bit, saving a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rfview.screens.windows.image import ImageWindow
from rfview.sessions import Session, open_session
from tests.rfview.pilots import Driven, drive

PLAIN = Path(__file__).resolve().parents[2] / "rfview" / "learn" / "recorded" / "drain.rfs"
SIZES = ((80, 24), (120, 40), (160, 60), (60, 16))


def plain(report: Callable[..., None]) -> Session:
    session = open_session(PLAIN)
    session.goto("end")
    return session


def lossy(report: Callable[..., None]) -> Session:
    session = open_session(PLAIN.parent / "fade.rfs")
    session.goto("end")
    return session


async def opened(app: Driven, text: str) -> ImageWindow:
    await app.settle()
    await app.press(":", *f"image {text}", "enter")
    window = app.app.screen
    assert isinstance(window, ImageWindow) and window.view is not None
    return window


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["dark", "ansi16", "mono"])
def test_it_fits_and_says_what_it_shows(size: tuple[int, int], theme: str) -> None:
    async def test(app: Driven) -> None:
        await opened(app, "c 32x16")
        text = app.window_text()
        rows = text.splitlines()
        assert len(rows) == size[1] - 2 and {len(row) for row in rows} == {size[0]}
        assert "PICTURE c  32 × 16 f32" in rows[0] and "Esc close" in rows[-1]
        assert "changed" in rows[1] and ("start" in rows[1]) == (size[0] >= 100) and ("▀" in text) == (theme == "dark")

    drive(test, size=size, theme=theme, opener=plain)


def test_pixels_zoom_and_panes_by_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def test(app: Driven) -> None:
        window = await opened(app, "c 32x16")
        await app.press("n", "n", "N")
        assert window.element() == int(window.order[1])
        await app.press("-", "-", "+", "+", "+")
        assert window.view.zoom == 1
        for _ in range(40):
            await app.press("left")
        await app.press(*("up",) * 20, "right", "down")
        assert (window.view.x, window.view.y) == (1, 1) and " PIXEL 1, 1  c[33] " in app.window_text()
        await app.press("tab")
        assert window.view.pane == 0
        await app.press("p")
        assert app.scene.message_kind == "good" and list(tmp_path.glob("*-c-*.png"))
        links = window.view.links
        assert links and links[0].kind == "store"
        await app.press("b")
        assert "no lost bit" in app.scene.message
        await app.press("enter")
        assert app.cycle == links[0].cycle and app.scene.warp == links[0].warp and app.app.screen is app.app.main

    drive(test, opener=plain)


def test_the_prompt_completes_this_runs_buffers() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        for typed, whole in (("image c", "image c 32x32"), ("heat b", "heat b[0..127]"), ("origin a", "origin a[0]"),
                             ("relie", "relief")):
            await app.press(":", "ctrl+u", *typed)
            assert await app.app.main.prompt.suggester.get_suggestion(typed) == whole
            await app.press("escape")

    drive(test, opener=plain)


def test_scrubbing_fills_the_picture() -> None:
    async def test(app: Driven) -> None:
        window = await opened(app, "c 32x16")
        full = int(window.view.picture.wrong.sum())
        await app.press("g")
        assert window.view.picture.cycle == 0 and not window.view.picture.wrong.any() and full
        await app.press("G", "S")
        assert window.view.picture.cycle == app.cycle > 0

    drive(test, opener=plain)


def test_a_wrong_pixel_leads_to_the_lost_bit() -> None:
    async def test(app: Driven) -> None:
        window = await opened(app, "results 8x8")
        text = app.window_text()
        assert "approximate" in text and "one of 64 that are wrong" in text and "RMSE" in text
        lost = next(link for link in window.view.links if link.kind == "lost")
        assert "lost bits" in text and f"at {lost.cycle:,}" in text
        await app.press("b")
        assert app.cycle == lost.cycle and app.scene.warp == lost.warp and app.scene.reg == lost.register

    drive(test, opener=lossy)


def test_a_mistake_is_told_in_the_window() -> None:
    async def test(app: Driven) -> None:
        await app.settle()
        await app.press(":", *"image nosuch 4x4", "enter")
        assert "no such buffer" in app.window_text()
        await app.press("n", "enter", "p", "escape")
        assert app.app.screen is app.app.main

    drive(test, opener=plain)
