"""Measures what an instruction delayed: the same run in which this one is over at once, against the run as it was.

If without it some later issues come earlier and others later, coincidences decide, and nothing is claimed; nor is it if a
nudged run, in which it takes one cycle longer, has an earlier issue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import state as layout
from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.sessions.branches.fork import machine_at
from rfview.sessions.causes.after import After, Flying
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.compare.issues import IssueLog
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.live import LiveTimeline

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

FARTHEST = 1 << 16      # cycles in which issues are compared; the ends of the runs are, too
BINS = 44
WHEEL_MASK = layout.WHEEL_SIZE - 1


@dataclass(frozen=True)
class Signs:
    """Later issues of a run, against the same ones of the run as it was: how many come earlier, later, in the same cycle."""

    earlier: int
    later: int
    same: int


@dataclass(frozen=True)
class Without:
    """The run in which an instruction is over at once, and a nudged one in which it takes one cycle longer.

    begin: the cycle at which they leave. reached: up to which issues are compared. sooner: the cycles by which it ended
    earlier, and the lines that it did not send. signs, nudged: of the two runs. ends: the last cycle as it ran and without
    it; None where a run has no end. mean: the mean delay of the issues that it delayed, in cycles. bins: (mean delay,
    whether an issue comes later without it) in BINS equal parts of the cycles begin..reached.
    """

    begin: int
    reached: int
    sooner: int
    signs: Signs
    nudged: Signs
    ends: tuple[int | None, int | None]
    mean: float
    bins: tuple[tuple[float, bool], ...]

    @property
    def is_certain(self) -> bool:
        """Whether all later issues agree, so that the difference may be called this instruction's doing."""
        return not self.signs.later and not self.nudged.earlier

    @property
    def sentence(self) -> str:
        """The answer in one or two sentences."""
        signs, nudged = self.signs, self.nudged
        end = ""
        if None not in self.ends:
            end = f"; the run ends at {self.ends[0]:,}, and without it at {self.ends[1]:,}"
        if self.is_certain and not signs.earlier:
            return f"It delayed no later issue up to cycle {self.reached:,}{end}."
        if self.is_certain:
            return (f"{plural(signs.earlier, 'instruction')} came later for it, by {self.mean:,.1f} cycles on average, and "
                    f"none earlier{end}.")
        if signs.later:
            why = f"without it {signs.earlier:,} later instructions come earlier and {signs.later:,} come later"
        else:
            why = f"if it takes one cycle longer, {nudged.earlier:,} later instructions come earlier"
        return f"It cannot be said what it delayed: {why}{end}. Coincidences decide: no claim."

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {**vars(self), "signs": vars(self.signs), "nudged": vars(self.nudged), "is_certain": self.is_certain,
                "mean": self.mean if self.is_certain else None, "sentence": self.sentence, "measured": True}


def without(session: Session, charged: After) -> Without:
    """Run on from where an instruction entered its unit, as if it were over at once; the session's run goes to its end.

    Raises InputError if its end is not a matter of time (a result that waits in the register file, an instruction that has
    not entered a unit), if the run cannot be simulated, and when session.progress asks to stop.
    """
    timeline, one = session.timeline, charged.subject
    waits = [row.since for row in charged.rows if row.hop == 1]
    if waits and min(waits) > one.left + 1:
        raise InputError(f"after: what waited for {_name(timeline, one)} waited for its result in the register file, which "
                         "has no end of its own to move; `relief` tries the settings that `why` names")
    begin = _entered(timeline, one)
    machine, _ = machine_at(timeline, begin, {}, session.progress, session.compiling)
    start = machine.checkpoint()
    runs: list[tuple[LiveTimeline, int]] = []
    for change in (_at_once, _one_longer):
        branch = machine if not runs else machine.twin()
        branch.restore(start)
        moved = change(branch, one)
        if not moved:
            raise InputError(f"after: the end of {_name(timeline, one)} is not set in cycles here, so it cannot be moved")
        runs.append((LiveTimeline(branch), moved))
    for each in (timeline, *(run for run, _ in runs)):
        each.run_to_end(session.progress, "after")
    (quick, sooner), (slow, _) = runs
    reached = min(timeline.last, begin + FARTHEST)
    cycles, delay = _delays(session, quick, reached)
    ends = tuple(each.last if has_ended(each) else None for each in (timeline, quick))
    late = delay[delay > 0]
    return Without(begin, reached, sooner, _signs(delay), _signs(_delays(session, slow, reached)[1]), (ends[0], ends[1]),
                   float(late.mean()) if len(late) else 0.0, _bins(cycles, delay, begin, reached))


