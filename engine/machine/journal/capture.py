"""After each cycle: log what changed, or clear the marks; and whether there is space for another cycle."""

from __future__ import annotations

import numpy as np

from rfview.engine import state
from rfview.engine.compile.bits import set_bits, words_at
from rfview.engine.compile.device import device
from rfview.engine.machine.journal.log import CHOSEN, STATE, VALUES
from rfview.engine.machine.journal.values import log_rows, log_words, log_writes
from rfview.engine.machine.journal.words import (capture_chosen, capture_design, scan_cold, scan_hot, scan_inflight,
                                                 take)


@device
def capture_cycle(sm, log):
    """Log the changes of the cycle that just ran."""
    if log.on & STATE != 0:
        words = words_at(log.state_at, log.state_size)
        shadow = words_at(log.shadow_at, log.shadow_size)
        begin = log.blocks
        scan_hot(sm, log, words, shadow)
        scan_inflight(sm, log, words, shadow)
        scan_cold(sm, log, words, shadow)
        take(log, words, shadow, begin, 0)
        capture_design(log)
    else:
        forget_state(sm)
    if log.on & CHOSEN != 0:
        capture_chosen(log)
    if log.on & VALUES != 0:
        first_row = log.rows
        log_rows(sm, log)
        log_writes(sm, log, first_row)
        log_words(log)
    else:
        forget_values(sm, log)
    capture_idle(log, 1)


@device
def capture_idle(log, cycles):
    """Log `cycles` cycles that end with what is in the log so far."""
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


@device
def has_space(log):
    """Return whether the output arrays have space for one more cycle, whatever it does."""
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
def forget_state(sm):
    """Clear the marks of state of a cycle whose changes of state are not logged."""
    clear(sm.dirty, sm.dirty_touched)
    sm.dirty_touched = 0
    for word in range(state.MAX_INFLIGHT // 64):
        sm.dirty_inflight[word] = 0


@device
def forget_values(sm, log):
    """Clear the marks of values of a cycle whose values are not logged."""
    clear(sm.dirty_rows, sm.rows_touched)
    sm.rows_touched = 0
    sm.num_accepted = 0
    clear(sm.lost_rows, sm.lost_touched)
    sm.lost_touched = 0
    sm.cleared = 0
    log.mem_count = 0


@device
def clear(marks, touched):
    """Clear those words of `marks` that the mask `touched` names."""
    for word in set_bits(touched):
        marks[word] = 0
