"""One register in the log of register writes: what wrote it, and its value at every cycle, in any design."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rfview.engine.chunk import ALL_REGISTERS, CLEARED, LANES, LOST, REGISTERS_OF_WARP
from rfview.sessions.codec.logs import ALL
from rfview.sessions.timeline.base import Timeline

# chunks examined at once when searching backwards for the last write
FEW_CHUNKS, MANY_CHUNKS = 4, 4096
# cached values at ends of chunks, and cached chunks' entries
MAX_KEPT = 64


@dataclass(frozen=True, eq=False)
class Entries:
    """What happened to a register in one chunk, in order.

    cycle: (k,) i8 first cycle that shows it. lanes: (k, 32) bool affected. pc: (k,) u4 instruction, LOST or CLEARED.
    value: (k, 32) u4, meaningful in these lanes only.
    """

    cycle: np.ndarray
    lanes: np.ndarray
    pc: np.ndarray
    value: np.ndarray

    @property
    def is_write(self) -> np.ndarray:
        """Return (k,) bool: whether an instruction wrote it."""
        return (self.pc != LOST) & (self.pc != CLEARED)


class RegisterLog:
    """The entries of one register of a warp slot in a timeline's logs of writes.

    Chunks in which it is not written are skipped if there are zone maps; of others only the log is decoded. A
    register is 0 while its slot is empty, and until it is written. most_kept: number of chunks whose entries are cached.
    """

    def __init__(self, timeline: Timeline, warp: int, register: int, most_kept: int = MAX_KEPT):
        self.timeline, self.most_kept = timeline, most_kept
        self.warp, self.register = warp, register
        # as in chunk.Writes: the register's number, and the one for all registers of its slot
        self.numbers = [warp * REGISTERS_OF_WARP + register, warp * REGISTERS_OF_WARP + ALL_REGISTERS]
        self._entries: dict[int, Entries] = {}
        self._ends: dict[int, np.ndarray] = {}

    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: which of chunks low..high-1 may have entries for the register."""
        zone_maps = self.timeline.zone_maps
        return np.ones(high - low, bool) if zone_maps is None else zone_maps.registers_change(self.numbers, low, high)

    def entries(self, number: int) -> Entries:
        """Return what happened to the register in chunk `number`."""
        entries = self._entries.get(number)
        if entries is None:
            part = self.timeline.part(number, None)
            writes = part.writes_of(self.warp)
            chosen = np.flatnonzero((writes.register == self.numbers[0]) | (writes.register == self.numbers[1]))
            cycle = part.first + 1 + np.searchsorted(writes.end, chosen, side="right")
            lanes = writes.lanes[chosen, None] >> LANES & np.uint32(1) != 0
            entries = Entries(cycle, lanes, writes.pc[chosen], part.written(writes, chosen))
            self._keep(self._entries, number, entries)
        return entries

    def _keep(self, where: dict, number: int, entries: object) -> None:
        """Cache the entries of a chunk, and drop the oldest ones; a live run's last chunk may still grow."""
        if self.timeline.closed or number + 1 < len(self.timeline.chunk_starts()):
            while len(where) >= self.most_kept:
                del where[next(iter(where))]
            where[number] = entries

    def writing_chunks(self, behind: int) -> Iterator[int]:
        """Yield the chunks before number `behind` that may have entries, nearest first."""
        size = FEW_CHUNKS
        while behind > 0:
            low = max(0, behind - size)
            yield from (low + np.flatnonzero(self.may_change(low, behind))[::-1]).tolist()
            behind, size = low, min(2 * size, MANY_CHUNKS)

    def value_before(self, number: int) -> np.ndarray:
        """Return (32,) u4: the value at the first cycle of chunk `number`."""
        value, left = np.zeros(len(LANES), np.uint32), np.ones(len(LANES), bool)
        for before in self.writing_chunks(number):
            end = self._ends.get(before)
            if end is not None:
                value[left] = end[left]
                left[:] = False
            else:
                entries = self.entries(before)
                for lanes, wrote in zip(entries.lanes[::-1], entries.value[::-1], strict=True):
                    value[lanes & left] = wrote[lanes & left]
                    left &= ~lanes
                    if not left.any():
                        break
            if not left.any():
                break
        if left.any():
            value[left] = self._at_first()[left]
        if number:
            self._keep(self._ends, number - 1, value)
        return value

    def _at_first(self) -> np.ndarray:
        """Return (32,) u4: the value at the first cycle of the timeline."""
        try:
            return self.timeline.at(self.timeline.first).register(self.warp, self.register)
        except IndexError:
            return np.zeros(len(LANES), np.uint32)

    def column(self, start: int, stop: int, lanes: slice = ALL) -> np.ndarray:
        """Return (stop - start, lanes) u4 values at cycles start..stop-1."""
        pieces = [self._piece(low, high, number, lanes) for low, high, number in self.timeline.stretches(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty((0, len(LANES[lanes])), np.uint32)

    def _piece(self, start: int, stop: int, number: int, lanes: slice) -> np.ndarray:
        """Return the values at cycles of chunk `number`."""
        base = self.value_before(number)
        if not len(self.timeline.chunk_starts()) or not self.may_change(number, number + 1)[0]:
            return np.broadcast_to(base[lanes], (stop - start, len(base[lanes])))
        entries = self.entries(number)
        wrote, values = entries.lanes[:, lanes], np.concatenate([base[None, lanes], entries.value[:, lanes]])
        if not wrote.all():     # each lane has the value of its own last write
            last = np.maximum.accumulate(np.where(wrote, np.arange(1, len(values))[:, None], 0), axis=0)
            values[1:] = np.take_along_axis(values, last, axis=0)
        shown = np.concatenate(([0], np.clip(entries.cycle - start, 0, stop - start), [stop - start]))
        return np.repeat(values, shown[1:] - shown[:-1], axis=0)

    def writes_at(self, start: int, stop: int, lanes: slice = ALL) -> np.ndarray:
        """Return (stop - start,) bool: which of cycles start..stop-1 are the first to show a write."""
        hits = np.zeros(stop - start, bool)
        for number in self._acting(start, stop):
            entries = self.entries(number)
            cycles = entries.cycle[entries.is_write & entries.lanes[:, lanes].any(axis=1)]
            hits[cycles[(cycles >= start) & (cycles < stop)] - start] = True
        return hits

    def _acting(self, start: int, stop: int) -> list[int]:
        """Return the chunks with entries that may first show at cycles start..stop-1: they act in the previous cycle."""
        timeline = self.timeline
        if stop <= start or not timeline.chunk_starts():
            return []
        low, high = (timeline.chunk_number(max(cycle, timeline.first)) for cycle in (start - 1, stop - 2))
        return (low + np.flatnonzero(self.may_change(low, high + 1))).tolist()

    def write_at(self, cycle: int, lanes: slice = ALL) -> tuple[int, np.ndarray] | None:
        """Return (pc, (32,) bool lanes) of the instruction whose write shows first at a cycle, None if there is none."""
        for number in self._acting(cycle, cycle + 1):
            entries = self.entries(number)
            at = bisect_left(entries.cycle.tolist(), cycle)
            while at < len(entries.cycle) and entries.cycle[at] == cycle:
                if entries.is_write[at] and entries.lanes[at, lanes].any():
                    return int(entries.pc[at]), entries.lanes[at]
                at += 1
        return None
