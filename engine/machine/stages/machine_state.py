"""Machine code that moves predicates, barrier registers and the result of a BAR.RED; and addresses of two parts."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.isa import (ATOM_PHASE, BMOV_BETWEEN, BMOV_CLEAR, BMOV_FROM_SHIFT, BMOV_TO_BARRIER, OP_B2R, OP_BMOV,
                               OP_P2R, OP_PLOP3, OP_R2P, P2R_UNIFORM, R2P_BYTE_SHIFT, R2P_UNIFORM)
from rfview.engine.machine.marks import touch_row
from rfview.engine.machine.rows import copy_lanes, copy_row
from rfview.engine.machine.stages.convergence import RESULT, fill_lanes, state_row
from rfview.engine.machine.stages.sources import ALL_LANES, predicate, write_predicate
from rfview.engine.machine_code import UNIFORM_PREDICATES
from rfview.engine.program import NO_PRED
from rfview.engine.values import access
from rfview.engine.values.arithmetic import M32, U64
from rfview.engine.values.words import handle


@device
def write_predicates(sm, inst, warp, packed, lanes):
    """Write both predicate results, packed as execute gives them."""
    for index in range(2):
        pred = np.int64(inst.pdst[index])
        if pred != NO_PRED:
            write_predicate(sm, warp, pred, np.int64((packed >> np.uint64(32 * index)) & np.uint64(ALL_LANES)), lanes)


@device
def slots(inst):
    """Return the mask of the row slots that an instruction uses."""
    return np.int64(inst.src_mask) | np.int64(inst.imm_mask) | np.int64(inst.const_mask) | np.int64(inst.uniform_mask)


@device
def unite_address(rows, inst, first_row):
    """Add both parts of an address, in slots 0, 1 (scaled) and 6, 7; it has 32 bits unless one of them has 64."""
    wide = np.int64(inst.imm_mask) & 2 == 0 or slots(inst) & ~np.int64(inst.imm_mask) & 0x80 != 0
    has_uniform = slots(inst) & 0xC0 != 0
    low, high = rows[first_row].u, rows[first_row + 1].u
    for lane in range(32):
        address = (U64(low[lane]) | U64(high[lane]) << U64(32)) << U64(inst.scale)
        if has_uniform:
            address += U64(rows[first_row + 6].u[lane])
            if slots(inst) & 0x80 != 0:
                address += U64(rows[first_row + 7].u[lane]) << U64(32)
        low[lane] = address & M32
        high[lane] = address >> U64(32) if wide else U64(0)


@device
def note_success(rows, inst, lanes, first_row, result_row):
    """Replace what an atomic compare-and-swap found by whether it swapped, 1 or 0; return the lanes in which it did.

    Of a barrier object, return the lanes whose phase (bit 31 of the operand) is no longer that of its upper word.
    """
    swapped = np.int64(0)
    for lane in range(32):
        if np.int64(inst.aux) & 255 == ATOM_PHASE:
            swapped |= (lanes & np.int64(1) << lane) * ((rows[result_row + 1].u[lane] ^ rows[first_row + 2].u[lane]) >> 31)
        elif (lanes >> lane) & 1:
            same = rows[result_row].u[lane] == rows[first_row + 2].u[lane]
            if inst.width == 8:
                same = same and rows[result_row + 1].u[lane] == rows[first_row + 3].u[lane]
                rows[result_row + 1].u[lane] = 0
            rows[result_row].u[lane] = 1 if same else 0
            swapped |= np.int64(same) << lane
    return swapped


@device
def note_global(rows, inst, lanes, first_row, result_row):
    """Return those of `lanes` in which an ATOM accesses global memory; the others find 0."""
    reached = np.int64(access.global_lanes(inst, handle(rows), first_row, np.int64(lanes)))
    for lane in range(32):
        if (lanes & ~reached) >> lane & 1:
            rows[result_row].u[lane] = 0
            rows[result_row + 1].u[lane] = 0
    return reached


@device
def move_state(sm, rows, inst, warp, lanes, first_row, result_row):
    """Execute what moves predicates, barrier registers and the result of a BAR.RED."""
    if inst.op == OP_PLOP3:
        packed = logic(sm, inst, warp, 0) | logic(sm, inst, warp, 1) << np.uint64(32)
        write_predicates(sm, inst, warp, packed, lanes)
    elif inst.op == OP_P2R:
        pack_predicates(sm, rows, inst, warp, first_row, result_row)
    elif inst.op == OP_R2P:
        unpack_predicates(sm, rows, inst, warp, lanes, first_row)
    elif inst.op == OP_B2R:
        row = state_row(sm, warp, RESULT)
        copy_row(rows, row, result_row)
        holds = np.uint64(0)
        for lane in range(32):
            holds |= np.uint64(rows[row].u[lane] != 0) << np.uint64(lane)
        write_predicates(sm, inst, warp, holds, lanes)
    elif inst.op == OP_BMOV:
        row = read = state_row(sm, warp, np.int64(inst.aux) & 15)
        if inst.aux & BMOV_BETWEEN:
            read = state_row(sm, warp, (np.int64(inst.aux) >> BMOV_FROM_SHIFT) & 15)
            copy_lanes(rows, read, row, lanes)
            touch_row(sm, row)
        elif inst.aux & BMOV_TO_BARRIER:
            copy_lanes(rows, first_row, row, lanes)
            touch_row(sm, row)
        else:
            copy_row(rows, row, result_row)
        if inst.aux & BMOV_CLEAR:
            fill_lanes(sm, rows, read, lanes, 0)
    return 0


@device
def logic(sm, inst, warp, result):
    """Return the lanes in which a result of PLOP3 is true: bit 4a + 2b + c of its table."""
    a, b, c = predicate(sm, inst, warp, 0), predicate(sm, inst, warp, 1), predicate(sm, inst, warp, 2)
    found = np.int64(0)
    for entry in range(8):
        if (np.int64(inst.aux) >> (8 * result + entry)) & 1:
            found |= (a if entry & 4 else ~a) & (b if entry & 2 else ~b) & (c if entry & 1 else ~c)
    return np.uint64(found & ALL_LANES)


@device
def pack_predicates(sm, rows, inst, warp, first_row, result_row):
    """P2R: replace the bits of a mask, in one byte of operand b, by predicates."""
    first = UNIFORM_PREDICATES if inst.aux & P2R_UNIFORM else 0
    shift = 8 * (np.int64(inst.aux) & 3)
    for lane in range(32):
        value = np.int64(0)
        for number in range(7):
            value |= ((np.int64(sm.warp_cold[warp].pred[first + number]) >> lane) & 1) << number
        mask = (np.int64(rows[first_row].u[lane]) << shift) & ALL_LANES
        rows[result_row].u[lane] = np.int64(rows[first_row + 2].u[lane]) & ~mask | (value << shift) & mask


@device
def unpack_predicates(sm, rows, inst, warp, lanes, first_row):
    """R2P: set the predicates of a mask from the bits of an operand's byte."""
    first = UNIFORM_PREDICATES if inst.aux & R2P_UNIFORM else 0
    shift = 8 * ((np.int64(inst.aux) >> R2P_BYTE_SHIFT) & 3)
    for number in range(7):
        if (np.int64(inst.aux) >> number) & 1:
            value = np.int64(0)
            for lane in range(32):
                value |= ((np.int64(rows[first_row].u[lane]) >> (shift + number)) & 1) << lane
            write_predicate(sm, warp, first + number, value, lanes)
