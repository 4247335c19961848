"""The host's side of the journal: shadow copies of the state, the arrays that compiled code fills, and their chunk."""

from __future__ import annotations

import numpy as np

from rfview.engine import state
from rfview.engine.chunk import MOST_CHOSEN, Blocks, Chunk, Rows, Writes
from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.jit import key_dtype, lean_entry, record
from rfview.engine.machine.journal.log import CHOSEN, COUNTED, LOG, STATE, VALUES, WATCHED, WRITTEN
from rfview.engine.machine.journal.words import HOT_WORD, RECORDED_WORDS, WIDTH


class Journal:
    """Shadow copies of the recorded state, and output buffers that are lent to chunks until they have been written.

    recorded: u4 words of the recorded part of the SM record. design: of the design's state, with a block of words behind it.
    units: of that state, (units, 2) u4. rows: (rows, 32) u4. memory: u4 words. All are observed in place for the life of the
    journal.
    """

    def __init__(self, recorded: np.ndarray, design: np.ndarray, units: np.ndarray, rows: np.ndarray, memory: np.ndarray,
                 num_rows: int, max_words: int, cycles: int) -> None:
        blocks = RECORDED_WORDS // WIDTH + state.MAX_INFLIGHT + len(units) + 2 * WIDTH
        # words of a block are written 32 at a time
        values = RECORDED_WORDS + len(design) + 2 * WIDTH
        self._capacities = (blocks, values, num_rows, max_words, num_rows + state.MAX_ACCEPTED + state.MAX_WARPS)
        self._sizes = (self._capacities, cycles, (len(recorded), len(design)))
        self.log = np.zeros(1, LOG).view(np.recarray)
        self.mem_index, self._chosen = np.zeros(max_words, np.uint32), np.zeros(MOST_CHOSEN, np.uint32)
        self._key = record(key_dtype())
        self.recorded, self.design = recorded, design
        self._shadows = (aligned_words(len(recorded)), aligned_words(len(design)))
        self._free: list[Buffers] = []
        self._ended_at = -1
        self._is_whole = self._is_all = True
        self._numbers, self._on = self.log.view(np.int64), self.log["on"]
        self._counts = self._numbers[: len(COUNTED)]
        self._watched = dict(zip(WATCHED, (recorded, self._shadows[0], design, self._shadows[1], rows, memory,
                                           self.mem_index, self._chosen, units)))
        self._point(WATCHED[0], places_of(self._watched))
        self._use(Buffers(*self._sizes))
        log = self.log[0]
        log.block_space, log.value_space, log.row_space, log.word_space, log.write_space = self._capacities

    def _point(self, first: str, places: np.ndarray) -> None:
        """Store the addresses of the arrays from `first` on for compiled code."""
        at = LOG.fields[f"{first}_at"][1] // 8
        self._numbers[at : at + len(places)] = places

    def _use(self, buffers: Buffers) -> None:
        """Use these buffers from now on."""
        self._buffers = buffers
        self._point(WRITTEN[0], buffers.places)

    def begin(self, cycle: int, *, whole: bool = True, only: np.ndarray | None = None, logs: bool = True) -> None:
        """Start a chunk with the current state, that of `cycle`; the shadows are up to date if the last chunk ended here.

        whole: the keyframe gets the whole state, not only the clock section, which blocks do not cover. only, logs: as in
        Simulator.record_chunk.
        """
        if cycle != self._ended_at:
            self._shadows[0][:] = self.recorded
            self._shadows[1][:] = self.design
        self._is_all = only is None
        if only is not None:
            self._chosen[: len(only)] = only
            self.log[0].num_chosen = len(only)
        self._is_whole = whole
        if whole:
            for key, now in zip(self._buffers.keys, (self.recorded, self.design)):
                np.copyto(key, now)
        else:
            np.copyto(self._buffers.key[:HOT_WORD], self.recorded[:HOT_WORD])
        self._counts[:] = 0
        self._on[0] = (STATE if self._is_all else CHOSEN) | (VALUES if logs else 0)

    def end(self, cycle: int) -> None:
        """Stop logging; the state is that of `cycle`."""
        self._on[0] = 0
        self._ended_at = cycle if self._is_all else -1      # the shadows of other words are those of its begin

    def chunk(self, first: int, design_words: int, printed: list[tuple[int, str]], *, lend: bool = False) -> Chunk:
        """Return the chunk logged since `begin`, without rows and memory of the keyframe.

        design_words: words of the design's state without padding. lend: the chunk's arrays are the journal's own,
        until its `release` is called; otherwise copies.
        """
        made = self._buffers.arrays
        key = self._buffers.key[: RECORDED_WORDS + design_words if self._is_whole else HOT_WORD]
        count = dict(zip(COUNTED, self._counts.tolist(), strict=True))
        cycles, writes = count["cycles"], count["writes"]
        blocks = Blocks(made["block_end"][:cycles], made["block_first"][: count["blocks"]],
                        made["block_mask"][: count["blocks"]], made["block_value"][: count["values"]])
        rows = (made["row_end"][:cycles], made["row_index"][: count["rows"]], made["row_kind"][: count["rows"]],
                made["row_word"][: count["row_words"]])
        mem_end = made["mem_end"][:cycles]
        mem_index, mem_value = made["mem_index"][: count["words"]], made["mem_value"][: count["words"]]
        log = (made["write_end"][:cycles], *(made[f"write_{name}"][:writes] for name in ("register", "lanes", "pc", "row")),
               made["write_word"][: count["write_words"]])
        if lend:
            buffers = self._buffers
            self._use(self._free.pop() if self._free else Buffers(*self._sizes))
            return Chunk(first, cycles, key, None, None, blocks, Rows(*rows), mem_end, mem_index, mem_value, Writes(*log),
                         printed=printed, release=lambda: self._free.append(buffers))
        end, index = np.empty(cycles, np.uint32), np.empty(count["values"], np.uint32)
        expand(self._key, blocks.end, blocks.first, blocks.mask, end, index)
        return Chunk(first, cycles, key.copy(), None, None, Blocks.of_words(end, index, blocks.value.copy()),
                     Rows(*(array.copy() for array in rows)), mem_end.copy(), mem_index.copy(), mem_value.copy(),
                     Writes(*(array.copy() for array in log)), printed=printed)


