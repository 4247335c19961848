"""The content of a window: lines on its ground, in a size that its screen chooses; of a picture's, also rows of pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from rfview.widgets.panel import PanelView, StripCache

Pieces = Sequence[tuple[int, int, list[Segment]]]       # of a row: (column, cells, what is drawn there)


class WindowView(PanelView):
    """Shows whole lines; what is behind it stays visible around it."""

    DEFAULT_CSS = """
    WindowView { position: relative; width: 96; height: 22; }
    """

    def __init__(self, strips: StripCache):
        super().__init__(strips, "window")

    def frame(self, width: int, height: int, is_lined: bool) -> None:
        """Set the size of the content; is_lined: with lines at its sides, where no ground tells it from what is behind."""
        self.styles.width, self.styles.height = width + 2 * is_lined, height
        kind: Literal["ascii", "solid"] = "ascii" if self.strips.palette.ascii else "solid"
        self.styles.border_left = self.styles.border_right = (kind, "ansi_default") if is_lined else None


class PictureView(WindowView):
    """Shows pieces of graphics in place of blanks; only rows that differ are repainted."""

    pieces: Mapping[int, Pieces]

    def show_pieces(self, pieces: Mapping[int, Pieces]) -> None:
        """Show graphics in these rows and no others."""
        before = getattr(self, "pieces", {})
        self.pieces = pieces
        changed = [y for y in {*before, *pieces} if before.get(y) != pieces.get(y)]
        if changed:
            self.refresh(*(Region(0, y, max(1, self.size.width), 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        """Return a row; without graphics if another window is on top, since they would be drawn over it."""
        strip, pieces = super().render_line(y), getattr(self, "pieces", {}).get(y)
        if not pieces or not self.screen.is_active:
            return strip
        segments: list[Segment] = []
        at, blank = 0, next((segment.style for segment in strip), None)
        for column, cells, drawn in pieces:
            segments += strip.crop(at, column)
            segments += [Segment(one.text, blank, one.control) if one.text.isspace() else one for one in drawn]
            at = column + cells
        return Strip([*segments, *strip.crop(at, strip.cell_length)], strip.cell_length)
