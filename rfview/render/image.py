"""A buffer as a picture: panes of half blocks or characters side by side, one cursor, and what is known of its pixel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfview.keys import Keys
from rfview.render.grid import WIDE, ImageView, framed, half_blocks, page_from
from rfview.render.image_details import below
from rfview.render.text import Line, Row, cut, number, title, visible_from
from rfview.scales import ERRORS, GREYS
from rfview.sessions.commands.image import INK
from rfview.sessions.pictures import png
from rfview.sessions.pictures.png import depths, scale, shares

LEFT, GAP = 2, 3
HINTS = (("column_back up down next_choice", "pixel", 1), ("search_next", "wrong ±"), ("open", "to the store"), "lost_bit",
         ("zoom_in", "zoom"), "other_pane", "png", ("step", "step"), ("copy", "copy"), "close")


@dataclass(frozen=True)
class Panes:
    """The panes' layout: which are shown, cells wide, rows high, pixels per half cell, and the pixel at the upper left."""

    shown: tuple[int, ...]
    width: int
    rows: int
    per: int
    left: int
    top: int


def panes_of(view: ImageView, width: int, height: int) -> Panes:
    """Return the layout of the panes in a window of this size."""
    picture = view.picture
    shown = (0, 1, 2) if width >= WIDE else (view.pane % 2, 2)
    room = (width - LEFT - GAP * len(shown)) // len(shown)
    rows = max(3, height - 4 - (11 if height >= 30 else 4))
    high, wide = (rows, room) if view.glyphs else (2 * rows, room)
    # a character fills a whole cell, so it covers as many rows of pixels as two half cells
    tall = 2 if view.glyphs else 1
    least = max(1, -(-picture.width // wide), -(-picture.height // (high * tall)))
    per = view.zoom or least
    columns, down = min(wide, -(-picture.width // per)), min(high, -(-picture.height // (per * tall)))
    left = _first(view, view.x // per, -(-picture.width // per), columns) * per
    top = _first(view, view.y // (per * tall), -(-picture.height // (per * tall)), down) * per * tall
    return Panes(shown, columns, down if view.glyphs else -(-down // 2), per, left, top)


def _first(view: ImageView, focus: int, count: int, shown: int) -> int:
    """Return the first row or column of blocks shown; graphics cost more to draw, so they scroll by pages."""
    return page_from(focus, count, shown, shown // 4) if view.graphics else visible_from(focus, count, shown)


def starts(panes: Panes, width: int) -> list[int]:
    """Return the window's column in which each pane begins."""
    step = (width - LEFT) // len(panes.shown)
    return [LEFT + place * step for place in range(len(panes.shown))]


def render(view: ImageView, width: int, height: int, keys: Keys) -> list[Line]:
    """Return a buffer as a picture.

     PICTURE out  128 × 128 f32   1 half cell = 4 × 4 pixels
       right                       approximate                 error  log, the worst of a cell
       ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀            ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀            ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
       wrong 542 of 16,384 pixels   worst 0.002441 at 34, 50   RMSE 6.56e-05   PSNR 83.7 dB
     PIXEL 46, 50  out[6446]

    right: the same run without lost bits (edram); for other designs the panes are start, now and changed. ▐ ▌ enclose the
    pixel in focus. Only pixels that already have their final value can count as wrong.
    """
    picture, panes = view.picture, panes_of(view, width, height)
    dtype = f"{picture.now.dtype.kind}{8 * picture.now.dtype.itemsize}"
    per = f"1 {'cell' if view.glyphs else 'half cell'} = {panes.per} × {panes.per * (2 if view.glyphs else 1)} pixels"
    if view.graphics:
        per = f"{view.graphics}, 1 cell = {panes.per} × {2 * panes.per}"
    right = keys.words(("close", "closes"))
    if width >= WIDE:
        right = f"at {number(picture.cycle)}   {keys.words(('zoom_in', 'zoom'), 'png', ('close', 'closes'))}"
    lines = [title(width, f"PICTURE {picture.name}", f"{picture.width} × {picture.height} {dtype}   {per}", focus=True,
                   right=right), _headings(view, panes, width), *_body(view, panes, width)]
    hints = [one for one in HINTS if picture.is_right or one != "lost_bit"]
    return framed(lines, lambda left: below(view, width, left), width, height, keys.hints(*hints))


def _headings(view: ImageView, panes: Panes, width: int) -> Line:
    row = Row(width)
    what = {0: "no bit lost" if view.picture.is_right else "", 1: "", 2: "log" if view.graphics else "log, worst of a cell"}
    step = (width - LEFT) // len(panes.shown)
    for place, pane in enumerate(panes.shown):
        name = view.names[pane]
        row.to(LEFT + place * step).add(name, "bold").add(cut(f"  {what[pane]}", step - len(name) - 1), "dim")
    return row.line()


def _body(view: ImageView, panes: Panes, width: int) -> list[Line]:
    """Return the rows of the panes."""
    if view.graphics:
        return [Row(width).line()] * panes.rows
    cells = [_pane(view, panes, pane) for pane in panes.shown]
    tall = 2 * panes.per
    column, line = (view.x - panes.left) // panes.per, (view.y - panes.top) // tall
    lines = []
    for y in range(panes.rows):
        row = Row(width)
        for start, rows in zip(starts(panes, width), cells, strict=True):
            marked = y == line and 0 <= column < len(rows[y])
            row.to(start - 1).add("▐" if marked and column == 0 else " ", "bold")
            shown = list(rows[y])
            if marked:
                if column > 0:
                    shown[column - 1] = ("▐", "bold")
                if column + 1 < len(shown):
                    shown[column + 1] = ("▌", "bold")
            row.cells(shown)
            if marked and column + 1 == len(shown):
                row.add("▌", "bold")
        lines.append(row.line())
    return lines


def _pane(view: ImageView, panes: Panes, pane: int) -> list[list[tuple[str, str]]]:
    """Return the rows of cells of one pane."""
    picture, high = view.picture, panes.rows * (1 if view.glyphs else 2)
    if pane == 2:
        values = blocks(depths(picture), view, panes, high, np.max, -1.0)
    else:
        low, top = scale(picture)
        values = blocks(shares(picture.other if pane == 0 else picture.now, low, top), view, panes, high, np.mean, np.nan)
    if view.glyphs:
        return [[_ink(value, pane) for value in row] for row in values.tolist()]
    roles = [[_role(value, pane) for value in row] for row in values.tolist()]
    return [half_blocks(*roles[2 * y : 2 * y + 2]) for y in range(panes.rows)]


def blocks(values: np.ndarray, view: ImageView, panes: Panes, high: int, join: Callable[..., np.ndarray], missing: float
           ) -> np.ndarray:
    """Return (high, panes.width) values: blocks of pixels, each reduced by `join`; `missing` beyond the picture."""
    per, tall = panes.per, panes.per * (2 if view.glyphs else 1)
    part = values[panes.top : panes.top + high * tall, panes.left : panes.left + panes.width * per]
    joined = png.blocks(part, tall, per, join)
    rows, columns = joined.shape
    return np.pad(joined, ((0, high - rows), (0, panes.width - columns)), constant_values=missing)


def _role(value: float, pane: int) -> str:
    """Return the role of half a cell."""
    if pane == 2:
        return "err:none" if value < 0 else f"err:{round(value * (ERRORS - 1))}"
    return "err:none" if value != value else f"grey:{round(value * (GREYS - 1))}"


def _ink(value: float, pane: int) -> tuple[str, str]:
    """Return the character of a cell, for terminals with 16 colours or none."""
    if pane == 2:
        return (" ", "text") if value < 0 else (INK[1 + min(3, int(value * 4))], "bad")
    return (" ", "text") if value != value else (INK[min(4, int(value * 5))], "text")


def pixel_at(view: ImageView, width: int, height: int, x: int, y: int) -> tuple[int, int] | None:
    """Return the pixel that a cell of the window shows, None outside the panes."""
    panes = panes_of(view, width, height)
    step = (width - LEFT) // len(panes.shown)
    place, column = divmod(x - LEFT, step)
    if not (0 <= place < len(panes.shown) and 0 <= column < panes.width and 2 <= y < 2 + panes.rows):
        return None
    return (min(view.picture.width - 1, panes.left + column * panes.per),
            min(view.picture.height - 1, panes.top + (y - 2) * 2 * panes.per))
