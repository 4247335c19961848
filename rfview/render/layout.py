"""The place of each panel by terminal size: what appears with more room, what disappears first with less."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

TITLES = {"warps": "WARPS", "lens": "REGISTER FILE", "collectors": "COLLECTORS", "why": "WHY", "code": "CODE",
          "stalls": "STALLS", "overview": "OVERVIEW", "registers": "REGISTERS", "timeline": "TIMELINE",
          "pipeline": "PIPELINE", "lines": "LINES", "watches": "WATCHES"}
PANELS = tuple(TITLES)      # in the order of Tab
ALONE = ("registers", "timeline", "pipeline", "lines")       # these take the whole screen below the overview
MIN_WIDTH, MIN_HEIGHT = 80, 24
LENS_CELLS = 59     # columns of the lens and what is below it, if all warps are in one column
LENS, TITLE, EMPTY = 18, 1, 1       # rows of the whole lens; of a title; of the line about empty slots
LEAST_WHY, MAX_WHY, MAX_WATCHES = 5, 12, 6    # rows


class Place(NamedTuple):
    """A panel's rectangle in cells."""

    panel: str
    x: int
    y: int
    width: int
    height: int


def is_tiny(width: int, height: int) -> bool:
    """Say whether only one panel fits at a time."""
    return width < MIN_WIDTH or height < MIN_HEIGHT


def layout(width: int, height: int, panel: str = "warps", zoomed: bool = False, slots: int = 48,
           lens: int = LENS_CELLS, watches: int = 0) -> list[Place]:
    """Return the panels shown and their places; `panel` has the focus and is the one kept if only one fits.

    | columns | warps      | lens   | others                         | rows | overview |
    | 80..99  | 3 blocks   | narrow | census, why                    | 24   | 2        |
    | 100..   | 2 columns  | wide   | why                            | 30   | 2        |
    | 120..   | 2 columns  | wide   | collectors code stalls; why    | 40   | 5        |
    | 160..   | 1 column from 60 rows, long histories; watches        | 60   | 5        |

    lens: the columns that the design's lens would fill if the terminal has 160. slots: the warp slots that the run can
    fill; from 40 rows on, WHY gets the rows of WARPS that are never used. watches: how many things are watched.
    """
    if is_tiny(width, height) or zoomed or panel in ALONE:
        return _single(width, height, panel)
    overview = 5 if height >= 40 and width >= 100 else 2
    places = [Place("status", 0, 0, width, 1), Place("overview", 0, 1, width, overview)]
    top, bottom = 1 + overview, height - 2
    if width < 100:
        places += _narrow(width, top, bottom)
    elif width < 120:
        places += _medium(width, top, bottom)
    elif width >= 160 and bottom - top >= 52:
        places += _wide(width, top, bottom, slots, lens, watches)
    else:
        places += _normal(width, top, bottom, slots, watches if width >= 160 else 0)
    return [*places, Place("event", 0, height - 2, width, 1), Place("footer", 0, height - 1, width, 1)]


def _single(width: int, height: int, panel: str) -> list[Place]:
    """Return status, a short overview and one panel."""
    rows = 1 if is_tiny(width, height) else 2 if height < 40 else 5
    if panel == "overview" and not is_tiny(width, height):
        rows = 5
        panel = "warps"
    top = 1 + rows
    return [
        Place("status", 0, 0, width, 1), Place("overview", 0, 1, width, rows),
        Place("warps" if panel == "overview" else panel, 0, top, width, max(1, height - top - 2)),
        Place("event", 0, height - 2, width, 1), Place("footer", 0, height - 1, width, 1),
    ]


def _narrow(width: int, top: int, bottom: int) -> list[Place]:
    """Return the places for 80 to 99 columns: warps in blocks, narrow lens, census, why."""
    right = 40
    x, rows = right, bottom - top
    places = [Place("warps", 0, top, right - 1, rows)]
    lens, census = 10, 4
    extra = rows - lens - census - 5
    collectors = 0
    if extra >= 14:
        collectors, extra = 11, extra - 11
    census += min(2, max(0, extra))
    why = rows - lens - census - collectors
    right_column = (("lens", lens), ("collectors", collectors), ("stalls", census), ("why", why))
    return [*places, *_stack(x, top, width - x, right_column)]


