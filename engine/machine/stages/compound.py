"""Accesses of machine code that are more than a load or a store: LDGSTS, LDSM, STSM, SULD, SUST.

Each is one access as memory.perform does it, with something before and after. LDGSTS loads from global memory and then
stores to shared memory; LDSM loads, STSM stores, 16 bytes for each lane that has the address of a matrix's row, and
values/matrix.py exchanges between these and all lanes. SULD and SUST get their addresses from coordinates.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.fault_codes import MISALIGNED, SHARED_RANGE, UNMAPPED
from rfview.engine.isa import LDGSTS_ZFILL, OP_LDGSTS, OP_LDSM, OP_SULD
from rfview.engine.machine.rows import copy_row
from rfview.engine.machine.stages import memory, surface
from rfview.engine.values import access
from rfview.engine.values.matrix import gather_rows, spread_rows
from rfview.engine.values.words import handle

M32 = 0xFFFFFFFF


@device
def perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, mask, copied, first_row, result_row, work_row,
            own):
    """Do what memory.perform does. copied: lanes that LDGSTS does not fill with zeros; work_row: of four rows for us."""
    lanes, loaded_row = mask, result_row
    if inst.op == OP_LDGSTS:
        lanes = aim(rows, inst, regions, mask & copied, first_row)
    elif inst.op >= OP_SULD:
        lanes = np.int64(surface.aim(sm, rows, inst, arena, regions, warp, pc, mask, first_row, result_row))
        if lanes < 0:
            return lanes
    elif inst.op > OP_LDGSTS:
        lanes = mask & ((np.int64(1) << 8 * (np.int64(inst.aux) & 7)) - 1)
        if inst.op == OP_LDSM:
            loaded_row = work_row
        else:
            gather_rows(handle(rows), first_row + 2, work_row, np.uint32(inst.aux))
            for row in range(4):
                copy_row(rows, work_row + row, first_row + 2 + row)
    performed = np.int64(0)
    if lanes != 0:
        performed = memory.perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, lanes, first_row,
                                   loaded_row, own)
    if performed < 0 or sm.error != 0:
        return performed
    if inst.op == OP_LDSM:
        spread_rows(handle(rows), work_row, result_row, np.uint32(inst.aux))
    elif inst.op == OP_LDGSTS:
        store_copies(sm, rows, inst, arena, regions, log, mem_index, warp, pc, mask, copied, lanes, first_row, result_row,
                     own)
    return performed


@device
def aim(rows, inst, regions, lanes, first_row):
    """Find LDGSTS's addresses: shared ones in row 2, zeros of each lane in row 3; return the lanes that are loaded whole.

    .ZFILL has the number of bytes to be zeros in the low bits of the global address. Where these bytes do not exist, as at
    the end of a buffer, the others are loaded apart from the access.
    """
    size = np.int64(inst.width) * np.int64(inst.count)
    low, high, shared, offset = rows[first_row].u, rows[first_row + 1].u, rows[first_row + 2].u, rows[first_row + 3].u
    uniform = rows[first_row + 4].u
    for lane in range(32):
        place = (np.int64(shared[lane]) << (np.int64(inst.aux) & 7)) + np.int64(offset[lane]) + np.int64(uniform[lane])
        shared[lane] = place & M32
        offset[lane] = 0
        if inst.aux & LDGSTS_ZFILL == 0 or (lanes >> lane) & 1 == 0:
            continue
        address = (np.int64(low[lane]) | np.int64(high[lane]) << 32) + np.int64(inst.offset)
        zeros = address & (size - 1)
        offset[lane] = zeros
        begin = address - zeros - np.int64(inst.offset)
        low[lane] = begin & M32
        high[lane] = (begin >> 32) & M32
        if zeros != 0 and word_of(regions, address - zeros, size) < 0:
            lanes &= ~(np.int64(1) << lane)
    return lanes


@device
def word_of(regions, address, size):
    """Return the arena word of bytes in global memory, -1 if they are not mapped."""
    regions, count = handle(regions), len(regions)
    region = access.find_region(regions, count, np.uint64(address))
    if region < 0 or access.region_end(regions, region) < np.uint64(address + size):
        return np.int64(-1)
    within = np.int64(np.uint64(address) - access.region_base(regions, region))
    return np.int64(access.region_word(regions, region)) + within // 4


@device
def store_copies(sm, rows, inst, arena, regions, log, mem_index, warp, pc, mask, copied, loaded, first_row, result_row,
                 own):
    """Store what LDGSTS has loaded, or zeros, to shared memory."""
    size = np.int64(inst.width) * np.int64(inst.count)
    for lane in range(32):
        if (mask >> lane) & 1 == 0 or (np.int64(sm.dropped) >> lane) & 1:
            continue
        place = np.int64(rows[first_row + 2].u[lane])
        if place % size or place + size > np.int64(own.shared_bytes):
            return refuse(sm, inst, warp, pc, lane, place, MISALIGNED if place % size else SHARED_RANGE)
        given = size - np.int64(rows[first_row + 3].u[lane]) if (copied >> lane) & 1 else np.int64(0)
        for word in range(size // 4):
            bits = 8 * min(np.int64(4), max(np.int64(0), given - 4 * word))
            value = np.int64(0)
            if bits > 0:
                value = np.int64(rows[result_row + word].u[lane])
                if (loaded >> lane) & 1 == 0:
                    address = ((np.int64(rows[first_row].u[lane]) | np.int64(rows[first_row + 1].u[lane]) << 32)
                               + np.int64(inst.offset) + 4 * word)
                    at = word_of(regions, address, bits // 8)
                    if at < 0:
                        return refuse(sm, inst, warp, pc, lane, address, UNMAPPED)
                    value = np.int64(arena[at])
            at = np.int64(own.shared_word) + place // 4 + word
            arena[at] = value & ((np.int64(1) << bits) - 1)
            access.note_word(log, mem_index, at)
    return 0


@device
def refuse(sm, inst, warp, pc, lane, address, code):
    """Note a bad address of LDGSTS."""
    sm.scratch[access.FAULT_LANE] = lane
    sm.scratch[access.FAULT_ADDRESS] = address
    return memory.note_fault(sm, inst, warp, pc, np.int64(code))
