"""The sentences of a session or of a finished simulator: at most five, ranked by the share that each names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES
from rfview.engine.errors import InputError
from rfview.engine.stalls import NO_WARP
from rfview.sessions.causes.account import EARLIER_CHUNKS
from rfview.sessions.energy import counts_of
from rfview.sessions.lines.counts import Counts, count_instructions
from rfview.sessions.lines.table import LineTable, lines_of
from rfview.sessions.summary.facts import Facts
from rfview.sessions.summary.floors import Floor
from rfview.sessions.summary.rules import LEAST, RULES
from rfview.sessions.timeline.once import OnceTimeline

if TYPE_CHECKING:
    from rfview.sessions.session import Session
    from rfview.sessions.summary.runs import Run
    from rfview.sessions.timeline.base import Timeline

MOST = 5
MARGIN = 20             # the narrowest width to which sentences are wrapped, in columns
LOOK = 1 << 12          # cycles in which it is counted at once who held whom: a fraction of a second
FARTHEST = 1 << 20      # cycles of a run that are simulated again for that


@dataclass(frozen=True)
class Sentence:
    """One sentence. rule: its name in rules.RULES. share: by which it is ranked.

    place: the line that it names, "mm.cu:11" or "PTX line 72", "" for none; source: that line's text. pc: its first
    instruction, -1 for none. opens: the panel that shows more: "lines" for a place.
    """

    rule: str
    share: float
    text: str
    lift: str
    place: str = ""
    pc: int = -1
    source: str = ""
    opens: str = ""


@dataclass(frozen=True)
class Summary:
    """A run in at most five sentences, the most important first. resident: warp-cycles of resident warps, 100 %.

    states: these by state, the most first. ended: the counts end with the run. window: the cycles first..last-1 that what is
    said of lines was counted in, None for all. runs: this one among the last runs of its family, () if it has no other.
    """

    cycles: int
    resident: int
    sentences: tuple[Sentence, ...]
    floors: tuple[Floor, ...]
    states: dict[str, int]
    ended: bool = True
    window: tuple[int, int] | None = None
    runs: tuple[Run, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"cycles": self.cycles, "ended": self.ended, "lines_counted_in": self.window,
                "resident_warp_cycles": self.resident, "states": self.states,
                "sentences": [vars(one) for one in self.sentences], "floors": [vars(one) for one in self.floors],
                "runs": [vars(one) for one in self.runs]}

    def text(self, width: int = 0) -> str:
        """Return it as lines of text: the sentences, each with what would lift it, then the floors and the denominator.

        width: of the lines, 0 for any.
        """
        lines = []
        for number, one in enumerate(self.sentences, 1):
            lines += [f"{number:>2}  {one.text}", *([f"      {one.lift}"] if one.lift else [])]
        floors = ", ".join(f"{floor.unit} {floor.cycles / max(1, self.cycles):.1%}" for floor in self.floors)
        where = "; lines: counted in the cycles {:,} to {:,}".format(*self.window) if self.window is not None else ""
        lines += [f"    {run.name}: {run.machine}, {run.cycles:,} cycles, {run.change(self.cycles)}; "
                  f"{run.unit} {run.filled:.1%}" for run in self.runs]
        lines += [f"    floors: {floors} of the cycles",
                  f"    100 % = {self.resident:,} warp-cycles of resident warps, or {self.cycles:,} cycles{where}"]
        if width <= MARGIN:
            return "\n".join(lines)
        return "\n".join(part for line in lines for part in wrap(
            line, width, subsequent_indent=" " * (6 if line.startswith(" " * 6) else 4), drop_whitespace=True))


def summary_of(facts: Facts, table: LineTable | None = None, ended: bool = True) -> Summary:
    """Return the sentences of the rules that fire.

    table: of the lines that the facts' causes are grouped by.
    """
    found = []
    for rule in RULES:
        finding = rule.find(facts)
        if finding is not None and finding.share >= LEAST:
            sentence = Sentence(rule.name, finding.share, finding.text, finding.lift, opens=rule.opens)
            found.append(sentence if table is None or finding.at is None or finding.at >= len(table.lines) else
                         replace(sentence, place=facts.name_of(finding.at), pc=int((table.of_pc == finding.at).argmax()),
                                 source=(table.source(table.lines[finding.at]) or "").strip(), opens="lines"))
    found.sort(key=lambda one: -one.share)
    resident = {name: count for name, count in facts.totals.items() if name not in NO_WARP and count}
    states = dict(sorted(resident.items(), key=lambda pair: -pair[1]))
    return Summary(facts.cycles, facts.resident, tuple(found[:MOST]), tuple(facts.floors), states, ended, facts.window)


def summarise(session: Session) -> Summary:
    """Return the summary of a session up to its last cycle; raises InputError if it has none or the count is stopped."""
    timeline = session.timeline
    if timeline.last <= timeline.first:
        raise InputError("summary: nothing has run yet")
    counts = count_instructions(timeline, timeline.first, timeline.last, session.interrupted)
    if counts.last < timeline.last:
        raise InputError("summary: interrupted")
    return of_counts(session, counts)


def of_counts(session: Session, counts: Counts) -> Summary:
    """Return the summary of a session's cycles before counts.last, from its first. counts: of these, by instruction."""
    from rfview.sessions.compare.comparison import has_ended    # start-up: a simulator's summary needs neither
    from rfview.sessions.summary.runs import last_runs

    timeline = session.timeline
    table = session.lines or LineTable(session.info, ptx=True)
    made = summary_of(facts_of(session, counts, table), table, has_ended(timeline) and counts.last == timeline.last)
    return replace(made, runs=last_runs(session, facts_of)) if made.ended else made


