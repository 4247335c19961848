"""Values over time as a table: cells by column and row, and their writers; the columns around a cycle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.timeline.base import CycleProgress, Timeline

# contents of a cell: nothing yet, a value, a value of which the register file has lost bits
UNWRITTEN, WRITTEN, LOST = range(3)
UNKNOWN = -2        # a writer that the log does not say; NOBODY: none
# cycles per column, in the order of zooming
STEPS = tuple(digit * 10**power for power in range(8) for digit in (1, 2, 5))
BEFORE = 2, 3       # the part of a strip before the cursor
PERCENTILE, MAX_SAMPLES = 99, 20_000      # magnitudes, sampled in even steps if there are more


@dataclass(frozen=True, eq=False)
class Strip:
    """Values in c columns (ranges of cycles) and r rows.

    item: "w5.R3", "C[0..127]". kind: "f32", "s32", "u32", "offset" or a buffer's type. edges: (c + 1,) i8; column i shows
    the value after the last cycle of edges[i]..edges[i + 1] - 1. rows: the first lane or element of each row; each: how
    many a row represents, of which it shows the mean. values: (c, r) f8. state: (c, r) u1 UNWRITTEN, WRITTEN or LOST.
    writer: (c,) i8 pc of the last instruction that wrote in a column, NOBODY, or UNKNOWN if the log does not say.
    writes: (c,) i8 number of writes. touched: (c,) i8 how many lanes or elements they wrote. lost: (c,) bool whether
    bits were lost. top: the magnitude at the end of the scale. of: how many lanes or elements there are in all.
    """

    item: str
    kind: str
    edges: np.ndarray
    rows: np.ndarray
    each: int
    values: np.ndarray
    state: np.ndarray
    writer: np.ndarray
    writes: np.ndarray
    touched: np.ndarray
    lost: np.ndarray
    top: float
    of: int

    def column_of(self, cycle: int) -> int:
        """Return the column that holds a cycle, -1 where none does."""
        at = int(np.searchsorted(self.edges, cycle, side="right")) - 1
        return at if 0 <= at < len(self.edges) - 1 else -1

    def data(self) -> dict[str, Any]:
        """Return everything as JSON data; what is unwritten or not a number is null."""
        known = (self.state != UNWRITTEN) & np.isfinite(self.values)
        return {"item": self.item, "kind": self.kind, "edges": self.edges.tolist(), "rows": self.rows.tolist(),
                "each": self.each, "top": self.top, "writer": [None if pc < 0 else pc for pc in self.writer.tolist()],
                "writes": self.writes.tolist(), "touched": self.touched.tolist(), "lost": self.lost.tolist(),
                "values": [[value if has else None for value, has in zip(column, there, strict=True)]
                           for column, there in zip(self.values.tolist(), known.tolist(), strict=True)]}


@dataclass(frozen=True)
class Moment:
    """One lane or element at a cycle. row: its number. value, was: f8 now and before, was None before the first write.

    since: the cycle that shows the value first, -1 if it came from the host or was never written. pc: its writer, or
    NOBODY. is_lost: bits were lost then. lanes: how many were written with it. following: the cycle of the next write in
    the same chunk, or -1. warp, lane: of the writer, or -1.
    """

    row: int
    value: float
    was: float | None
    since: int
    pc: int
    is_lost: bool = False
    is_written: bool = True
    lanes: int = 0
    following: int = -1
    warp: int = -1
    lane: int = -1


class History(ABC):
    """A register, or elements of a buffer, over time, read on demand and kept.

    item: its name, top: the end of the scale so far. The `progress` of its methods is called with the cycle reached while
    chunks are read; if it returns True, reading stops with an InputError.
    """

    timeline: Timeline
    item: str
    top: float = 0.0

    @abstractmethod
    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: which of these chunks may contain writes."""

    @abstractmethod
    def written(self, first: int, last: int, lane: int | None, progress: CycleProgress | None) -> np.ndarray:
        """Return the cycles that first show a write to a lane or element, or to any, in the chunks of first - 1..last."""

    def numbers(self, low: int, high: int) -> list[int]:
        """Return the chunks among low..high-1 that may contain writes."""
        return (low + np.flatnonzero(self.may_change(low, high))).tolist() if self.timeline.chunk_starts() else []

    def numbers_of(self, first: int, last: int, progress: CycleProgress | None) -> Iterator[int]:
        """Yield those of the chunks with cycles first - 1..last, one by one as they are read."""
        timeline = self.timeline
        low, high = (timeline.chunk_number(max(cycle, timeline.first)) for cycle in (first - 1, last))
        for number in self.numbers(low, high + 1):
            if progress is not None and progress(timeline.chunk_starts()[number]):
                raise InputError(f"{self.item}: interrupted while reading writes")
            yield number

    def write_cycles(self, first: int, last: int, progress: CycleProgress | None = None, lane: int | None = None
                     ) -> np.ndarray:
        """Return the cycles in first..last, ascending, that first show a write: to one lane or element, or to any."""
        cycles = np.unique(self.written(first, last, lane, progress))
        return cycles[(cycles >= first) & (cycles <= last)]


