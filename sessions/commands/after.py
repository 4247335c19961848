"""The debugger command `after [WARP] [measure]`: what an instruction delayed, `why` turned round."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.engine.info import RunInfo
from rfview.engine.wording import plural
from rfview.sessions.branches.without import Without, without
from rfview.sessions.causes.after import After, after
from rfview.sessions.commands import arguments
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.lines.table import LineTable, lines_of
from rfview.sessions.machine import Machine
from rfview.sessions.session import Session
from rfview.sessions.why import stalled_longest

SHOWN = (4, 2, 1)       # rows of each thing waited for, by hop; JSON has all


@verb("after", signature="[WARP] [measure]",
      help="what the instruction delayed that holds a warp up: `why` turned round; measure: run on without it")
def _after(session: Session, text: str) -> Answer:
    words = text.split()
    measures = words[-1:] == ["measure"]
    words = words[:-1] if measures else words
    if len(words) > 1:
        raise InputError(f"after {text}: expected a warp, as in `after 7`, and `measure` to run on without the instruction")
    warp = arguments.warp(session, words[0], "after") if words else arguments.warp_of_last_stop(session)
    if warp is None:
        warp = stalled_longest(Machine.of(session.timeline.at(session.cycle)))
    found = after(session, warp)
    measured = without(session, found) if measures else None
    return Answer(after_text(session.info, lines_of(session.timeline), found, measured),
                  {"after": {**found.data(), "measured": measured.data() if measured is not None else None}})


def after_text(info: RunInfo, lines: LineTable | None, found: After, measured: Without | None = None) -> str:
    """Return what an instruction delayed as lines of text: the answer, then a row for each wait, those for it below it."""
    text = [*head(info, lines, found), "", " warp-cycles  warps      since  waited"]
    for depth, number, hidden in tree(found):
        row = found.rows[number]
        most = "≤ " if row.hop > 1 else ""
        text.append(f"{f'{most}{row.cycles:,}':>12}  {len(row.warps):>5} {row.since:>10,}  {'  ' * depth}"
                    f"{row.state} at {place(info, lines, row.pc)}" + (f", and {hidden} more" if hidden else ""))
    if measured is not None:
        text += ["", f"measured: {measured.sentence}"]
    return "\n".join(text)


def head(info: RunInfo, lines: LineTable | None, found: After) -> list[str]:
    """Return which instruction it is, and how much stood still for it."""
    one, (warp, cycle) = found.subject, found.asked
    whose = f"the last that w{warp} issued" if found.is_own else f"it holds w{warp} up at {cycle:,}"
    warps = {warp for row in found.rows if row.parent < 0 for warp in row.warps}
    name = f"w{one.warp}'s {info.program[one.pc].text} at {place(info, lines, one.pc, False)}"
    return [f"{name}, issued {one.issued:,}, in flight until {one.left:,}: {whose}",
            f"{plural(found.warp_cycles, 'warp-cycle')} of {plural(len(warps), 'warp')} stood still for it" if warps else
            "no warp stood still for it"]


def place(info: RunInfo, lines: LineTable | None, pc: int, with_text: bool = True) -> str:
    """Return an instruction's PC, its source line if one is known, and its text."""
    if pc < 0:
        return "no instruction"
    line = lines.at(pc) if lines is not None else None
    where = f"PC {pc}" + (f", {lines.name_of(line)}" if lines is not None and line is not None else "")
    return f"{where}: {info.program[pc].text}" if with_text else where


def tree(found: After) -> list[tuple[int, int, int]]:
    """Return (depth, row, how many rows are left out after it) of the rows to show, each below the one it waited for."""
    shown: list[tuple[int, int, int]] = []

    def below(parent: int, depth: int) -> None:
        rows = [number for number, row in enumerate(found.rows) if row.parent == parent]
        most = SHOWN[depth] if rows else 0
        for number in rows[:most]:
            shown.append((depth, number, 0))
            at = len(shown) - 1
            below(number, depth + 1)
            if number == rows[:most][-1] and len(rows) > most:
                shown[at] = (depth, number, len(rows) - most)

    below(-1, 0)
    return shown
