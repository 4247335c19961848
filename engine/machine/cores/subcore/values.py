"""What instructions compute, and when their results can be read.

An instruction of fixed latency computes when it passes Allocate, in cycle a, with the registers as they are then; its result
is in its register from a + latency on, as the bypass network delivers it. So a stall count that is too short reads the old
value. Those of variable latency compute when they start, accesses take their operands after Control.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import ctz64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.fault_codes import PARAM_RANGE
from rfview.engine.isa import BMOV_TO_BARRIER, FLAG_ATOM_GLOBAL, OP_BMOV, OP_PLOP3, OP_SREG
from rfview.engine.machine.marks import touch_row
from rfview.engine.machine.cores.subcore.state import CACHE_ROWS, NUM_OPERANDS, NUM_SUBCORES
from rfview.engine.machine.rows import copy_row, note_write, write_row
from rfview.engine.machine.stages.control import fault
from rfview.engine.machine.stages.convergence import UNIFORM, state_row
from rfview.engine.machine.stages.machine_state import move_state, unite_address
from rfview.engine.machine.stages.sources import (fetch_registers, fetch_scalars, predicate, write_predicate,
                                                   write_uniform)
from rfview.engine.machine.stages.special import fill, special_register
from rfview.engine.program import MEM_NONE, NO_PRED, NO_REG, UNIT_CTRL
from rfview.engine.state import EXECUTE, MAX_INFLIGHT, NONE8, WRITE_BACK
from rfview.engine.values.machine import execute_machine
from rfview.engine.values.machine_operands import modify
from rfview.engine.values.words import handle


@device
def gather(sm, rf, rows, insts, arena, slot, first_row):
    """Copy what an instruction reads into the rows from `first_row` on, modified as it says.

    Those of fixed latency take from the reuse cache what it holds.
    """
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    warp = np.int64(flight.warp)
    fetch_scalars(sm, rows, arena, inst, warp, first_row)
    fetch_registers(rows, inst, np.int64(sm.warp[warp].reg_base), first_row)
    if flight.pipe != NONE8 and flight.stage != WRITE_BACK:      # not those that read late: `hits` is of Allocate's
        take_stale(sm, rf, rows, inst, warp, first_row)
    modify_all(rows, inst, first_row)
    for index in range(2):
        flight.psrc[index] = predicate(sm, inst, warp, index)


@device
def modify_all(rows, inst, first_row):
    """Modify the operands in the rows from `first_row` on as an instruction says: signs, parts, conversions."""
    for operand in range(3):
        if inst.modify[operand] != 0:
            modify(handle(rows), first_row + 2 * operand, inst.modify[operand])


@device
def compute(sm, rf, rows, insts, arena, slot):
    """Compute an instruction that accesses no memory: its results are in its result rows and in `pval`."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    if flight.mask == 0 or inst.unit == UNIT_CTRL:
        return 0
    warp = np.int64(flight.warp)
    first_row = np.int64(sm.config.first_collector_row)
    result_row = result_row_of(sm, slot)
    gather(sm, rf, rows, insts, arena, slot, first_row)
    if inst.memory_kind != MEM_NONE:
        return load_constant(sm, rows, arena, inst, slot, first_row)
    if takes_barrier(inst):
        return 0            # it has, at issue
    if inst.op >= OP_PLOP3:
        return move_state(sm, rows, inst, warp, np.int64(flight.mask), first_row, result_row)
    if inst.op == OP_SREG:
        return special_register(sm, rows, inst, warp, np.int64(sm.cycle), result_row)
    packed = np.uint64(execute_machine(inst, rows, first_row, result_row, np.uint32(flight.mask), flight.psrc[0],
                                       flight.psrc[1]))
    flight.pval[0] = packed & np.uint64(0xFFFFFFFF)
    flight.pval[1] = packed >> np.uint64(32)
    return 0


@device
def takes_barrier(inst):
    """Return whether an instruction moves a barrier register to a register: at issue, in order with BSSY and BSYNC."""
    return inst.op == OP_BMOV and inst.aux & BMOV_TO_BARRIER == 0


@device
def take_barrier(sm, rows, inst, slot):
    """Move a barrier register to the result row of an instruction that issues, and empty it if it says so."""
    flight = sm.inflight[slot]
    return move_state(sm, rows, inst, np.int64(flight.warp), np.int64(flight.mask), 0, result_row_of(sm, slot))


@device
def cache_row(sm, warp, place):
    """Return the row of a place of the reuse cache of a warp's sub-core, 2 * operand + bank."""
    return state_row(sm, 0, 0) - CACHE_ROWS + (warp % NUM_SUBCORES) * 2 * NUM_OPERANDS + place


