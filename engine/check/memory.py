"""Checks the accesses of a memory instruction: bytes that were never written, and races with earlier accesses."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (COPIED, DATA_ROWS, NARROW, PLACE, RACE_GLOBAL, RACE_SHARED, READ_AFTER_WRITE,
                                        READER, RELEASE, SPILL, STRONG, TWO_READERS, UNWRITTEN_GLOBAL, UNWRITTEN_LOCAL,
                                        UNWRITTEN_SHARED, WRITE_AFTER_READ, WRITE_WRITE)
from rfview.engine.check.note import NO_OTHER, note, note_other
from rfview.engine.check.order import fence, is_ordered, publish, take_over
from rfview.engine.check.registers import check_stored, set_loaded
from rfview.engine.compile.bits import array_at, set_bits, words_at
from rfview.engine.compile.device import device
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED
from rfview.engine.values import access


@device
def check_access(check, sm, inst, rows, arena, facts, slot, pc, mask, first_row, collector):
    """Check the access that LD/ST has just begun; its addresses are in the machine's scratch.

    first_row: of its operands, which are still in the collector. check.copied_lanes[collector] has the lanes that store
    an undefined value, by row; of a load, the lanes that load one are added there.
    """
    if facts & SPILL:       # the compiler's own: what it keeps in local memory is tracked as a register
        return
    scratch = sm.scratch
    width, count = np.int64(inst.width), np.int64(inst.count)
    if facts & RELEASE:
        fence(check, slot, False)
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
                copied = copies(check, sm, inst, slot, lane, pc, space, collector, k)
                if check_word(check, sm, inst, facts, slot, lane, pc, space, word + k * step, value, copied):
                    note_loaded(check, inst, lane, collector, k)
        else:
            for k in range(count * width):
                place = (at & 3) + k
                value = stored(inst, rows, arena, first_row, lane, k // width, word + (place >> 2) * step)
                copied = copies(check, sm, inst, slot, lane, pc, space, collector, k // width)
                value = (value >> 8 * (k % width) if inst.memory_kind == MEM_STORE else value >> 8 * (place & 3)) & 255
                if check_byte(check, sm, inst, facts, slot, lane, pc, space, word + (place >> 2) * step, place & 3, value,
                              copied):
                    note_loaded(check, inst, lane, collector, k // width)
    if inst.memory_kind == MEM_LOAD:
        set_loaded(check, slot, pc, collector)


@device
def data_row(inst, element):
    """Return the row of an element (from 8 bytes on: of a word) among an access's rows of data."""
    return element * 2 if inst.reg_bits == 64 and inst.width < 8 else element


@device
def copies(check, sm, inst, slot, lane, pc, space, collector, element):
    """Return whether a store copies an undefined value to shared or local memory; to global memory, it uses it."""
    row = data_row(inst, element)
    if inst.memory_kind != MEM_STORE or row >= DATA_ROWS or not (np.int64(check.copied_lanes[collector, row]) >> lane) & 1:
        return False
    if space == SPACE_GLOBAL:
        check_stored(check, sm, slot, lane, pc, row)
        return False
    return True


@device
def note_loaded(check, inst, lane, collector, element):
    """Note that a lane has loaded the copy of an undefined value."""
    row = data_row(inst, element)
    if row < DATA_ROWS:
        check.copied_lanes[collector, row] |= np.int64(1) << lane


@device
def stored(inst, rows, arena, first_row, lane, element, word):
    """Return the value that a store writes, from its operand; for an atomic, what memory holds after it."""
    if inst.memory_kind != MEM_STORE:
        return np.int64(arena[word])
    return np.int64(rows[first_row + 2 + data_row(inst, element)].u[lane])


@device
def owner_of(check, slot, space):
    """Return the owner of a word of memory: of shared memory a CTA, of local memory a warp, of global memory all."""
    mine = check.warp[slot].id
    if space == SPACE_LOCAL:
        return mine
    if space == SPACE_SHARED:
        first = check.first_id + 1
        return first + (mine - first) // check.cta_warps * check.cta_warps
    return np.int64(0)


