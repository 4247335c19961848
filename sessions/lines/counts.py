"""The cost of each instruction and source line over a range of cycles: issued, stalled by reason, register traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.program import NO_REG
from rfview.engine.stalls import NO_WARP
from rfview.sessions.causes.account import Account, Causes
from rfview.sessions.lines.table import LineTable
from rfview.sessions.timeline.base import CycleProgress, Timeline, never

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

CODES = 64         # more than any run has


@dataclass(frozen=True)
class Counts:
    """Cycles first..last-1, by instruction or by line.

    states: (n + 1, 64) i8 warp-cycles by state, issues in column `issue_code`; the last row is for warps past the program's
    end, ended warps and slots without a warp. reads, writes: (n,) i8 warp registers that issued instructions name as
    sources and results, before a design merges, caches or drops any. causes: the lost ones, charged to their holders, too.
    """

    first: int
    last: int
    states: np.ndarray
    reads: np.ndarray
    writes: np.ndarray
    issue_code: int
    causes: Causes

    @property
    def issued(self) -> np.ndarray:
        """(n,) i8 warp instructions issued."""
        return self.states[:-1, self.issue_code]

    @property
    def waited(self) -> np.ndarray:
        """(n,) i8 warp-cycles in which it was a warp's next instruction and did not issue."""
        return self.cycles - self.issued

    @property
    def cycles(self) -> np.ndarray:
        """(n,) i8 all warp-cycles: issued and waited."""
        return self.states[:-1].sum(axis=1)


def registers_named(info: RunInfo) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) i8 how many source and result registers each instruction names."""
    program = info.program
    reads = [len({reg for reg in entry.src if reg != NO_REG}) for entry in program]
    return np.array(reads, np.int64), np.array([len(entry.dst) for entry in program], np.int64)


class Counter:
    """Counts instructions over a range that may grow at its end, each cycle once."""

    def __init__(self, timeline: Timeline, first: int):
        timeline.require(first)
        self.timeline, self.first, self.last = timeline, first, first
        size = len(timeline.info.program)
        self._states = np.zeros((size + 1, CODES), np.int64)
        self._named = registers_named(timeline.info)
        self._nobody = [timeline.info.stall_codes[name] for name in NO_WARP]
        self._account = Account(timeline, first)

    def count(self, last: int, interrupted: CycleProgress = never) -> bool:
        """Count up to cycle `last`, exclusive; return False if interrupted, keeping what has been counted so far."""
        timeline = self.timeline
        timeline.require(last)
        for start, stop, _ in timeline.stretches(self.last + 1, last + 1):
            self._add(start, stop)
            self.last = stop - 1
            if self.last < last and interrupted(self.last):
                return False
        return True

    def _add(self, start: int, stop: int) -> None:
        """Count what the states at cycles start..stop-1 say about the cycles before them."""
        timeline, size = self.timeline, len(self._states) - 1
        codes = timeline.states(start, stop)
        wide = codes.shape[1]
        pc, last_pc = (timeline.column(f"sm.warp[*].{name}", start, stop)[:, :wide] for name in ("pc", "last_pc"))
        at = np.where(codes == timeline.issued, last_pc, pc)
        at = np.where(np.isin(codes, self._nobody), size, np.minimum(at, size)).astype(np.int64)
        counts = np.bincount((at * CODES + np.minimum(codes, CODES - 1)).ravel(), minlength=self._states.size)
        self._states += counts.reshape(self._states.shape)
        self._account.add(start, stop)

    def counts(self) -> Counts:
        """Return what has been counted, by instruction."""
        code = self.timeline.issued
        issued = self._states[:-1, code]
        return Counts(self.first, self.last, self._states.copy(), issued * self._named[0], issued * self._named[1], code,
                      self._account.causes())


def by_line(counts: Counts, table: LineTable) -> Counts:
    """Return the counts by line: row i is line i of the table; the row after these has no known line."""
    where = np.where(table.of_pc < 0, len(table.lines), table.of_pc)
    states = np.zeros((len(table.lines) + 2, CODES), np.int64)
    np.add.at(states, where, counts.states[:-1])
    states[-1] = counts.states[-1]
    traffic = []
    for column in (counts.reads, counts.writes):
        total = np.zeros(len(table.lines) + 1, np.int64)
        np.add.at(total, where, column)
        traffic.append(total)
    return Counts(counts.first, counts.last, states, traffic[0], traffic[1], counts.issue_code,
                  counts.causes.grouped(where, len(table.lines) + 1))


def count_instructions(timeline: Timeline, first: int, last: int,
                       interrupted: CycleProgress = never) -> Counts:
    """Return the counts of cycles first..last-1 by instruction, fewer if interrupted. Raises InputError if outside."""
    counter = Counter(timeline, first)
    counter.count(last, interrupted)
    return counter.counts()
