"""Checks the accesses of a memory instruction: bytes that were never written, and races with earlier accesses."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (COPIED, DATA_ROWS, H_BASE, H_BYTES, H_CTA_WARPS, H_GLOBAL, H_PCS, H_RECORDS,
                                        H_SECONDS, H_UNDEFINED, H_UNDEFINED_HIGH, H_UNDEFINED_WORDS, M_CLOCK, M_CYCLE,
                                        M_FLAGS, M_LANE, M_OWNER, M_PC, M_READER, M_SYNC, M_VALUE, M_WRITER, NARROW, R_CLOCK,
                                        R_CYCLE, R_LANES, R_PC, R_STRONG, R_SYNC, R_WARP, RACE_GLOBAL, RACE_SHARED,
                                        READ_AFTER_WRITE, READER_WORDS, RECORD_WORDS, RELEASE, SECOND_WORDS, SPILL, STRONG,
                                        STRONG_WRITE, TWO_READERS, UNWRITTEN_GLOBAL, UNWRITTEN_LOCAL, UNWRITTEN_SHARED,
                                        W_CLOCK, W_ID, W_SYNC, WARP_WORDS, WARPS, WRITE_AFTER_READ, WRITE_WRITE)
from rfview.engine.check.note import NO_OTHER, note, note_other
from rfview.engine.check.order import fence, is_ordered, publish, take_over
from rfview.engine.check.registers import check_stored, set_loaded
from rfview.engine.compile.bits import ctz64, words_at
from rfview.engine.compile.device import device
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED
from rfview.engine.values import access


@device
def check_access(s, sm, inst, rows, arena, slot, pc, mask, first_row, data):
    """Check the access that LD/ST has just begun; its addresses are in the machine's scratch.

    first_row: of its operands, which are still in the collector. data: the place of DATA_ROWS words: the lanes that store
    an undefined value, by row; of a load, the lanes that load one are added here.
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
                copied = copies(s, sm, inst, slot, lane, pc, space, data, k)
                if check_word(s, sm, inst, facts, slot, lane, pc, space, word + k * step, value, copied):
                    note_loaded(s, inst, lane, data, k)
        else:
            for k in range(count * width):
                place = (at & 3) + k
                value = stored(inst, rows, arena, first_row, lane, k // width, word + (place >> 2) * step)
                copied = copies(s, sm, inst, slot, lane, pc, space, data, k // width)
                value = (value >> 8 * (k % width) if inst.memory_kind == MEM_STORE else value >> 8 * (place & 3)) & 255
                if check_byte(s, sm, inst, facts, slot, lane, pc, space, word + (place >> 2) * step, place & 3, value,
                              copied):
                    note_loaded(s, inst, lane, data, k // width)
    if inst.memory_kind == MEM_LOAD:
        set_loaded(s, slot, pc, data)
    return 0


@device
def data_row(inst, element):
    """Return the row of an element (from 8 bytes on: of a word) among an access's rows of data."""
    return element * 2 if inst.reg_bits == 64 and inst.width < 8 else element


@device
def copies(s, sm, inst, slot, lane, pc, space, data, element):
    """Return whether a store copies an undefined value to shared or local memory; to global memory, it uses it."""
    row = data_row(inst, element)
    if inst.memory_kind != MEM_STORE or row >= DATA_ROWS or not (np.int64(s[data + row]) >> lane) & 1:
        return False
    if space == SPACE_GLOBAL:
        check_stored(s, sm, slot, lane, pc, row)
        return False
    return True


@device
def note_loaded(s, inst, lane, data, element):
    """Note that a lane has loaded the copy of an undefined value."""
    row = data_row(inst, element)
    if row < DATA_ROWS:
        s[data + row] = np.int64(s[data + row]) | np.int64(1) << lane
    return 0


@device
def stored(inst, rows, arena, first_row, lane, element, word):
    """Return the value that a store writes, from its operand; for an atomic, what memory holds after it."""
    if inst.memory_kind != MEM_STORE:
        return np.int64(arena[word])
    return np.int64(rows[first_row + 2 + data_row(inst, element)].u[lane])


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
def undefined_map(s):
    """Return the address of the map of global memory (undefined_map.py)."""
    return np.int64(s[H_UNDEFINED]) | np.int64(s[H_UNDEFINED_HIGH]) << 32


@device
def written(s, flags, space, word):
    """Return which bytes of a word are initialised, a bit each. flags: of its record."""
    if space != SPACE_GLOBAL:
        return flags & 15
    place = word - np.int64(s[H_GLOBAL])
    undefined = words_at(undefined_map(s), np.int64(s[H_UNDEFINED_WORDS]))
    return ~(np.int64(undefined[place >> 3]) >> 4 * (place & 7)) & 15


@device
def note_written(s, at, space, word, bytes_of_word, copied):
    """Mark bytes of a word as initialised. copied: with the copy of an undefined value."""
    if space != SPACE_GLOBAL:
        flags = (np.int64(s[at + M_FLAGS]) | bytes_of_word) & ~(bytes_of_word << COPIED)
        s[at + M_FLAGS] = flags | (bytes_of_word << COPIED if copied else 0)
        return 0
    place = word - np.int64(s[H_GLOBAL])
    undefined = words_at(undefined_map(s), np.int64(s[H_UNDEFINED_WORDS]))
    bits = np.int64(undefined[place >> 3])
    if bits >> 4 * (place & 7) & bytes_of_word:     # most pages of the map are never touched
        undefined[place >> 3] = bits & ~(bytes_of_word << 4 * (place & 7))
    return 0


@device
def check_word(s, sm, inst, facts, slot, lane, pc, space, word, value, copied):
    """Check an access to a whole word; return whether a load finds the copy of an undefined value.

    copied: whether a store writes one.
    """
    at = record_of(s, slot, space, word)
    flags = np.int64(s[at + M_FLAGS])
    holds = space != SPACE_GLOBAL and (flags >> COPIED) & 15 != 0
    if inst.memory_kind != MEM_STORE and written(s, flags, space, word) != 15:
        unwritten(s, sm, slot, lane, pc, space, word, 0)
    elif holds and inst.memory_kind != MEM_STORE and inst.memory_kind != MEM_LOAD:
        unwritten(s, sm, slot, lane, pc, space, word, 0)        # an atomic computes with it
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
        note_written(s, at, space, word, 15, copied)
        return False
    return holds


@device
def check_byte(s, sm, inst, facts, slot, lane, pc, space, word, byte, value, copied):
    """Check an access to a byte, as check_word does; from the first one on, each byte of the word has its own record."""
    at = record_of(s, slot, space, word)
    flags = np.int64(s[at + M_FLAGS])
    holds = space != SPACE_GLOBAL and (flags >> COPIED + byte) & 1 != 0
    if inst.memory_kind != MEM_STORE and not (written(s, flags, space, word) >> byte) & 1:
        unwritten(s, sm, slot, lane, pc, space, word, byte)
    elif holds and inst.memory_kind != MEM_STORE and inst.memory_kind != MEM_LOAD:
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
        note_written(s, at, space, word, 1 << byte, copied)
        return False
    return holds


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