@device
def place_at(check, at):
    """Return the PLACE record of a word of the arena, or of the byte `at` - arena_words."""
    return array_at(check.places_at, check.places_size, PLACE)[at]


@device
def second_reader(check, at):
    """Return the READER record of the second reader at a place."""
    return array_at(check.second_readers_at, check.second_readers_size, READER)[at]


@device
def own_place(check, slot, space, word):
    """Return a word's record, which is reset if it is from another CTA or warp."""
    place, owner = place_at(check, word), owner_of(check, slot, space)
    if owner != 0 and place.owner != owner:
        place.marks = 0
        place.writer = 0
        place.reader.warp = 0
    place.owner = owner         # for global memory, too: a page that is read before it is written faults twice
    return place


@device
def written(check, flags, space, word):
    """Return which bytes of a word are initialised, a bit each. flags: of its record."""
    if space != SPACE_GLOBAL:
        return flags & 15
    at = word - check.global_word
    undefined = words_at(check.undefined_at, check.undefined_size)
    return ~(np.int64(undefined[at >> 3]) >> 4 * (at & 7)) & 15


@device
def note_written(check, place, space, word, bytes_of_word, copied):
    """Note which bytes of a word are initialised; copied: whether with the copy of an undefined value."""
    if space != SPACE_GLOBAL:
        flags = (np.int64(place.marks) | bytes_of_word) & ~(bytes_of_word << COPIED)
        place.marks = flags | (bytes_of_word << COPIED if copied else 0)
        return
    at = word - check.global_word
    undefined = words_at(check.undefined_at, check.undefined_size)
    bits = np.int64(undefined[at >> 3])
    if bits >> 4 * (at & 7) & bytes_of_word:     # most pages of the map are never touched
        undefined[at >> 3] = bits & ~(bytes_of_word << 4 * (at & 7))


@device
def check_word(check, sm, inst, facts, slot, lane, pc, space, word, value, copied):
    """Check an access to a whole word; return whether a load finds the copy of an undefined value.

    copied: whether a store writes one.
    """
    place = own_place(check, slot, space, word)
    flags = np.int64(place.marks)
    is_copy = space != SPACE_GLOBAL and (flags >> COPIED) & 15 != 0
    if inst.memory_kind != MEM_STORE and written(check, flags, space, word) != 15:
        unwritten(check, sm, slot, lane, pc, space, word, 0)
    elif is_copy and inst.memory_kind != MEM_STORE and inst.memory_kind != MEM_LOAD:
        unwritten(check, sm, slot, lane, pc, space, word, 0)        # an atomic computes with it
    if space != SPACE_LOCAL:
        if flags & NARROW:
            for byte in range(4):
                visit(check, sm, inst, facts, slot, lane, pc, space, word * 4 + byte,
                      check.arena_words + word * 4 + byte, (value >> 8 * byte) & 255)
        else:
            visit(check, sm, inst, facts, slot, lane, pc, space, word * 4, word, value)
        if facts & STRONG:
            synchronise(check, inst, slot, lane, space, word)
    if inst.memory_kind != MEM_LOAD:
        note_written(check, place, space, word, 15, copied)
        return False
    return is_copy


@device
def check_byte(check, sm, inst, facts, slot, lane, pc, space, word, byte, value, copied):
    """Check an access to a byte, as check_word does; from the first one on, each byte of the word has its own record."""
    place = own_place(check, slot, space, word)
    flags = np.int64(place.marks)
    is_copy = space != SPACE_GLOBAL and (flags >> COPIED + byte) & 1 != 0
    if inst.memory_kind != MEM_STORE and not (written(check, flags, space, word) >> byte) & 1:
        unwritten(check, sm, slot, lane, pc, space, word, byte)
    elif is_copy and inst.memory_kind != MEM_STORE and inst.memory_kind != MEM_LOAD:
        unwritten(check, sm, slot, lane, pc, space, word, byte)
    if space != SPACE_LOCAL:
        first = check.arena_words + word * 4
        if not flags & NARROW:
            places = array_at(check.places_at, check.places_size, PLACE)
            second_readers = array_at(check.second_readers_at, check.second_readers_size, READER)
            for each in range(4):
                places[first + each] = place
                places[first + each].value = (np.int64(place.value) >> 8 * each) & 255
                if flags & TWO_READERS:
                    second_readers[first + each] = second_readers[word]
            place.marks |= NARROW
        visit(check, sm, inst, facts, slot, lane, pc, space, word * 4 + byte, first + byte, value)
        if facts & STRONG:
            synchronise(check, inst, slot, lane, space, word)
    if inst.memory_kind != MEM_LOAD:
        note_written(check, place, space, word, 1 << byte, copied)
        return False
    return is_copy


