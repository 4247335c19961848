"""Decoding of chunks: the state, rows and memory at any cycle, and columns of fields over cycles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.chunk import Chunk, Writes
from rfview.engine.snapshot import Snapshot
from rfview.sessions.codec.changes import Changes, StoredChanges
from rfview.sessions.layout import Field, Layout
from rfview.sessions.codec.logs import ALL, last_writes

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

# single values of a field taken from states before its column for the whole chunk is computed
FEW_VALUES = 8


class Recalled(Snapshot):
    """A snapshot whose rows and memory, which are large and rarely needed, are assembled on first use."""

    def __init__(self, cycle: int, sm: Any, rf: Any, info: RunInfo, recall: dict[str, Callable[[], np.ndarray]]):
        for name, value in (("cycle", cycle), ("sm", sm), ("rf", rf), ("info", info), ("_recall", recall)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in ("rows", "memory"):
            raise AttributeError(name)
        value = self._recall[name]()
        object.__setattr__(self, name, value)
        return value


class DecodedChunk:
    """A chunk with everything needed for queries about any cycle in first..first + num_cycles (both included).

    chunk: of the engine (Chunk) or of a file (stored.StoredChunk). rows_base, memory_base: return the (recorded rows, 32)
    u4 rows and (words,) u4 memory at the chunk's first cycle; called only when values are needed. row_base: returns one
    row of these, or some of its lanes, if that is faster; a chunk of a file then also has `row_writes`.
    """

    def __init__(
        self,
        chunk: Any,
        layout: Layout,
        rows_base: Callable[[], np.ndarray],
        memory_base: Callable[[], np.ndarray],
        row_base: Callable[[int, slice], np.ndarray] | None = None,
    ):
        self.chunk = chunk
        self.layout = layout
        self.first = chunk.first_cycle
        self.num_cycles = chunk.num_cycles
        self.last = chunk.first_cycle + chunk.num_cycles
        self._rows_base, self._memory_base, self._row_base = rows_base, memory_base, row_base
        self._stall_total: np.ndarray | None = None
        self._rows: tuple[int, np.ndarray] | None = None
        self._memory: tuple[int, np.ndarray] | None = None
        self._columns: dict[str, np.ndarray] = {}
        self._asked: dict[str, int] = {}
        self._states: tuple[tuple[int, np.ndarray], ...] = ()

    def nbytes_hint(self, row_writes: int, mem_writes: int) -> int:
        """Return the approximate size of the chunk with everything cached that may be queried."""
        state = 10 * len(self.chunk.blocks.value) if isinstance(self.chunk, Chunk) else self.chunk.state_bytes
        return 20 * self.layout.num_words + state + 132 * row_writes + 8 * mem_writes + 512 * self.num_cycles

    @cached_property
    def _key(self) -> np.ndarray:
        return self.chunk.key

    def _end(self, ends: np.ndarray, offset: int) -> int:
        return int(ends[offset - 1]) if offset else 0

    @cached_property
    def changes(self) -> Changes | StoredChanges:
        """Return the state changes of the chunk."""
        return Changes.of_blocks(self.chunk.blocks) if isinstance(self.chunk, Chunk) else self.chunk.changes

    def words(self, offset: int) -> np.ndarray:
        """Return a fresh (num_words,) u4 copy of the state at cycle first + offset, 0 <= offset <= num_cycles."""
        words = self._key.copy()
        self.changes.apply(words, offset)
        self._put(words, "sm.cycle", np.int64(self.first + offset))
        self._put(words, "sm.stall_total", self.stall_total_at(offset))
        return words

    def _put(self, words: np.ndarray, path: str, value: Any) -> None:
        """Write a derived field to a state."""
        field = self.layout.field(path)
        begin = int(field.offsets[0])
        data = np.ascontiguousarray(value, field.dtype)
        words.view(np.uint8)[begin : begin + data.nbytes] = data.reshape(-1).view(np.uint8)

    def stall_total(self) -> np.ndarray:
        """Return (num_cycles + 1, codes) i8: the derived totals at each cycle of the chunk."""
        if self._stall_total is None:
            counts = self.column(self.layout.field("sm.state_count")).astype(np.int64)
            counts[0] = self._read_key(self.layout.field("sm.stall_total"))
            self._stall_total = np.cumsum(counts, axis=0)
        return self._stall_total

    def stall_total_at(self, offset: int) -> np.ndarray:
        """Return (codes,) i8: the derived totals at cycle first + offset."""
        if self._stall_total is not None:
            return self._stall_total[offset]
        field = self.layout.field("sm.state_count")
        words, begin, when, grown = self._counts
        total = np.zeros((len(field.words), 4), np.int64)
        if len(when):
            # the increase of a word in cycle w counts for each of the cycles from w + 1 to the offset
            lasting = np.maximum(offset - when, 0)[:, None] * grown
            total[words] = np.add.reduceat(lasting, begin, axis=0)
        base = self._read_key(field).astype(np.int64) * offset + self._read_key(self.layout.field("sm.stall_total"))
        return base + total.ravel()[field.offsets - 4 * int(field.words[0])]

    @cached_property
    def _counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the words of sm.state_count that change, where the changes of each begin in the next two, (k,) i8 when, and
        (k, 4) i8 the increase of each byte.
        """
        words = self.layout.field("sm.state_count").words
        which, when, value = self.changes.of_words(words, self.layout.num_words)
        if not isinstance(self.changes, StoredChanges):
            order = np.argsort(which, kind="stable")
            which, when, value = which[order], when[order], value[order]
        is_first = np.ones(len(which), bool)
        np.not_equal(which[1:], which[:-1], out=is_first[1:])
        begin = np.flatnonzero(is_first)
        before = np.empty_like(value)
        before[1:] = value[:-1]
        before[begin] = self._key[words[which[begin]]]
        now, then = (part.view(np.uint8).reshape(-1, 4).astype(np.int64) for part in (value, before))
        return which[begin], begin, when.astype(np.int64), now - then

    def _read_key(self, field: Field) -> np.ndarray:
        """Return a field of the keyframe, with the field's shape."""
        return _read(self._key, field)

    def value(self, field: Field, offset: int) -> np.ndarray:
        """Return a field, with its shape, at cycle first + offset; cheaper than its column for few values."""
        asked = self._asked[field.path] = self._asked.get(field.path, 0) + 1
        if field.path in self._columns or asked > FEW_VALUES:
            return self.column(field)[offset]
        words = next((words for at, words in self._states if at == offset), None)
        if words is None:
            words = self.words(offset)
            self._states = ((offset, words), *self._states[:1])     # replaced, never modified: other threads may read it
        return _read(words, field)

    def word_column(self, words: np.ndarray) -> np.ndarray:
        """Return (num_cycles + 1, k) u4: the values of k state words at each cycle of the chunk."""
        which, when, value = self.changes.of_words(words, self.layout.num_words)
        # what each change turns over, at the cycle from which it holds; a word's value is all of its changes up to a cycle
        before = np.empty_like(value)
        before[1:] = value[:-1]
        head = np.flatnonzero(np.diff(which, prepend=-1))
        before[head] = self._key[words[which[head]]]
        held = np.zeros((self.num_cycles + 1, len(words)), np.uint32)
        held[0] = self._key[words]
        held[when.astype(np.int64) + 1, which] = value ^ before
        return np.bitwise_xor.accumulate(held, axis=0, out=held)

    def column(self, field: Field) -> np.ndarray:
        """Return (num_cycles + 1, *field.shape) values of a field at each cycle of the chunk; treat it as read-only."""
        if field.derived == "cycle":
            return np.arange(self.first, self.last + 1, dtype=np.int64)
        cached = self._columns.get(field.path)
        if cached is not None:
            return cached
        if field.derived == "stall_total":
            size = field.dtype.itemsize
            codes = (field.offsets - int(self.layout.field("sm.stall_total").offsets[0])) // size
            return self.stall_total()[:, codes].reshape((self.num_cycles + 1, *field.shape))
        words, size = self.word_column(field.words), field.dtype.itemsize
        if 4 * len(field.words) == size * len(field.offsets) and bool((np.diff(field.offsets) > 0).all()):
            values = words.view(field.dtype)        # its elements fill these words completely
        else:
            data = words.view(np.uint8).reshape(self.num_cycles + 1, -1)
            begin = np.searchsorted(field.words, field.offsets // 4) * 4 + field.offsets % 4
            positions = (begin[:, None] + np.arange(size)).ravel()
            values = data.take(positions, axis=1).view(field.dtype)
        values = values.reshape((self.num_cycles + 1, *field.shape))
        if len(self._columns) >= 32:
            self._columns.clear()
        self._columns[field.path] = values
        return values

    @property
    def writes(self) -> Writes:
        """Return the chunk's log of register writes."""
        writes: Writes = self.chunk.writes
        return writes

    def writes_of(self, slot: int) -> Writes:
        """Return at least the register writes of a warp slot."""
        writes: Writes = self.chunk.writes if isinstance(self.chunk, Chunk) else self.chunk.writes_of(slot)
        return writes

    def written(self, writes: Writes, chosen: np.ndarray) -> np.ndarray:
        """Return (n, 32) u4 values of the writes with these numbers in one of the logs above."""
        return writes.values(chosen, self.chunk.row_values)

    def rows(self, offset: int) -> np.ndarray:
        """Return the (recorded rows, 32) u4 values at cycle first + offset; shared between calls: read-only."""
        chunk, end = self.chunk, self._end(self.chunk.row_end, offset)

        def put(array: np.ndarray, done: int) -> None:
            rows, writes = last_writes(chunk.row_index[done:end], len(array))
            array[rows] = chunk.row_values(writes + done)

        # another thread may use the same chunk: the returned value is never read back
        self._rows = advanced = _advance(self._rows, end, self._rows_base, put)
        return advanced[1]

    def memory(self, offset: int) -> np.ndarray:
        """Return the (words,) u4 memory at cycle first + offset; shared between calls: read-only."""
        chunk, end = self.chunk, self._end(self.chunk.mem_end, offset)

        def put(array: np.ndarray, done: int) -> None:
            array[chunk.mem_index[done:end]] = chunk.mem_value[done:end]

        self._memory = advanced = _advance(self._memory, end, self._memory_base, put)
        return advanced[1]

    def row_column(self, row: int, lanes: slice = ALL) -> np.ndarray:
        """Return (num_cycles + 1, lanes) u4: one row, or some of its lanes, at each cycle of the chunk."""
        if self._row_base is None:
            writes = np.flatnonzero(self.chunk.row_index == row)
            return _fill(self.chunk.row_end, writes, self.chunk.row_value[writes, lanes], self._rows_base()[row, lanes])
        stored: Any = self.chunk
        ends, writes, values = stored.row_writes(row, lanes)
        return _fill(ends, writes, values, self._row_base(row, lanes))

    def memory_column(self, word: int) -> np.ndarray:
        """Return (num_cycles + 1,) u4: one memory word at each cycle of the chunk."""
        writes = np.flatnonzero(self.chunk.mem_index == word)
        return _fill(self.chunk.mem_end, writes, self.chunk.mem_value[writes], self._memory_base()[word])

    def snapshot(self, cycle: int, info: RunInfo) -> Snapshot:
        """Return the whole machine at a cycle in first..last."""
        offset = cycle - self.first
        sm, rf = self.layout.split(self.words(offset))
        return Recalled(cycle, sm, rf, info, {"rows": partial(self.rows, offset), "memory": partial(self.memory, offset)})


def _read(words: np.ndarray, field: Field) -> np.ndarray:
    """Return a field of the (num_words,) u4 state, with the field's shape."""
    data = words.view(np.uint8)
    if field.is_dense:
        begin = int(field.offsets[0])
        return data[begin : begin + field.dtype.itemsize * len(field.offsets)].view(field.dtype).reshape(field.shape).copy()
    positions = field.offsets[:, None] + np.arange(field.dtype.itemsize)
    return data[positions].view(field.dtype).reshape(field.shape)


def _advance(
    state: tuple[int, np.ndarray] | None,
    end: int,
    base: Callable[[], np.ndarray],
    put: Callable[[np.ndarray, int], None],
) -> tuple[int, np.ndarray]:
    """Return (end, array) with the first `end` writes of a log applied, starting from the last such pair or the base.

    put: writes those from a number up to `end` into an array.
    """
    if state is not None and state[0] == end:
        return state
    if state is not None and state[0] < end:
        done, array = state
    else:
        done, array = 0, base()
        if end == 0:
            return 0, array
    array = array.copy()
    put(array, done)
    array.flags.writeable = False
    return end, array


def _fill(ends: np.ndarray, writes: np.ndarray, value: np.ndarray, base: Any) -> np.ndarray:
    """Return (cycles + 1, ...): the value of one place at each cycle: its base, then the last write so far.

    ends: prefix counts per cycle of all writes. writes, value: numbers and values of this place's writes.
    """
    known = np.concatenate([np.asarray(base, np.uint32)[None], value])
    return known[np.concatenate([[0], np.searchsorted(writes, ends, side="left")])]
