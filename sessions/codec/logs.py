"""A chunk's logs stored in a file, decoded as far as a query needs: rows, memory and register writes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rfview.engine.chunk import AFFINE, ALL_REGISTERS, CLEARED, LANES, NO_ROW, RAW, REGISTERS_OF_WARP, Writes
from rfview.sessions.codec.streams import Stream, numbers, some_numbers, undeltas, unzigzag

# the streams of each log, in order: see README.md
ROWS = ("counts", "index", "kind", "base", "step", "raw")
MEMORY = ("counts", "index", "value")
WRITES = ("counts", "warp", "row", "register", "pc", "lanes", "word")
# all lanes of a row
ALL = slice(None)


class RowLog:
    """Row writes in order.

    Raises ValueError or KeyError if streams are inconsistent.
    """

    def __init__(self, stored: dict[str, Stream], num_rows: int):
        self._stored, self._num_rows = stored, num_rows
        self._kind = numbers(stored["kind"], np.uint8)
        if stored["index"][0] != len(self._kind) or self._kind.max(initial=0) > RAW or stored["raw"][0] % len(LANES):
            raise ValueError("row streams are inconsistent")

    @cached_property
    def index(self) -> np.ndarray:
        """Return (k,) u4 row of each write, below num_rows; a search for a register's value does without."""
        index = undeltas(numbers(self._stored["index"]))
        check_places(index, self._num_rows, "row")
        return index

    @cached_property
    def end(self) -> np.ndarray:
        """Return (cycles,) u4 prefix counts of the writes; sums over chunks have none."""
        return prefix_counts(self._stored["counts"], len(self._kind))

    @cached_property
    def _whole(self) -> np.ndarray:
        return np.cumsum(self._kind == RAW)

    @cached_property
    def _even(self) -> np.ndarray:
        return np.cumsum(self._kind == AFFINE)

    def values(self, writes: np.ndarray, lanes: slice = ALL) -> np.ndarray:
        """Return (n, lanes) u4 values of the writes with these numbers: all 32 lanes, or some of them."""
        kinds, lane = self._kind[writes], LANES[lanes]
        values = np.empty((len(writes), len(lane)), np.uint32)
        whole, even, short = (np.flatnonzero(chosen) for chosen in (kinds == RAW, kinds == AFFINE, kinds != RAW))
        if len(whole):
            values[whole] = some_numbers(self._stored["raw"], self._whole[writes[whole]] - 1, len(LANES), lanes)
        values[short] = some_numbers(self._stored["base"], (writes - self._whole[writes])[short])[:, None]
        if len(even):
            values[even] += lane * unzigzag(some_numbers(self._stored["step"], self._even[writes[even]] - 1))[:, None]
        return values

    def last(self, row: int, lanes: slice = ALL) -> np.ndarray:
        """Return (1, lanes) u4: the value last written to a row, (0, lanes) if none was."""
        return self.values(np.flatnonzero(self.index == row)[-1:], lanes)

    def newest(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows, (n, 32) u4) of the last writes to the rows set in `places`, (rows,) bool."""
        rows, writes = last_writes(self.index, len(places))
        chosen = places[rows]
        return rows[chosen], self.values(writes[chosen])


def last_writes(index: np.ndarray, num_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows written, ascending, and the number of the last write to each. index: each write's row."""
    last = np.full(num_rows, -1)
    last[index] = np.arange(len(index))
    rows = np.flatnonzero(last >= 0)
    return rows, last[rows]


def prefix_counts(stored: Stream, most: int) -> np.ndarray:
    """Return (cycles,) u4 prefix counts of a log with `most` entries."""
    end = np.cumsum(numbers(stored, np.int64))
    if (end[-1] if len(end) else 0) != most:
        raise ValueError("its counts are inconsistent")
    return end.astype(np.uint32)


def check_places(index: np.ndarray, size: int, what: str) -> None:
    """Raise ValueError unless all places are below `size`."""
    most = int(index.max(initial=0))
    if len(index) and most >= size:
        raise ValueError(f"it writes {what} {most}, of {size}")