@device
def synchronise(check, inst, slot, lane, space, word):
    """Let a strong access learn what is published at its word, and publish there what its thread did."""
    if inst.memory_kind != MEM_STORE:
        take_over(check, slot, lane, word)
    if inst.memory_kind != MEM_LOAD:
        publish(check, slot, lane, word, space == SPACE_SHARED)


@device
def unwritten(check, sm, slot, lane, pc, space, word, byte):
    """Note a read of uninitialised bytes."""
    kind = UNWRITTEN_GLOBAL
    if space == SPACE_SHARED:
        kind = UNWRITTEN_SHARED
    elif space == SPACE_LOCAL:
        kind = UNWRITTEN_LOCAL
    note(check, sm, kind, slot, lane, pc, NO_OTHER, word * 4 + byte, space, 0)


@device
def visit(check, sm, inst, facts, slot, lane, pc, space, address, at, value):
    """Compare an access with the last write and the last reads at the same place (place_at), and record it there."""
    me, place = check.warp[slot], place_at(check, at)
    is_strong = facts & STRONG != 0
    writes = inst.memory_kind != MEM_LOAD
    if place.writer != 0 and not (is_strong and place.is_strong != 0) and not (writes and place.value == value):
        if not is_ordered(check, slot, lane, place.writer, place.lane, place.clock, place.sync):
            race(check, sm, slot, lane, pc, space, address, place.pc, place.writer, place.lane, place.moment,
                 WRITE_WRITE if writes else READ_AFTER_WRITE)
    if writes:
        compare_reader(check, sm, slot, lane, pc, space, address, place.reader, is_strong)
        if place.marks & TWO_READERS:
            compare_reader(check, sm, slot, lane, pc, space, address, second_reader(check, at), is_strong)
        place.writer = me.id
        place.lane = lane
        place.is_strong = is_strong
        place.pc = pc
        place.clock = me.clock
        place.sync = me.sync
        place.moment = check.now
        place.value = value
        return
    reader = place.reader
    if reader.warp == me.id and reader.sync == me.sync and reader.clock == me.clock:
        reader.lanes |= np.int64(1) << lane
        if not is_strong:
            reader.is_strong = 0
    else:
        if reader.warp != 0 and reader.warp != me.id:
            place.marks |= TWO_READERS
            array_at(check.second_readers_at, check.second_readers_size, READER)[at] = reader
        reader.warp = me.id
        reader.lanes = np.int64(1) << lane
        reader.clock = me.clock
        reader.sync = me.sync
        reader.is_strong = is_strong
    reader.pc = pc
    reader.moment = check.now


@device
def compare_reader(check, sm, slot, lane, pc, space, address, reader, is_strong):
    """Note a write to what another thread reads, without anything that orders the two."""
    warp, mine = np.int64(reader.warp), check.warp[slot].id
    if warp == 0 or (is_strong and reader.is_strong != 0):
        return
    lanes = np.uint64(reader.lanes)
    if warp == mine:
        lanes &= ~(np.uint64(1) << np.uint64(lane))
    for other in set_bits(lanes):
        if not is_ordered(check, slot, lane, warp, other, reader.clock, reader.sync):
            race(check, sm, slot, lane, pc, space, address, reader.pc, warp, other, reader.moment, WRITE_AFTER_READ)
            return
        if warp != mine:
            return


@device
def race(check, sm, slot, lane, pc, space, address, other_pc, warp, other, moment, what):
    """Note a race."""
    kind = RACE_SHARED if space == SPACE_SHARED else RACE_GLOBAL
    at = note(check, sm, kind, slot, lane, pc, other_pc, address, space, what)
    note_other(check, at, warp, other, moment)
