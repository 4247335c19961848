"""Measures what an instruction delayed: the same run without that delay, against the run as it was.

If without it some later issues come earlier and others later, coincidences decide, and nothing is claimed; nor is it if a
nudged run, in which it is a cycle longer, has an earlier issue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.engine.wording import plural
from rfview.sessions.branch import Branch
from rfview.sessions.branches.fork import check_room, free_name, join, name_of
from rfview.sessions.branches.lifted import Lifted, lifted
from rfview.sessions.causes.after import After
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.compare.issues import IssueLog, Issues, joined
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline

FARTHEST = 1 << 16      # cycles in which issues are compared; the ends of the runs are, too
BINS = 44


@dataclass(frozen=True)
class Signs:
    """Later issues of a run, against the same ones of the run as it was: how many come earlier, later, in the same cycle."""

    earlier: int
    later: int
    same: int


@dataclass(frozen=True)
class Without:
    """The run without one delay, and a nudged one in which it is longer.

    branch: the run without it in the session's family. what, longer, begin, sooner: as in Lifted. reached: up to which
    issues are compared. signs, nudged: of the two runs. ends: the last cycle as it ran and without it; None where a run has
    no end. mean: the mean delay of the issues that it delayed, in cycles. bins: (mean delay, whether an issue comes later
    without it) in BINS equal parts of the cycles begin..reached. late: (3, k) i8 cycle, warp slot and delay of each issue
    that comes earlier without it.
    """

    branch: str
    what: str
    longer: str
    begin: int
    reached: int
    sooner: int
    signs: Signs
    nudged: Signs
    ends: tuple[int | None, int | None]
    mean: float
    bins: tuple[tuple[float, bool], ...]
    late: np.ndarray = field(repr=False, compare=False)

    @property
    def is_certain(self) -> bool:
        """Whether all later issues agree, so that the difference may be called this delay's doing."""
        return not self.signs.later and not self.nudged.earlier

    @property
    def sentence(self) -> str:
        """The answer in one or two sentences."""
        signs, nudged = self.signs, self.nudged
        how = f"With {self.what}: " if self.what else ""
        end = ""
        if None not in self.ends:
            end = f"; the run ends at {self.ends[0]:,}, and without it at {self.ends[1]:,}"
        if self.is_certain and not signs.earlier:
            return f"{how}It delayed no later issue up to cycle {self.reached:,}{end}."
        if self.is_certain:
            return (f"{how}{plural(signs.earlier, 'instruction')} came later for it, by {self.mean:,.1f} cycles on average, "
                    f"and none earlier{end}.")
        if signs.later:
            why = f"without it {signs.earlier:,} later instructions come earlier and {signs.later:,} come later"
        else:
            why = f"{self.longer}, {nudged.earlier:,} later instructions come earlier"
        return f"{how}It cannot be said what it delayed: {why}{end}. Coincidences decide: no claim."

    def data(self) -> dict[str, Any]:
        """Return it as JSON data, without the single issues."""
        facts = {name: value for name, value in vars(self).items() if name != "late"}
        return {**facts, "signs": vars(self.signs), "nudged": vars(self.nudged), "is_certain": self.is_certain,
                "mean": self.mean if self.is_certain else None, "sentence": self.sentence, "measured": True}


def without(session: Session, charged: After) -> Without:
    """Run on without the delay that was asked about, as a branch of the session, whose own run goes to its end.

    Raises InputError if it cannot be lifted, if the run cannot be simulated, and when session.progress asks to stop.
    """
    timeline = session.timeline
    check_room(session, "after")
    runs = lifted(session, charged)
    for each in (timeline, runs.quick[-1], runs.slow[-1]):
        each.run_to_end(session.progress, "after")
    reached = min(timeline.last, runs.begin + FARTHEST)
    late, signs = _delays(session, runs.quick, reached)
    _, nudged = _delays(session, runs.slow, reached)
    quick = runs.quick[-1]
    ends = tuple(each.last if has_ended(each) else None for each in (timeline, quick))
    mine = late[:, late[2] > 0]
    return Without(_join(session, charged, runs), runs.what, runs.longer, runs.begin, reached, runs.sooner, signs, nudged,
                   (ends[0], ends[1]), float(mine[2].mean()) if mine.size else 0.0, _bins(late, runs.begin, reached), mine)


def _join(session: Session, charged: After, runs: Lifted) -> str:
    """Make the run without the delay a branch of the session; return its name."""
    name, (warp, cycle) = free_name(session, "without"), charged.asked
    branch = session.sibling(runs.quick[-1])
    branch.branch = Branch(name, name_of(session), branch.timeline.first, runs.changes,
                           f"goto {cycle}; after {warp} measure; branch {name}")
    branch.cycle = min(max(session.cycle, branch.timeline.first), branch.timeline.last)
    join(session, name, branch)
    return name


def _delays(session: Session, run: Sequence[Timeline], reached: int) -> tuple[np.ndarray, Signs]:
    """Return (3, k) i8 cycle, warp slot and delay of the issues that two runs have in common, in order, and their signs.

    run: the timelines that follow one another in the other run. A delay is by how much an issue is earlier there.
    """
    stops = [*(each.first for each in run[1:]), run[-1].last]
    theirs = joined([IssueLog(each).between(each.first, stop) for each, stop in zip(run, stops, strict=True)])
    ours = IssueLog(session.timeline).between(run[0].first, reached)
    first, second = _common(ours, theirs)
    late = np.stack((ours.cycle[first], ours.slot[first], ours.cycle[first] - theirs.cycle[second])).astype(np.int64)
    delay = late[2]
    signs = Signs(*(int(part.sum()) for part in (delay > 0, delay < 0, delay == 0)))
    return late[:, np.argsort(late[0], kind="stable")], signs


def _common(ours: Issues, theirs: Issues) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the issues that are in both, as (launch, warp, n)."""
    keys = [np.stack((one.launch, one.warp, one.n)).astype(np.int64) for one in (ours, theirs)]
    size = 1 + max((int(key[2].max()) for key in keys if key.size), default=0)
    warps = 1 + max((int(key[1].max()) for key in keys if key.size), default=0)
    first, second = ((key[0] * warps + key[1]) * size + key[2] for key in keys)
    _, one, other = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return one, other


def _bins(late: np.ndarray, begin: int, reached: int) -> tuple[tuple[float, bool], ...]:
    """Return (mean delay, whether one is below 0) in equal parts of the cycles begin..reached."""
    cycles, _, delay = late
    where = np.clip((cycles - begin) * BINS // max(1, reached - begin), 0, BINS - 1)
    count = np.maximum(1, np.bincount(where, minlength=BINS))
    mean = np.bincount(where, delay, BINS) / count
    return tuple(zip(mean.tolist(), (np.bincount(where, delay < 0, BINS) > 0).tolist(), strict=True))
