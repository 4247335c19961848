"""The journal: after each cycle, what changed, into the arrays of a Chunk.

State changes are found by comparing the recorded record with a shadow copy: clock section never, hot section always (its
in-flight table only where marked), cold section only in blocks that the cycle marked dirty. Register rows are marked as
they are written, memory words are noted in `mem_index` by the accesses themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import state
from engine.bits import bit64, ctz64
from engine.device import device
from engine.jit import entry

LOG = np.dtype(
    [
        ("mem_count", "i8"),          # words noted in this cycle
        ("deltas", "i8"),             # entries used in the output arrays
        ("rows", "i8"),
        ("words", "i8"),
        ("cycles", "i8"),
        ("delta_room", "i8"),         # entries that a cycle must find free, else the chunk ends
        ("row_room", "i8"),
        ("word_room", "i8"),
        ("on", "u1"),
    ],
    align=True,
)

HOT_WORD = state.HOT_OFFSET // 4
COLD_WORD = state.COLD_OFFSET // 4
RECORDED_WORDS = state.RECORDED_BYTES // 4
INFLIGHT_WORD = state.SM.fields["inflight"][1] // 4
INFLIGHT_ENTRY_WORDS = state.INFLIGHT.itemsize // 4
AFTER_INFLIGHT_WORD = INFLIGHT_WORD + INFLIGHT_ENTRY_WORDS * state.MAX_INFLIGHT
BLOCK_WORDS = state.BLOCK // 4
DIRTY_WORDS = state.SM["dirty"].shape[0]
ROW_WORDS = state.SM["dirty_rows"].shape[0]
STEP = 16


@device
def scan(words, shadow, first, last, base, log, index, value):
    """Append (base + i, new - old) for every word in [first, last) that changed, and bring the shadow up to date."""
    count = log.deltas
    at = first
    while at < last:
        stop = min(at + STEP, last)
        changed = np.uint32(0)
        for i in range(at, stop):
            changed |= words[i] ^ shadow[i]
        if changed != 0:
            for i in range(at, stop):
                new = np.int64(words[i])
                old = np.int64(shadow[i])
                if new != old:
                    index[count] = base + i
                    value[count] = (new - old) & 0xFFFFFFFF
                    shadow[i] = words[i]
                    count += 1
        at = stop
    log.deltas = count
    return 0


@device
def scan_inflight(sm, words, shadow, log, index, value):
    """Compare the in-flight entries that this cycle marked."""
    for word in range(state.MAX_INFLIGHT // 64):
        marked = np.uint64(sm.dirty_inflight[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            first = INFLIGHT_WORD + (word * 64 + low) * INFLIGHT_ENTRY_WORDS
            scan(words, shadow, first, first + INFLIGHT_ENTRY_WORDS, 0, log, index, value)
        sm.dirty_inflight[word] = 0
    return 0


@device
def scan_cold(sm, words, shadow, log, index, value):
    """Compare the cold blocks that this cycle marked."""
    for word in range(DIRTY_WORDS):
        marked = np.uint64(sm.dirty[word])
        while marked != 0:
            low = ctz64(marked)
            marked &= ~bit64(low)
            first = COLD_WORD + (word * 64 + low) * BLOCK_WORDS
            scan(words, shadow, first, first + BLOCK_WORDS, 0, log, index, value)
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


@entry
def capture(sm, key, rows, memory, log, mem_index, journal):
    """Write the changes of the cycle that just ran, and close it; journal: the tuple that Journal.arrays gives."""
    (sm_words, sm_shadow, rf_words, rf_shadow, delta_end, delta_index, delta_value, row_end, row_index, row_value,
     mem_end, out_index, out_value) = journal  # fmt: skip
    scan(sm_words, sm_shadow, HOT_WORD, INFLIGHT_WORD, 0, log, delta_index, delta_value)
    scan(sm_words, sm_shadow, AFTER_INFLIGHT_WORD, COLD_WORD, 0, log, delta_index, delta_value)
    scan_inflight(sm, sm_words, sm_shadow, log, delta_index, delta_value)
    scan_cold(sm, sm_words, sm_shadow, log, delta_index, delta_value)
    scan(rf_words, rf_shadow, 0, len(rf_words), RECORDED_WORDS, log, delta_index, delta_value)
    log_rows(sm, rows, log, row_index, row_value)
    log_words(memory, log, mem_index, out_index, out_value)
    at = log.cycles
    delta_end[at] = log.deltas
    row_end[at] = log.rows
    mem_end[at] = log.words
    log.cycles = at + 1
    return 0


@device
def capture_idle(log, journal, cycles):
    """Book `cycles` skipped cycles, in which nothing but the clock changed."""
    delta_end, row_end, mem_end = journal[4], journal[7], journal[10]
    for at in range(log.cycles, log.cycles + cycles):
        delta_end[at] = log.deltas
        row_end[at] = log.rows
        mem_end[at] = log.words
    log.cycles += cycles
    return 0


@device
def has_room(log, journal):
    """Say whether the output arrays can take one more cycle, whatever it does."""
    return (
        log.deltas + log.delta_room <= len(journal[5])
        and log.rows + log.row_room <= len(journal[8])
        and log.words + log.word_room <= len(journal[11])
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


class Journal:
    """Output arrays for one chunk, and shadow copies of the recorded state.

    Sizes: worst case of one cycle is the whole state, every row, and `max_words` memory words; beyond that a chunk of
    typical cycles fits, and a chunk that runs out of room ends early.
    """

    def __init__(self, sm_words: np.ndarray, rf_words: np.ndarray, num_rows: int, max_words: int, cycles: int) -> None:
        state_words = RECORDED_WORDS + len(rf_words)
        deltas = state_words + 200 * cycles
        rows = num_rows + 4 * cycles
        words = max_words + 32 * cycles
        self.log = np.zeros(1, LOG).view(np.recarray)
        self.mem_index = np.zeros(max_words, np.uint32)
        self.sm_words, self.rf_words = sm_words, rf_words
        self.arrays: tuple[Any, ...] = (
            sm_words, sm_words.copy(), rf_words, rf_words.copy(),
            np.zeros(cycles, np.uint32), np.zeros(deltas, np.uint32), np.zeros(deltas, np.uint32),
            np.zeros(cycles, np.uint32), np.zeros(rows, np.uint32), np.zeros((rows, 32), np.uint32),
            np.zeros(cycles, np.uint32), np.zeros(words, np.uint32), np.zeros(words, np.uint32),
        )  # fmt: skip
        log = self.log[0]
        log.delta_room, log.row_room, log.word_room = state_words, num_rows, max_words

    def begin(self) -> None:
        """Start a chunk at the present state."""
        self.arrays[1][:] = self.sm_words
        self.arrays[3][:] = self.rf_words
        log = self.log[0]
        log.deltas = log.rows = log.words = log.cycles = log.mem_count = 0
        log.on = 1

    def end(self) -> None:
        """Stop writing."""
        self.log[0].on = 0
