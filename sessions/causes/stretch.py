"""A stretch of cycles within one chunk as columns of state, and facts of the program as arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine import state as layout
from rfview.engine.chunk import ALL_REGISTERS, CLEARED, LOST, REGISTERS_OF_WARP
from rfview.engine.program import NO_REG, NUM_SRC_ROWS, UNIT_CTRL, UNITS

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.sessions.timeline.base import Timeline

FEWEST_ENTRIES = 32
SPARE_ENTRIES = 16      # more than can be taken and freed again in one cycle
ATOMICS = ("atom", "red", "ATOM", "ATOMG", "ATOMS", "RED", "REDG")      # of PTX, of machine code
LATER = np.iinfo(np.int64).max


class ProgramFacts:
    """The program as arrays by pc; row n, for a pc outside it, belongs to no instruction.

    size: n. writes: (n + 1,) u8 mask of the registers written. source: (n + 1, 6) u1 register of each row slot.
    control: (n + 1,) i8 control code, 0 of PTX. unit: (n + 1,) i8 UNIT_*. is_shared: (n + 1,) bool whether it
    names shared memory; is_atomic: whether it is an atomic or a reduction. nobody: n, the holder for none.
    """

    def __init__(self, info: RunInfo):
        program = info.program
        self.size = self.nobody = len(program)
        self.writes = np.zeros(self.size + 1, np.uint64)
        self.source = np.full((self.size + 1, NUM_SRC_ROWS), NO_REG, np.uint8)
        self.unit = np.full(self.size + 1, UNIT_CTRL, np.int64)
        self.is_shared = np.array([*(entry.space == "shared" for entry in program), False])
        self.is_atomic = np.array([*(entry.mnemonic in ATOMICS for entry in program), False])
        self.control = np.array([*(entry.control or 0 for entry in program), 0], np.int64)
        for pc, entry in enumerate(program):
            for reg in entry.dst:
                self.writes[pc] |= np.uint64(1) << np.uint64(reg) if reg < 64 else np.uint64(0)
            self.source[pc, : len(entry.src)] = entry.src[:NUM_SRC_ROWS]
            self.unit[pc] = UNITS.index(entry.unit) if entry.unit in UNITS else UNIT_CTRL


class Stretch:
    """The states at cycles start..stop-1, each of which shows what happened in the cycle before, `ran`.

    Rows are cycles, counted from `start`. before: (registers,) i8 pc of the last instruction that wrote each register before
    the chunk, by its number in the log of writes; -1 if unknown.
    """

    def __init__(self, timeline: Timeline, start: int, stop: int, facts: ProgramFacts, before: np.ndarray):
        self.timeline, self.start, self.stop, self.facts, self._before = timeline, start, stop, facts, before
        self.num_warps = timeline.info.num_warps
        self.ran = np.arange(start - 1, stop - 1)
        self._columns: dict[str, np.ndarray] = {}

    @cached_property
    def state(self) -> np.ndarray:
        """(rows, warps) u1 states of the warps."""
        return self.timeline.states(self.start, self.stop)

    def column(self, path: str) -> np.ndarray:
        """Return (rows, ...) values of a field, as `Timeline.column` names it."""
        if path not in self._columns:
            self._columns[path] = self.timeline.column(path, self.start, self.stop)
        return self._columns[path]

    def warp(self, field: str) -> np.ndarray:
        """Return (rows, warps) values of a field of the warps."""
        return self.column(f"sm.warp[*].{field}")[:, : self.num_warps]

    def of_warp(self, field: str, rows: np.ndarray, warps: np.ndarray) -> np.ndarray:
        """Return (k,) i8 values of a field of some warps in some rows."""
        return self.warp(field)[rows, warps].astype(np.int64)

    def pc_of(self, pcs: np.ndarray) -> np.ndarray:
        """Return pcs as i8, those outside the program as n."""
        return np.minimum(pcs.astype(np.int64), self.facts.size)

    @cached_property
    def entries(self) -> int:
        """The number of in-flight entries, counted from the first, that hold all instructions in flight.

        The lowest free entry is taken, so no later one is while some of these are free.
        """
        now = self.timeline.column("sm.inflight[*].stage", self.start, self.start + 1)[0]
        least, size = int(np.flatnonzero(now != layout.FREE).max(initial=0)) + 1, FEWEST_ENTRIES
        while size < layout.MAX_INFLIGHT:
            used = (self.column(f"sm.inflight[:{size}].stage") != layout.FREE).sum(axis=1)
            if least <= size and used.max() <= size - SPARE_ENTRIES:
                break
            size *= 2
        return size

    def flights(self, field: str) -> np.ndarray:
        """Return (rows, entries) values of a field of the in-flight entries."""
        return self.column(f"sm.inflight[:{self.entries}].{field}")

    @cached_property
    def flight_pc(self) -> np.ndarray:
        """(rows, entries) i8 instruction of each in-flight entry."""
        return self.pc_of(self.flights("pc"))

    def of_flight(self, field: str, rows: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Return (k,) i8 values of a field of some in-flight entries (0 for entry -1)."""
        return np.where(entries < 0, 0, self.flights(field)[rows, entries].astype(np.int64))

    def instruction(self, rows: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Return (k,) i8 instructions of some in-flight entries, nobody for entry -1."""
        return np.where(entries < 0, self.facts.nobody, self.flight_pc[rows, entries])

    def first(self, rows: np.ndarray, match: np.ndarray) -> np.ndarray:
        """Return (k,) i8 the oldest of the entries that match in each row, -1 if none does. match: (k, entries) bool."""
        order = np.where(match, self.flights("seq")[rows], LATER)
        return np.where(match.any(axis=1), order.argmin(axis=1), -1)

    def last(self, rows: np.ndarray, match: np.ndarray) -> np.ndarray:
        """Return (k,) i8 the youngest of the entries that match in each row, -1 if none does. match: (k, entries) bool."""
        order = np.where(match, self.flights("seq")[rows], -1)
        return np.where(match.any(axis=1), order.argmax(axis=1), -1)

    @cached_property
    def head(self) -> np.ndarray:
        """(rows,) i8 in-flight entry that LD/ST works on, -1 = none."""
        head = self.column("sm.ldst_head").astype(np.int64)
        return np.where(head < self.entries, head, -1)

    @cached_property
    def _log(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the chunk's log of accepted results as it is searched: sorted keys of register and number, and their pcs.

        And (rows,) i8 how many entries precede each row, (k,) i8 the registers of all, and the last result up to each.
        """
        part = self.timeline.part(self.timeline.chunk_number(self.start), None)
        writes = part.writes
        size = len(writes.register)
        offset = np.arange(self.start, self.stop) - part.first - 1
        ends = writes.end.astype(np.int64)
        done = np.append(0, ends)[np.clip(offset + 1, 0, len(ends))]
        number = np.arange(size)
        chosen = np.flatnonzero((writes.pc != LOST) & (writes.pc != CLEARED))
        order = chosen[np.argsort(writes.register[chosen], kind="stable")]
        keys = writes.register[order].astype(np.int64) * (size + 1) + number[order]
        real = np.maximum.accumulate(np.where(np.isin(number, chosen), number, -1)) if size else number
        return keys, self.accepted()[order], done, writes.register.astype(np.int64), real

    def accepted(self) -> np.ndarray:
        """Return (k,) i8 the instructions whose results the chunk's log holds."""
        return self.pc_of(self.timeline.part(self.timeline.chunk_number(self.start), None).writes.pc)

    def writers(self, rows: np.ndarray, warps: np.ndarray, regs: np.ndarray) -> np.ndarray:
        """Return (k,) i8 the instructions whose results for these registers were accepted last; nobody if unknown."""
        keys, pcs, done, register, _ = self._log
        number = np.clip(warps, 0, layout.MAX_WARPS - 1) * REGISTERS_OF_WARP + np.clip(regs, 0, ALL_REGISTERS)
        at = np.searchsorted(keys, number * (len(register) + 1) + done[rows]) - 1
        keys, pcs = np.append(keys, -1), np.append(pcs, self.facts.nobody)      # at -1: no entry is early enough
        there, earlier = keys[at] // (len(register) + 1) == number, self._before[number]
        found = np.where(there, pcs[at], np.where(earlier < 0, self.facts.nobody, earlier))
        is_register = (warps < self.num_warps) & (regs < ALL_REGISTERS) & (warps >= 0) & (regs >= 0)
        return np.where(is_register, found, self.facts.nobody)

    def last_write(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (k,) i8 warps and registers of the result that was accepted last, up to each row; -1 if none was yet."""
        _, _, done, register, real = self._log
        if not len(register):
            return np.full(len(rows), -1), np.full(len(rows), -1)
        at = np.where(done[rows] > 0, real[np.maximum(done[rows] - 1, 0)], -1)
        number = np.where(at < 0, -1, register[np.maximum(at, 0)])
        return np.where(number < 0, -1, number // REGISTERS_OF_WARP), np.where(number < 0, -1, number % REGISTERS_OF_WARP)

    def remember(self) -> None:
        """Note in `before` who wrote each register last, for the stretch after this one."""
        part = self.timeline.part(self.timeline.chunk_number(self.start), None)
        writes = part.writes
        chosen = (writes.pc != LOST) & (writes.pc != CLEARED)
        self._before[writes.register[chosen]] = self.accepted()[chosen]
