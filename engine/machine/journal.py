"""The journal: after each cycle, what changed, into the arrays of a Chunk.

State changes are found by comparing the recorded record with a shadow copy, at most 32 words at a time: clock section
never, hot section always (its in-flight table only where marked), cold section only in blocks that the cycle marked dirty.
Each comparison begins where a unit of the machine begins (a warp, an in-flight entry, four banks, 32 words of what has no
such parts), so that the same words of two units lie at the same bits of their masks. Register rows are marked as they are
written, memory words are noted in `mem_index` by the accesses themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine import state
from rfview.engine.compile.bits import bit64, changed32, ctz64, keep_changed, popcount, take32, words_at
from rfview.engine.chunk import (AFFINE, ALL_REGISTERS, CLEARED, LOST, NO_ROW, RAW, REGISTERS_OF_WARP, UNIFORM, Blocks,
                                 Chunk, Rows, Writes)  # fmt: skip
from rfview.engine.compile.device import device
from rfview.engine.compile.jit import entry, key_dtype, record

# arrays that compiled code reaches by address: passing this many as arguments costs more than a quiet cycle
WATCHED = ("state", "shadow", "design", "design_shadow", "value_rows", "memory", "noted")
WRITTEN = ("block_end", "block_first", "block_mask", "block_value", "row_end", "row_index", "row_kind", "row_word",
           "mem_end", "mem_index", "mem_value", "write_end", "write_register", "write_lanes", "write_pc", "write_row",
           "write_word")  # fmt: skip
LOG: Any = np.dtype(
    [
        ("mem_count", "i8"),          # words noted in this cycle
        ("blocks", "i8"),             # entries used in the output arrays
        ("values", "i8"),
        ("rows", "i8"),
        ("row_words", "i8"),
        ("words", "i8"),
        ("writes", "i8"),
        ("write_words", "i8"),
        ("cycles", "i8"),
        ("block_space", "i8"),         # entries that a cycle must find free, else the chunk ends
        ("value_space", "i8"),
        ("row_space", "i8"),
        ("word_space", "i8"),
        ("write_space", "i8"),
        ("on", "u1"),
        *((f"{name}_{what}", "i8") for name in (*WATCHED, *WRITTEN) for what in ("at", "size")),  # address, words
    ],
    align=True,
)

# the numbers that `begin` sets to 0
COUNTED = LOG.names[: LOG.names.index("block_space")]
WIDTH = 32
RECORDED_WORDS = state.RECORDED_BYTES // 4
HOT_WORD = state.HOT_OFFSET // 4
COLD_WORD = state.COLD_OFFSET // 4
WARP_WORD, INFLIGHT_WORD, COLLECTOR_WORD, BANK_WORD, PIPE_WORD = (
    state.SM.fields[name][1] // 4 for name in ("warp", "inflight", "collector", "bank", "pipe")
)
WARP_WORDS, INFLIGHT_WORDS, COLLECTOR_WORDS, BANK_WORDS = (
    dtype.itemsize // 4 for dtype in (state.WARP, state.INFLIGHT, state.COLLECTOR, state.BANK)
)
CTA_END = (state.SM.fields["cta"][1] + state.SM.fields["cta"][0].itemsize) // 4
PIPE_COUNT = -(-(CTA_END - PIPE_WORD) // WIDTH)
WHOLE = (1 << WIDTH) - 1
assert state.SM["dirty_rows"].shape[0] <= 64
assert WARP_WORDS <= WIDTH and INFLIGHT_WORDS <= WIDTH and 4 * WIDTH == state.BLOCK
assert PIPE_WORD + PIPE_COUNT * WIDTH <= COLD_WORD


@device
def scan(log, words, shadow, first, count, stride, kept, base):
    """List `count` blocks, `stride` words apart, in which a word under the mask `kept` differs from the shadow.

    base: number of the first of `words` among all recorded words. Every block is written down, and the next one over it
    where nothing differs: branches that follow the data would be guessed wrong, here and in the stages that come next.
    """
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    at = np.uint64(first)
    entry = np.uint64(log.blocks)
    for _ in range(count):
        mask = changed32(words, shadow, at) & np.uint64(kept)
        block_first[entry] = np.uint64(base) + at
        block_mask[entry] = mask
        entry += np.uint64(mask != 0)
        at += np.uint64(stride)
    log.blocks = entry
    return 0


@device
def scan_all(log, words, shadow, first, count, stride, kept):
    """Do what `scan` does for hot blocks, faster where there are many: all are compared before any is left out."""
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    at = np.uint64(first)
    entry = np.uint64(log.blocks)
    for block in range(np.uint64(count)):
        block_mask[entry + block] = changed32(words, shadow, at) & np.uint64(kept)
        at += np.uint64(stride)
    log.blocks = keep_changed(block_first, block_mask, entry, np.uint64(count), np.uint64(first), np.uint64(stride))
    return 0


@device
def take(log, words, shadow, begin, base):
    """Append the new values of the blocks listed from number `begin` on, and bring the shadow up to date."""
    block_first = words_at(log.block_first_at, log.block_first_size)
    block_mask = words_at(log.block_mask_at, log.block_mask_size)
    block_value = words_at(log.block_value_at, log.block_value_size)
    value = np.uint64(log.values)
    for block in range(np.uint64(begin), np.uint64(log.blocks)):
        mask = np.uint64(block_mask[block])
        take32(words, shadow, np.uint64(block_first[block]) - np.uint64(base), mask, block_value, value)
        value += np.uint64(popcount(mask))
    log.values = value
    return 0


@device
def scan_hot(sm, log, words, shadow):
    """Compare the hot section, without the in-flight table and the units that the machine does not have."""
    config = sm.config
    head = WARP_WORD - HOT_WORD
    scan(log, words, shadow, HOT_WORD, head // WIDTH, WIDTH, WHOLE, 0)
    if head % WIDTH != 0:
        scan(log, words, shadow, HOT_WORD + head // WIDTH * WIDTH, 1, WIDTH, (1 << head % WIDTH) - 1, 0)
    scan_all(log, words, shadow, WARP_WORD, np.int64(config.num_warps), WARP_WORDS, (1 << WARP_WORDS) - 1)
    scan(log, words, shadow, COLLECTOR_WORD, blocks_of(np.int64(config.num_collectors) * COLLECTOR_WORDS), WIDTH, WHOLE, 0)
    scan(log, words, shadow, BANK_WORD, blocks_of(np.int64(config.num_banks) * BANK_WORDS), WIDTH, WHOLE, 0)
    scan(log, words, shadow, PIPE_WORD, PIPE_COUNT, WIDTH, WHOLE, 0)
    return 0


@device
def blocks_of(count):
    """Return how many blocks cover `count` words."""
    return (count + WIDTH - 1) // WIDTH


@device
def scan_inflight(sm, log, words, shadow):
    """Compare the in-flight entries that this cycle marked."""
    for word in range(state.MAX_INFLIGHT // 64):
        marked = np.uint64(sm.dirty_inflight[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            first = INFLIGHT_WORD + (word * 64 + low) * INFLIGHT_WORDS
            scan(log, words, shadow, first, 1, WIDTH, (1 << INFLIGHT_WORDS) - 1, 0)
        sm.dirty_inflight[word] = 0
    return 0


@device
def scan_cold(sm, log, words, shadow):
    """Compare the cold blocks that this cycle marked."""
    touched = np.uint64(sm.dirty_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        marked = np.uint64(sm.dirty[word])
        sm.dirty[word] = 0
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            scan(log, words, shadow, COLD_WORD + (word * 64 + low) * WIDTH, 1, WIDTH, WHOLE, 0)
    sm.dirty_touched = 0
    return 0


@device
def capture_design(log):
    """Write the changes of the design's state, which is padded to whole blocks."""
    words = words_at(log.design_at, log.design_size)
    shadow = words_at(log.design_shadow_at, log.design_shadow_size)
    begin = log.blocks
    scan(log, words, shadow, 0, log.design_size // WIDTH, WIDTH, WHOLE, RECORDED_WORDS)
    return take(log, words, shadow, begin, RECORDED_WORDS)


@device
def log_rows(sm, log):
    """Append the new value of every recorded row that this cycle wrote, in as few words as its kind needs.

    All lanes are always written, and the next row over those that were not needed: most rows need one or two.
    """
    rows = words_at(log.value_rows_at, log.value_rows_size)
    row_index = words_at(log.row_index_at, log.row_index_size)
    row_kind = words_at(log.row_kind_at, log.row_kind_size)
    row_word = words_at(log.row_word_at, log.row_word_size)
    count = np.uint64(log.rows)
    to = np.uint64(log.row_words)
    touched = np.uint64(sm.rows_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        marked = np.uint64(sm.dirty_rows[word])
        sm.dirty_rows[word] = 0
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            row = np.uint64(word * 64 + low)
            row_index[count] = row
            at = row * np.uint64(32)
            first = rows[at]
            step = np.uint32(rows[at + np.uint64(1)] - first)
            other = np.uint32(0)
            for lane in range(np.uint64(32)):
                row_word[to + lane] = rows[at + lane]
                other |= rows[at + lane] ^ np.uint32(first + np.uint32(lane) * step)
            kind = RAW if other != 0 else AFFINE if step != 0 else UNIFORM
            if kind == AFFINE:
                row_word[to + np.uint64(1)] = step
            row_kind[count] = kind
            to += np.uint64(32 if kind == RAW else 2 if kind == AFFINE else 1)
            count += np.uint64(1)
    sm.rows_touched = 0
    log.rows = count
    log.row_words = to
    return 0


@device
def log_writes(sm, log, first_row):
    """Append the results that the register file accepted in this cycle, the values that lost bits, and slots cleared.

    first_row: number of the first row write of this cycle. A value is named by the row write that holds it under the lanes
    written, which nearly all have; else its lanes are given.
    """
    rows = words_at(log.value_rows_at, log.value_rows_size)
    row_index = words_at(log.row_index_at, log.row_index_size)
    write_row = words_at(log.write_row_at, log.write_row_size)
    write_word = words_at(log.write_word_at, log.write_word_size)
    for number in range(np.int64(sm.num_accepted)):
        noted = sm.accepted[number]
        at = np.uint64(noted.row) * np.uint64(32)
        found = np.int64(NO_ROW)
        for candidate in range(np.int64(first_row), np.int64(log.rows)):
            if agree(rows, at, np.uint64(row_index[candidate]) * np.uint64(32), np.int64(noted.lanes)):
                found = candidate
                break
        if found == NO_ROW:
            to = np.uint64(log.write_words)
            for lane in range(np.uint64(32)):
                write_word[to + lane] = rows[at + lane]
            log.write_words += 32
        append_write(log, noted.register, noted.lanes, noted.pc)
        write_row[log.writes - 1] = found
    sm.num_accepted = 0
    candidate = np.int64(first_row)
    touched = np.uint64(sm.lost_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        marked = np.uint64(sm.lost_rows[word])
        sm.lost_rows[word] = 0
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            candidate = log_loss(sm, log, candidate, word * 64 + low)
    sm.lost_touched = 0
    cleared = np.uint64(sm.cleared)
    while cleared != 0:
        warp = ctz64(cleared)
        cleared &= ~bit64(warp)
        append_write(log, warp * REGISTERS_OF_WARP + ALL_REGISTERS, WHOLE, CLEARED)
        words_at(log.write_row_at, log.write_row_size)[log.writes - 1] = NO_ROW
    sm.cleared = 0
    return 0


@device
def agree(rows, one, other, lanes):
    """Say whether two rows, which begin at these words, are alike in the lanes of a mask."""
    differ = np.uint32(0)
    for lane in range(np.uint64(32)):
        chosen = np.uint32(0) - np.uint32((lanes >> np.int64(lane)) & 1)
        differ |= (rows[one + lane] ^ rows[other + lane]) & chosen
    return differ == 0


@device
def append_write(log, register, lanes, pc):
    """Append an entry to the log of register writes, but for where its value is."""
    at = log.writes
    words_at(log.write_register_at, log.write_register_size)[at] = register
    words_at(log.write_lanes_at, log.write_lanes_size)[at] = lanes
    words_at(log.write_pc_at, log.write_pc_size)[at] = pc
    log.writes = at + 1
    return 0


@device
def log_loss(sm, log, candidate, row):
    """Append that the register kept in a row lost bits, and return the number of its row write, which has the value.

    candidate: a row write of this cycle that is not behind it; they are in the order of rows.
    """
    registers = np.int64(sm.launch.registers)
    row_index = words_at(log.row_index_at, log.row_index_size)
    while np.int64(row_index[candidate]) != row:
        candidate += 1
    append_write(log, row // registers * REGISTERS_OF_WARP + row % registers, WHOLE, LOST)
    words_at(log.write_row_at, log.write_row_size)[log.writes - 1] = candidate
    return candidate


@device
def log_words(log):
    """Append the new value of every arena word that this cycle wrote."""
    noted = words_at(log.noted_at, log.noted_size)
    memory = words_at(log.memory_at, log.memory_size)
    mem_index = words_at(log.mem_index_at, log.mem_index_size)
    mem_value = words_at(log.mem_value_at, log.mem_value_size)
    count = log.words
    for i in range(log.mem_count):
        word = noted[i]
        mem_index[count] = word
        mem_value[count] = memory[word]
        count += 1
    log.words = count
    log.mem_count = 0
    return 0


@device
def capture(sm, log):
    """Write the changes of the cycle that just ran, and close it."""
    words = words_at(log.state_at, log.state_size)
    shadow = words_at(log.shadow_at, log.shadow_size)
    begin = log.blocks
    scan_hot(sm, log, words, shadow)
    scan_inflight(sm, log, words, shadow)
    scan_cold(sm, log, words, shadow)
    take(log, words, shadow, begin, 0)
    capture_design(log)
    first_row = log.rows
    log_rows(sm, log)
    log_writes(sm, log, first_row)
    log_words(log)
    capture_idle(log, 1)
    return 0


@device
def capture_idle(log, cycles):
    """Book `cycles` cycles at whose ends nothing but what is logged by now has changed."""
    block_end = words_at(log.block_end_at, log.block_end_size)
    row_end = words_at(log.row_end_at, log.row_end_size)
    mem_end = words_at(log.mem_end_at, log.mem_end_size)
    write_end = words_at(log.write_end_at, log.write_end_size)
    for at in range(log.cycles, log.cycles + cycles):
        block_end[at] = log.blocks
        row_end[at] = log.rows
        mem_end[at] = log.words
        write_end[at] = log.writes
    log.cycles += cycles
    return 0


@device
def has_space(log):
    """Say whether the output arrays can take one more cycle, whatever it does."""
    return (
        log.blocks + log.block_space <= log.block_first_size
        and log.values + log.value_space <= log.block_value_size
        and log.rows + log.row_space <= log.row_index_size
        and log.row_words + np.int64(32) * log.row_space <= log.row_word_size
        and log.words + log.word_space <= log.mem_index_size
        and log.writes + log.write_space <= log.write_register_size
        and log.write_words + np.int64(32 * state.MAX_ACCEPTED) <= log.write_word_size
    )


@device
def forget_marks(sm):
    """Clear the marks of a cycle that is not recorded."""
    touched = np.uint64(sm.dirty_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        sm.dirty[word] = 0
    sm.dirty_touched = 0
    for word in range(state.MAX_INFLIGHT // 64):
        sm.dirty_inflight[word] = 0
    touched = np.uint64(sm.rows_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        sm.dirty_rows[word] = 0
    sm.rows_touched = 0
    sm.num_accepted = 0
    touched = np.uint64(sm.lost_touched)
    while touched != 0:
        word = ctz64(touched)
        touched &= ~bit64(word)
        sm.lost_rows[word] = 0
    sm.lost_touched = 0
    sm.cleared = 0
    return 0


@entry
def expand(key, block_end, block_at, block_mask, end, index):
    """Write the number of each changed word of a journal's blocks, and how many there are up to each cycle's end."""
    count = 0
    entry = 0
    for cycle in range(len(block_end)):
        while entry < block_end[cycle]:
            mask = np.uint64(block_mask[entry])
            while mask != 0:
                bit = ctz64(mask)
                mask &= ~bit64(bit)
                index[count] = np.int64(block_at[entry]) + bit
                count += 1
            entry += 1
        end[cycle] = count
    return count


class Buffers:
    """Output arrays for one chunk, by name.

    worst: what one cycle may take: blocks and words of the whole state, every row, all memory words, writes; beyond a
    chunk of busy cycles fits, and a chunk that runs out of space ends early. keys: words of the keyframe, state and design.
    """

    def __init__(self, worst: tuple[int, ...], cycles: int, keys: tuple[int, int]) -> None:
        busy = (64, 256, 4, 32, 4)
        blocks, values, rows, words, writes = (most + each * cycles for most, each in zip(worst, busy))
        sizes = {"block_end": cycles, "block_first": blocks, "block_mask": blocks, "block_value": values, "row_end": cycles,
                 "row_index": rows, "row_kind": rows, "row_word": rows * 32, "mem_end": cycles, "mem_index": words,
                 "mem_value": words, "write_end": cycles, "write_register": writes, "write_lanes": writes,
                 "write_pc": writes, "write_row": writes, "write_word": 32 * (state.MAX_ACCEPTED + cycles)}  # fmt: skip
        self.arrays = {name: np.empty(sizes[name], np.uint32) for name in WRITTEN}
        self.places = places_of(self.arrays)
        self.key = np.empty(sum(keys), np.uint32)
        self.keys = self.key[: keys[0]], self.key[keys[0] :]


def places_of(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the arrays' addresses and sizes as they stand in LOG."""
    return np.array([number for array in arrays.values() for number in (array.ctypes.data, array.size)], np.int64)


class Journal:
    """The shadow copies of the recorded state, and buffers that chunks borrow until they have been written down.

    state: u4 words of the recorded part of the SM record; design: of the design's state, padded to whole blocks.
    rows: (rows, 32) u4; memory: u4 words. All are watched where they are, for as long as the journal lives.
    """

    def __init__(self, recorded: np.ndarray, design: np.ndarray, rows: np.ndarray, memory: np.ndarray, num_rows: int,
                 max_words: int, cycles: int) -> None:  # fmt: skip
        blocks = RECORDED_WORDS // WIDTH + state.MAX_INFLIGHT + len(design) // WIDTH + 2 * WIDTH
        # what is taken of a block is written 32 words at a time
        values = RECORDED_WORDS + len(design) + 2 * WIDTH
        self._capacities = (blocks, values, num_rows, max_words, num_rows + state.MAX_ACCEPTED + state.MAX_WARPS)
        self._sizes = (self._capacities, cycles, (len(recorded), len(design)))
        self.log = np.zeros(1, LOG).view(np.recarray)
        self.mem_index = np.zeros(max_words, np.uint32)
        self._key = record(key_dtype())
        self.recorded, self.design = recorded, design
        self._shadows = (aligned_words(len(recorded)), aligned_words(len(design)))
        self._free: list[Buffers] = []
        self._ended_at = -1
        self._is_whole = True
        self._numbers, self._on = self.log.view(np.int64), self.log["on"]
        self._counts = self._numbers[: len(COUNTED)]
        self._watched = dict(zip(WATCHED, (recorded, self._shadows[0], design, self._shadows[1], rows, memory,
                                           self.mem_index)))  # fmt: skip
        self._point(WATCHED[0], places_of(self._watched))
        self._use(Buffers(*self._sizes))
        log = self.log[0]
        log.block_space, log.value_space, log.row_space, log.word_space, log.write_space = self._capacities

    def _point(self, first: str, places: np.ndarray) -> None:
        """Tell compiled code where the arrays from `first` on are."""
        at = LOG.fields[f"{first}_at"][1] // 8
        self._numbers[at : at + len(places)] = places

    def _use(self, buffers: Buffers) -> None:
        """Write into these buffers from now on."""
        self._buffers = buffers
        self._point(WRITTEN[0], buffers.places)

    def begin(self, cycle: int, *, whole: bool = True) -> None:
        """Start a chunk at the present state, that of `cycle`; the shadows are true already where the last chunk ended.

        whole: the keyframe is to have all of it, not only the clock section, of which blocks say nothing.
        """
        if cycle != self._ended_at:
            self._shadows[0][:] = self.recorded
            self._shadows[1][:] = self.design
        self._is_whole = whole
        if whole:
            for kept, now in zip(self._buffers.keys, (self.recorded, self.design)):
                np.copyto(kept, now)
        else:
            np.copyto(self._buffers.key[:HOT_WORD], self.recorded[:HOT_WORD])
        self._counts[:] = 0
        self._on[0] = 1

    def end(self, cycle: int) -> None:
        """Stop writing; the state is that of `cycle`."""
        self._on[0] = 0
        self._ended_at = cycle

    def chunk(self, first: int, design_words: int, printed: list[tuple[int, str]], *, lend: bool = False) -> Chunk:
        """Return what was written since `begin`, without rows and memory of the keyframe.

        design_words: words of the design's state, without what pads it. lend: the chunk's arrays are the journal's own,
        until its `release` is called; else copies.
        """
        made = self._buffers.arrays
        key = self._buffers.key[: RECORDED_WORDS + design_words if self._is_whole else HOT_WORD]
        count = dict(zip(COUNTED, self._counts.tolist(), strict=True))
        cycles, writes = count["cycles"], count["writes"]
        blocks = Blocks(made["block_end"][:cycles], made["block_first"][: count["blocks"]],
                        made["block_mask"][: count["blocks"]], made["block_value"][: count["values"]])  # fmt: skip
        rows = (made["row_end"][:cycles], made["row_index"][: count["rows"]], made["row_kind"][: count["rows"]],
                made["row_word"][: count["row_words"]])  # fmt: skip
        mem_end = made["mem_end"][:cycles]
        mem_index, mem_value = made["mem_index"][: count["words"]], made["mem_value"][: count["words"]]
        log = (made["write_end"][:cycles], *(made[f"write_{name}"][:writes] for name in ("register", "lanes", "pc", "row")),
               made["write_word"][: count["write_words"]])  # fmt: skip
        if lend:
            buffers = self._buffers
            self._use(self._free.pop() if self._free else Buffers(*self._sizes))
            return Chunk(first, cycles, key, None, None, blocks, Rows(*rows), mem_end, mem_index, mem_value, Writes(*log),
                         printed=printed, release=lambda: self._free.append(buffers))  # fmt: skip
        end, index = np.empty(cycles, np.uint32), np.empty(count["values"], np.uint32)
        expand(self._key, blocks.end, blocks.first, blocks.mask, end, index)
        return Chunk(first, cycles, key.copy(), None, None, Blocks.of_words(end, index, blocks.value.copy()),
                     Rows(*(array.copy() for array in rows)), mem_end.copy(), mem_index.copy(), mem_value.copy(),
                     Writes(*(array.copy() for array in log)), printed=printed)


def aligned_words(count: int) -> np.ndarray:
    """Return zeroed u4 words that begin where a vector of 16 words wants to begin."""
    held = np.zeros(count + 16, np.uint32)
    first = -held.ctypes.data // 4 % 16
    return held[first : first + count]
