"""The journal: after each cycle, what changed, into the arrays of a Chunk.

State changes are found by comparing the recorded record with a shadow copy, 32 words at a time: clock section never, hot
section always (its in-flight table only where marked), cold section only in blocks that the cycle marked dirty. A block
in which anything changed is logged whole, with a mask of what changed: the running machine must not wait for its
bookkeeping, and who writes the chunk down picks the words out on another core. Register rows are marked as they are
written, memory words are noted in `mem_index` by the accesses themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import state
from engine.bits import bit64, borrowed, changed32, copy32, ctz64
from engine.chunk import Blocks, Chunk
from engine.device import device
from engine.jit import entry, key_dtype, record

LOG = np.dtype(
    [
        ("mem_count", "i8"),          # words noted in this cycle
        ("blocks", "i8"),             # entries used in the output arrays
        ("rows", "i8"),
        ("words", "i8"),
        ("cycles", "i8"),
        ("block_room", "i8"),         # entries that a cycle must find free, else the chunk ends
        ("row_room", "i8"),
        ("word_room", "i8"),
        ("on", "u1"),
    ],
    align=True,
)

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
BLOCK_WORDS = state.BLOCK // 4
DIRTY_WORDS = state.SM["dirty"].shape[0]
ROW_WORDS = state.SM["dirty_rows"].shape[0]
assert INFLIGHT_WORDS <= WIDTH and BLOCK_WORDS % WIDTH == 0 and COLD_WORD - PIPE_WORD >= WIDTH


@device
def scan(words, shadow, first, count, base, log, block_at, block_mask, block_words):
    """Log every block of 32 words from `first` on, until `count` words are covered, that differs from the shadow.

    The last block may reach beyond; what it finds there is a change like any other.
    """
    at = np.uint64(first)
    entry = np.uint64(log.blocks)
    for _ in range(0, count, WIDTH):
        mask = changed32(words, shadow, at)
        if mask != 0:
            block_at[entry] = np.uint64(base) + at
            block_mask[entry] = mask
            copy32(words, at, shadow, at)
            copy32(words, at, block_words, entry * np.uint64(WIDTH))
            entry += np.uint64(1)
        at += np.uint64(WIDTH)
    log.blocks = entry
    return 0


@device
def scan_tail(words, shadow, first, base, log, block_at, block_mask, block_words):
    """Log the last words of an array, fewer than 32, each as an entry of its own."""
    entry = log.blocks
    for at in range(first, len(words)):
        if words[at] != shadow[at]:
            shadow[at] = words[at]
            block_at[entry] = base + at
            block_mask[entry] = 1
            block_words[entry * WIDTH] = words[at]
            entry += 1
    log.blocks = entry
    return 0


@device
def scan_hot(sm, words, shadow, log, block_at, block_mask, block_words):
    """Compare the hot section, without the in-flight table and the units that the machine does not have."""
    config = sm.config
    scan(words, shadow, HOT_WORD, WARP_WORD - HOT_WORD, 0, log, block_at, block_mask, block_words)
    scan(words, shadow, WARP_WORD, np.int64(config.num_warps) * WARP_WORDS, 0, log, block_at, block_mask, block_words)
    scan(words, shadow, COLLECTOR_WORD, np.int64(config.num_collectors) * COLLECTOR_WORDS, 0, log, block_at, block_mask,
         block_words)  # fmt: skip
    scan(words, shadow, BANK_WORD, np.int64(config.num_banks) * BANK_WORDS, 0, log, block_at, block_mask, block_words)
    scan(words, shadow, PIPE_WORD, COLD_WORD - PIPE_WORD, 0, log, block_at, block_mask, block_words)
    return 0


@device
def scan_inflight(sm, words, shadow, log, block_at, block_mask, block_words):
    """Compare the in-flight entries that this cycle marked."""
    for word in range(state.MAX_INFLIGHT // 64):
        marked = np.uint64(sm.dirty_inflight[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            first = INFLIGHT_WORD + (word * 64 + low) * INFLIGHT_WORDS
            scan(words, shadow, first, INFLIGHT_WORDS, 0, log, block_at, block_mask, block_words)
        sm.dirty_inflight[word] = 0
    return 0


@device
def scan_cold(sm, words, shadow, log, block_at, block_mask, block_words):
    """Compare the cold blocks that this cycle marked."""
    for word in range(DIRTY_WORDS):
        marked = np.uint64(sm.dirty[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            first = COLD_WORD + (word * 64 + low) * BLOCK_WORDS
            scan(words, shadow, first, BLOCK_WORDS, 0, log, block_at, block_mask, block_words)
        sm.dirty[word] = 0
    return 0


@device
def log_rows(sm, rows, log, row_index, row_value):
    """Append the new value of every recorded row that this cycle wrote."""
    if sm.rows_touched == 0:
        return 0
    count = log.rows
    for word in range(ROW_WORDS):
        marked = np.uint64(sm.dirty_rows[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            row = word * 64 + low
            row_index[count] = row
            values = rows[row].u
            for lane in range(32):
                row_value[count, lane] = values[lane]
            count += 1
        sm.dirty_rows[word] = 0
    sm.rows_touched = 0
    log.rows = count
    return 0


@device
def log_words(memory, log, mem_index, out_index, out_value):
    """Append the new value of every arena word that this cycle wrote."""
    count = log.words
    for i in range(log.mem_count):
        word = mem_index[i]
        out_index[count] = word
        out_value[count] = memory[word]
        count += 1
    log.words = count
    log.mem_count = 0
    return 0


@device
def capture(sm, key, rows, memory, log, mem_index, journal):
    """Write the changes of the cycle that just ran, and close it; journal: the tuple that Journal.arrays gives."""
    (words, shadow, rf_words, rf_shadow, block_end, block_at, block_mask, block_words, row_end, row_index, row_value,
     mem_end, out_index, out_value) = journal  # fmt: skip
    scan_hot(sm, words, shadow, log, block_at, block_mask, block_words)
    scan_inflight(sm, words, shadow, log, block_at, block_mask, block_words)
    scan_cold(sm, words, shadow, log, block_at, block_mask, block_words)
    whole = len(rf_words) // WIDTH * WIDTH
    scan(rf_words, rf_shadow, 0, whole, RECORDED_WORDS, log, block_at, block_mask, block_words)
    scan_tail(rf_words, rf_shadow, whole, RECORDED_WORDS, log, block_at, block_mask, block_words)
    log_rows(sm, rows, log, row_index, row_value)
    log_words(memory, log, mem_index, out_index, out_value)
    at = log.cycles
    block_end[at] = log.blocks
    row_end[at] = log.rows
    mem_end[at] = log.words
    log.cycles = at + 1
    return 0


@device
def unowned(output):
    """Return the tuple of Journal.arrays without their owners, so that passing them on counts no references."""
    (words, shadow, rf_words, rf_shadow, block_end, block_at, block_mask, block_words, row_end, row_index, row_value,
     mem_end, out_index, out_value) = output  # fmt: skip
    return (
        borrowed(words), borrowed(shadow), borrowed(rf_words), borrowed(rf_shadow), borrowed(block_end), borrowed(block_at),
        borrowed(block_mask), borrowed(block_words), borrowed(row_end), borrowed(row_index), borrowed(row_value),
        borrowed(mem_end), borrowed(out_index), borrowed(out_value),
    )  # fmt: skip


@device
def capture_idle(log, journal, cycles):
    """Book `cycles` skipped cycles, in which nothing but the clock changed."""
    block_end, row_end, mem_end = journal[4], journal[8], journal[11]
    for at in range(log.cycles, log.cycles + cycles):
        block_end[at] = log.blocks
        row_end[at] = log.rows
        mem_end[at] = log.words
    log.cycles += cycles
    return 0


@device
def has_room(log, journal):
    """Say whether the output arrays can take one more cycle, whatever it does."""
    return (
        log.blocks + log.block_room <= len(journal[5])
        and log.rows + log.row_room <= len(journal[9])
        and log.words + log.word_room <= len(journal[12])
    )


@device
def forget_marks(sm):
    """Clear the marks of a cycle that is not recorded."""
    for word in range(DIRTY_WORDS):
        sm.dirty[word] = 0
    for word in range(state.MAX_INFLIGHT // 64):
        sm.dirty_inflight[word] = 0
    if sm.rows_touched != 0:
        for word in range(ROW_WORDS):
            sm.dirty_rows[word] = 0
        sm.rows_touched = 0
    return 0


@entry
def expand(key, block_end, block_at, block_mask, block_words, end, index, value):
    """Write the changed words of a journal's blocks as (end, index, new value) lists; return how many there are."""
    count = 0
    entry = 0
    for cycle in range(len(block_end)):
        while entry < block_end[cycle]:
            mask = np.uint64(block_mask[entry])
            while mask != 0:
                bit = ctz64(mask)
                mask &= ~bit64(bit)
                index[count] = np.int64(block_at[entry]) + bit
                value[count] = block_words[entry, bit]
                count += 1
            entry += 1
        end[cycle] = count
    return count