def _medium(width: int, top: int, bottom: int) -> list[Place]:
    """Return the places for 100 to 119 columns: two columns of warps, wide lens, why; code and stalls with more rows."""
    x, rows = 42, bottom - top
    left = rows - (25 if rows >= 34 else rows)
    places = [Place("warps", 0, top, 40, rows - left)]
    if left:
        places.append(Place("stalls", 0, top + rows - left, 40, left))
    lens = min(18, rows - 5) if rows >= 23 else 10
    collectors = 7 if rows - lens >= 14 else 0
    why = min(9, rows - lens - collectors)
    code = rows - lens - collectors - why
    if code < 4:
        why, code = why + code, 0
    right = (("lens", lens), ("collectors", collectors), ("why", why), ("code", code))
    return [*places, *_stack(x, top, width - x, right)]


def _normal(width: int, top: int, bottom: int, slots: int, watches: int) -> list[Place]:
    """Return the places for 120 columns or more: left WARPS above WHY; right the lens, collectors, code and stalls."""
    rows = bottom - top
    left = 60 if width < 160 else min(width - 62, 99)
    x = left + 2
    right = width - x
    if rows < 31:
        lens = min(18, rows - 5) if rows >= 23 else max(8, rows - 8)
        return [Place("warps", 0, top, left, rows), Place("lens", x, top, right, lens),
                Place("why", x, top + lens, right, rows - lens)]
    warps = min(TITLE + -(-slots // 2) + EMPTY, rows - 7)
    watched = min(TITLE + watches, rows - warps - LEAST_WHY) if watches else 0
    collectors = 8 if rows < 42 else 9
    y = top + LENS + collectors
    lower = bottom - y
    code = max(25, right - 34 if right < 90 else right // 2)
    return [
        Place("warps", 0, top, left, warps), *_stack(0, top + warps, left, (("why", rows - warps - watched),
                                                                           ("watches", watched))),
        Place("lens", x, top, right, LENS), Place("collectors", x, top + LENS, right, collectors),
        Place("code", x, y, code, lower), Place("stalls", x + code, y, right - code, lower),
    ]


def _wide(width: int, top: int, bottom: int, slots: int, lens_cells: int, watches: int) -> list[Place]:
    """Return the places for 160 columns and 60 rows: all warps in one column with long histories, the rest on the right.

    WHY and WATCHES are below the warps if there is room, else on the right, too.
    """
    rows = bottom - top
    x = width - max(lens_cells, LENS_CELLS)
    warps = 2 * TITLE + slots + EMPTY
    free = rows - warps
    has_room = free >= MAX_WHY + TITLE
    why = MAX_WHY if has_room else 8
    watched = 0 if has_room or not watches else min(TITLE + watches, MAX_WATCHES)
    beside = rows - LENS - 7 - (0 if has_room else why)
    stalls = min(12, max(7, (beside - watched) // 2))
    below = (("why", why), ("watches", free - why)) if has_room else ()
    right = (("lens", LENS), ("collectors", 7), ("why", 0 if has_room else why), ("stalls", stalls), ("watches", watched),
             ("code", beside - watched - stalls))
    return [*_stack(0, top, x - 2, (("warps", warps if has_room else rows), *below)), *_stack(x, top, width - x, right)]


def _stack(x: int, y: int, width: int, panels: Iterable[tuple[str, int]]) -> list[Place]:
    """Return the places of panels stacked below each other; those without rows are left out."""
    places = []
    for panel, rows in panels:
        if rows > 0:
            places.append(Place(panel, x, y, width, rows))
            y += rows
    return places


def shown(places: list[Place]) -> list[str]:
    """Return the panels that can have the focus, in reading order."""
    names = {place.panel for place in places}
    return [panel for panel in PANELS if panel in names]
