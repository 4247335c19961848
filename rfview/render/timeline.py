"""The TIMELINE panel: warps down, time across; the states of every warp around the cursor, at any zoom."""

from __future__ import annotations

import math

from rfview.engine.wording import plural
from rfview.engine.stalls import NO_WARP
from rfview.render import warps
from rfview.render import slots
from rfview.render.operation import operation, waits_for
from rfview.render.panel import Hit, Panel
from rfview.render.scene import Pipes, Scene, Span
from rfview.render.text import BARS, Line, Row, cut, fill, initial, list_row, number, title, visible_from
from rfview.render.warps import run_cells

LABEL = 18          # cells before the first column, for a design's quantity and its value
FEW_ROWS = 16       # panels with fewer rows leave out all but the first two quantities


def columns_of(width: int) -> int:
    """Return how many columns of time fit into a panel."""
    return max(1, width - LABEL - 1)


def order(count: int) -> list[int]:
    """Return the warps from top to bottom: even, then odd, as in WARPS."""
    return [*range(0, count, 2), *range(1, count, 2)]


def cycle_at(scene: Scene, x: int) -> int | None:
    """Return the first cycle of the column under x, None left of the columns or outside the run."""
    span = scene.span
    if span is None or not LABEL <= x < LABEL + len(span.codes):
        return None
    cycle = span.start + (x - LABEL) * span.per
    return max(scene.first, cycle) if scene.first < cycle + span.per and cycle <= scene.last else None


def warp_at(scene: Scene, height: int, y: int) -> int | None:
    """Return the warp whose row is at y."""
    if scene.now is None or scene.span is None:
        return None
    rows, first = _rows(scene, height)
    index, count = first + y - 2, slots.shown(scene)
    return order(count)[index] if 2 <= y < 2 + rows and index < count else None


def _tracks(scene: Scene, height: int) -> int:
    count = len(scene.span.tracks) if scene.span is not None else 0
    return min(count, 2) if height < FEW_ROWS else count


def _rows(scene: Scene, height: int) -> tuple[int, int]:
    """Return (rows of warps, index of the first one shown)."""
    count = slots.shown(scene)
    rows = max(1, min(count, height - 3 - _tracks(scene, height) - (count < scene.machine.num_warps)))
    return rows, visible_from(order(count).index(scene.warp), count, rows)


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the TIMELINE panel.

    ▌TIMELINE  1 column = 1 cycle   w0 to w46 even                                       + − zoom   o the warp beside
                    121,940             121,960             121,980         122,004                 122,020
      0 L rcp    L──────────────────────────────────────────────────────────────────────────────────────────────────
    ▸12 ▼ fma    L───────────────────────────────────────────────────────██w──○──▼━━━━━━█L──────────────────█w███w██
     issued    2 ▄▄██▄▄▄▄█▄▄▄  ▄   ▄▄▄  ▄▄▄▄████▄     ▄▄▄▄▄████████▄▄▄▄███▄███████▄    ▄ ▄█▄▄▄▄████████▄    ▄▄▄▄▄███
     w12 stt_write: STT 0, 5 cycles so far      previous issue 121,991 · next 122,007

    A row is a warp; time runs from left to right; the highlighted column is the cursor. A state is its glyph, then a line.
    A column of several cycles shows the most common state, and a bar of the share of cycles in which the warp issued.
    Below, on the same axis: how many warps issued, what the design does, how many warps it blocks.
    """
    focus = scene.panel == "timeline"
    if scene.now is None or scene.span is None:
        return fill([title(width, "TIMELINE", focus=focus)], width, height)
    span, warps = scene.span, order(slots.shown(scene))
    rows, first = _rows(scene, height)
    cursor = span.column(scene.cycle)
    lines = [title(width, "TIMELINE", f"1 column = {plural(span.per, 'cycle')}", focus=focus,
                   right="+ − zoom   ] [ events   o other side"), ruler(scene, span, len(span.codes), width)]
    for index in range(first, min(len(warps), first + rows)):
        lines.append(_warp_row(scene, span, warps[index], width, cursor))
    if words := slots.empty_words(scene, width - 2):
        lines.append(Row(width).add(f" {words}", "faint").line())
    for track in span.tracks[: _tracks(scene, height)]:
        name = cut(track.name, LABEL - 3 - len(track.now))
        row = Row(width).add(f" {name} ", "dim").right(LABEL - 1, track.now, "text").to(LABEL)
        cells = [(" " if math.isnan(share) else BARS[math.ceil(share * 8 - 1e-6)], "fg:issued") for share in track.shares]
        lines.append(with_cursor(row, cells, cursor).line())
    lines = fill(lines, width, height - 1)
    return [*lines, _foot(scene, span, width)][:height] if height > 2 else lines[:height]


def with_cursor(row: Row, cells: list[tuple[str, str]], cursor: int) -> Row:
    """Append cells with the cursor's column highlighted."""
    if 0 <= cursor < len(cells):
        cells[cursor] = (cells[cursor][0], f"{cells[cursor][1]}~cursor")
    return row.cells(cells)


