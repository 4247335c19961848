"""A second run laid over the first: maps the cycle shown, and each warp's slot, to those of the second run."""

from __future__ import annotations

from rfview.render.lens import base_design, painter_of, run_name
from rfview.render.scene import Over
from rfview.sessions.compare import Comparison, Issue, WarpName
from rfview.sessions.machine import Machine
from rfview.sessions.timeline.base import CycleProgress, Timeline

AHEAD = 1 << 12     # cycles by which a live B is extended at a time until it has reached A's instruction


class OverSource:
    """Run B over run A. Both cursors are equally many cycles after the same instruction of the focused warp.

    If B issues the next instruction sooner than A, its cursor stays right before that one. progress(cycle) is called
    while a live B catches up with A; true stops it. Raises InputError if the runs are not of the same program.
    """

    def __init__(self, ours: Timeline, theirs: Timeline, progress: CycleProgress | None = None):
        self.comparison, self.progress = Comparison(ours, theirs), progress
        self.ours, self.theirs = ours, theirs
        self.name = run_name(theirs.info)
        if self.name == run_name(ours.info):
            self.name = _difference(ours, theirs) or self.name
        painters = [painter_of(base_design(run.info.design)) for run in (ours, theirs)]
        self.same_kind = painters[0] is painters[1] and painters[0] is not None
        self._kept: tuple[tuple[int, int, int], Over] | None = None

    def at(self, machine: Machine, warp: int) -> Over:
        """Return B at the cycle that corresponds to A's machine, aligned by the warp in a slot of A."""
        key = (machine.cycle, warp, self.theirs.last)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, self._over(machine, warp))
        return self._kept[1]

    def _over(self, machine: Machine, warp: int) -> Over:
        cycle = machine.cycle
        name = self.comparison.logs[0].name(warp, cycle)
        other = self.comparison.counterpart(0, cycle) if name is None else self._aligned(name, cycle)
        if other is None:
            return Over(self.name, warp, None, None, (), self.same_kind)
        there = Machine.of(self.theirs.at(other))
        seats = _seats(there)
        slots = tuple(seats.get(who, -1) if who is not None else slot for slot, who in enumerate(_names(machine)))
        return Over(self.name, warp, other - cycle, there, slots, self.same_kind)

    def _aligned(self, name: WarpName, cycle: int) -> int | None:
        """Return B's cycle for A's; None if B does not contain the warp's last instruction."""
        log = self.comparison.logs[0]
        issued = log.issued(name, cycle)
        if issued is None:
            return None
        mine, theirs = (log.find(name, issued), self._cycle_of(name, issued)) if issued else (None, None)
        if issued and theirs is None:
            return None
        behind = cycle - mine.cycle if mine is not None else 0
        at = theirs.cycle + behind if theirs is not None and mine is not None else cycle
        coming = self._cycle_of(name, issued + 1, at)
        at = min(at, coming.cycle) if coming is not None else at
        return max(self.theirs.first, min(self.theirs.last, at))

    def _cycle_of(self, name: WarpName, n: int, until: int | None = None) -> Issue | None:
        """Return a warp's n-th issue in B; a live B is extended until it has it, or has passed cycle `until`."""
        log, timeline = self.comparison.logs[1], self.theirs
        while (cycle := log.find(name, n)) is None and not timeline.closed:
            if log.issued(name, timeline.last) is None or (until is not None and timeline.last > until):
                break
            if not timeline.extend(AHEAD) or (self.progress is not None and self.progress(timeline.last)):
                break
        return cycle


def _difference(ours: Timeline, theirs: Timeline) -> str:
    """Return the parameters in which B differs from A; "" if none does."""
    a, b = ours.info.parameters, theirs.info.parameters
    return ", ".join(f"{key}={value}" for key, value in b.items() if a.get(key, value) != value)


def _names(machine: Machine) -> list[tuple[int, int, int] | None]:
    """Return (launch, CTA of the grid, warp in it) for each slot, None for an empty one."""
    launch = int(machine.sm["launch"]["index"])
    ids, within = machine.sm["cta"]["id"].tolist(), machine.sm["warp"]["warp_in_cta"].tolist()
    return [(launch, ids[cta], within[slot]) if cta < len(ids) and (machine.resident >> slot) & 1 else None
            for slot, cta in enumerate(machine.cta)]


def _seats(machine: Machine) -> dict[tuple[int, int, int], int]:
    """Return the slot of every warp."""
    return {name: slot for slot, name in enumerate(_names(machine)) if name is not None}
