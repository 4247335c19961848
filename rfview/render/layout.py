"""Where each panel stands, by the size of the terminal: what appears with more room, what leaves first with less."""

from __future__ import annotations

from typing import NamedTuple

PANELS = ("warps", "lens", "collectors", "why", "code", "stalls", "overview", "registers", "timeline",
          "pipeline", "lines")
ALONE = ("registers", "timeline", "pipeline", "lines")       # these take the whole screen below the overview
TITLES = {"warps": "WARPS", "lens": "REGISTER FILE", "collectors": "COLLECTORS", "why": "WHY", "code": "CODE",
          "stalls": "STALLS", "overview": "OVERVIEW", "registers": "REGISTERS", "timeline": "TIMELINE",
          "pipeline": "PIPELINE", "lines": "LINES"}
MIN_WIDTH, MIN_HEIGHT = 80, 24
LENS_CELLS = 59     # columns of the lens and what is below it, where all warps stand in one column
LENS, TITLE, EMPTY = 18, 1, 1       # rows of the lens where it has all it wants; a title; the line about empty slots


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
           lens: int = LENS_CELLS) -> list[Place]:  # fmt: skip
    """Return the panels shown and where; `panel` has the keys and is the one kept when only one fits.

    | columns | warps      | lens   | beside                         | rows | overview |
    | 80..99  | 3 blocks   | narrow | census, why                    | 24   | 2        |
    | 100..   | 2 columns  | wide   | why                            | 30   | 2        |
    | 120..   | 2 columns  | wide   | collectors code stalls; why    | 40   | 5        |
    | 160..   | 1 column from 60 rows, run of 64                      | 60   | 5        |

    lens: the columns that the design's lens would fill where there are 160. slots: the warp slots that the run can fill;
    from 40 rows on, WHY takes those rows of WARPS that are never used.
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
        places += _wide(width, top, bottom, lens)
    else:
        places += _normal(width, top, bottom, slots)
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
    """Return 80 to 99 columns: warps in blocks, narrow lens, census, why."""
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
    y = top
    for panel, size in (("lens", lens), ("collectors", collectors), ("stalls", census), ("why", why)):
        if size:
            places.append(Place(panel, x, y, width - x, size))
            y += size
    return places


def _medium(width: int, top: int, bottom: int) -> list[Place]:
    """Return 100 to 119 columns: two columns of warps, wide lens, why; code and stalls with more rows."""
    x, rows = 42, bottom - top
    left = rows - (25 if rows >= 34 else rows)
    places = [Place("warps", 0, top, 40, rows - left)]
    if left:
        places.append(Place("stalls", 0, top + rows - left, 40, left))
    lens = min(18, rows - 5) if rows >= 23 else 10
    y = top
    collectors = 7 if rows - lens >= 14 else 0
    why = min(9, rows - lens - collectors)
    code = rows - lens - collectors - why
    if code < 4:
        why, code = why + code, 0
    for panel, size in (("lens", lens), ("collectors", collectors), ("why", why), ("code", code)):
        if size:
            places.append(Place(panel, x, y, width - x, size))
            y += size
    return places


def _normal(width: int, top: int, bottom: int, slots: int) -> list[Place]:
    """Return 120 columns and more: everything; left WARPS above WHY, right the lens, collectors, code and stalls."""
    rows = bottom - top
    left = 60 if width < 160 else min(width - 62, 99)
    x = left + 2
    right = width - x
    if rows < 31:
        lens = min(18, rows - 5) if rows >= 23 else max(8, rows - 8)
        return [Place("warps", 0, top, left, rows), Place("lens", x, top, right, lens),
                Place("why", x, top + lens, right, rows - lens)]
    warps = min(TITLE + -(-slots // 2) + EMPTY, rows - 7)
    collectors = 8 if rows < 42 else 9
    y = top + LENS + collectors
    lower = bottom - y
    code = max(25, right - 34 if right < 90 else right // 2)
    return [
        Place("warps", 0, top, left, warps), Place("why", 0, top + warps, left, rows - warps),
        Place("lens", x, top, right, LENS), Place("collectors", x, top + LENS, right, collectors),
        Place("code", x, y, code, lower), Place("stalls", x + code, y, right - code, lower),
    ]


def _wide(width: int, top: int, bottom: int, lens_cells: int) -> list[Place]:
    """Return 160 columns and 60 rows: all warps in one column with a long run, everything else beside it."""
    rows = bottom - top
    x = width - max(lens_cells, LENS_CELLS)
    places = [Place("warps", 0, top, x - 2, rows)]
    lens, collectors, why = 18, 7, 8
    rest = rows - lens - collectors - why
    stalls = min(12, max(7, rest // 2))
    y = top
    for panel, size in (("lens", lens), ("collectors", collectors), ("why", why), ("stalls", stalls),
                        ("code", rest - stalls)):
        places.append(Place(panel, x, y, width - x, size))
        y += size
    return places


def shown(places: list[Place]) -> list[str]:
    """Return the panels that can have the keys, in reading order."""
    names = {place.panel for place in places}
    return [panel for panel in PANELS if panel in names]
