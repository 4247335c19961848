"""The command `heat ITEM`: a register's lanes, or a buffer's elements, over time, one character per cell."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.sessions.commands.arguments import needed
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.expressions.values import value_text
from rfview.sessions.heat import Strip, around, heat
from rfview.sessions.heat.glyphs import LEGEND, characters
from rfview.sessions.session import Session

COLUMNS, ROWS = 64, 32
FORM = re.compile(r"(?P<item>.+?)(?:\s+(?:by|per)\s+(?P<per>\d{1,9}))?\Z")


@verb("heat", signature="REGISTER | BUFFER[0..127] [by CYCLES]",
      help="values through time around this cycle, a character per cell, and who wrote them")
def _heat(session: Session, text: str) -> Answer:
    match = FORM.match(needed(text, "heat"))
    assert match is not None
    per = int(match["per"] or 1)
    if per < 1:
        raise InputError(f"heat {text}: a column is at least one cycle")
    history = heat(session, match["item"])
    timeline = session.timeline
    edges = around(session.cycle, COLUMNS, per, timeline.first, timeline.last)
    strip = history.strip(edges, ROWS, session.progress)
    return Answer(strip_text(strip, session), {"cycle": session.cycle, "heat": strip.data()})


def strip_text(strip: Strip, session: Session) -> str:
    """Return a strip as text: a row per lane, then the writers, then the legend."""
    cells = characters(strip.values, strip.state, strip.top)
    per = int(strip.edges[1] - strip.edges[0])
    lines = [f"{strip.item}  {strip.kind}, to ±{value_text(float(f'{strip.top:.4g}'))}; a column is "
             f"{plural(per, 'cycle')}, {int(strip.edges[0]):,} to {int(strip.edges[-1]) - 1:,}"]
    mark = [" "] * len(cells)
    at = strip.column_of(session.cycle)
    if at >= 0:
        mark[at] = "v"
    lines.append(f"{'':>6} {''.join(mark)}".rstrip())
    lines += [f"{row:>6} {''.join(column)}".rstrip()
              for row, column in zip(strip.rows.tolist(), cells.T.tolist(), strict=True)]
    names = letters(strip)
    wrote = "".join(letter_of(strip, names, column) for column in range(len(cells)))
    lines.append(f"{'wrote':>6} {wrote}".rstrip())
    program = session.info.program
    for pc, letter in names.items():
        lines.append(f"{letter:>6} {program[pc].text}, {program[pc].where}" if 0 <= pc < len(program) else
                     f"{letter:>6} written")
    return "\n".join([*lines, f"       {LEGEND}"])


def letters(strip: Strip) -> dict[int, str]:
    """Return pc -> letter for the writers in a strip, in program order; the memory log may not name them."""
    writers = sorted({int(pc) for pc in strip.writer if pc != -1})
    return {pc: "•" if pc < 0 else chr(ord("a") + at % 26) for at, pc in enumerate(writers)}


def letter_of(strip: Strip, names: dict[int, str], column: int) -> str:
    """Return the letter of a column's last writer: a capital if there were several writes, `·` for none."""
    if not strip.writes[column]:
        return "✕" if strip.lost[column] else "·"
    letter = names[int(strip.writer[column])]
    return letter.upper() if strip.writes[column] > 1 else letter
