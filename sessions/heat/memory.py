"""A range of a buffer's elements over time, from the log of memory words, and which store wrote one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.timeline.stores import NOBODY, STORES, store_at
from rfview.sessions.heat.strip import UNKNOWN, WRITTEN, History, Moment, Strip, grouped, grown
from rfview.sessions.timeline.base import CycleProgress, Timeline

if TYPE_CHECKING:
    from rfview.engine.info import Variable

WRITES_BYTES, BASE_BYTES = 48 << 20, 8 << 20
MAX_ELEMENTS = 4096
KINDS = {"f": "f", "i": "s", "u": "u", "b": "u"}


class MemoryHeat(History):
    """The history of elements first..first + count - 1 of a buffer or symbol, read on demand and kept."""

    def __init__(self, timeline: Timeline, variable: Variable, first: int, count: int):
        self.timeline, self.name = timeline, variable.name
        self.dtype = np.dtype(variable.dtype)
        self.first, self.count = first, count
        self.item = f"{self.name}[{first}..{first + count - 1}]" if count > 1 else f"{self.name}[{first}]"
        size = self.dtype.itemsize
        self.kind = f"{KINDS.get(self.dtype.kind, self.dtype.kind)}{8 * size}"
        self.kinds: tuple[str, ...] = ()
        begin, end = variable.word * 4 + first * size, variable.word * 4 + (first + count) * size
        self.low, self.high = begin // 4, -(-end // 4)
        self._skip = begin - 4 * self.low       # bytes of the first word that belong to earlier elements
        self._writes: ByteCache[tuple[np.ndarray, np.ndarray, np.ndarray]] = ByteCache(WRITES_BYTES)
        self._bases: ByteCache[np.ndarray] = ByteCache(BASE_BYTES)
        program = timeline.info.program
        self.writers = [entry.pc for entry in program if entry.mnemonic in STORES and entry.space in ("global", "generic")]

    def _typed(self, words: np.ndarray) -> np.ndarray:
        """Return (.., elements) f8 of (.., words) u4."""
        data = np.ascontiguousarray(words).view(np.uint8)[..., self._skip :]
        size = self.count * self.dtype.itemsize
        with np.errstate(invalid="ignore", over="ignore"):
            return np.ascontiguousarray(data[..., :size]).view(self.dtype).astype(np.float64)

    def _chunk(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (first cycles that show it, words counted from `low`, values) of a chunk's writes in the range."""
        writes = self._writes.get(number)
        if writes is None:
            part = self.timeline.decoded(number)
            stored = part.chunk
            index = stored.mem_index
            mine = np.flatnonzero((index >= self.low) & (index < self.high))
            cycle = part.first + 1 + np.searchsorted(stored.mem_end, mine, side="right")
            writes = cycle, index[mine].astype(np.int64) - self.low, stored.mem_value[mine]
            if self.timeline.closed or number + 1 < len(self.timeline.chunk_starts()):
                self._writes.put(number, writes, 200 + 20 * len(mine))
        return writes

    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: which of these chunks may write in the range."""
        zone_maps = self.timeline.zone_maps
        if zone_maps is None:
            return np.ones(high - low, bool)
        return zone_maps.memory_changes(list(range(self.low, self.high)), low, high)

    def writes(self, first: int, last: int, progress: CycleProgress | None = None
               ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (cycle, word, value) of the writes in the range, in order, in the chunks with cycles first - 1..last."""
        parts = [self._chunk(number) for number in self.numbers_of(first, last, progress)]
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32)
        cycle, word, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cycle, word, value

    def _before(self, number: int) -> np.ndarray:
        """Return (words,) u4: the range at the first cycle of a chunk."""
        content = self._bases.get(number)
        if content is None:
            start = self.timeline.chunk_starts()[number] if self.timeline.chunk_starts() else self.timeline.first
            content = self.timeline.at(start).memory[self.low : self.high].copy()
            self._bases.put(number, content, 100 + content.nbytes)
        return content

    def strip(self, edges: np.ndarray, rows: int = 32, progress: CycleProgress | None = None) -> Strip:
        """Return the columns between edges (i8 cycles, ascending); a row per element, or fewer rows of means."""
        columns, words = len(edges) - 1, self.high - self.low
        first, last = max(int(edges[0]), self.timeline.first), min(int(edges[-1]) - 1, self.timeline.last)
        cycle, word, value = self.writes(first, last, progress)
        base = self._before(self.timeline.chunk_number(max(first - 1, self.timeline.first)))
        column = np.searchsorted(edges, cycle, side="right")
        ahead = int(np.searchsorted(cycle, edges[-1], side="left"))
        column, word = column[:ahead], word[:ahead]
        latest = np.full((columns + 1) * words, -1, np.int32)
        latest[column * words + word] = np.arange(ahead, dtype=np.int32)        # of equal places the last one counts
        latest = np.maximum.accumulate(latest.reshape(columns + 1, words), axis=0)[1:]
        held = np.repeat(base[None], columns, axis=0)
        written = latest >= 0
        held[written] = value[latest[written]]
        values = self._typed(held)
        self.top = grown(self.top, values)
        inside = column > 0
        column, word = column[inside] - 1, word[inside]
        first_of, each, values, state = grouped(values, np.full(values.shape, WRITTEN, np.uint8), rows)
        writes = np.bincount(column, minlength=columns)
        touched = np.zeros(columns * words, bool)
        touched[column * words + word] = True
        only = self.writers[0] if len(self.writers) == 1 else UNKNOWN
        return Strip(self.item, self.kind, edges, first_of + self.first, each, values, state,
                     np.where(writes > 0, only, NOBODY), writes,
                     touched.reshape(columns, words).sum(axis=1), np.zeros(columns, bool), self.top, self.count)

    def set_kind(self, kind: str) -> None:
        """Raise InputError: a buffer's type comes from its launch."""
        raise InputError(f"{self.item}: its elements are {self.kind}, as the launch declares")

    def moment(self, cycle: int, row: int) -> Moment:
        """Return what an element (counted from the range's first) holds at a cycle, and which store wrote it when."""
        low, high = self._words_of(row)
        now = self._value(cycle, row)
        since = self._last_write(cycle, low, high)
        if since == NOBODY:
            return Moment(row, now, None, NOBODY, NOBODY, following=self._next_write(cycle, low, high))
        pc, warp, lane = store_at(self.timeline, since, self.low + low)
        return Moment(row, now, self._value(since - 1, row), since, pc, following=self._next_write(cycle, low, high),
                      warp=warp, lane=lane)

    def _value(self, cycle: int, row: int) -> float:
        at = max(cycle, self.timeline.first)
        number = self.timeline.chunk_number(max(at - 1, self.timeline.first))
        held = self._before(number).copy()
        when, word, value = self.writes(at, at)
        done = when <= at
        held[word[done]] = value[done]
        return float(self._typed(held)[row])

    def _last_write(self, cycle: int, low: int, high: int) -> int:
        """Return the last cycle up to `cycle` that first shows a write to words low..high-1 of the range, or NOBODY."""
        timeline = self.timeline
        top = timeline.chunk_number(max(cycle - 1, timeline.first))
        for number in reversed(self.numbers(0, top + 1)):
            when, word, _ = self._chunk(number)
            mine = when[(word >= low) & (word < high) & (when <= cycle)]
            if mine.size:
                return int(mine[-1])
        return NOBODY

    def _next_write(self, cycle: int, low: int, high: int) -> int:
        """Return the next cycle in the current chunk that first shows a write to words low..high-1, or NOBODY."""
        when, word, _ = self.writes(cycle, cycle)
        later = when[(word >= low) & (word < high) & (when > cycle)]
        return int(later[0]) if later.size else NOBODY

    def _words_of(self, row: int) -> tuple[int, int]:
        """Return an element's words low..high-1, counted from `low`."""
        begin = self._skip + row * self.dtype.itemsize
        return begin // 4, -(-(begin + self.dtype.itemsize) // 4)

    def written(self, first: int, last: int, lane: int | None, progress: CycleProgress | None) -> np.ndarray:
        """Return the cycles that first show a store; lane: an element, counted from the range's first."""
        cycle, word, _ = self.writes(first, last, progress)
        if lane is None:
            return cycle
        low, high = self._words_of(lane)
        return cycle[(word >= low) & (word < high)]
