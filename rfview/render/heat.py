"""The heat strip: a register's lanes, or a buffer's elements, in columns of cycles, with the writers and the focus."""

from __future__ import annotations

import numpy as np

from rfview.engine.wording import plural
from rfview.keys import Keys
from rfview.render.grid import WIDE, HeatView, framed, half_blocks, page_from
from rfview.render.heat_details import LEFT, details
from rfview.render.text import BARS, Line, Row, number, title
from rfview.sessions.commands.heat import letter_of, letters
from rfview.sessions.heat.glyphs import MINUS, MINUS_ASCII, PLUS, PLUS_ASCII, characters, levels
from rfview.sessions.heat.strip import LOST, UNWRITTEN

RIGHT = 10                  # cells after the columns, for the scale
TALL = 24                   # rows from which a window has room for more than one line about the focused lane
HINTS = (("column_back", "column", 1), ("up down", "lane", 1), ("next_change", "write ±"), ("open", "who wrote"),
         ("zoom_in", "zoom"), "by_write", "value_type", "log_scale", "watch_here", "why", ("copy", "copy"), "close")


def columns_of(width: int) -> int:
    """Return how many columns of cycles fit."""
    return max(8, width - LEFT - RIGHT)


def rows_of(height: int, glyphs: bool, count: int) -> tuple[int, int]:
    """Return (rows of cells, values per row of cells) for `count` values in a window of `height` rows."""
    room = _room(height, glyphs)
    each = 1 if glyphs or count <= room else 2
    return min(room, -(-count // each)), each


def _room(height: int, glyphs: bool) -> int:
    """Return the rows left for cells; characters, one lane per row, also get those that colours leave to the writers."""
    return max(4, height - 6 if glyphs or height < TALL else height - 5 - max(8, height // 4))


def cells_wanted(height: int, glyphs: bool, count: int) -> int:
    """Return how many values a column of a strip may have: 32 lanes scroll if they do not fit, more values are averaged."""
    return count if count <= 32 else _room(height, glyphs) * (1 if glyphs else 2)


def render(view: HeatView, width: int, height: int, keys: Keys) -> list[Line]:
    """Return a register's lanes, or a buffer's elements, by cycles.

     REGISTER w5.R3  f32   1 column = 8 cycles                + − zoom   o writes only
              1,473         1,633        2,001
           0  ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀   +3.2
         ▸ 7  ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀   0
        wrote ···a····b·b·bB·bbbb·b·b···a···          −3.2

    Colours, or characters: + ░▒▓█, − -=≡#, · near 0, blank not written, ? NaN, ! Inf, ✕ bits lost. The cursor's column is
    lighter. wrote: the last writer in a column, a capital letter if there are several. lanes: how many were written.
    """
    strip = view.strip
    rows, each = rows_of(height, view.glyphs, strip.values.shape[1])
    count = strip.values.shape[1]
    first = _first_row(view, rows * each, count)
    lines = [_title(view, width, keys), _ruler(view, width)]
    lines += _cells(view, width, first, rows, each)
    lines += [_wrote(view, width), *([_touched(view, width)] if height >= TALL and height - len(lines) > 4 else [])]
    return framed(lines, lambda left: details(view, width, left), width, height, _hints(view, keys))


def place_at(view: HeatView, width: int, height: int, x: int, y: int) -> tuple[int, int] | None:
    """Return the (cycle, lane) that a cell of the window shows, None outside the cells."""
    strip, column = view.strip, x - LEFT
    rows, each = rows_of(height, view.glyphs, strip.values.shape[1])
    if not (0 <= column < min(columns_of(width), len(strip.edges) - 1) and 2 <= y < 2 + rows):
        return None
    first = _first_row(view, rows * each, strip.values.shape[1])
    row = min(strip.values.shape[1] - 1, first + (y - 2) * each)
    return max(0, int(strip.edges[column + 1]) - 1), row * strip.each


def _hints(view: HeatView, keys: Keys) -> list[tuple[str, str]]:
    """Return the keys that apply here."""
    is_buffer = view.strip.of != 32 or "[" in view.strip.item
    words = {"lane": "element", "who wrote": "who stored"} if is_buffer else {}
    wanted = [one for one in HINTS if not (is_buffer and one == "value_type")]
    return [(shown, words.get(word, word)) for shown, word in keys.hints(*wanted)]


def _first_row(view: HeatView, shown: int, count: int) -> int:
    """Return the first row of values on the page that contains the focused one."""
    focus = min(count - 1, view.lane // view.strip.each)
    return page_from(focus, count, shown)


def _title(view: HeatView, width: int, keys: Keys) -> Line:
    strip = view.strip
    name = "BUFFER" if "[" in strip.item else "REGISTER"
    per = int(strip.edges[1] - strip.edges[0])
    what = "a column is a write" if view.by_write else f"1 column = {plural(per, 'cycle')}"
    each = f"   the mean of {plural(strip.each, 'element')} a row" if strip.each > 1 else ""
    more = (("zoom_in", "zoom"), "by_write", "log_scale") if width >= (140 if each else WIDE) else ()
    return title(width, f"{name} {strip.item}", f"{strip.kind}{' log' if view.log else ''}   {what}{each}", focus=True,
                 right=keys.words(*more, ("close", "closes")))


def _ruler(view: HeatView, width: int) -> Line:
    """Return the ruler: the cycle above every 20th column, and the cursor's in reverse."""
    strip, row = view.strip, Row(width)
    here = strip.column_of(view.cycle)
    text = number(view.cycle)
    begin = LEFT + max(0, min(columns_of(width) - len(text), here - len(text) // 2)) if here >= 0 else width
    for column in range(0, len(strip.edges) - 1, 20):
        label = number(max(0, int(strip.edges[column])))
        x = LEFT + column
        if x + len(label) < min(begin, width - RIGHT) or (x > begin + len(text) and x + len(label) < width - RIGHT):
            if x > row.x and row.x < begin < x:
                row.to(begin).add(text, "cursor")
            row.to(x).add(label, "faint")
    if row.x <= begin < width:
        row.to(begin).add(text, "cursor")
    return row.line()


def _cells(view: HeatView, width: int, first: int, rows: int, each: int) -> list[Line]:
    """Return the rows of cells, each with its first lane before it and a piece of the scale after it."""
    strip, here = view.strip, view.strip.column_of(view.cycle)
    level = levels(strip.values, strip.top, view.log)
    shown = characters(strip.values, strip.state, strip.top, view.log, view.ascii)
    focus = min(strip.values.shape[1] - 1, view.lane // strip.each)
    lines = []
    for place in range(rows):
        top = first + each * place
        if top >= strip.values.shape[1]:
            lines.append(Row(width).line())
            continue
        mine = top <= focus < top + each
        label = view.lane + int(strip.rows[0]) if mine else int(strip.rows[top])
        row = Row(width).add(f"{'▸' if mine else ' '}{label:>{LEFT - 2}} ", "bold" if mine else "faint")
        if view.glyphs:
            row.cells(_glyph_cells(level[:, top], shown[:, top], strip.state[:, top], here))
        else:
            low = top + 1 if each > 1 and top + 1 < strip.values.shape[1] else top
            row.cells(_half_cells(view, level, (top, low), here))
        lines.append(_scale(view, row, place, rows, width))
    return lines


def _glyph_cells(level: np.ndarray, shown: np.ndarray, state: np.ndarray, here: int
                 ) -> list[tuple[str, str]]:
    """Return a row of characters; colours, if there are any, repeat the sign."""
    out = []
    for column, (char, size, kind) in enumerate(zip(shown.tolist(), level.tolist(), state.tolist(), strict=True)):
        role = "bad" if kind == LOST else "heat:plus" if size > 0 else "heat:minus" if size < 0 else "dim"
        out.append((char, f"{role}~cursor" if column == here else role))
    return out


def _half_cells(view: HeatView, level: np.ndarray, pair: tuple[int, int], here: int) -> list[tuple[str, str]]:
    """Return a row of half blocks, the upper lane over the lower."""
    strip = view.strip
    roles = []
    for at in pair:
        names = [f"{size:+d}".replace("+", "p").replace("-", "n") for size in level[:, at].tolist()]
        for column in np.flatnonzero(strip.state[:, at] != 1).tolist():
            names[column] = "lost" if strip.state[column, at] == LOST else "none"
        for column in np.flatnonzero(~np.isfinite(strip.values[:, at]) & (strip.state[:, at] != UNWRITTEN)).tolist():
            names[column] = "nan"
        roles.append(names)
    return half_blocks(*([f"{'lit' if column == here else 'heat'}:{name}" for column, name in enumerate(names)]
                         for names in roles))


def _scale(view: HeatView, row: Row, place: int, rows: int, width: int) -> Line:
    """Return the row with its piece of the scale: the largest value on top, 0 in the middle, the smallest below."""
    strip, last = view.strip, rows - 1
    row.to(width - RIGHT + 1)
    share = 1.0 - 2.0 * place / max(1, last)
    if view.glyphs:
        plus, minus = (PLUS_ASCII, MINUS_ASCII) if view.ascii else (PLUS, MINUS)
        ink = plus if share > 0 else minus
        char = "·" if abs(share) < 0.06 else ink[min(3, int(abs(share) * 4))]
        row.add(char * 2, "heat:plus" if share > 0 else "heat:minus" if share < 0 else "dim")
    else:
        size = round(share * 12)
        row.add("██", f"heat:{'n' if size < 0 else 'p'}{abs(size)}")
    top = scale_text(strip.top)
    text = {0: f"+{top}", last // 2: "0" if last > 3 else "", last: f"−{top}"}.get(place, "")
    return row.add(f" {text}", "dim").line()


def scale_text(top: float) -> str:
    """Return the end of a scale in at most five characters: 0.013, 330, 37k, 4e-5."""
    if top and not 1e-3 <= top < 1e9:
        return f"{top:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    if top >= 1e6:
        return f"{top / 1e6:.3g}M"
    return f"{top / 1e3:.3g}k" if top >= 1e3 else f"{top:.3g}" if top >= 0.1 or not top else f"{top:.2g}"


def _wrote(view: HeatView, width: int) -> Line:
    """Return the last writer in each column."""
    strip, here = view.strip, view.strip.column_of(view.cycle)
    names = letters(strip)
    row = Row(width).add(f"{'stored' if '[' in strip.item else 'wrote':>{LEFT - 1}} ", "dim")
    cells = []
    for column in range(len(strip.edges) - 1):
        letter = letter_of(strip, names, column)
        role = "faint" if letter == "·" else "bad" if letter == "✕" else "good"
        cells.append((letter, f"{role}~cursor" if column == here else role))
    return row.cells(cells).line()


def _touched(view: HeatView, width: int) -> Line:
    """Return how many of the lanes, or elements, were written in each column; a different colour if not all were."""
    strip = view.strip
    is_buffer = "[" in strip.item
    row = Row(width).add(f"{'elems' if is_buffer else 'lanes':>{LEFT - 1}} ", "dim")
    top = int(strip.touched.max()) if is_buffer and len(strip.touched) else strip.of
    cells = []
    for touched in strip.touched.tolist():
        height = BARS[max(1, round(8 * touched / max(1, top)))] if touched else " "
        cells.append((height, "good" if touched >= strip.of or is_buffer else "p:moving"))
    return row.cells(cells).line()
