"""The account of lost warp-cycles: each one charged to the instruction that waited and to the one that held it up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine import state as layout
from rfview.engine.chunk import REGISTERS_OF_WARP
from rfview.engine.program import SPACE_SHARED
from rfview.engine.stalls import NO_STALL
from rfview.sessions.causes.flights import Waits, awaited
from rfview.sessions.causes.rules import rule_of
from rfview.sessions.causes.stretch import ProgramFacts, Stretch
from rfview.sessions.timeline.base import Timeline

EARLIER_CHUNKS = 8      # read for who wrote each register last, where an account begins within a run


@dataclass(frozen=True)
class Metrics:
    """What explains holders, by instruction or line: (n,) i8 each.

    accesses: memory instructions begun in LD/ST, without those of shared memory. sent: the cache lines that they need.
    known: of the accesses, those whose ideal is known; ideal: the fewest lines for the bytes that these ask for. shared,
    passes, known_shared, fewest: likewise of shared memory. refused: cycles that instructions spent in collectors because
    the register file refused them an operand. idle: lanes that did not execute, of issued instructions. atomics: of the
    accesses, and those of shared memory, the atomics and reductions. meets: lanes of these that change the word that most of
    their access do, summed (rule B0.25).
    """

    accesses: np.ndarray
    sent: np.ndarray
    known: np.ndarray
    ideal: np.ndarray
    shared: np.ndarray
    passes: np.ndarray
    known_shared: np.ndarray
    fewest: np.ndarray
    refused: np.ndarray
    idle: np.ndarray
    atomics: np.ndarray
    meets: np.ndarray

    def grouped(self, where: np.ndarray, size: int) -> Metrics:
        """Return sums by group. where: (n,) i8 group of each instruction, below `size`."""
        return Metrics(*(np.bincount(where, column, size).astype(np.int64) for column in vars(self).values()))

    def of(self, is_shared: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (accesses, sent, known, ideal) of shared memory, or of all others."""
        if is_shared:
            return self.shared, self.passes, self.known_shared, self.fewest
        return self.accesses, self.sent, self.known, self.ideal

    def per_access(self, at: int) -> tuple[float, float] | None:
        """Return (lines or passes per access, the ideal; 0 if unknown) of one of them, None without an access."""
        return self._each(at, self.is_shared(at))

    def is_shared(self, at: int) -> bool:
        """Return whether per_access is of shared memory: of two kinds, the one that sends more too many."""
        lines, passes = self._each(at, False), self._each(at, True)
        return passes is not None and (lines is None or passes[0] - passes[1] > lines[0] - lines[1])

    def _each(self, at: int, is_shared: bool) -> tuple[float, float] | None:
        accesses, sent, known, ideal = (int(column[at]) for column in self.of(is_shared))
        return (sent / accesses, ideal / max(1, known)) if accesses else None


@dataclass(frozen=True)
class Causes:
    """Lost warp-cycles by state, waiting instruction and holder: a sparse table; or by line instead of instruction.

    code, waiter, holder, count: (k,) i8, each combination once. size: n instructions (or lines); n as a holder is nobody,
    n as a waiter an instruction outside the program. metrics: of these n.
    """

    size: int
    code: np.ndarray
    waiter: np.ndarray
    holder: np.ndarray
    count: np.ndarray
    metrics: Metrics

    @property
    def total(self) -> int:
        """All lost warp-cycles."""
        return int(self.count.sum())

    @property
    def waits(self) -> np.ndarray:
        """(n + 1,) i8 lost warp-cycles by the instruction that waited."""
        return np.bincount(self.waiter, self.count, self.size + 1).astype(np.int64)

    @property
    def caused(self) -> np.ndarray:
        """(n + 1,) i8 the same warp-cycles by holder; the last is nobody."""
        return np.bincount(self.holder, self.count, self.size + 1).astype(np.int64)

    def grouped(self, where: np.ndarray, size: int) -> Causes:
        """Return the table by groups. where: (n,) i8 group of each instruction, below `size`; nobody stays nobody."""
        groups = np.append(where, size)
        code, waiter, holder, count = _merged(self.code, groups[self.waiter], groups[self.holder], self.count, size)
        return Causes(size, code, waiter, holder, count, self.metrics.grouped(where, size))

    def holders_of(self, waiter: int) -> list[tuple[int, int, int]]:
        """Return (count, state, holder) of one waiter's lost cycles, the most first."""
        return self._of(self.waiter == waiter, self.holder)

    def waiters_of(self, holder: int) -> list[tuple[int, int, int]]:
        """Return (count, state, waiter) of the cycles that one holder caused, the most first."""
        return self._of(self.holder == holder, self.waiter)

    def _of(self, chosen: np.ndarray, other: np.ndarray) -> list[tuple[int, int, int]]:
        rows = zip(self.count[chosen].tolist(), self.code[chosen].tolist(), other[chosen].tolist(), strict=True)
        return sorted(rows, key=lambda row: (-row[0], row[1:]))


