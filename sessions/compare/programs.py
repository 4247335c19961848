"""Two runs of different programs, or of two versions of one: what each line waits in both, and what that means in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.progress import Progress
from rfview.engine.stalls import NO_STALL, NO_WARP
from rfview.engine.wording import plural
from rfview.sessions.compare import launches, machines
from rfview.sessions.compare.comparison import Lead, has_ended, program_difference
from rfview.sessions.compare.edits import NOTHING, Alignment, Pair, Side, align
from rfview.sessions.compare.issues import NO_CYCLE, Issue, IssueLog
from rfview.sessions.compare.report import run_data
from rfview.sessions.compare.values import same_buffers
from rfview.sessions.lines.counts import count_instructions
from rfview.sessions.timeline.base import Timeline

CHANGED = 0.01      # of the resident warp-cycles of the longer run: a line whose waits differ by as much has changed
FASTER = 1.5        # ratio from which a speed-up is named as one


@dataclass(frozen=True)
class Cost:
    """What a line cost in one run: instructions issued, and warp-cycles waited, in all and by the name of the state.

    causes: lost warp-cycles that it holds up, whoever waits. sent, ideal: cache lines or passes per access, if it has any.
    """

    issued: int
    waits: int
    states: dict[str, int]
    causes: int = 0
    sent: float | None = None
    ideal: float | None = None
    sends: str = "cache lines"


NO_COST = Cost(0, 0, {})


@dataclass(frozen=True)
class Row:
    """A line of both programs with its costs; a run that lacks the line, or whose line has no instruction, has none."""

    pair: Pair
    a: Cost | None
    b: Cost | None

    @property
    def change(self) -> int:
        """Return by how many warp-cycles the line waits longer in B."""
        return (self.b or NO_COST).waits - (self.a or NO_COST).waits

    @property
    def causes_change(self) -> int:
        """Return by how many more warp-cycles the line holds up others, or itself, in B."""
        return (self.b or NO_COST).causes - (self.a or NO_COST).causes


class Programs:
    """Timelines a and b, recorded or live, compared line by line; no further cycles are simulated.

    progress is called while many chunks are read, and may raise to stop.
    """

    def __init__(self, a: Timeline, b: Timeline, progress: Progress | None = None):
        self.timelines, self.progress = (a, b), progress
        self.alignment: Alignment = align(a.info, b.info)
        self.logs = (IssueLog(a), IssueLog(b))
        costs = [self._costs(at) for at in (0, 1)]

        def cost(at: int, side: Side | None) -> Cost | None:
            return costs[at][side.place] if side is not None and side.place != NOTHING else None

        self.rows = tuple(Row(pair, cost(0, pair.a), cost(1, pair.b)) for pair in self.alignment.pairs)
        self.resident = tuple(_resident(timeline) for timeline in self.timelines)

    def _costs(self, at: int) -> list[Cost]:
        """Return the cost of each place of one run."""
        timeline, places = self.timelines[at], self.alignment.places[at]
        name = "AB"[at]

        def report(cycle: int) -> bool:
            if self.progress is not None:
                self.progress(None, f"counting {name}: cycle {cycle:,}")
            return False

        counts = count_instructions(timeline, timeline.first, timeline.last, report)
        size = len(self.alignment.names[at])
        causes = counts.causes.grouped(np.where(places == NOTHING, size, places), size + 1)
        caused = causes.caused
        states = np.zeros((size + 1, counts.states.shape[1]), np.int64)
        np.add.at(states, places, counts.states[:-1])       # instructions without a place go to the last row
        names = timeline.info.stall_names
        costs = []
        for place, row in enumerate(states[:-1]):
            waits = {names[code]: int(row[code]) for code in np.argsort(-row, kind="stable").tolist()
                     if row[code] and names.get(code, NO_STALL[0]) not in NO_STALL}
            sent, ideal = causes.metrics.per_access(place) or (None, None)
            costs.append(Cost(int(row[timeline.issued]), sum(waits.values()), waits, int(caused[place]), sent, ideal,
                              "passes" if causes.metrics.is_shared(place) else "cache lines"))
        return costs

    # what has changed

    def is_changed(self, row: Row) -> bool:
        """Say whether a line was edited, or waits or makes wait longer or shorter by a share of all resident warp-cycles."""
        least = CHANGED * max(self.resident)
        return row.pair.edited or max(abs(row.change), abs(row.causes_change)) >= least

    @property
    def cut(self) -> str:
        """Return the letters of the runs that are not complete."""
        return "".join(name for name, timeline in zip("AB", self.timelines, strict=True) if not has_ended(timeline))

    @cached_property
    def memory_equal(self) -> bool | None:
        """Say whether both runs end with the same buffers; None if one has not ended, or if they have other buffers."""
        a, b = self.timelines
        ours, theirs = ({(one.name, one.bytes) for one in timeline.info.variables} for timeline in (a, b))
        if self.cut or ours != theirs:
            return None
        return same_buffers(a, b, a.last, b.last)

    def lead(self, points: int = 10) -> list[Lead]:
        """Return in which cycle each run has issued equal shares of the instructions of the run that has fewer."""
        total = min(log.total for log in self.logs)
        counts = sorted({-(-total * part // points) for part in range(1, points + 1)} - {0})
        return [Lead(count, *(log.cycle_of(count) for log in self.logs)) for count in counts]

    @cached_property
    def notes(self) -> list[str]:
        """Return what else differs between the runs, which a reader of the numbers should know."""
        a, b = (timeline.info for timeline in self.timelines)
        notes = launches.notes(a.launches, b.launches)
        for name, timeline in zip("AB", self.timelines, strict=True):
            if timeline.first:
                notes.append(f"{name} begins at cycle {timeline.first:,}")
            if timeline.closed and not has_ended(timeline):
                notes.append(f"{name} ends at cycle {timeline.last:,}, before its kernel does")
        mine, other = ({one.name: one.bytes for one in info.variables} for info in (a, b))
        if mine != other:
            names = sorted(name for name in {*mine, *other} if mine.get(name) != other.get(name))
            notes.append(f"results are not compared, since buffers differ: {', '.join(names[:4])}"
                         + (f" and {len(names) - 4} more" if len(names) > 4 else ""))
        elif not any(timeline.first for timeline in self.timelines) and not same_buffers(*self.timelines, 0, 0):
            notes.append("the runs begin with different data in memory")
        return notes

    # one line

    def name_of(self, row: Row, at: int) -> str:
        """Return a line's name in one run, as `mm.cu:11`; in the other run if it is not in this one."""
        for which, side in sorted(enumerate((row.pair.a, row.pair.b)), key=lambda one: one[0] != at):
            if side is not None:
                if side.place != NOTHING:
                    return self.alignment.names[which][side.place]
                return f"{side.file.rpartition('/')[2]}:{side.line}"
        raise AssertionError("a row of neither program")

    def first_issue(self, row: Row, at: int) -> Issue | None:
        """Return a line's first issue in run A (0) or B (1); None if it has none there."""
        side = (row.pair.a, row.pair.b)[at]
        if side is None or side.place == NOTHING:
            return None
        log, pcs = self.logs[at], np.flatnonzero(self.alignment.places[at] == side.place)
        for number in range(len(log.timeline.chunk_starts())):
            part = log.chunk(number)
            hits = np.flatnonzero(np.isin(part.pc, pcs))
            if len(hits):
                return part.row(int(hits[0]))
        return None

    def first_wait(self, row: Row, at: int) -> tuple[int, int] | None:
        """Return (cycle, slot) at the end of the line's first wait for its commonest reason; None if it never waits."""
        side, cost = (row.pair.a, row.pair.b)[at], (row.a, row.b)[at]
        if side is None or cost is None or not cost.states:
            return None
        timeline, code = self.timelines[at], self.timelines[at].info.stall_codes[next(iter(cost.states))]
        pcs = np.flatnonzero(self.alignment.places[at] == side.place)
        for start, stop, _ in timeline.stretches(timeline.first + 1, timeline.last + 1):
            states = timeline.states(start, stop)
            waits = (states == code) & np.isin(timeline.column("sm.warp[*].pc", start, stop)[:, : states.shape[1]], pcs)
            hits = np.argwhere(waits)
            if len(hits):
                begin, slot = map(int, hits[0])
                ends = np.flatnonzero(~waits[begin:, slot])
                return start + begin + (int(ends[0]) if len(ends) else len(waits) - begin) - 1, slot
        return None

    # in words

    def sentences(self) -> list[str]:
        """Return what changed, most important first: how fast, which line, what limits now."""
        a, b = self.timelines
        said = [f"{' and '.join(self.cut)} {'is' if len(self.cut) == 1 else 'are'} cut before the end, so times are not "
                "compared." if self.cut else speed_sentence(a.last, b.last, (a.info.clock_mhz, b.info.clock_mhz))]
        most = max(self._versions(), key=lambda row: abs(row.causes_change), default=None)
        if most is not None and most.causes_change and self.is_changed(most):
            said.append(f"{self.name_of(most, 1)} holds up {abs(most.causes_change):,} warp-cycles "
                        f"{'less' if most.causes_change < 0 else 'more'}{access_sentence(most)}.")
        now = max(self.rows, key=lambda row: (row.b or NO_COST).waits, default=None)
        if now is not None and now.b is not None and now.b.waits:
            name, count = next(iter(now.b.states.items()))
            share = now.b.waits / max(1, self.resident[1])
            said.append(f"In B {self.name_of(now, 1)} waits most, {share:.0%} of the resident warp-cycles: {name} "
                        f"{count / now.b.waits:.0%} of that.")
        return said

    def _versions(self) -> list[Row]:
        """Return the rows, with an edited line and its new version, which follows it, as one: costs move to the latter."""
        rows: list[Row] = []
        for row in self.rows:
            last = rows[-1] if rows else None
            if row.pair.a is None and last is not None and last.pair.b is None:
                rows[-1] = Row(Pair(last.pair.a, row.pair.b), last.a, row.b)
            else:
                rows.append(row)
        return rows

    def heading(self) -> str:
        """Return how much was edited, and how many other lines cost something else now."""
        by, edited = self.alignment.by, self.alignment.edited
        parts = [f"{plural(edited, by)} edited" if edited else "nothing edited"]
        others = sum(self.is_changed(row) and not row.pair.edited for row in self.rows)
        parts += [f"{others} unchanged cost otherwise"] if others else []
        parts += [f"{self.alignment.hidden} edited without instructions"] if self.alignment.hidden else []
        return ", ".join(parts)