def around(cycle: int, columns: int, per: int, first: int, last: int) -> np.ndarray:
    """Return (columns + 1,) edges of columns of `per` cycles each, with the cursor's at two thirds, within first..last.

    Columns begin at multiples of `per`, so that a strip does not flicker as the cursor moves; if the session is shorter,
    there are fewer columns.
    """
    here = cycle // per
    low = max(first // per, here - columns * BEFORE[0] // BEFORE[1])
    high = min(last // per, low + columns - 1)
    low = max(first // per, high - columns + 1)
    return np.arange(low, high + 2, dtype=np.int64) * per


def around_writes(history: History, cycle: int, columns: int, first: int, last: int,
                  progress: CycleProgress | None = None) -> np.ndarray:
    """Return the edges of columns of one write each, leaving out the time between; otherwise like `around`.

    Searches further and further to both sides until there are enough writes.
    """
    reach, cycles = 4096, np.empty(0, np.int64)
    wanted = columns * BEFORE[0] // BEFORE[1]
    while True:
        low, high = max(first, cycle - reach), min(last, cycle + reach)
        cycles = history.write_cycles(low, high, progress)
        at = int(np.searchsorted(cycles, cycle, side="right"))
        if (at >= wanted or low == first) and (len(cycles) - at >= columns - wanted or high == last):
            break
        reach *= 4
    begin = max(0, at - wanted)
    chosen = cycles[begin : begin + columns + 1]
    end = int(chosen[-1]) if len(chosen) == columns + 1 else last + 1
    starts = chosen[:columns]
    if not len(starts) or starts[0] > cycle:
        starts = np.append(first, starts)
    return np.unique(np.append(starts, end))


def next_write(history: History, cycle: int, lane: int, forward: bool, progress: CycleProgress | None = None) -> int | None:
    """Return the next, or last, cycle that is the first to show a write to a lane or element; None if there is none."""
    timeline = history.timeline
    reach, low, high = 4096, cycle + 1, cycle - 1
    while True:
        low, high = (low, min(timeline.last, cycle + reach)) if forward else (max(timeline.first, cycle - reach), high)
        if low > high:
            return None
        cycles = history.write_cycles(low, high, progress, lane)
        if cycles.size:
            return int(cycles[0 if forward else -1])
        if (high == timeline.last) if forward else (low == timeline.first):
            return None
        low, high = (high + 1, high) if forward else (low, low - 1)
        reach *= 4


def grown(old: float, values: np.ndarray) -> float:
    """Return the end of a scale enlarged for these values; it never shrinks, so that colours do not change meanwhile."""
    flat = values.ravel()
    size = np.abs(flat[:: max(1, len(flat) // MAX_SAMPLES)])
    size = size[np.isfinite(size)]
    return max(old, float(np.percentile(size, PERCENTILE))) if size.size else old


def grouped(values: np.ndarray, state: np.ndarray, rows: int) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """Return (first lanes, lanes each, values, states) of `rows` rows at most.

    values: (c, r) means of neighbouring lanes. states: lost if any lane's is, unwritten if all are.
    """
    count = values.shape[1]
    each = -(-count // max(1, rows))
    firsts = np.arange(-(-count // each)) * each
    if each == 1:
        return firsts, each, values, state
    missing = -count % each
    shape = (len(values), -1, each)
    wide = np.pad(values, ((0, 0), (0, missing))).reshape(shape)
    kinds = np.pad(state, ((0, 0), (0, missing))).reshape(shape)
    has = kinds != UNWRITTEN
    with np.errstate(invalid="ignore"):
        total = np.where(has, wide, 0.0).sum(axis=2)
    return firsts, each, total / np.maximum(has.sum(axis=2), 1), kinds.max(axis=2)
