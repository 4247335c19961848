"""Checks the accesses of a memory instruction: bytes that were never written, and races with earlier accesses."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (H_BASE, H_BYTES, H_CTA_WARPS, H_PCS, H_RECORDS, H_SECONDS, M_CLOCK, M_CYCLE,
                                        M_FLAGS, M_LANE, M_OWNER, M_PC, M_READER, M_SYNC, M_VALUE, M_WRITER, NARROW, R_CLOCK,
                                        R_CYCLE, R_LANES, R_PC, R_STRONG, R_SYNC, R_WARP, RACE_GLOBAL, RACE_SHARED,
                                        READ_AFTER_WRITE, READER_WORDS, RECORD_WORDS, RELEASE, SECOND_WORDS, SPILL, STRONG,
                                        STRONG_WRITE, TWO_READERS, UNWRITTEN_GLOBAL, UNWRITTEN_LOCAL, UNWRITTEN_SHARED,
                                        W_CLOCK, W_ID, W_SYNC, WARP_WORDS, WARPS, WRITE_AFTER_READ, WRITE_WRITE)
from rfview.engine.check.note import NO_OTHER, note, note_other
from rfview.engine.check.order import fence, is_ordered, publish, take_over
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED
from rfview.engine.values import access


@device
def check_access(s, sm, inst, rows, arena, slot, pc, mask, first_row):
    """Check the access that LD/ST has just begun; its addresses are in the machine's scratch.

    first_row: of its operands, which are still in the collector.
    """
    facts = np.int64(s[np.int64(s[H_PCS]) + pc])
    if facts & SPILL:       # the compiler's own: what it keeps in local memory is tracked as a register
        return 0
    scratch = sm.scratch
    width, count = np.int64(inst.width), np.int64(inst.count)
    if facts & RELEASE:
        fence(s, slot, False)
    for lane in range(32):
        if not (mask >> lane) & 1:
            continue
        space = scratch[access.SPACES + lane]
        if space != SPACE_SHARED and space != SPACE_GLOBAL and space != SPACE_LOCAL:
            continue
        at, step = scratch[access.ADDR + lane], 32 if space == SPACE_LOCAL else 1
        word = at >> 2
        if width >= 4:
            for k in range(count * width // 4):
                value = stored(inst, rows, arena, first_row, lane, k, word + k * step)
                check_word(s, sm, inst, facts, slot, lane, pc, space, word + k * step, value)
        else:
            for k in range(count * width):
                place = (at & 3) + k
                value = stored(inst, rows, arena, first_row, lane, k // width, word + (place >> 2) * step)
                check_byte(s, sm, inst, facts, slot, lane, pc, space, word + (place >> 2) * step, place & 3,
                           (value >> 8 * (k % width) if inst.memory_kind == MEM_STORE else value >> 8 * (place & 3)) & 255)
    return 0


@device
def stored(inst, rows, arena, first_row, lane, element, word):
    """Return the value that a store writes, from its operand; for an atomic, what memory holds after it."""
    if inst.memory_kind != MEM_STORE:
        return np.int64(arena[word])
    row = element
    if inst.reg_bits == 64 and inst.width < 8:
        row = element * 2
    return np.int64(rows[first_row + 2 + row].u[lane])


@device
def owner_of(s, slot, space):
    """Return the owner of a word of memory: of shared memory a CTA, of local memory a warp, of global memory all."""
    mine = np.int64(s[WARPS + slot * WARP_WORDS + W_ID])
    if space == SPACE_LOCAL:
        return mine
    if space == SPACE_SHARED:
        base = np.int64(s[H_BASE])
        return base + 1 + (mine - 1 - base) // np.int64(s[H_CTA_WARPS]) * np.int64(s[H_CTA_WARPS])
    return np.int64(0)


@device
def record_of(s, slot, space, word):
    """Return the place of a word's record, which is reset if it is from another CTA or warp."""
    at = (np.int64(s[H_RECORDS]) + word) * RECORD_WORDS
    owner = owner_of(s, slot, space)
    if owner != 0 and np.int64(s[at + M_OWNER]) != owner:
        for k in range(RECORD_WORDS):
            s[at + k] = 0
    s[at + M_OWNER] = owner     # for global memory, too: a page that is read before it is written faults twice
    return at