def facts_of(session: Session, counts: Counts | None = None, table: LineTable | None = None) -> Facts:
    """Return what is known of a session up to counts.last; without counts up to its last cycle, and nothing of lines."""
    timeline = session.timeline
    last = timeline.last if counts is None else counts.last
    late, early = timeline.at(last), timeline.at(timeline.first)
    totals = late.sm["stall_total"].astype("i8") - early.sm["stall_total"].astype("i8")
    ends = [counts_of(timeline.info, one.sm["events"].tolist(), one.sm["access_wait"].tolist()) for one in (early, late)]
    record = late.sm["config"]
    facts = Facts(timeline.info, last - timeline.first, _by_name(timeline.info.stall_names, totals),
                  {name: ends[1][name] - ends[0][name] for name in ends[1]},
                  {name: int(record[name]) for name in record.dtype.names if record[name].ndim == 0})
    if counts is None or table is None:
        return facts
    return _with_lines(facts, timeline, counts, table)


def _with_lines(facts: Facts, timeline: Timeline, counts: Counts, table: LineTable) -> Facts:
    """Return facts with who held whom, by line, as counted in a timeline."""
    unit = timeline.info.line_unit
    names = [*(line.text if lines_of(timeline) else f"{unit} {line.line}" for line in table.lines), "code without a line"]
    where = np.where(table.of_pc < 0, len(table.lines), table.of_pc)
    return replace(facts, by_pc=counts.causes, issued=counts.issued, line_of=where, num_lines=len(table.lines),
                   counted=int(counts.states[:-1].sum()), name_of=lambda at: names[at])


def of_recording(session: Session) -> Summary:
    """Return the summary of a recording's run that has ended; lines as far as cycles are stored: nothing is simulated."""
    return _of_part(session.timeline, facts_of(session), *(session.timeline.stored or (0, 0)))


def _of_part(timeline: Timeline, facts: Facts, first: int, last: int) -> Summary:
    """Return the summary of a run, with lines from LOOK cycles in the middle of first..last-1, or none if that is empty."""
    middle, until = _middle(first, last)
    if middle >= until:
        return summary_of(facts)
    table = lines_of(timeline) or LineTable(timeline.info, ptx=True)
    facts = _with_lines(facts, timeline, count_instructions(timeline, middle, until), table)
    return summary_of(facts if until - middle == facts.cycles else replace(facts, window=(middle, until)), table)


def _middle(first: int, last: int) -> tuple[int, int]:
    """Return (first cycle, cycle after) of LOOK cycles in the middle of others, so that whole chunks are read."""
    middle = max(first, (first + last - LOOK) // 2 // CHUNK_CYCLES * CHUNK_CYCLES - 1)
    return middle, min(last, middle + LOOK)


def of_simulator(simulator: Any, with_lines: bool = True, marks: Sequence[Any] = ()) -> Summary:
    """Return the summary of a finished run. with_lines: a part of it, in its first FARTHEST cycles, is simulated again.

    marks: of the run (Simulator.run), to begin at; the simulator itself goes back to one of them.
    """
    record = simulator.sm.config
    config = {name: int(record[name]) for name in record.dtype.names if record[name].ndim == 0}
    totals = _by_name(simulator.info.stall_names, np.array(simulator.sm.stall_total, np.int64))
    facts = Facts(simulator.info, simulator.cycle, totals, simulator.counts(), config)
    if not with_lines:
        return summary_of(facts)
    last = min(simulator.cycle, FARTHEST)
    middle, until = _middle(0, last)
    begin = max(0, (middle + 1) // CHUNK_CYCLES - EARLIER_CHUNKS) * CHUNK_CYCLES    # what is read begins here
    if near := [mark for mark in marks if mark.cycle <= begin]:
        simulator.restore(near[-1])
    else:
        simulator = simulator.twin()
    simulator.step(begin - simulator.cycle)
    timeline = OnceTimeline(simulator, 0 if middle == 0 else middle + 1, until)
    return _of_part(timeline, facts, 0, last)


def _by_name(names: dict[int, str], totals: np.ndarray) -> dict[str, int]:
    """Return warp-cycles by the name of their state."""
    return {names[code]: int(total) for code, total in enumerate(totals.tolist()) if total and code in names}