def speed_sentence(a: int, b: int, clocks: tuple[int, int] = (1, 1)) -> str:
    """Return how the cycles of B compare with those of A. clocks: of both machines in MHz; other ones are said."""
    if not a or not b:
        return f"B takes as many cycles as A, {b:,}." if a == b else ""
    count = f"{abs(b - a) / a:.1%} {'fewer' if b < a else 'more'} cycles" if a != b else f"as many cycles as A, {b:,}"
    if clocks[0] != clocks[1]:
        ratio = a * clocks[1] / (b * clocks[0])
        speed = f"{ratio:.{1 if ratio >= 1 else 2}f} times as fast"
        return f"B takes {count}; at {clocks[1]:,} MHz instead of {clocks[0]:,} it is {speed}."
    return f"B is {a / b:.1f} times as fast." if a / b >= FASTER else f"B takes {count}."


def access_sentence(row: Row) -> str:
    """Return how many cache lines or passes an access of a line takes in B, if another number than in A."""
    a, b = row.a or NO_COST, row.b or NO_COST
    if a.sent is None or b.sent is None or abs(a.sent - b.sent) < 0.05 * a.sent:
        return ""
    return f": {b.sent:.1f} {b.sends} an access instead of {a.sent:.1f}"


def _resident(timeline: Timeline) -> int:
    """Return the warp-cycles of warps that are resident and have not ended."""
    totals, names = timeline.stall_totals(timeline.last), timeline.info.stall_names
    return int(sum(int(count) for code, count in enumerate(totals) if names.get(code) not in (None, *NO_WARP)))


