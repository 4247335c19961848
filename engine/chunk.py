"""A range of recorded cycles: the engine's journal in memory, which session files store and timelines decode.

Let c0 = `first_cycle`. The keyframe is the state at c0. The blocks of cycle i (0-based) turn the state at c0 + i into the
state at c0 + i + 1: they give the new values of u4 words of [sm recorded bytes | rf bytes]. Row and memory logs hold
new values; the last write in a cycle counts. Two fields are derived, never in a block: `sm.cycle`, and `sm.stall_total`,
which grows in each cycle by the `sm.state_count` at the cycle's end. Cycles that were skipped because nothing
could happen have no blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

# kinds of register rows (Rows.kind): all lanes equal, lanes in equal steps, any lanes
UNIFORM, AFFINE, RAW = range(3)
ROW_WORDS = np.array([1, 2, 32])        # words that a row of each kind takes
LANES = np.arange(32, dtype=np.uint32)
# most cycles of a chunk; in a recording, every chunk but the last has this many. Longer chunks take less time and
# fewer bytes per cycle to record; shorter ones are quicker to decode when one cycle is shown.
CHUNK_CYCLES = 2048
MOST_CHOSEN = 1024      # words of state whose changes may be logged instead of all


@dataclass
class Blocks:
    """State changes in order of time: block i has word first[i] + k if bit k of mask[i] is set.

    end: (num_cycles,) u4 prefix counts of blocks. first, mask: (b,) u4. value: (k,) u4 new values of all these words,
    block after block. A word is in at most one block of a cycle, and always in a block with the same first word.
    """

    end: np.ndarray
    first: np.ndarray
    mask: np.ndarray
    value: np.ndarray

    @staticmethod
    def of_words(end: np.ndarray, index: np.ndarray, value: np.ndarray) -> Blocks:
        """Return blocks of one word each: word index[i] gets value[i]."""
        return Blocks(end, index, np.ones(len(index), np.uint32), value)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return all arrays, in the order in which compiled code takes them."""
        return self.end, self.first, self.mask, self.value


@dataclass
class Rows:
    """Register rows written, in order. end: (num_cycles,) u4 prefix counts. index: (k,) u4 row. kind: (k,) u4.

    word: u4, for each row by its kind: the first lane; the first lane and the step from lane to lane; all 32 lanes.
    """

    end: np.ndarray
    index: np.ndarray
    kind: np.ndarray
    word: np.ndarray

    @cached_property
    def value(self) -> np.ndarray:
        """Return (k, 32) u4 lanes."""
        return self.some(np.arange(len(self.kind)))

    def some(self, writes: np.ndarray) -> np.ndarray:
        """Return (n, 32) u4 lanes of the writes with these numbers."""
        kind, size = self.kind[writes], ROW_WORDS[self.kind]
        begin = (np.cumsum(size) - size)[writes]
        step = np.zeros(len(kind), np.uint32)
        step[kind == AFFINE] = self.word[begin[kind == AFFINE] + 1]
        value = self.word[begin][:, None] + LANES * step[:, None]
        whole = kind == RAW
        value[whole] = self.word[begin[whole, None] + LANES]
        return value


# Writes.pc if no instruction wrote: the register file lost bits of the value; or a CTA left or took the warp slot, and
# all of its registers are 0 from then on (one entry, with register number ALL_REGISTERS)
LOST, CLEARED = 0xFFFFFFFF, 0xFFFFFFFE
NO_ROW = 0xFFFFFFFF                     # Writes.row if the value is in Writes.word
REGISTERS_OF_WARP = 256                 # register numbers per warp slot in Writes.register
ALL_REGISTERS = REGISTERS_OF_WARP - 1


@dataclass
class Writes:
    """What happened to registers, in order: results accepted by the register file; bits lost in it; slots cleared.

    end: (num_cycles,) u4 prefix counts. register: (k,) u4, warp slot * 256 + register. lanes: (k,) u4 mask of the lanes
    written. pc: (k,) u4 instruction, LOST or CLEARED. row: (k,) u4 number, among the chunk's row writes, of one in the
    same cycle that holds the value in these lanes; or NO_ROW: the value is the next 32 words of `word` (none if CLEARED).
    word: (32 * m,) u4.
    """

    end: np.ndarray
    register: np.ndarray
    lanes: np.ndarray
    pc: np.ndarray
    row: np.ndarray
    word: np.ndarray

    @staticmethod
    def none(cycles: int) -> Writes:
        """Return the log of a range of cycles without writes."""
        empty = np.empty(0, np.uint32)
        return Writes(np.zeros(cycles, np.uint32), empty, empty, empty, empty, empty)

    def values(self, chosen: np.ndarray, row_values: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return (n, 32) u4 values of the writes with these numbers; only the lanes written are meaningful.

        row_values: returns (n, 32) u4 of the chunk's row writes with the given numbers.
        """
        rows, cleared = self.row[chosen], self.pc[chosen] == CLEARED
        values = np.zeros((len(chosen), len(LANES)), np.uint32)
        apart = (rows == NO_ROW) & ~cleared
        named = ~(apart | cleared)
        values[named] = row_values(rows[named].astype(np.int64))
        if apart.any():
            rank = np.cumsum((self.row == NO_ROW) & (self.pc != CLEARED))[chosen[apart]] - 1
            values[apart] = self.word.reshape(-1, len(LANES))[rank]
        return values


@dataclass
class Chunk:
    """A keyframe and the changes of `num_cycles` cycles after it.

    key: (RECORDED_BYTES // 4 + rf bytes // 4,) u4, or only its clock section, which blocks do not cover. key_rows:
    (recorded rows, 32) u4 or None. key_memory: (words,) u4 or None; both read-only. They are omitted if the
    consumer keeps them from the previous chunk. mem_end: (num_cycles,) u4 prefix counts. mem_index, mem_value: u4 arena
    words. writes: the log of register writes. printed: (cycle, text) lines printed by the kernel. release: call it
    once when the arrays are no longer needed, if they are lent.
    """

    first_cycle: int
    num_cycles: int
    key: np.ndarray
    key_rows: np.ndarray | None
    key_memory: np.ndarray | None
    blocks: Blocks
    rows: Rows
    mem_end: np.ndarray
    mem_index: np.ndarray
    mem_value: np.ndarray
    writes: Writes
    printed: list[tuple[int, str]] = field(default_factory=list)
    release: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        if self.writes is None:
            self.writes = Writes.none(self.num_cycles)

    row_end = property(lambda self: self.rows.end)
    row_index = property(lambda self: self.rows.index)
    row_value = property(lambda self: self.rows.value)

    def row_values(self, writes: np.ndarray) -> np.ndarray:
        """Return (n, 32) u4 values of the row writes with these numbers."""
        return self.rows.some(writes)