def read_memory(stored: dict[str, Stream], num_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the (k,) word numbers, below num_words, and u4 values of a memory log."""
    index, value = undeltas(numbers(stored["index"])), numbers(stored["value"])
    if len(index) != len(value):
        raise ValueError("memory streams are inconsistent")
    check_places(index, num_words, "word")
    return index, value


def read_writes(stored: dict[str, Stream], row_end: np.ndarray) -> Writes:
    """Return a log of register writes; row_end: prefix counts of the chunk's row writes."""
    warp, end, before = _cycles_of_writes(stored, row_end)
    row, register, pc, lanes, word = (numbers(stored[name]) for name in WRITES[2:])
    row = _row_numbers(row, np.repeat(before, numbers(stored["counts"])), row_end)
    order = np.argsort(warp.astype(np.uint8), kind="stable")    # of bytes it is a radix sort
    in_order = np.empty((3, len(warp)), np.uint32)
    for one, values in zip(in_order, (register, undeltas(pc), np.bitwise_xor.accumulate(lanes)), strict=True):
        one[order] = values
    return _writes(end, warp, row, in_order[0], in_order[1], in_order[2], word)


def read_slot(stored: dict[str, Stream], row_end: np.ndarray, slot: int) -> Writes:
    """Return the register writes of one warp slot; those of all if values have no row, whose places depend on all."""
    if stored["word"][0]:
        return read_writes(stored, row_end)
    warp, end, before = _cycles_of_writes(stored, row_end)
    chosen = np.flatnonzero(warp == slot)
    cycle = np.searchsorted(end, chosen, side="right")
    row = _row_numbers(some_numbers(stored["row"], chosen), before[cycle], row_end)
    begin = int(np.count_nonzero(warp < slot))
    behind = begin + len(chosen)
    register, pc, lanes = (numbers(stored[name], stop=behind) for name in ("register", "pc", "lanes"))
    end = np.cumsum(np.bincount(cycle, minlength=len(end))).astype(np.uint32)
    return _writes(end, warp[chosen], row, register[begin:], undeltas(pc)[begin:],
                   np.bitwise_xor.accumulate(lanes)[begin:], np.empty(0, np.uint32))


def _cycles_of_writes(stored: dict[str, Stream], row_end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the slot of each register write, their prefix counts, and how many row writes there are before each cycle."""
    warp = numbers(stored["warp"])
    end = prefix_counts(stored["counts"], len(warp))
    counts = {stored[name][0] for name in WRITES[1:-1]}
    if counts != {len(warp)} or stored["word"][0] % len(LANES) or len(end) != len(row_end):
        raise ValueError("write streams are inconsistent")
    check_places(warp, 1 << 6, "registers of warp slot")
    return warp, end, np.concatenate(([0], row_end[:-1])).astype(np.uint32)


def _row_numbers(row: np.ndarray, before: np.ndarray, row_end: np.ndarray) -> np.ndarray:
    """Return the numbers of row writes from those in the cycle. before: how many row writes there are before it."""
    row = np.where(row == 0, np.uint32(NO_ROW), before + row - np.uint32(1))
    if not (row[row != NO_ROW] < (row_end[-1] if len(row_end) else 0)).all():
        raise ValueError("a write names a row write that does not exist")
    return row


def _writes(end: np.ndarray, warp: np.ndarray, row: np.ndarray, register: np.ndarray, pc: np.ndarray, lanes: np.ndarray,
            word: np.ndarray) -> Writes:
    """Return a log of register writes from what is stored of each, in order of time."""
    check_places(register, REGISTERS_OF_WARP, "register")
    if np.count_nonzero((row == NO_ROW) & (pc != CLEARED)) > len(word) // len(LANES):
        raise ValueError("a write has no value")
    register[pc == CLEARED] = ALL_REGISTERS     # 63 in recordings of rfview without machine code
    return Writes(end, warp * np.uint32(REGISTERS_OF_WARP) + register, lanes, pc, row, word)
