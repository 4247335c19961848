"""The place of each panel by terminal size: what appears with more room, what disappears first with less."""

from __future__ import annotations

from rfview.render.panel import LEFT, RIGHT, Content, Grant, Panel, Place, Shape
from rfview.render.panels import FIRST, OVERVIEW, PANELS

MIN_WIDTH, MIN_HEIGHT = 80, 24
LENS_CELLS = 59     # columns of the lens and what is below it, if all warps are in one column
BELOW_WARPS = 13    # rows of WHY and WATCHES below all warps in one column
LEAST_BESIDE = 25   # cells of a panel that has another beside it


def is_tiny(width: int, height: int) -> bool:
    """Say whether only one panel fits at a time."""
    return width < MIN_WIDTH or height < MIN_HEIGHT


def layout(width: int, height: int, panel: str = FIRST, zoomed: bool = False, content: Content | None = None) -> list[Place]:
    """Return the panels shown and their places; `panel` has the focus and is the one kept if only one fits.

    | columns | shape of the screen                                                     | rows | overview |
    | 80..99  | narrow                                                                  | 24   | 2        |
    | 100..   | medium                                                                  | 30   | 2        |
    | 120..   | low; from 31 rows between overview and event row normal                 | 40   | 5        |
    | 160..   | with 52 such rows wide; tall if WARPS in one column leaves room for WHY | 60   | 5        |

    Where each panel is on a shape, and how many rows it gets in which order, is said in its own file (`spots`).
    """
    alone = panel in PANELS and PANELS[panel].is_alone
    if is_tiny(width, height) or zoomed or alone:
        return _single(width, height, panel)
    content = (content or Content())._replace(width=width)
    overview = 5 if height >= 40 and width >= 100 else 2
    top, bottom = 1 + overview, height - 2
    shape = shape_of(width, bottom - top, content)
    end, x = _columns(shape, width, content)
    return [
        *_head(width, overview), *_stack(shape, LEFT, Place("", 0, top, end, bottom - top), content),
        *_stack(shape, RIGHT, Place("", x, top, width - x, bottom - top), content), *_foot(width, height),
    ]


def shape_of(width: int, rows: int, content: Content) -> Shape:
    """Return the shape of a screen with so many rows between overview and event row."""
    if width < 120:
        return Shape.NARROW if width < 100 else Shape.MEDIUM
    if width >= 160 and rows >= 52:
        return Shape.TALL if rows >= content.slots + 3 + BELOW_WARPS else Shape.WIDE
    return Shape.NORMAL if rows >= 31 else Shape.LOW


def _columns(shape: Shape, width: int, content: Content) -> tuple[int, int]:
    """Return where the left column ends and where the right one begins."""
    if shape == Shape.NARROW:
        return 39, 40
    if shape == Shape.MEDIUM:
        return 40, 42
    if shape in (Shape.WIDE, Shape.TALL):
        x = width - max(content.lens, LENS_CELLS)
        return x - 2, x
    left = 60 if width < 160 else min(width - 62, 99)
    return left, left + 2


def _head(width: int, overview: int) -> list[Place]:
    return [Place("status", 0, 0, width, 1), Place(OVERVIEW, 0, 1, width, overview)]


def _foot(width: int, height: int) -> list[Place]:
    return [Place("event", 0, height - 2, width, 1), Place("footer", 0, height - 1, width, 1)]


def _single(width: int, height: int, panel: str) -> list[Place]:
    """Return status, a short overview and one panel."""
    rows = 1 if is_tiny(width, height) else 2 if height < 40 else 5
    if panel == OVERVIEW:
        rows, panel = 1 if is_tiny(width, height) else 5, FIRST
    top = 1 + rows
    return [*_head(width, rows), Place(panel, 0, top, width, max(1, height - top - 2)), *_foot(width, height)]


def _stack(shape: Shape, column: int, whole: Place, content: Content) -> list[Place]:
    """Return the places of a column's panels, one below another."""
    there = sorted((panel for panel in PANELS.values() if shape in panel.spots and panel.spots[shape].column == column),
                   key=lambda panel: panel.spots[shape].order)
    rows = granted([(panel.name, grant) for panel in there for grant in panel.spots[shape].grants], whole.height, content)
    places: list[Place] = []
    y = whole.y
    for panel in there:
        if beside := panel.spots[shape].beside:
            places += _beside(places.pop(), panel, beside)
        elif rows[panel.name]:
            places.append(Place(panel.name, whole.x, y, whole.width, rows[panel.name]))
            y += rows[panel.name]
    return places


def _beside(place: Place, panel: Panel, cells: int) -> list[Place]:
    """Return a place shared with another panel, which gets so many cells, or half of a wide one."""
    left = place.width // 2 if place.width >= 90 else max(LEAST_BESIDE, place.width - cells)
    return [place._replace(width=left), place._replace(panel=panel.name, x=place.x + left, width=place.width - left)]


def granted(grants: list[tuple[str, Grant]], rows: int, content: Content) -> dict[str, int]:
    """Return how many of a column's rows each panel gets. grants: (panel, grant), from the top of the column."""
    has = dict.fromkeys((name for name, _ in grants), 0)
    refused: set[str] = set()
    for name, grant in sorted(grants, key=lambda pair: pair[1].rank):
        wanted = grant.rows(content) if callable(grant.rows) else grant.rows
        left = max(0, rows - sum(has.values()) - grant.leaves)
        most = min(wanted, has[name] + left, (has[name] + left) // 2 if grant.halves else wanted)
        if most > has[name] and name not in refused and (most == wanted or not grant.whole):
            has[name] = most
        elif not has[name]:
            refused.add(name)
    return has


def shown(places: list[Place]) -> list[str]:
    """Return the panels that can have the focus, in reading order."""
    names = {place.panel for place in places}
    return [name for name, panel in PANELS.items() if panel.title and name in names]