@device
def second_of(s, at):
    """Return the place of the second reader that belongs to the record at a place."""
    record = at // RECORD_WORDS - np.int64(s[H_RECORDS])
    return np.int64(s[H_SECONDS]) * RECORD_WORDS + record * SECOND_WORDS


@device
def written(flags, space):
    """Return which bytes of a word are initialised, a bit each; by default all of global memory is."""
    return (~flags if space == SPACE_GLOBAL else flags) & 15


@device
def note_written(s, at, space, bytes_of_word):
    """Mark bytes of a word as initialised."""
    flags = np.int64(s[at + M_FLAGS])
    s[at + M_FLAGS] = flags & ~bytes_of_word if space == SPACE_GLOBAL else flags | bytes_of_word
    return 0


@device
def check_word(s, sm, inst, facts, slot, lane, pc, space, word, value):
    """Check an access to a whole word."""
    at = record_of(s, slot, space, word)
    flags = np.int64(s[at + M_FLAGS])
    if inst.memory_kind != MEM_STORE and written(flags, space) != 15:
        unwritten(s, sm, slot, lane, pc, space, word, 0)
    if space != SPACE_LOCAL:
        if flags & NARROW:
            for byte in range(4):
                small = (np.int64(s[H_BYTES]) + word * 4 + byte) * RECORD_WORDS
                visit(s, sm, inst, facts, slot, lane, pc, space, word * 4 + byte, small, (value >> 8 * byte) & 255)
        else:
            visit(s, sm, inst, facts, slot, lane, pc, space, word * 4, at, value)
        if facts & STRONG:
            synchronise(s, inst, slot, lane, space, word)
    if inst.memory_kind != MEM_LOAD:
        note_written(s, at, space, 15)
    return 0


@device
def check_byte(s, sm, inst, facts, slot, lane, pc, space, word, byte, value):
    """Check an access to a byte; from the first such access on, each byte of the word has its own record."""
    at = record_of(s, slot, space, word)
    flags = np.int64(s[at + M_FLAGS])
    if inst.memory_kind != MEM_STORE and not (written(flags, space) >> byte) & 1:
        unwritten(s, sm, slot, lane, pc, space, word, byte)
    if space != SPACE_LOCAL:
        if not flags & NARROW:
            for each in range(4):
                small = (np.int64(s[H_BYTES]) + word * 4 + each) * RECORD_WORDS
                for k in range(RECORD_WORDS):
                    s[small + k] = s[at + k]
                if flags & TWO_READERS:
                    for k in range(READER_WORDS):
                        s[second_of(s, small) + k] = s[second_of(s, at) + k]
                s[small + M_VALUE] = (np.int64(s[at + M_VALUE]) >> 8 * each) & 255
            s[at + M_FLAGS] = np.int64(s[at + M_FLAGS]) | NARROW
        small = (np.int64(s[H_BYTES]) + word * 4 + byte) * RECORD_WORDS
        visit(s, sm, inst, facts, slot, lane, pc, space, word * 4 + byte, small, value)
        if facts & STRONG:
            synchronise(s, inst, slot, lane, space, word)
    if inst.memory_kind != MEM_LOAD:
        note_written(s, at, space, 1 << byte)
    return 0


@device
def synchronise(s, inst, slot, lane, space, word):
    """Let a strong access learn what is published at its word, and publish there what its thread did."""
    if inst.memory_kind != MEM_STORE:
        take_over(s, slot, lane, word)
    if inst.memory_kind != MEM_LOAD:
        publish(s, slot, lane, word, space == SPACE_SHARED)
    return 0


@device
def unwritten(s, sm, slot, lane, pc, space, word, byte):
    """Note a read of uninitialised bytes."""
    kind = UNWRITTEN_GLOBAL
    if space == SPACE_SHARED:
        kind = UNWRITTEN_SHARED
    elif space == SPACE_LOCAL:
        kind = UNWRITTEN_LOCAL
    note(s, sm, kind, slot, lane, pc, NO_OTHER, word * 4 + byte, space, 0)
    return 0