def data_of(programs: Programs, targets: tuple[str, str], points: int = 10) -> dict[str, Any]:
    """Return everything that `rfview compare A B --json` prints of two programs."""
    a, b = programs.timelines

    def side(row: Row, at: int) -> dict[str, Any] | None:
        one, cost = (row.pair.a, row.pair.b)[at], (row.a, row.b)[at]
        if one is None:
            return None
        costs = {} if cost is None else {
            "issued": cost.issued, "waits": cost.waits, "states": cost.states, "causes": cost.causes,
            "sent_per_access": cost.sent, "ideal_per_access": cost.ideal, "sends": cost.sends}
        return {"file": one.file, "line": one.line, "name": programs.name_of(row, at), **costs}

    return {
        "runs": [run_data(a, targets[0], "A"), run_data(b, targets[1], "B")],
        "programs_differ": program_difference(a.info, b.info), "by": programs.alignment.by,
        "machines_differ_in": machines.differences([a.info, b.info]), "memory_equal": programs.memory_equal,
        "sentences": programs.sentences(), "resident_warp_cycles": list(programs.resident),
        "lines": [{"text": row.pair.text, "edited": row.pair.edited, "changed": programs.is_changed(row),
                   "a": side(row, 0), "b": side(row, 1), "waits_more": row.change, "causes_more": row.causes_change}
                  for row in programs.rows],
        "edited_without_instructions": programs.alignment.hidden,
        "lead": [{"instructions": lead.count, "cycle_a": lead.cycle_a, "cycle_b": lead.cycle_b, "lag": lead.lag}
                 for lead in programs.lead(points) if NO_CYCLE not in (lead.cycle_a, lead.cycle_b)],
        "notes": programs.notes,
    }
