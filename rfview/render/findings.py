"""The contents of the CHECK window: a row per finding, and the chosen one in full with both its places."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.engine.check.findings import Finding, Findings
from rfview.engine.wording import plural
from rfview.render.text import Line, Row, cut, fill, hint_row, list_row, number, visible_from, wrap

DETAIL_ROWS = 5


def render(findings: Findings, selected: int, here: int, width: int, height: int,
           hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the window's lines. selected: the chosen finding's number, from 0; here: the cursor's cycle.

    ▌CHECK  2 findings in 3,118 cycles
             cycle  who        what            PTX line  instruction
    ▸          214  w1 lane 0  race-shared           81  ld.shared.u32 R0, [R2]
               390  w0 lane 7  unwritten-register    92  add.u32 R1, R3, 1
    """
    count = len(findings.found)
    what = f"{plural(count, 'finding')}{' and more' if findings.more else ''}" if count else "nothing found"
    heading = Row(width, "band").add("▌", "title").add("CHECK", "title")
    heading.add(f"  {what} in {plural(findings.cycles, 'cycle')}", "tinfo")
    names = Row(width).right(14, "cycle", "title").at(16, "who", "title").at(29, "what", "title")
    names.right(54, "PTX line", "title").at(56, "instruction", "title")
    rows = max(1, height - 4 - DETAIL_ROWS)
    first = visible_from(selected, count, rows)
    lines = [_row(one, index == selected, one.cycle == here, width)
             for index, one in enumerate(findings.found) if first <= index < first + rows]
    detail = _detail(findings.found, selected, width)
    rule = Row(width).add("─" * width, "dim").line()
    return [heading.line(), names.line(), *fill(lines, width, rows), rule, *fill(detail, width, DETAIL_ROWS),
            hint_row(width, hints)]


def _row(one: Finding, chosen: bool, is_here: bool, width: int) -> Line:
    """Return a finding's row."""
    row = list_row(width, chosen)
    row.right(14, number(one.cycle), "bold" if is_here else "text").at(16, f"w{one.warp} lane {one.lane}", "text")
    row.at(29, one.kind, "text").right(54, str(one.line), "dim").at(56, cut(one.text, max(8, width - 57)), "text")
    return row.line()


def _detail(findings: Sequence[Finding], selected: int, width: int) -> list[Line]:
    """Return the chosen finding in full."""
    if not findings:
        return [Row(width).add(" no races, no reads of unwritten memory, no wrong barriers or lane masks", "text").line()]
    text = findings[min(selected, len(findings) - 1)].as_text().splitlines()
    folded = [part for line in text for part in wrap(line, width - 2, subsequent_indent="    ") or [""]]
    return [Row(width).add(f" {line}", "text").line() for line in folded]
