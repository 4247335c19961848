"""Finds when each warp issued its n-th instruction, by bisection over a timeline's chunks, never reading all of them.

A warp is identified by its launch and its number in the grid (CTA number x warps per CTA + warp in the CTA), not by the
slot that it got. So a warp is the same one on two designs, however their CTAs were placed.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from rfview.engine.state import NONE8
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.timeline.base import CycleProgress, Timeline

CACHE_BYTES = 48 << 20
NO_CYCLE = -1


class WarpName(NamedTuple):
    """A warp of the program: launch number, and number in that launch's grid."""

    launch: int
    warp: int


class Issue(NamedTuple):
    """One issued instruction: its cycle, its warp, its number n = 1, 2 .. in that warp, its pc.

    slot: the warp's slot.
    """

    cycle: int
    launch: int
    warp: int
    n: int
    pc: int
    slot: int

    @property
    def name(self) -> WarpName:
        """Return the warp that issued."""
        return WarpName(self.launch, self.warp)


class Issues(NamedTuple):
    """Issued instructions as columns, ordered by cycle, launch and warp: i8 cycle, i4 launch, warp, n, pc, i2 slot."""

    cycle: np.ndarray
    launch: np.ndarray
    warp: np.ndarray
    n: np.ndarray
    pc: np.ndarray
    slot: np.ndarray

    def row(self, index: int) -> Issue:
        """Return one of them."""
        return Issue._make(int(column[index]) for column in self)


def joined(parts: list[Issues]) -> Issues:
    """Return the columns of consecutive ranges, joined."""
    if not parts:
        return Issues._make(np.empty(0, kind) for kind in (np.int64, np.int32, np.int32, np.int32, np.int32, np.int16))
    return parts[0] if len(parts) == 1 else Issues._make(map(np.concatenate, zip(*parts, strict=True)))


