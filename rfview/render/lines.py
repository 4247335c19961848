"""The LINES panel: the program's source with the cost of each line; below it, the chosen line's instructions."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.wording import plural
from rfview.render.operation import compact_text
from rfview.render.panel import Hit, Panel, Place
from rfview.render.scene import Scene
from rfview.render.text import BARS, Line, Row, cut, fill, number, percent, title

if TYPE_CHECKING:
    from rfview.sessions.lines.counts import Counts
    from rfview.sessions.lines.table import LineTable

WIDE = 100          # columns from which counts are shown next to the shares
BAR = 8
AROUND = 3          # lines without instructions that are shown before and after those with some
MARK, NUMBER, SHARE = 1, 5, 7
LEAST_BELOW = 14    # rows of the panel from which the chosen line's instructions are shown below
NONE = ("the PTX has no source lines: compile with nvcc -lineinfo, in numba-cuda",
        "with lineinfo=True; Triton always writes them.", "`rfview lines TARGET --ptx` counts by lines of the PTX.")
Entry = tuple[str, int, int]        # path, line or 0 for the file's name or -1 for a gap, number in LineTable.lines or -1


@lru_cache(maxsize=4)
def entries(table: LineTable) -> tuple[Entry, ...]:
    """Return the rows of the panel: per file its name if there are several, then its lines with those around them."""
    rows: list[Entry] = []
    for path in table.paths:
        if len(table.paths) > 1:
            rows.append((path, 0, -1))
        numbers = {line.line: at for at, line in enumerate(table.lines) if line.path == path}
        text = table.text_of(path)
        last = 0
        for line in sorted(numbers):
            first = max(last + 1, line - AROUND) if text is not None else line
            if last and first > last + 1 and text is not None:
                behind = min(last + AROUND, len(text or ()))
                rows += [(path, one, -1) for one in range(last + 1, min(behind + 1, first))]
                last = max(last, min(behind, first - 1))
            if last and first > last + 1:
                rows.append((path, -1, -1))
            rows += [(path, one, -1) for one in range(first, line)]
            rows.append((path, line, numbers[line]))
            last = line
        if text is not None:
            rows += [(path, one, -1) for one in range(last + 1, min(last + AROUND, len(text)) + 1)]
    return tuple(rows)


def chosen(scene: Scene) -> int:
    """Return the number of the line that the panel's cursor is on: the chosen one, else the focused warp's."""
    table, machine = scene.lines, scene.now
    assert table is not None and machine is not None
    if 0 <= scene.line < len(table.lines):
        return scene.line
    here = table.number_at(machine.pc[scene.warp]) if scene.warp < machine.num_warps else -1
    return max(0, here)


def heat(scene: Scene, states: np.ndarray, top: float, width: int) -> list[tuple[str, str]]:
    """Return a bar of (text, role) parts: its length is a line's warp-cycles out of `top`, its colours are their reasons."""
    total = int(states.sum())
    cells = max(1, round(width * total / top)) if top and total else 0
    order = [0, *(code for code in np.argsort(-states, kind="stable").tolist() if code)]
    parts, done, share = [], 0, 0.0
    for code in order:
        share += float(states[code])
        end = round(cells * share / total) if total else 0
        if end > done:
            parts.append(("█" * (end - done), f"fg:{scene.look(code).role}"))
            done = end
    return [*parts, (" " * (width - done), "text")]


def mostly(scene: Scene, states: np.ndarray, room: int) -> tuple[str, str]:
    """Return a line's most common reason for not issuing, with its share and colour; "" if it was never held up."""
    waits = states.copy()
    waits[0] = 0
    code = int(waits.argmax())
    if not waits[code]:
        return "", "faint"
    look = scene.look(code)
    return cut(f"{look.glyph} {look.short} {percent(int(waits[code]), int(states.sum()), 0)}", room), f"fg:{look.role}"


def cell(scene: Scene, number_of_line: int) -> tuple[str, str]:
    """Return one character of heat for a line, and its colour; a blank if nothing has been counted."""
    if scene.costs is None or number_of_line < 0:
        return " ", "text"
    lines = scene.costs[1]
    top = int(lines.cycles.max(initial=0))
    states = lines.states[number_of_line]
    total = int(states.sum())
    if not total or not top:
        return " ", "text"
    waits = states.copy()
    waits[0] = 0
    code = int(waits.argmax()) if waits.any() else 0
    return BARS[max(1, round(8 * total / top))], f"fg:{scene.look(code).role}"


