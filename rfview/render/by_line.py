"""Two programs line by line as lines of text: what changed in words, the lines of both with their waits, the runs' totals.

 − 7          int row = blockIdx.x * blockDim.x + thread…       1,878
 +     7      int row = blockIdx.y * blockDim.y + thread…                  1,724
▸  11  11          float x = a[row * n + k];                1,070,119     45,592  −1,024,527     ███│         16.0 → 2.0

A line that only one version has is marked − or +. B−A grows from │: to the left where B waits less. Last: cache lines or
passes per access.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rfview.engine.wording import plural, signed
from rfview.render.compare import ROLES, message_line, status_line
from rfview.render.pair import RunFacts
from rfview.render.text import BARS, Line, Row, cut, fill, hint_row, list_row, number, title, visible_from, wrap
from rfview.sessions.compare.programs import NO_COST, Cost, Row as ProgramRow

HALF = 7                # cells of a bar on either side of its axis
ACCESS = 15             # cells of the column of cache lines per access
WIDE, TALL = 110, 30    # columns and rows from which everything is shown
STATES = 9              # rows of the lower half
SIGNS = {(False, False): " ", (True, False): "−", (False, True): "+"}


@dataclass(frozen=True)
class ByLinePicture:
    """All that one frame shows. by: what is compared, such as "source line". rows: in the order shown.

    changed: for each row, whether it differs. names: of the chosen line in A and B. totals: (state, A, B) warp-cycles.
    facts: (label, A, B, ratio) texts. lead: cycles by which B is ahead of A, at equal shares of the instructions.
    """

    runs: tuple[RunFacts, RunFacts]
    by: str
    heading: str
    sentences: tuple[str, ...]
    rows: tuple[ProgramRow, ...]
    changed: tuple[bool, ...]
    selected: int
    order: str
    names: tuple[str, str]
    totals: tuple[tuple[str, int, int], ...]
    facts: tuple[tuple[str, str, str, str], ...]
    lead: tuple[int, ...]
    memory: str = ""
    message: str = ""
    message_kind: str = "info"
    busy: str = ""
    cut: str = ""

    def at(self, **changes: Any) -> ByLinePicture:
        """Return the picture with some facts replaced."""
        return replace(self, **changes)


def paint(picture: ByLinePicture, width: int, height: int, hints: Sequence[tuple[str, str]] = ()) -> list[Line]:
    """Return the whole screen: exactly `height` lines; the lower half is one table where there is little room."""
    is_tall, is_wide = height >= TALL, width >= WIDE
    above, rows = _rows(picture, width, height)
    words = _said(picture.sentences, width - 3, above - 1 - is_tall)
    lines = [status_line(picture, width), *(_words(text, at == 0, width) for at, text in enumerate(words))]
    lines = [*fill(lines, width, above), *table(picture, width, rows), *([Row(width).line()] if is_tall else [])]
    lines += lower_half(picture, width, height - 2 - len(lines), is_wide, is_tall)
    return [*fill(lines, width, height - 2), message_line(picture, width), hint_row(width, hints)]


def _said(sentences: Sequence[str], width: int, rows: int) -> list[str]:
    """Return as many whole sentences as there are rows for, the first of them in any case."""
    for count in range(len(sentences), 0, -1):
        words = wrap(" ".join(sentences[:count]), width)
        if len(words) <= rows:
            return words
    words = wrap(" ".join(sentences[:1]), width)
    return [*words[: rows - 1], cut(" ".join(words[rows - 1 :]), width)] if words else []


def _rows(picture: ByLinePicture, width: int, height: int) -> tuple[int, int]:
    """Return how many rows are above the table, and how many lines it shows."""
    is_tall = height >= TALL
    above = 4 if is_tall else 3
    lower = 5 if not is_tall else STATES + 7 if width >= WIDE else 2 * (STATES + 1)
    rows = max(3, height - above - lower - 4)
    return above, min(rows, max(6, len(picture.rows))) if is_tall else rows


def row_at(picture: ByLinePicture, width: int, height: int, y: int) -> int | None:
    """Return the number of the row of the table in row y of the screen, for the mouse; None if there is none."""
    above, rows = _rows(picture, width, height)
    at = visible_from(picture.selected, len(picture.rows), rows) + y - above - 2
    return at if 0 <= y - above - 2 < rows and at < len(picture.rows) else None


def _words(text: str, first: bool, width: int) -> Line:
    head, stop, rest = text.partition(". ") if first else ("", "", text)
    return Row(width).add("  ").add(head + stop.rstrip(), "bold").add(" " * bool(head and rest)).add(rest, "text").line()


def table(picture: ByLinePicture, width: int, rows: int) -> list[Line]:
    """Return the title, the names of the columns, and `rows` rows around the chosen one."""
    wide = width >= WIDE
    order = {"source": "in the order of the source", "change": "most changed first"}[picture.order]
    lines = [title(width, f"BY {picture.by.upper()}", picture.heading, focus=True, right=order if wide else "")]
    ends = _ends(width, wide)
    head = Row(width).right(5, "A", "bold").right(9, "B", "dim").at(11, picture.by, "faint")
    for end, text, role in zip(ends, ("waits A", "waits B", "B−A"), ("bold", "dim", "faint"), strict=True):
        head.right(end, text, role)
    if wide:
        head.right(width - 1, "cache lines", "faint")
    lines.append(head.line())
    top = max([1, *(abs(row.change) for row in picture.rows if not row.pair.edited)])
    first = visible_from(picture.selected, len(picture.rows), rows)
    for at in range(first, min(len(picture.rows), first + rows)):
        lines.append(_row(picture, at, width, ends, top))
    return fill(lines, width, rows + 2)


def _ends(width: int, wide: bool) -> tuple[int, int, int]:
    """Return the columns at which the three numbers end."""
    last = width - (2 * HALF + 4 + ACCESS if wide else 1)
    return (last - 25, last - 13, last) if wide else (last - 22, last - 12, last)


def _row(picture: ByLinePicture, at: int, width: int, ends: tuple[int, int, int], top: int) -> Line:
    """Return one line of both programs."""
    row, chosen, changed = picture.rows[at], at == picture.selected, picture.changed[at]
    pair = row.pair
    sign = SIGNS[pair.b is None, pair.a is None]
    role = {"−": "bad", "+": "good"}.get(sign, "bold" if chosen or changed else "dim")
    out = list_row(width, chosen).add(sign, role)
    for end, side in ((5, pair.a), (9, pair.b)):
        out.right(end, str(side.line or "") if side is not None else "", role if chosen or pair.edited else "dim")
    text, room = pair.text.expandtabs(4).rstrip(), ends[0] - 11 - 10
    code = text.lstrip()
    indent = min(len(text) - len(code), room // 4) if width >= WIDE else 0      # deep ones, of parameters, leave no room
    out.at(11, cut(" " * indent + code, room), role)
    for end, cost, shade in ((ends[0], row.a, "text"), (ends[1], row.b, "text")):
        out.right(end, number(cost.waits) if cost is not None else "", "bold" if changed else shade)
    if row.a is None or row.b is None:
        return out.line()
    out.right(ends[2], signed(row.change), ("good" if row.change < 0 else "bad") if changed else "dim")
    if width >= WIDE:
        cells = min(HALF, round(abs(row.change) / top * HALF))
        out.to(ends[2] + 1).add(("█" * cells if row.change < 0 else "").rjust(HALF), "good").add("│", "faint")
        out.add("█" * cells if row.change > 0 else "", "bad")
        out.right(width - 1, *_access(row))
    return out.line()


def _access(row: ProgramRow) -> tuple[str, str]:
    """Return how many cache lines or passes an access takes in A and B, yellow if twice as many as would do."""
    costs = [cost for cost in (row.a, row.b) if cost is not None and cost.sent is not None]
    poor = any(cost.ideal and cost.sent > 2 * cost.ideal for cost in costs if cost.sent is not None)
    return " → ".join(f"{cost.sent:.1f}" for cost in costs), "approx" if poor else "dim"


def lower_half(picture: ByLinePicture, width: int, height: int, wide: bool, tall: bool) -> list[Line]:
    """Return what the chosen line waits for, where all warp-cycles went, the runs' totals, and who leads."""
    if not tall:
        return states_lines(picture, picture.totals, "WARP-CYCLES", "resident warps", width, height)
    if not wide:
        return [*line_states(picture, width, STATES), Row(width).line(),
                *states_lines(picture, picture.totals, "WARP-CYCLES", "resident warps", width, height - STATES - 1)]
    half = width // 2 - 1
    own = min(5, height // 3)
    left = [*line_states(picture, half, own), Row(half).line(),
            *states_lines(picture, picture.totals, "WARP-CYCLES", "resident warps", half, height - own - 1)]
    facts = min(len(picture.facts) + 2, height - 4)
    right = [*facts_lines(picture, half, facts), *lead_lines(picture, half, min(6, height - facts))]
    return [Row(width).join(a).to(half + 2).join(b).line()
            for a, b in zip(fill(left, half, height), fill(right, half, height), strict=True)]


def line_states(picture: ByLinePicture, width: int, height: int) -> list[Line]:
    """Return what the chosen line waits for in both runs."""
    row = picture.rows[picture.selected] if picture.rows else None
    a, b = (row.a or NO_COST, row.b or NO_COST) if row is not None else (NO_COST, NO_COST)
    names = dict.fromkeys((*a.states, *b.states))
    totals = (("holds up", a.causes, b.causes), ("issued", a.issued, b.issued),
              *((name, a.states.get(name, 0), b.states.get(name, 0)) for name in names))
    name = picture.names[row is None or row.pair.b is not None]
    return states_lines(picture, totals, name or "NO LINE", "waits for", width, height)


def states_lines(picture: ByLinePicture, totals: Sequence[tuple[str, int, int]], head: str, what: str, width: int,
                 height: int) -> list[Line]:
    """Return a title and rows of states, those that changed most first, the others summed in the last row."""
    ends = width - 26, width - 14, width - 1
    line = Row(width, "band").add(" ").add(head, "title").add(f"  {what}", "tinfo")
    lines = [line.right(ends[0], "A", "title").right(ends[1], "B", "tinfo").right(ends[2], "B−A", "tinfo").line()]
    known = {look.name: look for run in picture.runs for look in run.looks.values()}
    order = sorted(totals, key=lambda one: -abs(one[2] - one[1]))
    if len(order) > height - 1 > 1:
        rest = order[height - 2 :]
        sums = sum(a for _, a, _ in rest), sum(b for _, _, b in rest)
        order = [*order[: height - 2], (plural(len(rest), "other"), *sums)]
    for name, a, b in order[: max(0, height - 1)]:
        look = known.get(name)
        row = Row(width).add(" ").add(look.glyph if look else " ", "hi:" + look.role if look else "text").add(f" {name}")
        row.right(ends[0], number(a), "text").right(ends[1], number(b), "text")
        gain = b < a if name != "issued" else b > a
        lines.append(row.right(ends[2], signed(b - a), "dim" if a == b else "good" if gain else "bad").line())
    return fill(lines, width, height)


def facts_lines(picture: ByLinePicture, width: int, height: int) -> list[Line]:
    """Return cycles, IPC, accesses and energy of both runs with their ratios."""
    head = Row(width, "band").add(" ").add("THE RUNS", "title").add("  as far as held" if picture.cut else "", "tinfo")
    lines = [head.right(width - 22, "A", "title").right(width - 10, "B", "tinfo").right(width - 1, "B/A", "tinfo").line()]
    for label, a, b, ratio in picture.facts:
        row = Row(width).add(" ").add(label[: width - 36], "text").right(width - 22, a, ROLES[0])
        row.right(width - 10, b, "text")
        lines.append(row.right(width - 1, ratio, "bold" if label == "cycles" else "text").line())
    return fill(lines, width, height)


def lead_lines(picture: ByLinePicture, width: int, height: int) -> list[Line]:
    """Return by how many cycles B is ahead of A, or behind, at equal shares of the instructions; bars grow from zero."""
    if height < 4 or not picture.lead:
        return []
    ahead = max(picture.lead) >= -min(picture.lead)
    what = f"cycles B is {'ahead of' if ahead else 'behind'} A, by share of the instructions"
    values = [max(0, value if ahead else -value) for value in picture.lead]
    columns, rows, top = width - 11, height - 2, max([1, *values])
    shown = [values[column * len(values) // columns] for column in range(columns)]
    lines = [title(width, "LEAD", what)]
    for below in range(rows - 1, -1, -1):
        bars = "".join(BARS[max(0, min(8, round(value / top * 8 * rows) - 8 * below))] for value in shown)
        label = number(top) if below == rows - 1 else "0" if not below else ""
        lines.append(Row(width).right(9, label, "dim").to(10).add(bars, "good" if ahead else "bad").line())
    return [*lines, Row(width).to(10).add("0 %", "faint").right(10 + columns // 2, "50 %", "faint")
            .right(width - 1, "100 %", "faint").line()]


def markdown(picture: ByLinePicture) -> str:
    """Return the sentences and the lines that changed as Markdown."""
    lines = [" ".join(picture.sentences), "", f"| | A | B | {picture.by} | waits A | waits B | B−A |",
             "|---|--:|--:|---|--:|--:|--:|"]
    for row, changed in zip(picture.rows, picture.changed, strict=True):
        if changed:
            pair = row.pair
            sign = SIGNS[pair.b is None, pair.a is None].strip()
            cells = [str(side.line or "") if side is not None else "" for side in (pair.a, pair.b)]
            text = pair.text.strip().replace("|", "\\|").replace("`", "'")
            waits = [_waits(cost) for cost in (row.a, row.b)]
            change = signed(row.change) if all(waits) else ""
            lines.append(f"| {sign} | {' | '.join(cells)} | `{text}` | {' | '.join(waits)} | {change} |")
    return "\n".join(lines) + "\n"


def _waits(cost: Cost | None) -> str:
    return number(cost.waits) if cost is not None else ""