def _warp_row(scene: Scene, span: Span, warp: int, width: int, cursor: int) -> Line:
    """Return one warp: state and operation at the cursor, then its states over time."""
    machine = scene.machine
    look = scene.look(machine.state[warp])
    focus = warp == scene.warp
    base = "bold" if focus else "text"
    row = list_row(width, focus)
    row.add(f"{warp:>2}", base).to(4).add(look.glyph, "st:" + look.role).to(6)
    if look.name not in NO_WARP:
        pc = machine.last_pc[warp] if look.name == "issued" else machine.pc[warp]
        row.add(operation(machine, pc)[:5], base)
    return with_cursor(row.to(LABEL), cells_of(scene, span, warp), cursor).line()


def cells_of(scene: Scene, span: Span, warp: int) -> list[tuple[str, str]]:
    """Return the states of a warp, a cell per column."""
    codes = span.codes[:, warp].tolist()
    known = [index for index, code in enumerate(codes) if code != Span.NOTHING]
    if not known:
        return [(" ", "text")] * len(codes)
    first, last = known[0], known[-1] + 1
    cells = run_cells(scene, codes[first:last], now_last=False)
    if span.per > 1:
        for index, share in enumerate(span.issued[first:last, warp].tolist()):
            if share > 0 and codes[first + index] != 0:
                # the most common state remains as the ground behind the bar, so that neither hides the other
                role = scene.look(codes[first + index]).role
                if share * 8 >= 1:
                    cells[index] = (BARS[int(share * 8)], f"fg:issued@{role}")
    blank = (" ", "text")
    return [blank] * first + cells + [blank] * (len(codes) - last)


def ruler(scene: Scene, span: Span | Pipes, columns: int, width: int, label_width: int = LABEL) -> Line:
    """Return the ruler: round cycle numbers, breakpoint hits, marks, and the cursor with its exact cycle."""
    cells: list[tuple[str, str]] = [(" ", "faint")] * columns
    step = 10 * span.per
    while step // span.per < 20:
        step *= 2
    tick = -(-max(span.start, scene.first) // step) * step
    while (at := span.column(tick)) < columns and tick <= scene.last:
        text = number(tick)
        if at + len(text) <= columns and at >= 0:
            cells[at : at + len(text)] = [(char, "faint") for char in text]
        tick += step
    for hit in scene.hits:
        if 0 <= (at := span.column(hit)) < columns:
            cells[at] = ("◉", "bad")
    for name, cycle in scene.marks:
        if 0 <= (at := span.column(cycle)) < columns:
            cells[at] = (initial(name), "cursor")
    cursor = span.column(scene.cycle)
    label = number(scene.cycle)
    start = max(0, cursor - len(label) + 1)
    for x, char in enumerate(label, start):
        if 0 <= x < columns:
            cells[x] = (char, "cursor")
    for x in (start - 1, start + len(label)):       # a number cut by the label would look like another one
        while 0 <= x < columns and (cells[x][0].isdecimal() or cells[x][0] == ",") and cells[x][1] == "faint":
            cells[x] = (" ", "faint")
            x += -1 if x < start else 1
    return Row(width).to(label_width).cells(cells).line()


def _foot(scene: Scene, span: Span, width: int) -> Line:
    """Return the focused warp in words: its state, since when, and the nearest issues."""
    machine = scene.machine
    warp = scene.warp
    look = scene.look(machine.state[warp])
    row = Row(width).add(f" w{warp} ", "bold").add(look.name, "fg:" + look.role)
    row.add(f": {waits_for(scene, warp)}".rstrip(" :"), "text")
    row.add(f", {plural(max(0, scene.cycle - machine.since[warp]), 'cycle')} so far", "dim")
    if span.per == 1:
        at = span.column(scene.cycle)
        issues = [span.start + index for index, share in enumerate(span.issued[:, warp].tolist()) if share]
        before = [cycle for cycle in issues if cycle < span.start + at]
        after = [cycle for cycle in issues if cycle > span.start + at]
        near = [f"previous issue {number(before[-1])}"] if before else []
        near += [f"next {number(after[0])}"] if after else []
        row.add("   " + " · ".join(near), "dim")
    return row.line()


PANEL = Panel(
    name="timeline", title="TIMELINE", paint=render, is_alone=True, is_axis=True, enter="registers", facts=warps.facts,
    columns_of=columns_of,
    at=lambda scene, place, x, y: Hit(cycle=cycle_at(scene, x), warp=warp_at(scene, place.height, y), double=("", ""),
                                      takes_focus=False),
    hints=("step", "step_10", "zoom_in", "close", "next_issue", "next_stall", "continue", "mark", "why", "help"),
    source="our assumption: a column of several cycles shows its most frequent state",
    columns=(
        ("row", "a warp; its states from left to right",
         "our assumption: a column of several cycles shows its most frequent state"),
        ("issued", "warps that issued, on the same axis", "at most one per scheduler and cycle: HC-RF Table III"),
    ),
)