def _merged(code: np.ndarray, waiter: np.ndarray, holder: np.ndarray, count: np.ndarray,
            size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of a sparse table with each combination once, in ascending order."""
    keys = (code.astype(np.int64) * (size + 1) + waiter) * (size + 1) + holder
    order = np.argsort(keys, kind="stable")
    keys, count = keys[order], count[order]
    if not len(keys):
        empty = np.empty(0, np.int64)
        return empty, empty, empty, empty
    begin = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    keys, rest = keys[begin], keys[begin] // (size + 1)
    return rest // (size + 1), rest % (size + 1), keys % (size + 1), np.add.reduceat(count, begin)


def charged(stretch: Stretch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the lost warp-cycles of a stretch: (k,) i8 rows, warps, states, instructions that wait, holders.

    They are sorted by warp, then row.
    """
    info = stretch.timeline.info
    lost = ~np.isin(stretch.state, [info.stall_codes[name] for name in NO_STALL if name in info.stall_codes])
    warps, rows = np.nonzero(lost.T)
    codes = stretch.state[rows, warps].astype(np.int64)
    own = stretch.pc_of(stretch.of_warp("pc", rows, warps))
    entry = awaited(stretch, rows, warps)
    holder = np.full(len(rows), stretch.facts.nobody)
    for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
        at = np.flatnonzero(codes == code)
        name = info.stall_names.get(code, f"state {code}")
        rule = rule_of(name, info.is_machine_code)
        holder[at] = rule.find(Waits(stretch, code, name, rows[at], warps[at], entry[at], own[at]))
    return rows, warps, codes, own, holder


def writers_before(timeline: Timeline, facts: ProgramFacts, start: int) -> np.ndarray:
    """Return (registers,) i8 who wrote each register last before the chunk of a cycle; -1 if that is not near enough."""
    found = np.full(layout.MAX_WARPS * REGISTERS_OF_WARP, -1)
    number = timeline.chunk_number(start)
    for chunk in range(max(0, number - EARLIER_CHUNKS), number):
        part = timeline.part(chunk, None)
        Stretch(timeline, part.first + 1, part.last + 1, facts, found).remember()
    return found


class Account:
    """Charges the lost warp-cycles of a range of cycles, stretch by stretch in order."""

    def __init__(self, timeline: Timeline, first: int):
        self.timeline, self.first = timeline, first
        self.facts = ProgramFacts(timeline.info)
        self._before: np.ndarray | None = None
        size = self.facts.size
        empty = np.empty(0, np.int64)
        self._table = (empty, empty, empty, empty)
        self._metrics = np.zeros((len(Metrics.__dataclass_fields__), size + 1), np.int64)
        self._register_file = [stall.code for stall in timeline.info.stalls
                               if stall.family == "register_file" or stall.name == "bank_conflict"]

    def add(self, start: int, stop: int) -> None:
        """Charge what the states at cycles start..stop-1 of one chunk say about the cycles before them."""
        if self._before is None:
            self._before = writers_before(self.timeline, self.facts, start)
        stretch = Stretch(self.timeline, start, stop, self.facts, self._before)
        _, _, codes, own, holder = charged(stretch)
        size = self.facts.size
        old = self._table
        self._table = _merged(np.append(old[0], codes), np.append(old[1], own), np.append(old[2], holder),
                              np.append(old[3], np.ones(len(codes), np.int64)), size)
        self._measure(stretch)
        if stop - 1 >= self.timeline.window(start)[1] - 1:
            stretch.remember()

    def _measure(self, stretch: Stretch) -> None:
        """Count accesses as LD/ST begins them, with the lines or passes they need, and refusals of operands."""
        size = self.facts.size + 1
        if self.timeline.info.is_machine_code:      # a coalesced access has left LD/ST by the end of its first cycle
            rows, head = np.nonzero((stretch.flights("stage") == layout.MEMORY)
                                    & (stretch.flights("since_cycle") == stretch.ran[:, None]))
            sent = stretch.column("rf.core.lines")[rows].astype(np.int64)
        else:
            rows = np.flatnonzero(stretch.head >= 0)
            begun = stretch.of_flight("since_cycle", rows, stretch.head[rows]) == stretch.ran[rows]
            rows, head = rows[begun], stretch.head[rows[begun]]
            sent = stretch.of_flight("transactions", rows, head)
        pcs = stretch.instruction(rows, head)
        is_shared, ideal = self.facts.is_shared[pcs], np.zeros_like(sent)
        if "ldst_ideal" in (self.timeline.layout.sm_dtype.names or ()):
            ideal = stretch.column("sm.ldst_ideal")[rows].astype(np.int64)
            is_shared = stretch.column("sm.access_space")[rows] == SPACE_SHARED
        refused = (stretch.flights("stage") == layout.COLLECT) & np.isin(stretch.flights("code"), self._register_file)
        issued = np.nonzero(stretch.flights("issue_cycle") == stretch.ran[:, None])
        idle = 32 - np.bitwise_count(stretch.flights("mask")[issued]).astype(np.int64)
        atomic, meets = self._meeting(stretch, rows, pcs)
        kinds = [(pcs[chosen], weight) for chosen in (~is_shared, is_shared)
                 for weight in (None, sent[chosen], ideal[chosen] > 0, ideal[chosen])]
        for total, (at, weight) in zip(self._metrics, [*kinds, (stretch.flight_pc[refused], None),
                                                       (stretch.flight_pc[issued], idle), (atomic, None),
                                                       (atomic, meets)], strict=True):
            total += np.bincount(at, weight, size).astype(np.int64)

    def _meeting(self, stretch: Stretch, rows: np.ndarray, pcs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (k,) i8 the atomics among the accesses that begin, and how many lanes of each change its busiest word.

        The log of memory has a word for each lane of an atomic, in the cycle in which LD/ST begins it.
        """
        chosen = np.flatnonzero(self.facts.is_atomic[pcs])
        if not len(chosen):
            return pcs[chosen], chosen
        part = self.timeline.part(self.timeline.chunk_number(stretch.start), None)
        ends, words = np.append(0, part.chunk.mem_end).astype(np.int64), part.chunk.mem_index.astype(np.int64)
        at = stretch.ran[rows[chosen]] - part.first
        spans = [words[ends[one] : ends[one + 1]] + (number << 32) for number, one in enumerate(at.tolist())]
        keys, lanes = np.unique(np.concatenate(spans), return_counts=True)
        most = np.zeros(len(chosen), np.int64)
        np.maximum.at(most, keys >> 32, lanes)
        return pcs[chosen], most

    def causes(self) -> Causes:
        """Return what has been charged, by instruction."""
        code, waiter, holder, count = self._table
        return Causes(self.facts.size, code, waiter, holder, count, Metrics(*self._metrics[:, :-1].copy()))
