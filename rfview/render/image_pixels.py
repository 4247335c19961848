"""A buffer as a picture in pixels: what half blocks show at full resolution, with a frame around the pixel in focus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rfview import scales
from rfview.render.grid import ImageView
from rfview.render.image import Panes, blocks, panes_of, starts
from rfview.scales import ERRORS, GREYS
from rfview.sessions.pictures.png import depths, scale, shares

TOP = 2                     # rows of the window above the panes
NONE, GREY, ERROR = 0, 1, 1 + GREYS
FRAME = ERROR + ERRORS
OUTLINE = FRAME + 1
COLOURS = ("#00E5FF", "#000000")        # of FRAME and OUTLINE; no grey or error colour is like the first


def colours(light: bool) -> list[tuple[int, int, int]]:
    """Return the (red, green, blue) of each colour number."""
    known = scales.colours(light)
    names = ["err:none", *(f"grey:{level}" for level in range(GREYS)), *(f"err:{level}" for level in range(ERRORS))]
    return [(int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16))
            for text in (*(known[name] for name in names), *COLOURS)]


def rows_of(view: ImageView, width: int, height: int, cell: tuple[int, int]) -> dict[int, list[tuple[int, np.ndarray]]]:
    """Return window row -> (column, pixels) of each pane; pixels: (cell's height, width) u1 colour numbers."""
    panes, rows = panes_of(view, width, height), {}
    columns = starts(panes, width)
    shown = [_pane(view, panes, pane, cell) for pane in panes.shown]
    for y in range(panes.rows):
        rows[TOP + y] = [(x, pixels[y * cell[1] : (y + 1) * cell[1]]) for x, pixels in zip(columns, shown, strict=True)]
    return rows


def _pane(view: ImageView, panes: Panes, pane: int, cell: tuple[int, int]) -> np.ndarray:
    """Return one pane as (panes.rows * cell's height, panes.width * cell's width) u1 colour numbers.

    Elements smaller than a terminal pixel are combined as in a half cell: their mean, or the worst error.
    """
    per, (wide, high), picture = panes.per, cell, view.picture
    least = max(1, -(-per // wide), -(-2 * per // high))
    fine = replace(panes, per=least, width=-(-panes.width * per // least))
    rows = -(-panes.rows * 2 * per // least)
    if pane == 2:
        values = blocks(depths(picture), view, fine, rows, np.max, -1.0)
        numbers = np.where(values < 0, NONE, ERROR + np.rint(np.maximum(values, 0) * (ERRORS - 1)))
    else:
        values = blocks(shares(picture.other if pane == 0 else picture.now, *scale(picture)), view, fine, rows, np.mean,
                        np.nan)
        numbers = np.where(np.isnan(values), NONE, GREY + np.rint(np.nan_to_num(values) * (GREYS - 1)))
    xs = np.arange(panes.width * wide) * per // wide // least
    ys = np.arange(panes.rows * high) * 2 * per // high // least
    pixels = numbers.astype(np.uint8)[ys[:, None], xs]
    x, y = view.x - panes.left, view.y - panes.top
    _frame(pixels, (x * wide // per, -(-(x + 1) * wide // per)), (y * high // (2 * per), -(-(y + 1) * high // (2 * per))),
           max(1, wide // 6))
    return pixels


def _frame(pixels: np.ndarray, xs: tuple[int, int], ys: tuple[int, int], thick: int) -> None:
    """Draw a frame of two colours around a rectangle, which stays unchanged."""
    inside = pixels[max(0, ys[0]) : max(0, ys[1]), max(0, xs[0]) : max(0, xs[1])].copy()
    for number, by in ((OUTLINE, 3 * thick), (FRAME, 2 * thick), (OUTLINE, thick)):
        pixels[max(0, ys[0] - by) : max(0, ys[1] + by), max(0, xs[0] - by) : max(0, xs[1] + by)] = number
    pixels[max(0, ys[0]) : max(0, ys[1]), max(0, xs[0]) : max(0, xs[1])] = inside