class Buffers:
    """Output arrays for one chunk.

    Sizes: worst case of one cycle is the whole state, every row, and `max_words` memory words; beyond that a chunk of
    busy cycles fits, and a chunk that runs out of room ends early.
    """

    def __init__(self, rooms: tuple[int, int, int], cycles: int) -> None:
        blocks, rows, words = rooms[0] + 40 * cycles, rooms[1] + 4 * cycles, rooms[2] + 32 * cycles
        empty = np.empty
        self.arrays: tuple[Any, ...] = (
            empty(cycles, np.uint32), empty(blocks, np.uint32), empty(blocks, np.uint32), empty(blocks * WIDTH, np.uint32),
            empty(cycles, np.uint32), empty(rows, np.uint32), empty((rows, 32), np.uint32),
            empty(cycles, np.uint32), empty(words, np.uint32), empty(words, np.uint32),
        )  # fmt: skip


class Journal:
    """The shadow copies of the recorded state, and buffers that chunks borrow until they have been written down."""

    def __init__(self, sm_words: np.ndarray, rf_words: np.ndarray, num_rows: int, max_words: int, cycles: int) -> None:
        blocks = RECORDED_WORDS // WIDTH + state.MAX_INFLIGHT + len(rf_words) // WIDTH + 2 * WIDTH
        self._rooms, self._cycles = (blocks, num_rows, max_words), cycles
        self.log = np.zeros(1, LOG).view(np.recarray)
        self.mem_index = np.zeros(max_words, np.uint32)
        self._key = record(key_dtype())
        self.sm_words, self.rf_words = sm_words, rf_words
        self._shadows = (sm_words.copy(), rf_words.copy())
        self._free: list[Buffers] = []
        self._ended_at = -1
        self._use(Buffers(self._rooms, cycles))
        log = self.log[0]
        log.block_room, log.row_room, log.word_room = self._rooms

    def _use(self, buffers: Buffers) -> None:
        """Write into these buffers from now on."""
        self._buffers = buffers
        self.arrays: tuple[Any, ...] = (self.sm_words, self._shadows[0], self.rf_words, self._shadows[1], *buffers.arrays)

    def begin(self, cycle: int) -> None:
        """Start a chunk at the present state, that of `cycle`; the shadows are true already where the last chunk ended."""
        if cycle != self._ended_at:
            self._shadows[0][:] = self.sm_words
            self._shadows[1][:] = self.rf_words
        log = self.log[0]
        log.blocks = log.rows = log.words = log.cycles = log.mem_count = 0
        log.on = 1

    def end(self, cycle: int) -> None:
        """Stop writing; the state is that of `cycle`."""
        self.log[0].on = 0
        self._ended_at = cycle

    def chunk(self, first: int, key_sm: np.ndarray, key_rf: np.ndarray, printed: list[tuple[int, str]],
              *, lend: bool = False) -> Chunk:  # fmt: skip
        """Return what was written since `begin`, without rows and memory of the keyframe.

        lend: the chunk's arrays are the journal's own, until its `release` is called; else copies.
        """
        log = self.log[0]
        n, b, r, m = int(log.cycles), int(log.blocks), int(log.rows), int(log.words)
        (block_end, block_at, block_mask, block_words, row_end, row_index, row_value, mem_end, mem_index,
         mem_value) = self._buffers.arrays  # fmt: skip
        blocks = Blocks(block_end[:n], block_at[:b], block_mask[:b], block_words[: b * WIDTH].reshape(-1, WIDTH))
        logs = (row_end[:n], row_index[:r], row_value[:r], mem_end[:n], mem_index[:m], mem_value[:m])
        if lend:
            buffers = self._buffers
            self._use(self._free.pop() if self._free else Buffers(self._rooms, self._cycles))
            return Chunk(first, n, key_sm, key_rf, None, None, blocks, *logs, printed=printed,
                         release=lambda: self._free.append(buffers))  # fmt: skip
        changes = int(np.bitwise_count(blocks.mask).sum())
        end, index, value = np.empty(n, np.uint32), np.empty(changes, np.uint32), np.empty(changes, np.uint32)
        expand(self._key, *blocks.arrays(), end, index, value)
        return Chunk(first, n, key_sm, key_rf, None, None, Blocks.of_words(end, index, value),
                     *(array.copy() for array in logs), printed=printed)  # fmt: skip
