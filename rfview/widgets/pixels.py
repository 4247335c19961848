"""Pixels as terminal escape sequences, made with the package textual-image, one row of cells at a time.

Each row is its own image, so that a moving cursor costs only the rows it leaves and enters, and so that the screen
repaints pictures as it repaints text. Sequences are sent with the row's text, in order with everything else.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.segment import ControlType, Segment

from rfview.graphics import Graphics

CONTROL = ((ControlType.CURSOR_FORWARD, 0),)    # Rich: this segment takes no cells
CELLS = ("TEXTUAL_CELL_WIDTH", "TEXTUAL_CELL_HEIGHT")
MAX_CELLS = 297            # Kitty's placeholders can number no more columns


@contextmanager
def captured_from_terminal() -> Iterator[io.StringIO]:
    """Capture what textual-image would write to the terminal, where Textual's thread writes at the same time.

    Without a terminal, it sends no queries either, whose answers Textual's other thread would take.
    """
    captured, before = io.StringIO(), sys.__stdout__
    setattr(sys, "__stdout__", captured)  # noqa: B010 (typeshed calls it final)
    try:
        yield captured
    finally:
        setattr(sys, "__stdout__", before)  # noqa: B010


class Encoder:
    """Turns rows of pixels into what a terminal draws, and keeps the last result for each place."""

    def __init__(self, graphics: Graphics, colours: list[tuple[int, int, int]]):
        self.kind, self.cell = graphics.kind, graphics.cell
        self.palette = bytes(part for colour in colours for part in colour)
        self.console = Console(file=io.StringIO(), width=MAX_CELLS, color_system="truecolor", force_terminal=True)
        self.last: dict[tuple[int, int], tuple[bytes, list[Segment], int]] = {}
        with captured_from_terminal():
            # imported here, since few users look at pictures in such a terminal: a faster start
            from PIL import Image
            from textual_image.renderable.sixel import Image as Sixel
            from textual_image.renderable.tgp import Image as Kitty

            self.image: Any = Image
            self.renderable: Any = Kitty if self.kind == "kitty" else Sixel
            before = {name: os.environ.get(name) for name in CELLS}
            os.environ.update(zip(CELLS, map(str, self.cell), strict=True))     # read once, by the first image
            try:
                self._rendered(np.zeros(self.cell[::-1], np.uint8))
            finally:
                for name, value in before.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value

    def segments(self, place: tuple[int, int], pixels: np.ndarray) -> list[Segment]:
        """Return the segments that draw (cell's height, cells * cell's width) u1 pixels. place: (row, pane)."""
        data = pixels.shape[1].to_bytes(4, "little") + pixels.tobytes()
        before = self.last.get(place)
        if before is not None and before[0] == data:
            return before[1]
        sent, parts, number = self._rendered(pixels)
        cells = pixels.shape[1] // self.cell[0]
        if self.kind == "kitty":
            old = f"\x1b_Ga=d,d=I,i={before[2]},q=2\x1b\\" if before is not None else ""
            shown = [Segment(part.text.rstrip("\n"), part.style) for part in parts if part.text.strip()]
            segments = [Segment(sent, None, CONTROL), *shown, Segment(old, None, CONTROL)]
        else:
            drawn = next(part.text for part in parts if part.text.startswith("\x1bP"))
            # back over the blanks that reserve the place, then to where the row continues
            segments = [Segment(" " * cells), Segment(f"\x1b7\x1b[{cells}D{drawn}\x1b8", None, CONTROL)]
        self.last[place] = (data, segments, number)
        return segments

    def _rendered(self, pixels: np.ndarray) -> tuple[str, list[Segment], int]:
        """Return what must be sent first, the segments, and Kitty's number of the image, for one row."""
        cells = pixels.shape[1] // self.cell[0]
        image = self.image.frombytes("P", pixels.shape[::-1], pixels.tobytes())
        image.putpalette(self.palette)
        drawn = self.renderable(image, cells, 1)
        with captured_from_terminal() as sent:
            parts = list(self.console.render(drawn, self.console.options))
        return sent.getvalue(), parts, getattr(drawn, "terminal_image_id", 0)