@device
def visit(s, sm, inst, facts, slot, lane, pc, space, address, at, value):
    """Compare an access with the last write and the last reads of the same place, and record it there."""
    me = WARPS + slot * WARP_WORDS
    mine, clock, sync = np.int64(s[me + W_ID]), np.int64(s[me + W_CLOCK]), np.int64(s[me + W_SYNC])
    strong = facts & STRONG
    writes = inst.memory_kind != MEM_LOAD
    writer = np.int64(s[at + M_WRITER])
    last = np.int64(s[at + M_LANE])
    if writer != 0 and not (strong and last & STRONG_WRITE) and not (writes and np.int64(s[at + M_VALUE]) == value):
        other = last & 31
        if not is_ordered(s, slot, lane, writer, other, np.int64(s[at + M_CLOCK]), np.int64(s[at + M_SYNC])):
            race(s, sm, slot, lane, pc, space, address, np.int64(s[at + M_PC]), writer, other, np.int64(s[at + M_CYCLE]),
                 WRITE_WRITE if writes else READ_AFTER_WRITE)
    reader = at + M_READER
    if writes:
        compare_reader(s, sm, slot, lane, pc, space, address, reader, strong, mine)
        if np.int64(s[at + M_FLAGS]) & TWO_READERS:
            compare_reader(s, sm, slot, lane, pc, space, address, second_of(s, at), strong, mine)
        s[at + M_WRITER] = mine
        s[at + M_LANE] = lane | (STRONG_WRITE if strong else 0)
        s[at + M_PC] = pc
        s[at + M_CLOCK] = clock
        s[at + M_SYNC] = sync
        s[at + M_CYCLE] = sm.cycle
        s[at + M_VALUE] = value
        return 0
    if np.int64(s[reader + R_WARP]) == mine and np.int64(s[reader + R_SYNC]) == sync and s[reader + R_CLOCK] == clock:
        s[reader + R_LANES] = np.int64(s[reader + R_LANES]) | np.int64(1) << lane
    else:
        if s[reader + R_WARP] != 0 and np.int64(s[reader + R_WARP]) != mine:
            s[at + M_FLAGS] = np.int64(s[at + M_FLAGS]) | TWO_READERS
            for k in range(READER_WORDS):
                s[second_of(s, at) + k] = s[reader + k]
        s[reader + R_WARP] = mine
        s[reader + R_LANES] = np.int64(1) << lane
        s[reader + R_CLOCK] = clock
        s[reader + R_SYNC] = sync
        s[reader + R_STRONG] = strong
    s[reader + R_PC] = pc
    s[reader + R_CYCLE] = sm.cycle
    if not strong:
        s[reader + R_STRONG] = 0
    return 0


@device
def compare_reader(s, sm, slot, lane, pc, space, address, reader, strong, mine):
    """Note a write to what another thread reads, without anything that orders the two."""
    warp = np.int64(s[reader + R_WARP])
    if warp == 0 or (strong and s[reader + R_STRONG] != 0):
        return 0
    lanes = np.uint64(s[reader + R_LANES])
    if warp == mine:
        lanes &= ~(np.uint64(1) << np.uint64(lane))
    while lanes != 0:
        other = ctz64(lanes)
        lanes &= lanes - np.uint64(1)
        if not is_ordered(s, slot, lane, warp, other, np.int64(s[reader + R_CLOCK]), np.int64(s[reader + R_SYNC])):
            race(s, sm, slot, lane, pc, space, address, np.int64(s[reader + R_PC]), warp, other,
                 np.int64(s[reader + R_CYCLE]), WRITE_AFTER_READ)
            return 0
        if warp != mine:
            return 0
    return 0


@device
def race(s, sm, slot, lane, pc, space, address, other_pc, warp, other, cycle, what):
    """Note a race."""
    kind = RACE_SHARED if space == SPACE_SHARED else RACE_GLOBAL
    at = note(s, sm, kind, slot, lane, pc, other_pc, address, space, what)
    return note_other(s, at, warp, other, cycle)