def units_of(dtype: np.dtype) -> np.ndarray:
    """Return (units, 2) u4: the first word, and the mask of words, of each unit of a record that is compared at once.

    A unit is a record of an array, or up to 32 words of it or of anything else: a mask's bit means the same word in all of
    them.
    """
    pieces: list[list[int]] = []
    for begin, end, size in state.arrays_of(dtype):
        if size == 1 and pieces and pieces[-1][2] == 1:
            pieces[-1][1] = end
        else:
            pieces.append([begin, end, size])
    units = []
    for begin, end, size in pieces:
        size = end - begin if size == 1 else size
        units += [(at, min(WIDTH, first + size - at)) for first in range(begin, end, size)
                  for at in range(first, first + size, WIDTH)]
    return np.array([(at, (1 << count) - 1) for at, count in units], np.uint32)


class Buffers:
    """Output arrays for one chunk, by name.

    worst: the most that one cycle may need: blocks and words of the whole state, every row, all memory words, writes.
    In addition a chunk of busy cycles fits; if space runs out, a chunk ends early. keys: words of the keyframe,
    state and design.
    """

    def __init__(self, worst: tuple[int, ...], cycles: int, keys: tuple[int, int]) -> None:
        busy = (64, 256, 4, 32, 4)
        blocks, values, rows, words, writes = (most + each * cycles for most, each in zip(worst, busy))
        sizes = {"block_end": cycles, "block_first": blocks, "block_mask": blocks, "block_value": values, "row_end": cycles,
                 "row_index": rows, "row_kind": rows, "row_word": rows * 32, "mem_end": cycles, "mem_index": words,
                 "mem_value": words, "write_end": cycles, "write_register": writes, "write_lanes": writes,
                 "write_pc": writes, "write_row": writes, "write_word": 32 * (state.MAX_ACCEPTED + cycles)}
        self.arrays = {name: np.empty(sizes[name], np.uint32) for name in WRITTEN}
        self.places = places_of(self.arrays)
        self.key = np.empty(sum(keys), np.uint32)
        self.keys = self.key[: keys[0]], self.key[keys[0] :]


def places_of(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the arrays' addresses and sizes in the order of LOG."""
    return np.array([number for array in arrays.values() for number in (array.ctypes.data, array.size)], np.int64)


def aligned_words(count: int) -> np.ndarray:
    """Return zeroed u4 words, aligned for vectors of 16 words."""
    held = np.zeros(count + 16, np.uint32)
    first = -held.ctypes.data // 4 % 16
    return held[first : first + count]


@lean_entry
def expand(key, block_end, block_at, block_mask, end, index):
    """Write the number of each changed word of a journal's blocks, and their count up to each cycle's end."""
    count = 0
    entry = 0
    for cycle in range(len(block_end)):
        while entry < block_end[cycle]:
            for bit in set_bits(block_mask[entry]):
                index[count] = np.int64(block_at[entry]) + bit
                count += 1
            entry += 1
        end[cycle] = count
    return count