def _head(width: int, wide: bool) -> Line:
    row = Row(width).to(MARK).add(f"{'line':>{NUMBER}}{'share':>{SHARE}} {'warp-cycles':<{BAR + 4}}", "faint")
    if wide:
        row.add(f"{'issued':>8}{'stalled':>11}{'reads':>9}{'writes':>9}  ", "faint")
    return row.add(f"{'mostly':<17}", "faint").add("source", "faint").line()


def _source_row(scene: Scene, entry: Entry, width: int, wide: bool, cursor: int, here: int, top: float,
                whole: float) -> Line:
    """Return one line of the source with its costs."""
    path, line, at = entry
    table = scene.lines
    assert table is not None
    if line <= 0:
        return Row(width).to(MARK).add(cut(path, width - 2) if line == 0 else f"{'…':>{NUMBER}}",
                                       "bold" if line == 0 else "faint").line()
    row = Row(width, "focus" if at >= 0 and at == cursor else "")
    role = "bold" if at >= 0 and at == cursor else "text" if at >= 0 else "faint"
    row.add("▸" if at >= 0 and at == here else " ", "bold").add(f"{line:>{NUMBER}}", role if at >= 0 else "faint")
    point = next((one for one in scene.breakpoints if one.kind == "source" and one.pc is not None
                  and table.number_at(one.pc) == at), None) if at >= 0 else None
    counts: Counts | None = scene.costs[1] if scene.costs is not None else None
    total = float(counts.states[at].sum()) if counts is not None and at >= 0 else 0.0
    if counts is not None and total:
        row.add(f"{percent(total, whole):>{SHARE}}", role).add(" ")
        row.parts(*heat(scene, counts.states[at], top, BAR + 3))
    else:
        row.to(MARK + NUMBER + SHARE + 1 + BAR + 3)
    row.add("◉" if point is not None and point.enabled else "◌" if point is not None else " ", "bad")
    x = row.x
    if wide and counts is not None and total:
        row.add(f"{number(counts.issued[at]):>8}{number(counts.waited[at]):>11}", "text")
        row.add(f"{number(counts.reads[at]):>9}{number(counts.writes[at]):>9}  ", "dim")
    row.to(x + (39 if wide else 0))
    x = row.x
    if counts is not None and total:
        row.add(*mostly(scene, counts.states[at], 16))
    row.to(x + 17)
    text = table.text_of(path)
    if text is not None and line <= len(text):
        row.add(text[line - 1].expandtabs(4).rstrip(), role)
    elif at >= 0:
        row.add("(its source was not found)", "faint")
    return row.line()


