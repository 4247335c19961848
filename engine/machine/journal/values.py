"""Values: register rows, which are marked when written; the log of register writes; memory words.

Memory words are noted in `mem_index` by the accesses themselves.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.chunk import (AFFINE, ALL_REGISTERS, CLEARED, LOST, NO_ROW, RAW, REGISTERS_OF_WARP,
                                 UNIFORM)
from rfview.engine.compile.bits import set_bits, words_at
from rfview.engine.compile.device import device
from rfview.engine.machine.journal.words import WHOLE


@device
def log_rows(sm, log):
    """Append the new value of every recorded row written in this cycle, in as few words as its kind needs.

    All lanes are always written, and the next row overwrites those that are not needed: most rows need one or two.
    """
    rows = words_at(log.value_rows_at, log.value_rows_size)
    row_index = words_at(log.row_index_at, log.row_index_size)
    row_kind = words_at(log.row_kind_at, log.row_kind_size)
    row_word = words_at(log.row_word_at, log.row_word_size)
    count = np.uint64(log.rows)
    to = np.uint64(log.row_words)
    for word in set_bits(sm.rows_touched):
        marked = np.uint64(sm.dirty_rows[word])
        sm.dirty_rows[word] = 0
        for low in set_bits(marked):
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


@device
def log_writes(sm, log, first_row):
    """Append results accepted by the register file in this cycle, values that lost bits, and cleared warp slots.

    first_row: number of this cycle's first row write. A value is given by the number of a row write that holds it in
    the lanes written, which nearly always exists; otherwise its lanes are logged.
    """
    rows = words_at(log.value_rows_at, log.value_rows_size)
    row_index = words_at(log.row_index_at, log.row_index_size)
    write_row = words_at(log.write_row_at, log.write_row_size)
    write_word = words_at(log.write_word_at, log.write_word_size)
    for number in range(np.int64(sm.num_accepted)):
        noted = sm.accepted[number]
        at = np.uint64(noted.row) * np.uint64(32)
        holder = np.int64(NO_ROW)
        for candidate in range(np.int64(first_row), np.int64(log.rows)):
            if agree(rows, at, np.uint64(row_index[candidate]) * np.uint64(32), np.int64(noted.lanes)):
                holder = candidate
                break
        if holder == NO_ROW:
            to = np.uint64(log.write_words)
            for lane in range(np.uint64(32)):
                write_word[to + lane] = rows[at + lane]
            log.write_words += 32
        append_write(log, noted.register, noted.lanes, noted.pc)
        write_row[log.writes - 1] = holder
    sm.num_accepted = 0
    candidate = np.int64(first_row)
    for word in set_bits(sm.lost_touched):
        marked = np.uint64(sm.lost_rows[word])
        sm.lost_rows[word] = 0
        for low in set_bits(marked):
            candidate = log_loss(sm, log, candidate, word * 64 + low)
    sm.lost_touched = 0
    for warp in set_bits(sm.cleared):
        append_write(log, warp * REGISTERS_OF_WARP + ALL_REGISTERS, WHOLE, CLEARED)
        words_at(log.write_row_at, log.write_row_size)[log.writes - 1] = NO_ROW
    sm.cleared = 0


@device
def agree(rows, one, other, lanes):
    """Return whether two rows, which begin at these words, are equal in the lanes of a mask."""
    differ = np.uint32(0)
    for lane in range(np.uint64(32)):
        chosen = np.uint32(0) - np.uint32((lanes >> np.int64(lane)) & 1)
        differ |= (rows[one + lane] ^ rows[other + lane]) & chosen
    return differ == 0


@device
def append_write(log, register, lanes, pc):
    """Append an entry to the log of register writes, without its value."""
    at = log.writes
    words_at(log.write_register_at, log.write_register_size)[at] = register
    words_at(log.write_lanes_at, log.write_lanes_size)[at] = lanes
    words_at(log.write_pc_at, log.write_pc_size)[at] = pc
    log.writes = at + 1


@device
def log_loss(sm, log, candidate, row):
    """Log that the register in a row lost bits; return the number of its row write, which has the value.

    candidate: a row write of this cycle that is not after it; they are in order of rows.
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
    """Append the new value of every arena word written in this cycle."""
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