@device
def take_stale(sm, rf, rows, inst, warp, first_row):
    """Replace the operands that the reuse cache holds by what it holds, where their registers have been written since."""
    sub = rf.core.sub[warp % NUM_SUBCORES]
    if sub.stale == 0:
        return
    for operand in range(NUM_OPERANDS):
        if (np.int64(sub.hits) >> operand) & 1 == 0:
            continue
        for half in range(2):
            k = 2 * operand + half
            place = 2 * ((operand + np.int64(inst.moved[operand])) % NUM_OPERANDS) + (np.int64(inst.src[k]) & 1)
            if (np.int64(inst.src_mask) >> k) & 1 and (np.int64(sub.stale) >> place) & 1:
                copy_row(rows, cache_row(sm, warp, place), first_row + k)


@device
def keep_stale(sm, rf, rows, warp, reg):
    """Before a register is written: keep what the reuse cache holds of it, which is older from now on."""
    sub = rf.core.sub[warp % NUM_SUBCORES]
    for operand in range(NUM_OPERANDS):
        place = 2 * operand + (reg & 1)
        if sub.cache_warp[operand, reg & 1] == warp + 1 and sub.cache_reg[operand, reg & 1] == reg and (
                np.int64(sub.stale) >> place) & 1 == 0:
            sub.stale = np.int64(sub.stale) | np.int64(1) << place
            copy_row(rows, np.int64(sm.warp[warp].reg_base) + reg, cache_row(sm, warp, place))
            touch_row(sm, cache_row(sm, warp, place))


@device
def load_constant(sm, rows, arena, inst, slot, first_row):
    """Load words of the constant image at a uniform address (ULDC), or 1 or 2 bytes; it needs no memory pipeline."""
    unite_address(rows, inst, first_row)
    flight = sm.inflight[slot]
    address = np.int64(rows[first_row].u[0]) + np.int64(inst.offset)
    words, width = np.int64(inst.num_dst), min(np.int64(4), np.int64(inst.width))
    end = (np.int64(sm.launch.local_word) - np.int64(sm.launch.param_word)) * 4
    if address < 0 or address % width or address + width * words > end:
        lane = ctz64(np.uint64(flight.mask))
        return fault(sm, PARAM_RANGE, np.int64(flight.warp), lane, np.int64(flight.pc), address, width * words)
    for word in range(words):
        value = np.int64(arena[np.int64(sm.launch.param_word) + address // 4 + word]) >> 8 * (address & 3)
        bits = 8 * width
        value &= (np.int64(1) << bits) - 1
        if inst.signed != 0 and value >> (bits - 1) != 0:
            value -= np.int64(1) << bits
        fill(rows, result_row_of(sm, slot) + word, value & 0xFFFFFFFF)
    return 0


@device
def result_row_of(sm, slot):
    """Return the first of the rows for the results of an in-flight entry."""
    return np.int64(sm.config.first_result_row) + np.int64(slot) * 4


@device
def show_results(sm, rf, rows, inst, slot):
    """Write an instruction's results where readers find them from now on: registers, uniform registers, predicates."""
    flight = sm.inflight[slot]
    lanes = np.int64(flight.mask)
    if lanes == 0 or inst.unit == UNIT_CTRL:
        flight.unwritten = 0
        return 0
    warp = np.int64(flight.warp)
    if inst.op < OP_PLOP3 and inst["flags"] & FLAG_ATOM_GLOBAL == 0:       # its predicate is known from its address
        for index in range(2):
            if inst.pdst[index] != NO_PRED:
                write_predicate(sm, warp, np.int64(inst.pdst[index]), np.int64(flight.pval[index]), lanes)
    if inst.dst_uniform != 0:
        for row in range(inst.num_dst):
            if inst.dst[row] != NO_REG:
                touch_row(sm, state_row(sm, warp, UNIFORM + (np.int64(inst.dst[row]) >> 5)))
        return write_uniform(sm, rows, inst, warp, lanes, result_row_of(sm, slot))
    for row in set_bits(flight.unwritten):
        show_register(sm, rf, rows, inst, slot, row)
    return 0


@device
def show_register(sm, rf, rows, inst, slot, row):
    """Write one of the registers of a result."""
    flight = sm.inflight[slot]
    warp, reg, value_row = np.int64(flight.warp), np.int64(inst.dst[row]), result_row_of(sm, slot) + row
    keep_stale(sm, rf, rows, warp, reg)
    write_row(sm, rows, np.int64(sm.warp[warp].reg_base) + reg, value_row, np.int64(flight.mask))
    note_write(sm, warp, reg, np.int64(flight.mask), flight.pc, value_row)
    flight.unwritten = np.int64(flight.unwritten) & ~(1 << row)


@device
def forward(sm, rf, rows, insts, warp):
    """Let a branch of a warp, which reads registers at issue, read results that have passed Allocate."""
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            slot = word * 64 + low
            flight = sm.inflight[slot]
            if flight.warp == warp and flight.stage == EXECUTE and flight.pipe != NONE8 and flight.unwritten != 0:
                show_results(sm, rf, rows, insts[flight.pc], slot)