class IssueLog:
    """The issues of one timeline; a live timeline may grow in the meantime.

    progress: called from time to time with the cycle reached while many chunks are read; it may raise to stop.
    """

    def __init__(self, timeline: Timeline):
        self.timeline = timeline
        self.progress: CycleProgress | None = None
        self._chunks: ByteCache[Issues] = ByteCache(CACHE_BYTES)
        self._warps_per_cta = [launch.warps_per_cta for launch in timeline.info.launches]

    # all issues, in chronological order

    def chunk(self, number: int) -> Issues:
        """Return the issues of one chunk's cycles."""
        start = self.timeline.chunk_starts()[number]
        stop = self.timeline.window(start)[1]
        last = self.timeline.last
        key = (number, min(stop, last))
        issues = self._chunks.get(key)
        if issues is None:
            if self.progress is not None:
                self.progress(start)
            issues = self._read(start, min(stop, last))
            self._chunks.put(key, issues, sum(column.nbytes for column in issues))
        return issues

    def _read(self, start: int, stop: int) -> Issues:
        """Read the issues of cycles start..stop-1, which must lie in one chunk."""
        timeline = self.timeline
        warp = "sm.warp[*]."
        before = {name: timeline.column(warp + name, start, stop) for name in ("num_issued", "cta", "warp_in_cta")}
        after, last_pc = (_shifted(timeline, warp + name, start, stop) for name in ("num_issued", "last_pc"))
        rows, slots = np.nonzero((after - before["num_issued"] == 1) & (before["cta"] != NONE8))
        if not len(rows):
            return joined([])
        launch = timeline.column("sm.launch.index", start, stop)[rows].astype(np.int32)
        cta = before["cta"][rows, slots]
        grid_cta = timeline.column("sm.cta[*].id", start, stop)[rows, cta].astype(np.int64)
        number = grid_cta * np.array(self._warps_per_cta)[launch] + before["warp_in_cta"][rows, slots]
        order = np.lexsort((number, launch, rows))
        columns = (launch, number, before["num_issued"][rows, slots] + 1, last_pc[rows, slots])
        return Issues._make([(rows[order] + start).astype(np.int64), *(column[order].astype(np.int32) for column in columns),
                             slots[order].astype(np.int16)])

    def between(self, start: int, stop: int) -> Issues:
        """Return the issues of cycles start..stop-1, as far as the timeline reaches."""
        timeline = self.timeline
        start, stop = max(start, timeline.first), min(stop, timeline.last)
        if start >= stop:
            return joined([])
        parts = []
        for number in range(timeline.chunk_number(start), timeline.chunk_number(stop - 1) + 1):
            part = self.chunk(number)
            low, high = np.searchsorted(part.cycle, [start, stop])
            parts.append(Issues._make(column[low:high] for column in part))
        return joined(parts)

    # counted over the whole machine

    @property
    def total(self) -> int:
        """Return how many instructions have issued in the whole timeline."""
        return self.before(self.timeline.last)

    def before(self, cycle: int) -> int:
        """Return how many instructions issued before a cycle, since the session began."""
        return int(self.timeline.stall_totals(cycle)[self.timeline.issued])

    def cycle_of(self, count: int) -> int:
        """Return the cycle in which the count-th instruction (1, 2 ..) issued; NO_CYCLE if there is none.

        Instructions issued before the timeline's first cycle count as issued in it.
        """
        timeline = self.timeline
        starts = timeline.chunk_starts()
        if not starts or count < 1 or count > self.total:
            return NO_CYCLE
        number = bisect_left(range(len(starts)), True, key=lambda at: int(timeline.totals(at + 1)[timeline.issued]) >= count)
        column = timeline.column(f"sm.stall_total[{timeline.issued}]", starts[number], self._stop(number))
        return max(timeline.first, starts[number] + int(np.searchsorted(column, count)) - 1)

    def _stop(self, number: int) -> int:
        """Return the cycle after a chunk's last one."""
        starts = self.timeline.chunk_starts()
        return starts[number + 1] if number + 1 < len(starts) else self.timeline.last + 1

    # one warp

    def slot(self, name: WarpName, cycle: int) -> int | None:
        """Return the slot of a warp of the program at a cycle; None before it begins and after it has ended."""
        timeline = self.timeline
        timeline.require(cycle)

        def at(path: str) -> np.ndarray:
            return timeline.column(path, cycle, cycle + 1)[0]

        if int(at("sm.launch.index")) != name.launch:
            return None
        warps = self._warps_per_cta[name.launch]
        cta = at("sm.warp[*].cta")
        live = np.flatnonzero((cta != NONE8) & (at("sm.warp[*].warp_in_cta") == name.warp % warps))
        ids = at("sm.cta[*].id")[cta[live]]
        slots = live[ids == name.warp // warps]
        return int(slots[0]) if len(slots) else None

    def name(self, slot: int, cycle: int) -> WarpName | None:
        """Return the program's warp in a slot at a cycle."""
        timeline = self.timeline
        timeline.require(cycle)
        cta = int(timeline.column(f"sm.warp[{slot}].cta", cycle, cycle + 1)[0])
        if cta == NONE8:
            return None
        launch = int(timeline.column("sm.launch.index", cycle, cycle + 1)[0])
        within = int(timeline.column(f"sm.warp[{slot}].warp_in_cta", cycle, cycle + 1)[0])
        return WarpName(launch, int(timeline.column(f"sm.cta[{cta}].id", cycle, cycle + 1)[0])
                        * self._warps_per_cta[launch] + within)

    def issued(self, name: WarpName, cycle: int) -> int | None:
        """Return how many instructions a warp has issued before a cycle; None once it has ended (all of them)."""
        timeline = self.timeline
        slot = self.slot(name, cycle)
        if slot is not None:
            return int(timeline.column(f"sm.warp[{slot}].num_issued", cycle, cycle + 1)[0])
        launch = int(timeline.column("sm.launch.index", cycle, cycle + 1)[0])
        begun = int(timeline.column("sm.launch.next_cta", cycle, cycle + 1)[0])
        has_run = bool(timeline.column("sm.launch.num_ctas", cycle, cycle + 1)[0])
        if launch < name.launch or not has_run:
            return 0
        return 0 if launch == name.launch and begun <= name.warp // self._warps_per_cta[launch] else None

    def find(self, name: WarpName, n: int) -> Issue | None:
        """Return a warp's n-th issue (n = 1, 2 ..), None if the timeline does not hold it."""
        timeline = self.timeline
        starts = timeline.chunk_starts()

        def reached(number: int) -> bool:
            """Say whether the warp has issued n instructions, or ended, when a chunk begins."""
            count = self.issued(name, starts[number])
            return count is None or count >= n

        number = bisect_left(range(len(starts)), True, key=reached) - 1
        if number < 0:
            return None
        part = self.chunk(number)
        hit = np.flatnonzero((part.launch == name.launch) & (part.warp == name.warp) & (part.n == n))
        return part.row(int(hit[0])) if len(hit) else None

    def around(self, name: WarpName, n: int, before: int, after: int) -> list[Issue]:
        """Return a warp's issues n - before .. n + after, as far as they exist, found chunk by chunk from the n-th."""
        here = self.find(name, n)
        if here is None:
            return []
        timeline = self.timeline
        at = timeline.chunk_number(here.cycle)
        issues: dict[int, Issue] = {}
        for way in (-1, 1):
            number = at
            while 0 <= number < len(timeline.chunk_starts()):
                part = self.chunk(number)
                mine = np.flatnonzero((part.launch == name.launch) & (part.warp == name.warp)
                                      & (part.n >= n - before) & (part.n <= n + after))
                issues.update((int(part.n[index]), part.row(int(index))) for index in mine)
                wanted = max(1, n - before) if way < 0 else n + after
                if wanted in issues or abs(number - at) > 64 or (way > 0 and self.gone(name, number)):
                    break
                number += way
        return [issues[key] for key in sorted(issues)]

    def gone(self, name: WarpName, number: int) -> bool:
        """Say whether a warp has ended when a chunk ends."""
        return self.issued(name, min(self._stop(number), self.timeline.last)) is None


def _shifted(timeline: Timeline, path: str, start: int, stop: int) -> np.ndarray:
    """Return a column one cycle later: the values after each of the cycles start..stop-1.

    A chunk contains the state after its last cycle, so that no other chunk has to be decoded.
    """
    part = timeline.decoded(timeline.chunk_number(start))
    return part.column(timeline.layout.field(path))[start - part.first + 1 : stop - part.first + 1]