def _name(timeline: Timeline, one: Flying) -> str:
    return f"w{one.warp}'s {timeline.info.program[one.pc].text}"


def _entered(timeline: Timeline, one: Flying) -> int:
    """Return the first cycle at which an instruction is in its unit or in memory."""
    first = max(timeline.first, one.issued + 1)
    stage = timeline.column(f"sm.inflight[{one.entry}].stage", first, one.left + 1)
    found = np.flatnonzero((stage == layout.EXECUTE) | (stage == layout.MEMORY))
    if not len(found):
        raise InputError(f"after: {_name(timeline, one)} has not entered its unit in this session")
    return first + int(found[0])


def _at_once(machine: Simulator, one: Flying) -> int:
    """Let an instruction be over: it sends one line instead of those it has left, and is answered in the same cycle.

    Returns by how many cycles its end moved; 0 if it cannot be moved.
    """
    return _moved(machine, one, lambda cycle, end: cycle, True)


def _one_longer(machine: Simulator, one: Flying) -> int:
    """Let an instruction end one cycle later; returns 1, or 0 if its end cannot be moved."""
    return _moved(machine, one, lambda cycle, end: end + 1, False)


def _moved(machine: Simulator, one: Flying, when: Callable[[int, int], int], drops_lines: bool) -> int:
    """Step until the end of an instruction is set, and move it to when(cycle, end); returns by how many cycles."""
    sm = machine.sm
    flight = sm["inflight"][one.entry]
    dropped = 0
    while not machine.finished and int(flight["seq"]) == one.seq and int(flight["stage"]) in (layout.EXECUTE, layout.MEMORY):
        if int(sm["ldst_head"]) == one.entry:
            if drops_lines:
                dropped += max(0, int(sm["num_lines"]) - int(sm["next_line"]) - 1)
                sm["num_lines"] = min(int(sm["num_lines"]), int(sm["next_line"]) + 1)
        elif _unscheduled(sm, one.entry):
            end = int(flight["done_cycle"])
            moved = when(machine.cycle, end)
            flight["done_cycle"] = moved
            sm["wheel_next"][one.entry] = sm["wheel"][moved & WHEEL_MASK]
            sm["wheel"][moved & WHEEL_MASK] = one.entry
            sm["undecided"], sm["was_idle"] = sm["unfinished"], 0
            return abs(end - moved) + dropped
        machine.step(1)
    return dropped


def _unscheduled(sm: Any, entry: int) -> bool:
    """Take an entry out of the machine's timing wheel; return whether it was in it."""
    wheel, following = sm["wheel"], sm["wheel_next"]
    place = int(sm["inflight"][entry]["done_cycle"]) & WHEEL_MASK
    at, before = int(wheel[place]), layout.NONE8
    while at not in (layout.NONE8, entry):
        before, at = at, int(following[at])
    if at == layout.NONE8:
        return False
    if before == layout.NONE8:
        wheel[place] = following[entry]
    else:
        following[before] = following[entry]
    return True


def _delays(session: Session, other: Timeline, reached: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (k,) i8 cycles of the issues that two runs have in common, and by how much each is earlier in the other one."""
    issues = [IssueLog(timeline).between(other.first, timeline.last if timeline is other else reached)
              for timeline in (session.timeline, other)]
    keys = [np.stack((one.launch, one.warp, one.n)).astype(np.int64) for one in issues]
    size = 1 + max((int(key[2].max()) for key in keys if key.size), default=0)
    warps = 1 + max((int(key[1].max()) for key in keys if key.size), default=0)
    first, second = ((key[0] * warps + key[1]) * size + key[2] for key in keys)
    _, ours, theirs = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    cycles = issues[0].cycle[ours]
    return cycles, cycles - issues[1].cycle[theirs]


def _signs(delay: np.ndarray) -> Signs:
    """Return the signs of delays: those of issues that come earlier in the other run are positive."""
    return Signs(int((delay > 0).sum()), int((delay < 0).sum()), int((delay == 0).sum()))


def _bins(cycles: np.ndarray, delay: np.ndarray, begin: int, reached: int) -> tuple[tuple[float, bool], ...]:
    """Return (mean delay, whether one is below 0) in equal parts of the cycles begin..reached."""
    where = np.clip((cycles - begin) * BINS // max(1, reached - begin), 0, BINS - 1)
    count = np.maximum(1, np.bincount(where, minlength=BINS))
    mean = np.bincount(where, delay, BINS) / count
    return tuple(zip(mean.tolist(), (np.bincount(where, delay < 0, BINS) > 0).tolist(), strict=True))
