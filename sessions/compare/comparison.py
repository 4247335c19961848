"""Two runs of one program side by side: first divergence, lead and lag, and corresponding cycles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import html
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.sessions.compare.issues import Issue, IssueLog, WarpName
from rfview.sessions.compare.values import ValueDifference, first_value_difference, same_buffers
from rfview.sessions.timeline.base import CycleProgress, Timeline

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo


@dataclass(frozen=True)
class Divergence:
    """The first cycle in which the two runs do not do the same.

    name, n: the warp whose n-th instruction (1, 2 ..) issues in `cycle` in one run and later, or never, in the other.
    a, b: that issue in each run, None if a run lacks it. late: "A" or "B", the run that issues it later. state, slot:
    the warp's stall code and slot in the late run in that cycle; None if the warp is not there yet.
    """

    cycle: int
    name: WarpName
    n: int
    a: Issue | None
    b: Issue | None
    late: str
    state: int | None
    slot: int | None


@dataclass(frozen=True)
class Split:
    """The first instruction at which a warp takes different paths in A and B: same warp and n, another pc."""

    name: WarpName
    n: int
    a: Issue
    b: Issue


@dataclass(frozen=True)
class Lead:
    """The cycles in which both runs have issued `count` instructions. lag = cycle_b - cycle_a: how much later B is."""

    count: int
    cycle_a: int
    cycle_b: int

    @property
    def lag(self) -> int:
        """Return by how many cycles B is behind A; negative if it is ahead."""
        return self.cycle_b - self.cycle_a


def has_ended(timeline: Timeline) -> bool:
    """Say whether a timeline contains its run's end: not while it runs, nor after a fault, nor if it was cut off."""
    return timeline.closed and not timeline.fault and (timeline.end is None or timeline.end.finished is True)


