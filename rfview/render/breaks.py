"""The list of breakpoints, watchpoints and marks: where each stops in the run, and the nearest stops."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from rfview.render.operation import with_lines
from rfview.render.scene import BreakView, Scene
from rfview.render.text import Line, Row, clip, cut, fill, list_row, number, shorten, title, visible_from, wrap
from rfview.render.watches import plot, short_value

STRIP = 24          # cells of the picture of the whole run
WIDE = 84           # columns from which there is room for it


def nearest(point: BreakView, cycle: int) -> tuple[int | None, int | None]:
    """Return the stops before and after a cycle, None if none is known."""
    before = bisect_left(point.cycles, cycle)
    after = bisect_right(point.cycles, cycle)
    return (point.cycles[before - 1] if before else None, point.cycles[after] if after < len(point.cycles) else None)


def render(scene: Scene, width: int, height: int, selected: int = 0) -> list[Line]:
    """Return the list.

    ▌BREAKPOINTS                              if                       hits  previous      next   where in the run
     ◉ 1  pc 4   fma.rn.f32 R13, R12, R5, R9                             12   121,877   122,390   ···◉·····◉·····◉·
    ▸◉ 2  stall wb_drain > 8                                            214   121,998   122,031   ··◉·◉◉◉··◉◉·◉··◉·
     ◌ 3  watch w12.R13            disabled                               –         –         –   ··········│······
     MARKS
      a       57,106  first buffer full

    ◉ on, ◌ off, ◎ once. Hits are counted over the whole recording; previous and next are relative to the cursor, │. The
    line below a watchpoint shows the watched value in the previous cycle and now, and plots its last cycles.
    """
    columns = _columns(width)
    heading = Row(width, "band").add("▌", "title").add("BREAKPOINTS", "title")
    for name, end in zip(("hits", "previous", "next"), columns, strict=True):
        heading.right(end, name, "tinfo")
    if width >= WIDE:
        heading.at(width - STRIP - 1, "where in the run", "tinfo")
    lines = [heading.line()]
    if not scene.breakpoints:
        none = "none" + scene.keys.tail("break_here", "sets one at the focused warp's instruction").replace(";", ":")
        none += scene.keys.tail("watch_here", "watches the focused thing")
        lines += [Row(width).add(f"   {part}", "dim").line() for part in wrap(none, max(12, width - 6))]
    for index, point in enumerate(scene.breakpoints):
        lines += _point(scene, point, width, columns, index == selected)
    lines += [Row(width).line(), title(width, "MARKS", "m and a letter sets one, ' and the letter goes there")]
    if not scene.marks:
        lines.append(Row(width).add("   none yet", "dim").line())
    for index, (name, cycle) in enumerate(scene.marks):
        chosen = index + len(scene.breakpoints) == selected
        row = list_row(width, chosen).add(f" {name:<8}", "bold")
        row.right(22, number(cycle), "text").at(25, scene.mark_notes.get(name, "")[: width - 26], "dim")
        lines.append(row.line())
    first = 0
    if len(lines) > height:     # the chosen row stays visible
        at = next((row for row, line in enumerate(lines) if line.ground == "focus"), 0)
        first = visible_from(at, len(lines), height)
    return fill(lines[:1] + lines[1 + first :], width, height)


def _columns(width: int) -> tuple[int, int, int]:
    """Return the ends of the columns hits, previous and next."""
    end = width - STRIP - 3 if width >= WIDE else width - 2
    return end - 22, end - 11, end


def _point(scene: Scene, point: BreakView, width: int, columns: tuple[int, int, int], chosen: bool) -> list[Line]:
    """Return a breakpoint's row; for a watchpoint also the row with its values."""
    row = list_row(width, chosen)
    row.add("◎" if point.once and point.enabled else "◉" if point.enabled else "◌", "bad" if point.enabled else "dim")
    row.add(f" {point.number:<3}", "text")
    room = columns[0] - 8 - row.x
    text, program = point.text, scene.info.program
    if point.kind == "pc" and point.pc is not None and point.pc < len(program):
        text = with_lines(f"{text}  {program[point.pc].text}", program)
    if point.ignore:
        text = f"{clip(text, room - 12)}  passes {point.ignore}"
    row.add(shorten(text, room), "text" if point.enabled else "dim")
    if not point.enabled:
        row.right(columns[0], "disabled", "dim")
        return [row.line()]
    before, after = nearest(point, scene.cycle)
    hits = f"{len(point.cycles):,}" + ("" if point.is_counted else "…")
    for end, value in zip(columns, (hits, _or_dash(before), _or_dash(after)), strict=True):
        row.right(end, value, "text")
    if width >= WIDE:
        row.at(width - STRIP - 1, "", "text").cells(_strip(scene, point))
    lines = [row.line()]
    if point.watch is not None:
        old, new = point.watch.before, point.watch.now
        role = "changed" if old != new else "text"
        if width < WIDE:        # the plot tells more than further lanes would
            old, new = short_value(old, point.watch), short_value(new, point.watch)
        line = Row(width).to(7).add(f"{point.watch.kind} before ".lstrip(), "dim").add(cut(old, 24), "text")
        line.add("   now ", "dim").add(cut(new, 24), role).add("   ")
        lines.append(plot(line, scene, point.watch).line())
    return lines


def _or_dash(cycle: int | None) -> str:
    return "–" if cycle is None else number(cycle)


def _strip(scene: Scene, point: BreakView) -> list[tuple[str, str]]:
    """Return the whole run as STRIP cells with the stops and the cursor."""
    span = max(1, scene.last - scene.first + 1)
    cells = [("·", "faint")] * STRIP
    cells[min(STRIP - 1, (scene.cycle - scene.first) * STRIP // span)] = ("│", "bold")
    for cycle in point.cycles:
        if scene.first <= cycle <= scene.last:
            cells[(cycle - scene.first) * STRIP // span] = ("◉", "bad")
    return cells
