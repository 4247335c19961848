"""Below a heat strip: what the focused lane holds and who wrote it, the letters, and the lane's values as bars."""

from __future__ import annotations

import numpy as np

from rfview.engine.wording import plural
from rfview.render.grid import WIDE, HeatView
from rfview.render.operation import compact_text, place_of, short_op
from rfview.render.text import BARS, Line, Row, cut, number, title
from rfview.sessions.commands.heat import letters
from rfview.sessions.heat.glyphs import MINUS, MINUS_ASCII, PLUS, PLUS_ASCII
from rfview.sessions.heat.strip import UNWRITTEN

LEFT = 7                    # cells left of the columns


def value_text(value: float, kind: str) -> str:
    """Return a value in a few cells."""
    if kind in ("f32", "f16", "f64") or not np.isfinite(value):
        return f"{value:.6g}"
    return f"{int(value):+,}" if kind == "offset" else f"{int(value):,}"


def details(view: HeatView, width: int, room: int) -> list[Line]:
    """Return what the focused lane holds, who wrote it, and the letters; side by side if there is room."""
    left, right = _moment_rows(view), _writer_rows(view)
    if width < WIDE or room < 4:
        brief = [*left[0], ("   ", "text"), *(left[1] if len(left) > 1 else [])]
        rows = [_one_line(brief, width)] if room < 4 else [_one_line(row, width) for row in left]
        legend = _short_legend(view, width)
        return [*rows[: max(1, room - 1)], legend, *_lane_plot(view, width, room - len(rows) - 1)]
    half = width // 2
    out = [Row(width, "band").add(f" {_where(view)}", "title").at(half, "WHO WROTE", "title")
           .add("  in these columns", "tinfo").line()]
    for place in range(max(len(left), len(right))):
        row = Row(width)
        if place < len(left):
            row.add(" ").parts(*left[place])
        row = Row(width).join(_clipped(row, half - 2))
        if place < len(right):
            letter, text, count = right[place]
            row.at(half, letter, "good").add(" ").add(cut(text, width - half - 12), "text").right(width - 1, count, "dim")
        out.append(row.line())
    return [*out, *_lane_plot(view, width, room - len(out))]


def _short_legend(view: HeatView, width: int) -> Line:
    """Return the letters with operation and line, as many as fit; and, without colours, what the characters mean."""
    row = Row(width)
    for pc, letter in letters(view.strip).items():
        known = 0 <= pc < len(view.program)
        text = f"{short_op(view.program[pc].text)} {view.program[pc].line}" if known else "a store"
        if row.x + len(text) + 5 < width:
            row.add(f" {letter}", "good").add(f" {text} ", "dim")
    plus, minus = (PLUS_ASCII, MINUS_ASCII) if view.ascii else (PLUS, MINUS)
    meaning = f"+ {plus}  − {minus}  {',' if view.ascii else '·'} near 0" if view.glyphs else ""
    return row.right(width - 1, meaning, "dim").line()


def _clipped(row: Row, room: int) -> Line:
    """Return a row's line, cut to a number of cells."""
    short = Row(room)
    return short.join(row.line()).line()


def _one_line(parts: list[tuple[str, str]], width: int) -> Line:
    return Row(width).add(" ").parts(*parts).line()


def _where(view: HeatView) -> str:
    strip = view.strip
    row = view.lane + int(strip.rows[0])
    place = f"{strip.item.partition('[')[0]}[{row}]" if "[" in strip.item else f"lane {view.lane}"
    return f"{place} at {number(view.cycle)}"


