"""The overview: the whole run in one picture, with the cursor, the breakpoint hits and the marks on it."""

from __future__ import annotations

from rfview.render.panel import Hit, Panel
from rfview.render.scene import Scene
from rfview.render.text import BARS, Line, Row, blank, initial, number, round_up, short_number

MARGIN = 1
LABEL_CELLS = 12        # columns of the ruler for each number, at least


def span_of(scene: Scene) -> tuple[int, int]:
    """Return the (first, last) cycle that the overview shows: the whole run, or less when zoomed in."""
    edges = scene.overview.edges
    return (edges[0], max(edges[0] + 1, edges[-1])) if edges else (scene.first, max(scene.first + 1, scene.last))


def column_of(scene: Scene, cycle: int, columns: int) -> int:
    """Return the overview column of a cycle, the nearest one for cycles outside."""
    first, last = span_of(scene)
    if cycle >= last:
        return columns - 1
    return max(0, min(columns - 1, (cycle - first) * columns // (last - first)))


def is_inside(scene: Scene, cycle: int) -> bool:
    """Say whether the overview shows a cycle."""
    first, last = span_of(scene)
    return first <= cycle <= last


def cycle_of(scene: Scene, column: int, columns: int) -> int:
    """Return the cycle under an overview column; the last column is the end."""
    first, last = span_of(scene)
    if column >= columns - 1:
        return last
    return first + max(0, column) * (last - first) // max(1, columns)


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the overview: five rows if there is room, else two or one.

     0           20k          40k          60k      71,204            issued ≤ 1.9   lost to the register file ≤ 82 %
              ▁▂▁▃▂▄▆▄▄▅▆▄▃▃            ▂▃▂▁▂                     ▁▁▂▃▂ ▁ ▁▁▁▄▂   ▁▂  ▁ ▁▁▁▁  ▁▁
     ▂▆▇▇▄▄▆██████████████▄▄▆▅▆▅▅▅▇▇▆██████▃▂▄▃▄▆▅▄▄▅▃▅▆▃▅▃▃▁▆▆██████████████▃▃▆███▇█▇█████▇██▄▂▃▃▄▄▂▄▃▄▂▂▂▄▅▄▆
      ▁▅▅▅▆▇▃▃▆▆▅▅▅▅▆▇▆▅▆▆▆▆▆▆▆▂▃▆▆▆▆▆▅▆▆▆▆▆▆▅▅▆▅▅▂▃▇▅▅▅▅▆▆▅▆▆▆▅▅▅▆▆▅▃▃▅▆▅▆▆▅▆▆▆▅▆▆▅▆▅▆▆▃▃▆▆▆▅▅▆▆▆▆▆▅▆▆▅▆▆
     n   LLLL         ◉        L      a       L     ▲                 ◉      LL         ◉            b

    Upper bars: warp instructions per cycle, scaled to the highest. Lower bars: the share of warp-cycles lost to the register
    file. The number in reverse is the cursor's cycle. Letters: the most common reason why warps did not issue, where it is
    not that of most of the run. ◉ breakpoint hits; letters in reverse are marks. ├──┤ is the selected stretch of the run.
    Dots: the recording does not store these cycles; they are simulated again when they are shown.
    """
    columns = width - 2 * MARGIN
    if columns < 8 or not scene.overview.rate or scene.now is None:
        return [blank(width)] * height
    cursor = column_of(scene, scene.cycle, columns)
    if height >= 5:
        lines = [*_bars(scene, width, columns, 2, cursor), _lost(scene, width, columns, cursor),
                 _events(scene, width, columns, cursor)]
        return [_ruler(scene, width, columns, cursor), *lines]
    over = _brush(scene, columns, ends_only=True) | _stops(scene, columns)
    over[cursor] = ("▲", "cursor")
    return [*_bars(scene, width, columns, 1, cursor), _lost(scene, width, columns, cursor, over)][-height:]


def _stretch(values: tuple, columns: int) -> list:
    """Return `columns` values from however many buckets there are."""
    count = len(values)
    return list(values) if count == columns else [values[i * count // columns] for i in range(columns)]


def _lit(width: int, cells: list[tuple[str, str]], cursor: int) -> Line:
    """Return a row of cells with the cursor's column on a lighter ground; if its cell is blank, it shows a line."""
    char, role = cells[cursor]
    if "~" not in role and role != "cursor":
        cells[cursor] = ("│" if char == " " else char, ("faint" if char == " " else role) + "~column")
    return Row(width).to(MARGIN).cells(cells).line()


def _bars(scene: Scene, width: int, columns: int, rows: int, cursor: int) -> list[Line]:
    """Return the issue rate in `rows` rows of eight levels each."""
    rates = _stretch(scene.overview.rate, columns)
    top = max(scene.overview.rate) or 1.0
    levels = [min(8 * rows, max(1 if rate > 0 else 0, round(rate / top * 8 * rows))) for rate in rates]
    return [_lit(width, [(BARS[max(0, min(8, level - 8 * (rows - 1 - part)))], "fg:issued") for level in levels], cursor)
            for part in range(rows)]


def _lost(scene: Scene, width: int, columns: int, cursor: int, over: dict[int, tuple[str, str]] | None = None) -> Line:
    """Return bars of the share of warp-cycles lost to the register file, scaled to the highest. over: cells on top.

    Seven levels, so that even without colours a line separates them from the bars above.
    """
    lost = _stretch(scene.overview.lost, columns)
    top = max(scene.overview.lost) or 1.0
    cells = [(BARS[max(1 if share > 0.005 else 0, round(share / top * 7))], "fg:register_file") for share in lost]
    for column, cell in (over or {}).items():
        cells[column] = cell
    return _lit(width, cells, cursor)


def _stops(scene: Scene, columns: int) -> dict[int, tuple[str, str]]:
    """Return the cells of breakpoint hits and marks."""
    hits = {column_of(scene, hit, columns): ("◉", "bad") for hit in scene.hits if is_inside(scene, hit)}
    return hits | {column_of(scene, cycle, columns): (initial(name), "cursor") for name, cycle in scene.marks
                   if is_inside(scene, cycle)}


def _events(scene: Scene, width: int, columns: int, cursor: int) -> Line:
    """Return the row of reasons, in columns that differ from most, with breakpoint hits, marks and the selected stretch."""
    states = _stretch(scene.overview.state, columns)
    known = [code for code in states if code >= 0]
    usual = max(set(known), key=lambda code: (known.count(code), -code)) if known else -1
    cells = []
    for code in states:
        look = scene.look(code)
        is_other = code >= 0 and code != usual
        cells.append((look.glyph, look.accent) if is_other else (" ", "text"))
    for column in _simulated(scene, columns):
        if cells[column][0] == " ":
            cells[column] = ("·", "faint")
    for column, cell in (_brush(scene, columns) | _stops(scene, columns)).items():
        cells[column] = cell
    return _lit(width, cells, cursor)


def _simulated(scene: Scene, columns: int) -> list[int]:
    """Return the columns of which no cycle is in the recording."""
    low, high = scene.stored or (scene.first, scene.last)
    first, last = span_of(scene)
    edges = [first + column * (last - first) // columns for column in range(columns + 1)]
    return [column for column in range(columns) if edges[column + 1] <= low or edges[column] >= high]


def _ruler(scene: Scene, width: int, columns: int, cursor: int) -> Line:
    """Return the ruler: round cycle numbers, the cursor's exact cycle, and what the bars' full height means."""
    first, last = span_of(scene)
    step = round_up((last - first) * LABEL_CELLS / columns)
    label = number(scene.cycle)
    start = max(0, min(columns - len(label), cursor - len(label) + 1))
    scale = [*((char, "fg:issued") for char in "issued"), *((char, "dim") for char in f" ≤ {max(scene.overview.rate):.2g}"),
             *((char, "text") for char in "   "), *((char, "fg:register_file") for char in "lost to the register file"),
             *((char, "dim") for char in f" ≤ {100 * max(scene.overview.lost):.0f} %")]
    right = 2 * start < columns     # the scale is in the half without the cursor
    cells: list[tuple[str, str]] = [(" ", "faint")] * columns
    free = (0, columns - len(scale) - 2) if right else (len(scale) + 2, columns)
    tick = -(-first // step) * step
    while tick <= last:
        at = column_of(scene, tick, columns)
        text = short_number(tick)
        is_covered = at + len(text) >= start and at <= start + len(label)
        if free[0] <= at and at + len(text) <= free[1] and not is_covered:
            cells[at : at + len(text)] = [(char, "faint") for char in text]
        tick += step
    place = columns - len(scale) if right else 0
    cells[place : place + len(scale)] = scale
    cells[start : start + len(label)] = [(char, "cursor") for char in label]
    return Row(width).to(MARGIN).cells(cells).line()


def _brush(scene: Scene, columns: int, ends_only: bool = False) -> dict[int, tuple[str, str]]:
    """Return the cells of the selected stretch; {} if none of it is visible."""
    brush = scene.brush
    first, last = span_of(scene)
    if brush is None or brush.last < first or brush.first > last:
        return {}
    left, right = column_of(scene, brush.first, columns), column_of(scene, brush.last, columns)
    cells = {} if ends_only else dict.fromkeys(range(left, right), ("─", "bold"))
    if brush.first >= first:
        cells[left] = ("├", "bold")
    if brush.last <= last:
        cells[right] = ("┤", "bold")
    return cells


PANEL = Panel(
    name="overview", title="OVERVIEW", paint=render, enter="timeline", is_axis=True,
    at=lambda scene, place, x, y: Hit(cycle=cycle_of(scene, x - MARGIN, place.width - 2 * MARGIN), double=("", ""),
                                      takes_focus=False),
    source="our assumption: a letter names what blocks most, if that differs from the whole run",
    columns=(
        ("bars", "issue rate of each interval of the run", "our assumption: height is relative to the run's best"),
        ("lost", "share of warp-cycles that the register file took, of warps that could be held up", "our assumption"),
        ("letters", "what held up most warps, if it differs from what did so in most of the run", "our assumption"),
    ),
)
