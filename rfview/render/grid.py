"""What windows of values on a grid show, a strip over time or a picture, and what both have: a frame, cells, scrolling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rfview.render.text import Line, fill, hint_row

if TYPE_CHECKING:
    from typing import Self

    from rfview.engine.info import Instruction
    from rfview.sessions.heat.strip import Moment, Strip
    from rfview.sessions.pictures.origin import Link
    from rfview.sessions.pictures.picture import Picture

WIDE = 100                  # cells from which what lies below stands side by side, and from which there are three panes


@dataclass(frozen=True, kw_only=True)
class GridView:
    """What such a window shows, and how. glyphs: characters instead of colours; ascii: only ASCII characters."""

    glyphs: bool = False
    ascii: bool = False

    def at(self, **facts: object) -> Self:
        """Return the view with some facts replaced."""
        return replace(self, **facts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class HeatView(GridView):
    """A strip and the focused lane's moment. lane: counted from the strip's first. by_write: a column is a write."""

    strip: Strip
    moment: Moment
    cycle: int
    lane: int
    by_write: bool = False
    log: bool = False
    program: Sequence[Instruction] = field(default=(), repr=False)


@dataclass(frozen=True)
class ImageView(GridView):
    """A picture. x, y: the pixel in focus. zoom: pixels per half cell, 0 for as many as necessary.

    pane: the one that comes first if not all fit. links: how the pixel got its value, None until that is known.
    graphics: the terminal's graphics that draw the panes, which stay blank here; "": half blocks or characters.
    """

    picture: Picture
    x: int = 0
    y: int = 0
    zoom: int = 0
    pane: int = 1
    links: Sequence[Link] | None = None
    graphics: str = ""

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of the panes."""
        return ("right", "approximate", "error") if self.picture.is_right else ("start", "now", "changed")


def framed(rows: list[Line], below: Callable[[int], list[Line]], width: int, height: int, hints: Sequence[tuple[str, str]]
           ) -> list[Line]:
    """Return a window's lines: title and grid, what `below(rows left)` says of the cell in focus, and keys."""
    left = max(0, height - len(rows) - 1)
    return [*[*rows, *fill(below(left), width, left)][: height - 1], hint_row(width, hints)]


def half_blocks(upper: Iterable[str], lower: Iterable[str]) -> list[tuple[str, str]]:
    """Return a row of cells that show two values each, the upper one's role over the lower one's."""
    return [("▀", f"{above}@{below}") for above, below in zip(upper, lower, strict=True)]


def page_from(index: int, count: int, shown: int, shared: int = 0) -> int:
    """Return the first of the items shown so that item `index` is; they scroll by pages that share some items."""
    page = max(1, shown - shared)
    return max(0, min(count - shown, (index - shared // 2) // page * page))
