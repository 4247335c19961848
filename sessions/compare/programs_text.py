"""The comparison of two programs as text: what changed in sentences, the totals, then a row per line.

      A    B      waits A     waits B         B−A    causes B−A   per access  source line
    − 7                 1,878                                                    int row = blockIdx.x * blockDim.x + ..
     11   11    1,070,119      45,592  −1,024,527    −3,482,072   16.0 → 2.0         float x = a[row * n + k];
"""

from __future__ import annotations

from typing import Any

from rfview.engine.escapes import visible
from rfview.engine.wording import signed
from rfview.sessions.compare import machines
from rfview.sessions.compare.edits import KERNEL, SOURCE
from rfview.sessions.compare.programs import Programs
from rfview.sessions.compare.report_text import totals_text

TEXT_COLUMNS = 72
MOST_ROWS = 200     # of a text; --json has all


def programs_text(programs: Programs, data: dict[str, Any]) -> str:
    """Return `data_of`'s result as text."""
    a, b = data["runs"]
    lines = [f"{letter}  {run['target']}   {run['design']} {run['scheduler']} · {run['preset']}, {run['cycles']:,} cycles"
             for letter, run in (("A", a), ("B", b))]
    sentence = machines.sentence(data["machines_differ_in"])
    lines += [sentence] if sentence else []
    lines += ["", *data["sentences"], "", totals_text(data["runs"]), ""]
    same = {True: "equal at the end", False: "differs at the end", None: "not compared"}
    lines += [f"memory  {same[data['memory_equal']]}", *(f"note: {note}" for note in data["notes"]), ""]
    rows = data["lines"]
    shown = rows if programs.alignment.by in (SOURCE, KERNEL) else [row for row in rows if row["changed"]]
    a, b = data["resident_warp_cycles"]
    lines.append(f"by {data['by']}: {programs.heading()}; waits in warp-cycles of resident warps, {a:,} in A, {b:,} in B")
    lines.append(_row("", "A", "B", "waits A", "waits B", "B−A", "causes B−A", "per access", data["by"]))
    lines += [_line(row) for row in shown[:MOST_ROWS]]
    left = len(rows) - min(len(shown), MOST_ROWS)
    if left:
        lines.append(f"{left:,} more rows, which changed less, are in --json")
    return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    a, b = row["a"], row["b"]
    sign = " " if not row["edited"] else "−" if b is None else "+"
    waits_a, waits_b = (f"{one['waits']:,}" if one and "waits" in one else "" for one in (a, b))
    number_a, number_b = (str(one["line"] or "") if one else "" for one in (a, b))
    change = signed(row["waits_more"]) if waits_a and waits_b else ""
    causes = signed(row["causes_more"]) if change else f"{(a or b).get('causes', 0):,}" if waits_a or waits_b else ""
    sent = [f"{one['sent_per_access']:.1f}" for one in (a, b) if one and one.get("sent_per_access") is not None]
    text = visible(row["text"].expandtabs(4))[:TEXT_COLUMNS]
    return _row(sign, number_a, number_b, waits_a, waits_b, change, causes, " → ".join(sent), text)


def _row(sign: str, a: str, b: str, waits_a: str, waits_b: str, change: str, causes: str, sent: str,
         text: str) -> str:
    return f"{sign:1}{a:>5}{b:>6} {waits_a:>13} {waits_b:>13} {change:>14} {causes:>14} {sent:>13}  {text}".rstrip()