def _moment_rows(view: HeatView) -> list[list[tuple[str, str]]]:
    """Return rows of (text, role): the value, who wrote it, when it is written next."""
    moment, kind = view.moment, view.strip.kind
    where = _where(view).partition(" at ")[0]
    if not moment.is_written:
        value: list[tuple[str, str]] = [(f"{where}  ", "dim"), ("not written yet", "dim")]
    else:
        value = [(f"{where}  ", "dim"), (value_text(moment.value, kind), "changed")]
        if moment.was is not None:
            value.append((f"  was {value_text(moment.was, kind)}", "dim"))
    if moment.is_lost:
        value.append(("  ✕ bits lost", "bad"))
    rows = [value]
    if moment.since >= 0:
        by: list[tuple[str, str]] = [("written ", "dim"), (number(moment.since), "bold")]
        entry = view.program[moment.pc] if 0 <= moment.pc < len(view.program) else None
        if moment.is_lost:
            by = [("lost at ", "dim"), (number(moment.since), "bold")]
        if entry is not None:
            by += [(" by ", "dim"), (compact_text(entry.text), "text"), (f"  {place_of(view.program, moment.pc)}", "dim")]
        if moment.warp >= 0 and "[" in view.strip.item:
            by.append((f"  w{moment.warp}" + (f" lane {moment.lane}" if moment.lane >= 0 else ""), "text"))
        if 0 < moment.lanes < 32:
            by.append((f"  {moment.lanes} of 32 lanes", "p:moving"))
        rows.append(by)
    elif moment.is_written:
        rows.append([("from the host, or before the session began", "dim")])
    if moment.following >= 0:
        rows.append([("next written ", "dim"), (number(moment.following), "text")])
    if "[" not in view.strip.item:
        rows.append(_spread(view))
    return rows


def _spread(view: HeatView) -> list[tuple[str, str]]:
    """Return smallest, largest and mean of all lanes in the cursor's column."""
    strip, here = view.strip, view.strip.column_of(view.cycle)
    values = strip.values[here][strip.state[here] != UNWRITTEN] if here >= 0 else np.empty(0)
    values = values[np.isfinite(values)]
    if not values.size:
        return [("no lane is written here", "dim")]
    low, high = (value_text(float(end), strip.kind) for end in (values.min(), values.max()))
    return [("lanes min ", "dim"), (low, "text"), ("  max ", "dim"), (high, "text"), (f"  mean {values.mean():.4g}", "dim")]


def _writer_rows(view: HeatView) -> list[tuple[str, str, str]]:
    """Return (letter, instruction and line, number of columns) of each writer, then the total."""
    strip, out = view.strip, []
    for pc, letter in letters(strip).items():
        columns = int(((strip.writer == pc) & (strip.writes > 0)).sum())
        known = 0 <= pc < len(view.program)
        text = "several instructions store here; Enter goes to one"
        if known:
            text = f"{compact_text(view.program[pc].text)}  {place_of(view.program, pc)}"
        out.append((letter, text, plural(columns, "column")))
    total = int(strip.writes.sum())
    out.append((" ", f"{plural(total, 'write')} in {plural(int(strip.edges[-1] - strip.edges[0]), 'cycle')}"
                     f"{'; a capital: several in a column' if (strip.writes > 1).any() else ''}", ""))
    if strip.lost.any():
        out.append(("✕", "bits of it were lost in the register file", plural(int(strip.lost.sum()), "column")))
    return out


def _lane_plot(view: HeatView, width: int, room: int) -> list[Line]:
    """Return the focused row of values as bars, from the smallest to the largest visible."""
    if room < 4:
        return []
    strip = view.strip
    at = min(strip.values.shape[1] - 1, view.lane // strip.each)
    values = np.where((strip.state[:, at] != UNWRITTEN) & np.isfinite(strip.values[:, at]), strip.values[:, at], np.nan)
    known = values[~np.isnan(values)]
    if not known.size:
        return []
    low, high = float(known.min()), float(known.max())
    if low == high:
        return []
    height = min(room - 1, 6)
    span = high - low
    where = _where(view).partition(" at ")[0]
    lines = [title(width, where, f"{value_text(low, strip.kind)} to {value_text(high, strip.kind)}")]
    here = strip.column_of(view.cycle)
    for level in range(height - 1, -1, -1):
        row = Row(width).to(LEFT)
        cells = []
        for column, value in enumerate(values.tolist()):
            fill_eighths = 0 if value != value else max(1, round((value - low) / span * height * 8)) - 8 * level
            cells.append((BARS[max(0, min(8, fill_eighths))], "text~cursor" if column == here else "dim"))
        lines.append(row.cells(cells).line())
    return lines
