"""Pictures in pixels: which terminals get them, and that the output decodes to the right picture, as in a terminal."""

from __future__ import annotations

import base64
import importlib.util
import io
import re
import sys
from typing import Any

import numpy as np
import pytest

from rfview import graphics
from rfview.engine.errors import InputError
from rfview.graphics import Graphics
from rfview.screens.windows.image import ImageWindow
from rfview.sessions.pictures.png import scale, shares
from rfview.widgets.window import PictureView
from tests.rfview.pilots import Driven, drive
from tests.rfview.test_image_window import opened, plain

has_library = pytest.mark.skipif(importlib.util.find_spec("textual_image") is None, reason="needs rfview[pictures]")
CELL = (6, 12)
PLACEHOLDER = "\U0010EEEE"


def test_the_terminal_is_known_by_its_name() -> None:
    for environ, kind in (
        ({"TERM": "xterm-kitty"}, "kitty"), ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "foot"}, "sixel"), ({"LC_TERMINAL": "iTerm2"}, "sixel"), ({"KONSOLE_VERSION": "240801"}, "sixel"),
        ({"KONSOLE_VERSION": "211200"}, "blocks"), ({"TERM": "xterm-256color"}, "blocks"), ({}, "blocks"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/1"}, "blocks"), ({"TERM": "tmux-256color", "LC_TERMINAL": "iTerm2"}, "blocks"),
        ({"TERM": "xterm-kitty", "RFVIEW_GRAPHICS": "blocks"}, "blocks"),
        ({"TERM": "tmux-256color", "TMUX": "1", "RFVIEW_GRAPHICS": "sixel"}, "sixel"),
        ({"TERM": "xterm-kitty", "RFVIEW_GRAPHICS": "kitty", "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}, "blocks"),
    ):
        assert graphics.choose_kind(environ) == kind, environ


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphics.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(graphics, "cell_pixels", lambda: None)
    assert graphics.choose({"TERM": "foot"}, True) == Graphics(missing="does not report the size of a cell in pixels")
    assert graphics.choose({"TERM": "xterm-kitty"}, True) == Graphics("kitty", graphics.CELL)
    assert graphics.choose({"TERM": "xterm-kitty"}, False) == Graphics(missing="needs COLORTERM=truecolor")
    monkeypatch.setattr(graphics, "cell_pixels", lambda: (9, 18))
    assert graphics.choose({"TERM": "foot"}, True) == Graphics("sixel", (9, 18))
    with pytest.raises(InputError, match="RFVIEW_GRAPHICS: 'png' is not one of auto, kitty, sixel, blocks"):
        graphics.choose_kind({"RFVIEW_GRAPHICS": "png"})


def test_without_the_library_half_blocks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFVIEW_GRAPHICS", "kitty")
    monkeypatch.setattr(graphics.importlib.util, "find_spec", lambda name: None)

    async def test(app: Driven) -> None:
        window = await opened(app, "c 32x16")
        assert window.view.graphics == "" and "▀" in app.window_text() and "1 half cell = 1 × 1 pixels" in app.window_text()
        assert app.scene.message == "half blocks: Kitty graphics lacks textual-image; pip install 'rfview[pictures]'"

    drive(test, opener=plain)


@has_library
@pytest.mark.parametrize("kind", ["kitty", "sixel"])
def test_the_picture_decodes_to_the_buffer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFVIEW_GRAPHICS", kind)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr(graphics, "cell_pixels", lambda: CELL)
    monkeypatch.setattr(sys, "__stdout__", io.StringIO())

    async def test(app: Driven) -> None:
        window = await opened(app, "c 32x16")
        text = app.window_text()
        assert f"32 × 16 f32   {graphics.NAMES[kind]}, 1 cell = 1 × 2" in text and "▀" not in text
        await app.press(*("left",) * 32, *("up",) * 16)
        view = window.view
        assert (view.x, view.y) == (0, 0)
        start, now, changed = decoded(window, kind)
        assert now.shape == (8 * CELL[1], 32 * CELL[0], 3)
        low, high = scale(view.picture)
        grey = np.rint(shares(view.picture.now, low, high) * 47) * 255 / 47
        centres = now[CELL[1] // 4 :: CELL[1] // 2, CELL[0] // 2 :: CELL[0]].astype(int)
        # the frame covers only the edges of the pixel at 0, 0 and its neighbours; Sixel has 101 levels per colour
        assert np.abs(centres - grey[..., None])[0, 0].max() < 2.6 and np.abs(centres - grey[..., None])[2:].max() < 2.6
        assert len(np.unique(start[6 * CELL[1] :])) == 1
        red = changed[3 * CELL[1] :].astype(int)
        assert (red[..., 0] > red[..., 1]).all()
        assert (np.abs(now[CELL[1] // 2, 0].astype(int) - (0, 0, 0)) < 3).all()       # the frame's outline
        assert any(np.abs(pixel.astype(int) - (0, 229, 255)).max() < 3 for pixel in now[: 2 * CELL[1], 2])
        before = dict(window.query_one(PictureView).pieces)
        await app.press("G", "down", "down")
        after = window.query_one(PictureView).pieces
        assert [y for y in before if before[y] != after[y]] == [2, 3]       # only the rows that the cursor left and entered
        links = window.view.links
        await app.press("enter")
        assert app.cycle == links[0].cycle and app.scene.warp == links[0].warp
        assert sys.__stdout__.getvalue() == ""      # all output goes through Textual

    drive(test, opener=plain)


def decoded(window: ImageWindow, kind: str) -> list[np.ndarray]:
    """Return (height, width, 3) u1 of each pane as a terminal shows them."""
    view = window.query_one(PictureView)
    rows: list[list[np.ndarray]] = []
    for y in sorted(view.pieces):
        strip = view.render_line(y)
        assert strip.cell_length == view.size.width == sum(
            0 if one.control else len(one.text) if PLACEHOLDER not in one.text else one.text.count(PLACEHOLDER) for one in strip)
        rows.append(from_kitty(list(strip)) if kind == "kitty" else from_sixel(list(strip)))
    return [np.concatenate(pane) for pane in zip(*rows, strict=True)]


def from_kitty(segments: list[Any]) -> list[np.ndarray]:
    """Return the images of a row: sent as PNG, placed by number, shown where placeholders have its number as colour."""
    from PIL import Image

    sent: dict[int, np.ndarray] = {}
    cells: dict[int, int] = {}
    shown = []
    for segment in segments:
        chunks: dict[int, str] = {}
        for keys, data in re.findall(r"\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\", segment.text):
            said = dict(pair.split("=") for pair in keys.split(","))
            if said.get("a") == "p":
                assert said["U"] == said["r"] == "1"
                cells[int(said["i"])] = int(said["c"])
            elif "f" in said:
                number = int(said["i"])
                chunks[number] = chunks.get(number, "") + data
                if said["m"] == "0":
                    file = io.BytesIO(base64.b64decode(chunks[number]))
                    sent[number] = np.asarray(Image.open(file, formats=["PNG"]).convert("RGB"))
        if PLACEHOLDER in segment.text:
            red, green, blue = segment.style.color.triplet
            number = next(one for one in sent if one & 0xFFFFFF == red << 16 | green << 8 | blue)
            assert segment.text.count(PLACEHOLDER) == cells[number]
            shown.append(sent[number])
    return shown


def from_sixel(segments: list[Any]) -> list[np.ndarray]:
    """Return the images of a row, each drawn over the blanks before it."""
    shown, blanks = [], 0
    for segment in segments:
        if not segment.control:
            blanks = len(segment.text)
            continue
        match = re.fullmatch(r'\x1b7\x1b\[(\d+)D\x1bP0;0;0q"1;1;(\d+);(\d+)(.*)\x1b\\\x1b8', segment.text, re.S)
        assert match and int(match[1]) == blanks
        width, height = int(match[2]), int(match[3])
        assert (width, height) == (blanks * CELL[0], CELL[1])
        pixels, colours = np.zeros((height + 6, width, 3), np.uint8), {}
        x = y = colour = 0
        for number, rgb, count, bits, control in re.findall(r"#(\d+)((?:;\d+)*)|(?:!(\d+))?([?-~])|([$-])", match[4]):
            if number:
                colour = int(number)
                if rgb:
                    colours[colour] = [round(int(part) * 2.55) for part in rgb.split(";")[2:]]
            elif bits:
                times = int(count or 1)
                for bit in range(6):
                    if (ord(bits) - 63) >> bit & 1:
                        pixels[y + bit, x : x + times] = colours[colour]
                x += times
            else:
                x, y = 0, y + 6 * (control == "-")
        shown.append(pixels[:height])
    return shown
