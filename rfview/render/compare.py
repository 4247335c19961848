"""Two runs side by side as lines: lead and lag, the instructions of one warp around the cursor, states, totals.

Run A is bright and run B dim; hues are not used for this, since they are states. Differences are underlined or have a
signed number.
"""

from __future__ import annotations

from collections.abc import Sequence

from rfview.engine.wording import plural, signed
from rfview.render.operation import compact_text
from rfview.render.pair import INSTRUCTION, ComparePicture, Instruction, TwoRuns
from rfview.render.text import BARS, Line, Row, blank, cut, fill, hint_row, number, stretched, title, visible_from

ROLES = ("bold", "dim")
LABEL = 9                  # cells of the label left of curves and strips
LIST_WIDTH = 70            # cells of the list of instructions; the reasons are to its right


def paint(picture: ComparePicture, width: int, height: int, hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the whole screen: exactly `height` lines; everything from 34 rows on, below that two pages."""
    body = height - 3
    blocks: list[list[Line]]
    if height >= 34:
        lag = 3 if height < 44 else 5
        rows = 9
        blocks = [curve_lines(picture, width, lag), instruction_block(picture, width, rows), strip_lines(picture, width),
                  state_lines(picture, width)]
        used = sum(map(len, blocks))
        blocks.append(totals_block(picture, width, max(3, body - used)))
    elif picture.page == 0:
        rest = 4 + 3 + 3 + 4      # curve, strip, states, and the list's titles and reasons
        blocks = [curve_lines(picture, width, 2), instruction_block(picture, width, max(3, body - rest), under=True),
                  strip_lines(picture, width, rulers=False), state_lines(picture, width)]
    else:
        blocks = [reason_lines(picture, width, 6), totals_block(picture, width, max(3, body - 6))]
    lines = [line for block in blocks for line in block]
    return [status_line(picture, width), *fill(lines, width, body), message_line(picture, width), hint_row(width, hints)]


def status_line(picture: TwoRuns, width: int) -> Line:
    """Return which runs are compared and how they end."""
    a, b = picture.runs
    row = Row(width, "band").add(" ").add("rfview", "title").add("  ").add("compare", "title")
    for run, role in zip(picture.runs, ROLES, strict=True):
        row.add("   ").add(run.letter, "title").add(" ")
        row.add(f"{run.name} {number(run.last)}", role if role == "bold" else "tinfo")
    if picture.busy:
        return row.right(width - 1, picture.busy, "busy").line()
    ratio = f"×{b.last / a.last:.3f}" if a.last else ""
    ends = f"B ends {signed(b.last - a.last)} {ratio}"
    short = f"{ends}  {picture.memory}"
    if picture.cut:
        short = f"{' and '.join(picture.cut)} {'is' if len(picture.cut) == 1 else 'are'} cut before the end"
        ratio = f"{'+'.join(picture.cut)} cut"
    return row.right(width - 1, short if width - row.x > len(short) + 2 else ratio, "tinfo").line()


def message_line(picture: TwoRuns, width: int) -> Line:
    """Return the last message."""
    role = {"error": "bad", "good": "good"}.get(picture.message_kind, "dim")
    return Row(width).add(" ").add(cut(picture.message, width - 2), role).line()


def column_of(picture: ComparePicture, count: int, columns: int) -> int:
    """Return the curve's column of a number of issued instructions."""
    low = picture.curve[0][0] if picture.curve else 0
    return max(0, min(columns - 1, (count - low) * columns // max(1, picture.common - low + 1)))


def count_of(picture: ComparePicture, column: int, columns: int) -> int:
    """Return the number of issued instructions under a column of the curve."""
    low = picture.curve[0][0] if picture.curve else 0
    return min(picture.common, low + max(0, column) * (picture.common - low + 1) // max(1, columns))


def curve_lines(picture: ComparePicture, width: int, rows: int) -> list[Line]:
    """Return the lead and lag over issued instructions, `rows` rows of bars below a title, and marks under them.

     LEAD / LAG  cycles B is behind A, by instructions issued (both runs: 23,798)
      15,978                                                                               ▁▂▃▄▅▆▇
       7,989                             ▁▂▂▃▄▄▅▆▇▇████████████████████████████████████████████████
           0 ▁▂▂▃▄▅▅▆▇▇████████████████████████████████████████████████████████████████████████████
             ◆                                   ▲ instruction 9,112, B +1,204 cycles

    ◆ the first divergence, ▲ the cursor. Bars grow from zero; negative ones hang from it: B is ahead.
    """
    what = "cycles B is behind A, by instructions issued"
    what += f" (of {number(picture.common)} that both issue)" if width >= 100 else f", {number(picture.common)}"
    out = [title(width, "LEAD / LAG", what, focus=True)]
    columns = width - LABEL - 2
    lags = [lag for _, lag in picture.curve]
    low, high = min([0, *lags]), max([0, *lags])
    values = stretched(lags, columns)
    behind = max(1, min(rows - 1, round(rows * high / max(1, high - low)))) if high > 0 > low else rows if low == 0 else 0
    for part in range(behind):          # bars of B behind A grow up from zero, those of B ahead hang below it
        levels = [round(value / max(1, high) * 8 * behind) - 8 * (behind - 1 - part) for value in values]
        label = number(high) if part == 0 else "0" if part == behind - 1 else ""
        out.append(_curve_row(width, label, "".join(BARS[max(0, min(8, level))] for level in levels)))
    for part in range(rows - behind):
        levels = [round(value / low * 2 * (rows - behind)) - 2 * part for value in values]
        label = signed(low) if part == rows - behind - 1 else "0" if part == 0 else ""
        out.append(_curve_row(width, label, "".join(" ▀█"[max(0, min(2, level))] for level in levels)))
    marks = Row(width).to(LABEL + 1)
    here = column_of(picture, picture.runs[0].count, columns)
    if picture.first_count is not None:
        first = column_of(picture, picture.first_count, columns)
        if first < here:
            marks.to(LABEL + 1 + first).add("◆", "bad")
    cycles = "cycle" if picture.lag in (1, -1) else "cycles"
    text = f"instruction {number(picture.runs[0].count)}, B {signed(picture.lag)} {cycles}"
    if here + len(text) + 3 > columns:
        marks.right(LABEL + 1 + here, text + " ", "dim").to(LABEL + 1 + here).add("▲", "bold")
    else:
        marks.to(LABEL + 1 + here).add("▲", "bold").add(f" {text}", "dim")
    out.append(marks.line())
    return out


def _curve_row(width: int, label: str, bars: str) -> Line:
    """Return a row of the curve's bars."""
    return Row(width).right(LABEL, label, "dim").to(LABEL + 1).add(bars, "text").line()


def instruction_block(picture: ComparePicture, width: int, rows: int, under: bool = False) -> list[Line]:
    """Return the focused warp's instructions around the cursor; the reasons to their right if wide, below if `under`."""
    wide = width >= 110 and not under
    left = instruction_lines(picture, LIST_WIDTH if wide else width, rows + 1)
    if not wide:
        return [*left, *reason_lines(picture, width, 2)] if under else left
    right = reason_lines(picture, width - LIST_WIDTH, rows + 2)
    out = [left[0]._replace(spans=(*left[0].spans, *right[0].spans))]
    return out + [Row(width).join(a).to(LIST_WIDTH).join(b).line() for a, b in zip(left[1:], right[1:], strict=False)]


def instruction_lines(picture: ComparePicture, width: int, rows: int) -> list[Line]:
    """Return a title and `rows` rows: the names of the columns, and instructions with the cursor's in the middle.

     W6 ITS 2ND INSTRUCTION  L locks by cycle
        n  instruction                    A sram    B stt      B−A
        1  mov.u32 R0, %ctaid.x                3        3        0
     ▸  2  mov.u32 R1, %ntid.x                 8       11       +3
    """
    lock = "locked by instruction" if picture.lock == INSTRUCTION else "locked by cycle"
    name = f"{picture.warp}, instruction {number(picture.n)}" if picture.warp else "NO WARP"
    out = [title(width, name, lock)]
    room = width - 40
    head = Row(width).right(7, "n", "faint").at(9, "instruction"[: max(0, room - 1)], "faint")
    head.right(9 + room + 11, "A", "bold").right(9 + room + 21, "B", "dim").right(width - 1, "B−A", "faint")
    out.append(head.line())
    before = None
    for entry in _window(picture, rows - 1):
        here = entry.n == picture.n
        row = Row(width, "focus" if here else "")
        row.add(" ▸" if here else "  ", "bold").right(7, number(entry.n), "dim")
        name = entry.text if len(entry.text) < room else cut(compact_text(entry.text), room - 1)
        row.at(9, name, "bold" if here else "text")
        for end, cycle, role in ((9 + room + 11, entry.cycle_a, "bold"), (9 + room + 21, entry.cycle_b, "dim")):
            row.right(end, "–" if cycle is None else number(cycle), role)
        changed = before is not None and entry.lag is not None and entry.lag != before
        row.right(width - 1, signed(entry.lag), "changed" if changed else "dim")
        before = entry.lag if entry.lag is not None else before
        out.append(row.line())
    return fill(out, width, rows + 1)


def _window(picture: ComparePicture, rows: int) -> tuple[Instruction, ...]:
    """Return `rows` instructions with the cursor's as near to the middle as the list allows."""
    entries = picture.instructions
    at = next((index for index, entry in enumerate(entries) if entry.n == picture.n), 0)
    first = visible_from(at, len(entries), rows)
    return entries[first : first + rows]


def reason_lines(picture: ComparePicture, width: int, rows: int) -> list[Line]:
    """Return why the run that is behind did not issue the cursor's instruction when the other did."""
    late = picture.runs[picture.late]
    out = [title(width, "WHY", f"in {late.letter}, {late.name}")] if rows > 2 else []
    if not picture.reasons:
        out.append(Row(width).add("  no wait of its own: it issues as soon as the one before lets it", "dim").line())
    for index, (code, text) in enumerate(picture.reasons):
        row = Row(width).add(f" {index + 1} ", "dim")
        if code >= 0:
            look = late.look(code)
            row.add(look.glyph, look.accent)
        row.to(5).add(cut(text, width - 6), "text" if index else "bold")
        out.append(row.line())
    return fill(out, width, rows)


def strip_lines(picture: ComparePicture, width: int, rulers: bool = True) -> list[Line]:
    """Return the focused warp in both runs, each on its own clock, aligned at the issue of the previous instruction.

     W6 IN BOTH  1 column = 1 cycle, each run on its own clock
                       8
      A         3 █────◆──█
      B         3 █────▼▼▼◆──█
                          11  +3
    """
    strip = picture.strip
    every = plural(strip.scale, "cycle")
    out = [title(width, "THE WARP IN BOTH", f"1 column = {every}, own clock each; ◆ issues it")]
    rows = []
    for side, (run, role) in enumerate(zip(picture.runs, ROLES, strict=True)):
        row = Row(width).add(f" {run.letter} ", role).right(LABEL, number(strip.starts[side]), "faint").to(LABEL + 1)
        cells = []
        for column, code in enumerate(strip.codes[side]):
            look = run.look(code) if code >= 0 else None
            glyph, colour = (look.glyph, "hi:" + look.role) if look else (" ", "text")
            if column == strip.issue[side]:
                glyph, colour = "◆", "cursor"
            elif look and look.is_register_file:
                colour = "st:" + look.role
            cells.append((glyph, colour))
        rows.append(row.cells(cells).line())
    if not rulers:
        return [*out, *rows]
    marks = []
    for side in (0, 1):
        row, at = Row(width), strip.issue[side]
        here = next((entry for entry in picture.instructions if entry.n == picture.n), None)
        cycle = (here.cycle_a, here.cycle_b)[side] if here else None
        if at is not None and cycle is not None:
            lag = signed(here.lag) if side == 1 and here is not None and here.lag is not None else ""
            text = f"{number(cycle)}  {lag}".rstrip()
            x = LABEL + 1 + at
            row.to(x).add(text, "text") if x + len(text) < width else row.right(x + 1, text, "text")
        marks.append(row.line())
    return [*out, marks[0], *rows, marks[1]]


def state_lines(picture: ComparePicture, width: int) -> list[Line]:
    """Return what every warp slot did in the cycle before each cursor; slots whose states differ are underlined."""
    a, b = picture.runs
    differ = sum(x != y for x, y in zip(a.states, b.states, strict=False))
    out = [title(width, "WARP SLOTS AT THE CURSORS", f"{differ} of {len(a.states)} differ, underlined")]
    for run, other, role in ((a, b, "bold"), (b, a, "dim")):
        row = Row(width).add(f" {run.letter} ", role).right(LABEL, number(run.cycle), "text").to(LABEL + 1)
        cells = []
        for slot, code in enumerate(run.states):
            look = run.look(code)
            same = slot < len(other.states) and other.states[slot] == code
            cells.append((look.glyph, look.accent + ("" if same else "+u")))
            if slot % 8 == 7 and width >= LABEL + 2 + len(run.states) * 9 // 8:
                cells.append((" ", "text"))
        row.cells(cells)
        if run.slot is not None:
            row.add(f"   {run.letter}: w{run.slot} {run.look(run.states[run.slot]).name}", "dim")
        out.append(row.line())
    return out


def totals_block(picture: ComparePicture, width: int, height: int) -> list[Line]:
    """Return where the warp-cycles of both runs went, and next to it, if there is room, what the runs cost."""
    wide = width >= 110
    left_width = 66 if wide else width
    left = totals_lines(picture, left_width, height)
    if not wide:
        return left
    right = facts_lines(picture, width - left_width, height)
    return [a._replace(spans=(*a.spans, *b.spans)) for a, b in zip(left, right, strict=True)]


def totals_lines(picture: ComparePicture, width: int, height: int) -> list[Line]:
    """Return warp-cycles by state in both runs with diverging bars of the difference.

     WARP-CYCLES                    A            B          B−A
      issued                   23,798       23,798            0      │
      ▼ stt_write                   0    1,199,798   +1,199,798      │██████
    """
    a, b = picture.runs
    head = Row(width, "band").add(" ").add("WARP-CYCLES", "title").right(31, "A", "title").right(43, "B", "tinfo")
    out = [head.right(55, "B−A", "tinfo").line()]
    known = {look.name: look for look in (*a.looks.values(), *b.looks.values())}
    top = max([1, *(abs(y - x) for _, x, y in picture.totals)])
    half = max(2, (width - 58) // 2)
    sums = [sum(x for _, x, _ in picture.totals), sum(y for _, _, y in picture.totals)]
    shown = sorted(picture.totals, key=lambda entry: (entry[0] != "issued", -abs(entry[2] - entry[1])))
    for name, x, y in shown[: max(0, height - 2)]:
        look = known.get(name)
        row = Row(width).add(" ").add(look.glyph if look else " ", "fg:" + look.role if look else "text")
        row.to(3).add(name[:18], "text").right(31, number(x), "bold").right(43, number(y), "dim")
        row.right(55, signed(y - x), "changed" if x != y else "dim")
        cells = round(abs(y - x) / top * half)
        bar = ("█" * cells).rjust(half) + "│" if y < x else " " * half + "│" + "█" * cells
        out.append(row.to(57).add(bar, "text").line())
    if height > len(out):
        row = Row(width).to(3).add("Σ", "bold").right(31, number(sums[0]), "bold").right(43, number(sums[1]), "dim")
        out.append(row.right(55, signed(sums[1] - sums[0]), "dim").line())
    return fill(out, width, height)


def facts_lines(picture: ComparePicture, width: int, height: int) -> list[Line]:
    """Return cycles, IPC, energy and accesses of both runs with their ratios."""
    head = Row(width, "band").add(" ").add("THE RUNS", "title")
    head.add("  as far as held" if picture.cut else "", "tinfo").right(width - 22, "A", "title")
    out = [head.right(width - 10, "B", "tinfo").right(width - 1, "B/A", "tinfo").line()]
    for label, a, b, ratio in picture.facts:
        row = Row(width).add(" ").add(label[: width - 36], "text").right(width - 22, a, "bold").right(width - 10, b, "dim")
        out.append(row.right(width - 1, ratio, "text").line())
    return fill(out, width, height) if height > 1 else [blank(width)] * height