def _below(scene: Scene, cursor: int, width: int, rows: int) -> list[Line]:
    """Return the chosen line's reasons, and its instructions with their costs."""
    table, machine = scene.lines, scene.now
    assert table is not None and machine is not None
    line, program = table.lines[cursor], scene.info.program
    pcs = np.flatnonzero(table.of_pc == cursor).tolist()
    head, top = f"{len(pcs)} instructions", 0.0
    if scene.costs is not None:
        states = scene.costs[1].states[cursor]
        total = int(states.sum())
        order = [code for code in np.argsort(-states, kind="stable").tolist() if states[code]]
        parts = ", ".join(f"{scene.look(code).name} {percent(int(states[code]), total, 0)}" for code in order)
        head = f"{plural(total, 'warp-cycle')}: {parts}" if total else "no warp has been there yet"
        top = float(scene.costs[0].cycles[pcs].max(initial=0))
    lines = [title(width, f"{posixpath.basename(line.path)}:{line.line}", head)]
    here = machine.pc[scene.warp]
    first = max(0, min(len(pcs) - (rows - 1), (pcs.index(here) if here in pcs else 0) - (rows - 1) // 3))
    for pc in pcs[first : first + rows - 1]:
        entry = program[pc]
        row = Row(width, "focus" if pc == here else "")
        row.add("▸" if pc == here else " ", "bold").add(f"{entry.line:>{NUMBER}}", "faint")
        if scene.costs is not None and scene.costs[0].states[pc].any():
            row.add(f"{percent(int(scene.costs[0].cycles[pc]), float(scene.costs[1].states[:-1].sum())):>{SHARE}} ", "dim")
            row.parts(*heat(scene, scene.costs[0].states[pc], top, BAR + 3))
        row.to(MARK + NUMBER + SHARE + 1 + BAR + 4)
        text = entry.text
        room = width - row.x - 1
        frames = table.frames(pc)
        inner = frames[0].where.text if frames and frames[0].where != line else ""
        row.add(cut(text if len(text) <= room else compact_text(text), room), "bold" if pc == here else "text")
        row.right(width - 1, f"in {inner}" if inner and row.x + len(inner) + 6 < width else "", "faint")
        lines.append(row.line())
    return fill(lines, width, rows)


def render(scene: Scene, width: int, height: int) -> list[Line]:
    """Return the LINES panel.

     LINES w3  triton_softmax.py   cycles 0 to 1,800
       line  share warp-cycles  mostly           source
         16  5.5 % █            ~ wait 48 %      x = tl.load(in_ptr + row * stride + cols, mask=mask)
     ▸   17 55.6 % ███████████◉ ~ wait 57 %      e = tl.exp(x - tl.max(x, axis=0))

    share: of all warp-cycles of warps that could run, those in which a warp's next instruction was one of the line's. The
    bar's colours show what they were spent on, issues first. ▸ the focused warp's line, ◉ breakpoints. j k choose a line, b
    sets a breakpoint on it, t and T go to where the focused warp reaches it; ]n and [n step by lines. Below: the line's
    instructions.
    """
    table, focus = scene.lines, scene.panel == "lines"
    head = f"LINES w{scene.warp}"
    if scene.now is None or table is None or not table:
        none = [Row(width).add(f" {text}", "dim").line() for text in NONE] if scene.now is not None else []
        return fill([title(width, head, focus=focus), *none], width, height)
    cursor, wide = chosen(scene), width >= WIDE
    here = table.number_at(scene.now.pc[scene.warp]) if scene.warp < scene.now.num_warps else -1
    counted = scene.costs[1] if scene.costs is not None else None
    info = posixpath.basename(table.lines[cursor].path)
    if counted is not None:
        info += f"   cycles {number(counted.first)} to {number(counted.last)}"
    below = _room_below(height)
    rows = height - 2 - below
    listing, first = entries(table), _first(entries(table), cursor, rows)
    top = float(counted.states[:-2].sum(axis=1).max(initial=0)) if counted is not None else 0.0
    whole = float(counted.states[:-1].sum()) if counted is not None else 0.0
    lines = [title(width, head, info, focus=focus), _head(width, wide)]
    lines += [_source_row(scene, entry, width, wide, cursor, here, top, whole) for entry in listing[first : first + rows]]
    return [*fill(lines, width, 2 + rows), *(_below(scene, cursor, width, below) if below else ())]


def _room_below(height: int) -> int:
    """Return how many rows of the panel the chosen line's instructions take."""
    return min(height // 3, 12) if height >= LEAST_BELOW else 0


def _first(listing: tuple[Entry, ...], cursor: int, rows: int) -> int:
    """Return the first of the rows shown, with the chosen line in the middle."""
    at = next((index for index, entry in enumerate(listing) if entry[2] == cursor), 0)
    return max(0, min(len(listing) - rows, at - rows // 2))


def line_at(scene: Scene, height: int, y: int) -> int | None:
    """Return the number of the line in row y of the panel (0 = title), for the mouse; None if there is none."""
    table = scene.lines
    if scene.now is None or table is None or not table:
        return None
    rows, listing = height - 2 - _room_below(height), entries(table)
    index = _first(listing, chosen(scene), rows) + y - 2
    return listing[index][2] if 2 <= y < 2 + rows and index < len(listing) and listing[index][2] >= 0 else None


def hit(scene: Scene, place: Place, x: int, y: int) -> Hit:
    """Return the line clicked: a double click sets a breakpoint there."""
    line = line_at(scene, place.height, y)
    return Hit({"line": line}, double=("break_here", "")) if line is not None else Hit(double=("", ""))


PANEL = Panel(
    name="lines", title="LINES", paint=render, is_alone=True, enter="run_to_cursor", columns_of=lambda width: 1,
    stays_gathered=True, at=hit,
    line=lambda scene: chosen(scene) if scene.lines else -1,
    move=lambda scene, by: {"line": max(0, min(len(scene.lines.lines) - 1, chosen(scene) + by))} if scene.lines else {},
    hints=("next_line", "run_to_cursor", "break_here", "down", "close", "step", "continue", "why", "help"),
    source="PTX ISA, .loc and .file: the compiler's line for an instruction; shares as in Nsight Compute",
    columns=(
        ("share", "of the warp-cycles of warps that could run, those spent before an instruction of the line",
         "our assumption"),
        ("warp-cycles", "the same relative to the most expensive line; colours: issues, then what held the warps up",
         "our assumption"),
        ("reads, writes", "warp registers that issued instructions name, before a design merges or caches any",
         "our assumption"),
        ("in FILE:LINE", "the function that the instruction was inlined from, if that is in another file or line",
         "PTX ISA: inlined_at"),
    ),
)
