"""One warp instruction that is no control instruction: operands, results and memory, complete before the next one begins.

Only what waits for something has an in-flight entry: a bar.red for its barrier, a host call for the host, and a member of a
collective elsewhere for its results.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.device import device
from rfview.engine.functional.gather import move_words, operand_row
from rfview.engine.functional.watch import is_watched, on_result
from rfview.engine.isa import OP_ASSERTFAIL, OP_LDPARAM, OP_PRINTF, OP_TEX
from rfview.engine.machine.rows import copy_lanes, copy_row
from rfview.engine.machine.scoreboard import free_inflight
from rfview.engine.machine.stages import memory
from rfview.engine.machine.stages.collectives import fetch_results
from rfview.engine.machine.stages.completion import WHEEL_MASK, write_predicate
from rfview.engine.machine.stages.execution import compute
from rfview.engine.machine.stages.inflight import allocate
from rfview.engine.program import NO_PRED, NO_REG, NUM_SRC_ROWS, UNIT_LDST
from rfview.engine.state import MAX_INFLIGHT, NONE8, WRITE_BACK
from rfview.engine.values.lanes import BODIES
from rfview.engine.values.words import handle

ALL_LANES = 0xFFFFFFFF
IS_VECTOR = np.array([op in BODIES for op in range(1 << 8)], np.uint8)     # opcodes are below that


@device
def perform_step(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, warp, pc, lanes, active, took_part, own):
    """Execute an instruction for `lanes` and write its results. took_part: see `results_wait`; own: `memory_of`."""
    inst = insts[pc]
    first_row = np.int64(sm.config.first_collector_row)
    result_row = first_row + NUM_SRC_ROWS
    base = np.int64(sm.warp[warp].reg_base)
    fetch_immediates(rows, inst, first_row)
    if took_part != 0:
        fetch_registers(rows, inst, base, first_row)
        on_result(sm, rf, spec, rows, inst, arena, warp, pc, lanes, took_part)
        slot = allocate(sm, warp, pc, lanes, active, inst)
        fetch_results(sm, rows, warp, slot, took_part)
        return write_results(sm, rows, insts, slot)
    if inst.unit == UNIT_LDST and inst.op != OP_TEX and not is_watched(sm, rf, spec):
        low, high = operand_row(inst, 0, base, first_row), operand_row(inst, 1, base, first_row)
        if move_words(inst, handle(rows), base, first_row, low, high, np.uint32(lanes), handle(arena), handle(regions),
                      len(regions), own, handle(sm.scratch)):
            return 0
    fetch_registers(rows, inst, base, first_row)
    if inst.unit == UNIT_LDST and inst.op != OP_LDPARAM:
        if inst.op == OP_PRINTF or inst.op == OP_ASSERTFAIL:
            slot = allocate(sm, warp, pc, lanes, active, inst)
            sm.inflight[slot].stage = WRITE_BACK
            return memory.call_host(sm, rows, inst, slot, first_row, np.int64(sm.config.first_result_row) + slot * 4)
        memory.perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, lanes, first_row, result_row, own)
        if sm.error != 0:
            return 0
        on_result(sm, rf, spec, rows, inst, arena, warp, pc, lanes, lanes)
    else:
        written = lanes == ALL_LANES and gives_rows(inst)
        if written:         # straight into its registers
            result_row = base + np.int64(inst.dst[0])
        packed = compute(sm, key, rows, inst, arena, warp, np.int64(sm.cycle), np.uint32(lanes),
                         predicate(sm, inst, warp, 0), predicate(sm, inst, warp, 1), first_row, result_row)
        on_result(sm, rf, spec, rows, inst, arena, warp, pc, lanes, lanes)
        for index in range(2):
            pred = np.int64(inst.pdst[index])
            if pred != NO_PRED:
                value = np.int64((packed >> np.uint64(32 * index)) & np.uint64(ALL_LANES))
                kept = np.int64(sm.warp_cold[warp].pred[pred]) & ~lanes
                sm.warp_cold[warp].pred[pred] = kept | (value & lanes)
        if written:
            return 0
    return write_registers(sm, rows, inst, warp, lanes, result_row)


@device
def fetch_registers(rows, inst, base, first_row):
    """Copy the registers that an instruction reads into the rows from `first_row` on. base: the row of the warp's R0."""
    for slot in set_bits(np.uint64(inst.src_mask) | np.uint64(inst.repeats)):
        copy_row(rows, base + np.int64(inst.src[slot]), first_row + slot)


@device
def fetch_immediates(rows, inst, first_row):
    """Fill the rows of an instruction's immediate operands."""
    for slot in set_bits(inst.imm_mask):
        value = inst.imm[slot]
        target = rows[first_row + slot].u
        for lane in range(32):
            target[lane] = value


@device
def gives_rows(inst):
    """Return whether an instruction writes exactly the rows of its results, and these are consecutive registers."""
    first = inst.dst[0]
    if IS_VECTOR[inst.op] == 0:
        return False
    return first != NO_REG and (inst.num_dst == 1 or (inst.num_dst == 2 and inst.dst[1] == first + 1))


@device
def predicate(sm, inst, warp, index):
    """Return the lanes in which a predicate operand is true."""
    pred = np.int64(inst.psrc[index])
    value = np.uint32(sm.warp_cold[warp].pred[pred]) if pred != NO_PRED else np.uint32(0)
    return value ^ np.uint32(ALL_LANES) if inst.psrc_negate[index] else value


@device
def write_registers(sm, rows, inst, warp, lanes, result_row):
    """Write an instruction's result rows to its registers."""
    base = np.int64(sm.warp[warp].reg_base)
    for row in range(inst.num_dst):
        reg = np.int64(inst.dst[row])
        if reg != NO_REG:
            if lanes == ALL_LANES:
                copy_row(rows, result_row + row, base + reg)
            else:
                copy_lanes(rows, result_row + row, base + reg, lanes)
    return 0


@device
def write_results(sm, rows, insts, slot):
    """Write the results of an in-flight instruction and free its entry."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    warp, lanes = np.int64(flight.warp), np.int64(flight.mask)
    for index in range(2):
        pred = np.int64(inst.pdst[index])
        if pred != NO_PRED:
            write_predicate(sm, warp, pred, flight.pval[index], lanes)
    write_registers(sm, rows, inst, warp, lanes, np.int64(sm.config.first_result_row) + slot * 4)
    return free_inflight(sm, slot)


@device
def write_served(sm, rows, insts):
    """Write the results of the host calls that have been served."""
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            slot = word * 64 + low
            if sm.inflight[slot].stage == WRITE_BACK:
                write_results(sm, rows, insts, slot)


@device
def write_opened(sm, rows, insts):
    """Write the results of the bar.red instructions that are to complete in the next cycle: their barrier has opened."""
    at = (np.int64(sm.cycle) + 1) & WHEEL_MASK
    slot = np.int64(sm.wheel[at])
    sm.wheel[at] = NONE8
    while slot != NONE8:
        following = np.int64(sm.wheel_next[slot])
        write_results(sm, rows, insts, slot)
        slot = following
