"""The overview: the whole run in one picture, with the cursor, the breakpoint hits and the marks on it."""

from __future__ import annotations

from rfview.render.scene import Scene
from rfview.render.text import BARS, Line, Row, blank, number, short_number

MARGIN = 1


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
    """Return the overview, five rows when there is room, two or one when not.

     0           20k          40k          60k         80k          100k        120k        140k      184,213 ▼
              ▁▂▁▃▂▄▆▄▄▅▆▄▃▃            ▂▃▂▁▂                     ▁▁▂▃▂ ▁ ▁▁▁▄▂   ▁▂  ▁ ▁▁▁▁  ▁▁
     ▂▆▇▇▄▄▆██████████████▄▄▆▅▆▅▅▅▇▇▆██████▃▂▄▃▄▆▅▄▄▅▃▅▆▃▅▃▃▁▆▆██████████████▃▃▆███▇█▇█████▇██▄▂▃▃▄▄▂▄▃▄▂▂▂▄▅▄▆
     nLLLLLLLL↓↓xwswwww○w↓w↓s○wB↓↓L○LLLw↓○w○ws↓s↓↓LLLsLLLLLLsLLLLB↓↓○○w↓sw↓s↓x↓w↓s↓↓↓↓ssw○↓↓s○○wxwsB↓LLLLLLLLLL
                  ●             ●  a            ●              ●          b                   ●                ▲

    Bars: warp instructions per cycle, so when it is slow. Letters: the commonest reason why warps did not issue, so what
    from. ● breakpoint hits, reversed letters are marks, ▼ ▲ the cursor. ├──┤ is a stretch that is looked at as a whole.
    """
    columns = width - 2 * MARGIN
    if columns < 8 or not scene.overview.rate or scene.now is None:
        return [blank(width)] * height
    cursor = column_of(scene, scene.cycle, columns)
    if height >= 5:
        return [
            _ruler(scene, width, columns, cursor), *_bars(scene, width, columns, 2, False),
            _letters(scene, width, columns, {}), _marks(scene, width, columns, cursor),
        ]
    over = _brush(scene, columns, ends_only=True)
    over |= {column_of(scene, hit, columns): ("●", "bad") for hit in scene.hits if is_inside(scene, hit)}
    over.update({column_of(scene, cycle, columns): (name[0], "cursor") for name, cycle in scene.marks
                 if is_inside(scene, cycle)})
    over[cursor] = ("▲", "cursor")
    letters = _letters(scene, width, columns, over)
    if height == 1:
        return [letters]
    return [*_bars(scene, width, columns, 1, True), letters][:height]


def _stretch(values: tuple, columns: int) -> list:
    """Return `columns` values from however many buckets there are."""
    count = len(values)
    return list(values) if count == columns else [values[i * count // columns] for i in range(columns)]


def _bars(scene: Scene, width: int, columns: int, rows: int, tinted: bool) -> list[Line]:
    """Return the issue rate in `rows` rows of eight levels each."""
    rates = _stretch(scene.overview.rate, columns)
    states = _stretch(scene.overview.state, columns)
    top = scene.overview.top_rate or 1.0
    levels = [min(8 * rows, max(1 if rate > 0 else 0, round(rate / top * 8 * rows))) for rate in rates]
    out = []
    for part in range(rows):
        base = 8 * (rows - 1 - part)
        row = Row(width).to(MARGIN)
        cells = []
        for level, state in zip(levels, states, strict=True):
            char = BARS[max(0, min(8, level - base))]
            cells.append((char, "fg:issued" if not tinted or state < 0 else f"fg:issued@{scene.look(state).role}"))
        out.append(row.cells(cells).line())
    return out


def _letters(scene: Scene, width: int, columns: int, over: dict[int, tuple[str, str]]) -> Line:
    """Return the commonest blocking state of each column, with what lies over it."""
    cells = []
    for column, code in enumerate(_stretch(scene.overview.state, columns)):
        if column in over:
            cells.append(over[column])
        elif code < 0:
            cells.append((" ", "text"))
        else:
            look = scene.look(code)
            cells.append((look.glyph, ("st:" if look.is_register_file else "hi:") + look.role))
    return Row(width).to(MARGIN).cells(cells).line()


def _ruler(scene: Scene, width: int, columns: int, cursor: int) -> Line:
    """Return cycle numbers at round places, and the cursor with the exact cycle."""
    first, last = span_of(scene)
    span = last - first
    step = 1
    while span / step * 12 > columns:
        step *= 2 if str(step)[0] in "15" else 5
        if str(step)[0] == "4":
            step = step // 4 * 5
    label = f"{number(scene.cycle)} ▼" if cursor >= 12 else f"▼ {number(scene.cycle)}"
    start = cursor - len(label) + 1 if cursor >= 12 else cursor
    cells: list[tuple[str, str]] = [(" ", "faint")] * columns
    tick = -(-first // step) * step
    while tick <= last:
        at = column_of(scene, tick, columns)
        text = short_number(tick)
        is_covered = at + len(text) >= start and at <= start + len(label)
        if at + len(text) <= columns and not is_covered:
            cells[at : at + len(text)] = [(char, "faint") for char in text]
        tick += step
    for x, char in enumerate(label, start):
        if 0 <= x < columns:
            cells[x] = (char, "bold")
    return Row(width).to(MARGIN).cells(cells).line()


def _brush(scene: Scene, columns: int, ends_only: bool = False) -> dict[int, tuple[str, str]]:
    """Return the cells of the stretch that is looked at as a whole; nothing where none of it is in the picture."""
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


def _marks(scene: Scene, width: int, columns: int, cursor: int) -> Line:
    """Return breakpoint hits, marks, the stretch and the cursor."""
    cells: list[tuple[str, str]] = [(" ", "text")] * columns
    for column, cell in _brush(scene, columns).items():
        cells[column] = cell
    for hit in filter(lambda cycle: is_inside(scene, cycle), scene.hits):
        cells[column_of(scene, hit, columns)] = ("●", "bad")
    for name, cycle in ((name, cycle) for name, cycle in scene.marks if is_inside(scene, cycle)):
        cells[column_of(scene, cycle, columns)] = (name[0], "cursor")
    cells[cursor] = ("▲", "bold")
    return Row(width).to(MARGIN).cells(cells).line()