class Comparison:
    """Timelines a and b of the same program and grid, recorded or live; no further cycles are simulated.

    progress is called while many chunks are read and may raise to stop. notes: limits of the comparison.
    Raises InputError if the runs are not of the same program.
    """

    def __init__(self, a: Timeline, b: Timeline, progress: Progress | None = None):
        check_same_program(a, b)
        self.a, self.b = a, b
        self.progress = progress
        self.logs = (IssueLog(a), IssueLog(b))
        for log, name in zip(self.logs, "AB", strict=True):
            log.progress = self._report(f"reading {name}")
        self.notes = self._notes()
        self._first: Divergence | None = None
        self._searched = (-1, -1)

    def _repr_html_(self) -> str:
        """Return what ran where and for how long, and the divergence, for notebooks; report.py has all details."""
        runs = (self.a, self.b)
        divergence = self.first_divergence()
        rows = [(name, *(getattr(one.info, name) for one in runs)) for name in ("kernel", "design", "scheduler", "preset")]
        rows += [("cycles", *(f"{one.last:,}{'' if one.closed else ' so far'}" for one in runs)),
                 ("instructions", *(f"{int(one.stall_totals(one.last)[one.issued]):,}" for one in runs))]
        part = "no divergence" if divergence is None else (
            f"first divergence in cycle {divergence.cycle:,}: {divergence.late} is behind")
        return html.table("comparison", ("", "A", "B"), rows, part)

    def _report(self, text: str) -> CycleProgress:
        def report(cycle: int) -> None:
            if self.progress is not None:
                self.progress(None, f"{text}: cycle {cycle:,}")

        return report

    def _notes(self) -> list[str]:
        """Return caveats that a reader of the numbers should know."""
        notes = []
        if self.a.first == self.b.first == 0 and not same_buffers(self.a, self.b, 0, 0):
            notes.append("the runs begin with different data in memory")
        for name, timeline in (("A", self.a), ("B", self.b)):
            if timeline.first:
                notes.append(f"{name} begins at cycle {timeline.first:,}")
            if timeline.closed and not has_ended(timeline):
                notes.append(f"{name} ends at cycle {timeline.last:,}, before its kernel does")
        return notes

    # divergence

    def first_divergence(self) -> Divergence | None:
        """Return the first cycle in which an instruction issues in one run and not in the other; None if there is none.

        Reads only up to that cycle. If one run ends earlier, only the cycles that both have are compared.
        """
        held = (self.a.last, self.b.last)
        if self._first is None and self._searched != held:
            self._first = self._diverges_after(max(self.a.first, self.b.first))
            self._searched = held
        return self._first

    def _diverges_after(self, cycle: int) -> Divergence | None:
        """Return the first divergence in or after a cycle."""
        end = min(self.a.last, self.b.last)
        while cycle < end:
            stop = min(end, self.a.window(cycle)[1], self.b.window(cycle)[1])
            ours, theirs = (log.between(cycle, stop) for log in self.logs)
            size = min(len(ours.cycle), len(theirs.cycle))
            same = np.ones(size, bool)
            for one, other in zip(ours[:4], theirs[:4], strict=True):
                same &= one[:size] == other[:size]
            at = size if same.all() else int(np.argmin(same))
            if at < len(ours.cycle) or at < len(theirs.cycle):
                when = min(int(issues.cycle[at]) for issues in (ours, theirs) if at < len(issues.cycle))
                return self._divergence(when)
            cycle = stop
        return self._by_length(end)

    def _by_length(self, end: int) -> Divergence | None:
        """Return the divergence of runs of which one continues after the other, equal so far, has ended."""
        if self.a.last == self.b.last or not (self.a.closed and self.b.closed):
            return None
        longer = 0 if self.a.last > self.b.last else 1
        log = self.logs[longer]
        rest = log.before(log.timeline.last) - log.before(end)
        return self._divergence(log.cycle_of(log.before(end) + 1)) if rest else None

    def _divergence(self, cycle: int) -> Divergence:
        """Describe the difference in a cycle: the lowest warp of those that issue in only one of the runs."""
        sets = []
        for log in self.logs:
            here = log.between(cycle, cycle + 1)
            sets.append({(int(launch), int(warp), int(n)) for launch, warp, n in zip(here.launch, here.warp, here.n)})
        launch, warp, n = min(sets[0] ^ sets[1])
        name = WarpName(launch, warp)
        late = "B" if (launch, warp, n) in sets[0] else "A"
        issues = [log.find(name, n) for log in self.logs]
        log = self.logs["AB".index(late)]
        state = slot = None
        if cycle + 1 <= log.timeline.last:
            slot = log.slot(name, cycle + 1)
            if slot is not None:
                state = int(log.timeline.states(cycle + 1, cycle + 2)[0, slot])
        return Divergence(cycle, name, n, issues[0], issues[1], late, state, slot)

    def first_path_difference(self) -> Split | None:
        """Return the first place (by the earlier of its two cycles) where a warp's paths differ; reads both entirely."""
        ours, theirs = (log.between(log.timeline.first, log.timeline.last) for log in self.logs)
        keys = [(issues.launch.astype(np.int64) << 56) | (issues.warp.astype(np.int64) << 32) | issues.n
                for issues in (ours, theirs)]
        _, at_a, at_b = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
        differs = np.flatnonzero(ours.pc[at_a] != theirs.pc[at_b])
        if not len(differs):
            return None
        when = np.minimum(ours.cycle[at_a[differs]], theirs.cycle[at_b[differs]])
        best = differs[int(np.argmin(when))]
        a, b = ours.row(int(at_a[best])), theirs.row(int(at_b[best]))
        return Split(a.name, a.n, a, b)

    def first_value_difference(self) -> ValueDifference | None:
        """Return the first write to global memory that differs between the runs; reads both entirely."""
        report = self._report("comparing memory") if self.progress is not None else None
        return first_value_difference(self.a, self.b, report)

    def memory_equal(self) -> bool | None:
        """Say whether both runs end with the same buffers and symbols; None until both have ended."""
        if not (has_ended(self.a) and has_ended(self.b)):
            return None
        return same_buffers(self.a, self.b, self.a.last, self.b.last)

    # lead and lag

    @property
    def common(self) -> int:
        """Return the number of instructions that both runs have issued."""
        return min(log.total for log in self.logs)

    def lead(self, points: int = 10) -> list[Lead]:
        """Return lead and lag after `points` equal shares of the instructions that both runs issue, the last at the end."""
        low = max(log.before(log.timeline.first) for log in self.logs)
        total = self.common - low
        counts = sorted({low - (-total * part // points) for part in range(1, points + 1)}) if total > 0 else []
        return [self.lead_at(count) for count in counts]

    def lead_at(self, count: int) -> Lead:
        """Return lead and lag at the machine's count-th instruction (1, 2 ..)."""
        return Lead(count, *(log.cycle_of(count) for log in self.logs))

    def align(self, warp: WarpName | int, n: int) -> tuple[Issue | None, Issue | None]:
        """Return a warp's n-th issue (1, 2 ..) in A and in B. warp: its name, or its number in the grid of launch 0."""
        name = warp if isinstance(warp, WarpName) else WarpName(0, int(warp))
        return self.logs[0].find(name, n), self.logs[1].find(name, n)

    def counterpart(self, side: int, cycle: int, name: WarpName | None = None) -> int:
        """Return the other run's cycle that corresponds to a cycle of run `side` (0 = A, 1 = B), within its timeline.

        name: align by this warp's instructions: the cycle after the other run issued as many of them. Without a name,
        align by the number of instructions that the whole machine has issued.
        """
        here, there = self.logs[side], self.logs[1 - side]
        first, last = there.timeline.first, there.timeline.last
        if name is None:
            count = here.before(cycle)
            cycle_there = there.cycle_of(count) if count else first - 1
            return last if count > there.total else max(first, min(last, cycle_there + 1))
        issued = here.issued(name, cycle)
        if issued == 0:
            return first
        issue = there.find(name, issued) if issued else None
        return min(last, issue.cycle + 1) if issue is not None else last

    def next_divergence(self, name: WarpName, n: int, forward: bool = True) -> tuple[Issue, Issue] | None:
        """Return a warp's next (or previous) instruction after its n-th at which its lag changes, in both runs.

        The lag of an instruction is its cycle in B minus that in A. If it differs from that of the instruction before,
        one of the runs lost or gained time there.
        """
        columns = [self._of_warp(log, name) for log in self.logs]
        size = min(len(cycles) for cycles in columns)
        lag = columns[1][:size] - columns[0][:size]
        changed = np.flatnonzero(np.diff(lag, prepend=0) != 0) + 1
        beyond = changed[changed > n] if forward else changed[changed < n]
        if not len(beyond):
            return None
        a, b = self.align(name, int(beyond[0] if forward else beyond[-1]))
        return (a, b) if a is not None and b is not None else None

    def _of_warp(self, log: IssueLog, name: WarpName) -> np.ndarray:
        """Return the cycles of all issues of one warp, in order; reads only the chunks of its lifetime."""
        first = log.find(name, 1)
        if first is None:
            return np.empty(0, np.int64)
        parts = []
        for number in range(log.timeline.chunk_number(first.cycle), len(log.timeline.chunk_starts())):
            part = log.chunk(number)
            parts.append(part.cycle[(part.launch == name.launch) & (part.warp == name.warp)])
            if log.gone(name, number):
                break
        return np.concatenate(parts)


def program_difference(a: RunInfo, b: RunInfo) -> str:
    """Return in what the programs or launches of two runs differ, "" if both execute the same instructions over one grid."""
    for what, part in (("kernels", "kernel"), ("grids", "grid"), ("blocks", "block")):
        ours, theirs = ([getattr(launch, part) for launch in info.launches] for info in (a, b))
        if ours != theirs:
            return f"their {what} differ, {_short(ours)} and {_short(theirs)}"
    ours, theirs = ([(entry.pc, entry.text) for entry in info.program] for info in (a, b))
    if ours != theirs:
        pc, text = next((pair for pair, other in zip(ours, theirs) if pair != other), (min(len(ours), len(theirs)), "end"))
        return f"their programs differ from pc {pc} on ({text})"
    return ""


def check_same_program(a: Timeline, b: Timeline) -> None:
    """Raise InputError unless both runs execute the same instructions over the same grids."""
    if different := program_difference(a.info, b.info):
        raise InputError(f"these runs cannot be compared instruction by instruction: {different}; `rfview compare A B` "
                         "compares two programs line by line")


def _short(values: list[Any]) -> str:
    """Return a list short enough for a message."""
    text = ", ".join(str(value) for value in values[:3])
    return text + (" .." if len(values) > 3 else "")
