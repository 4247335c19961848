"""One warp instruction of machine code that is no control instruction: operands, results and memory, complete at once."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.functional.gather import move_words, operand_row
from rfview.engine.functional.steps import write_registers
from rfview.engine.isa import (FLAG_ATOM_GLOBAL, FLAG_ATOM_SUCCESS, OP_ASSERTFAIL, OP_LDGSTS, OP_PLOP3, OP_PRINTF, OP_SREG,
                               OP_SULD, OP_TEX)
from rfview.engine.machine.rows import copy_row
from rfview.engine.machine.stages import compound, memory
from rfview.engine.machine.stages.inflight import take
from rfview.engine.machine.stages.machine_state import (move_state, note_global, note_success, slots, unite_address,
                                                          write_predicates)
from rfview.engine.machine.stages.sources import ALL_LANES, fetch_registers, fetch_scalars, predicate, write_uniform
from rfview.engine.machine.stages.special import special_register
from rfview.engine.machine_code import NUM_MACHINE_ROWS
from rfview.engine.program import NO_REG, NUM_DST_ROWS, UNIT_LDST
from rfview.engine.state import WRITE_BACK
from rfview.engine.values.lanes import BODIES, MACHINE_BODIES
from rfview.engine.values.machine import execute_machine
from rfview.engine.values.machine_operands import modify
from rfview.engine.values.words import handle

IS_VECTOR = np.array([op in BODIES or op in MACHINE_BODIES for op in range(1 << 8)], np.uint8)


@device
def perform_step(sm, key, rows, insts, arena, regions, log, mem_index, warp, pc, lanes, own):
    """Execute an instruction for `lanes` and write its results. own: `memory_of`."""
    inst = insts[pc]
    first_row = np.int64(sm.config.first_collector_row)
    base = np.int64(sm.warp[warp].reg_base)
    fetch_scalars(sm, rows, arena, inst, warp, first_row)
    if inst.unit == UNIT_LDST:
        return access(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, lanes, own, base, first_row)
    fetch_registers(rows, inst, base, first_row)
    for operand in range(3):
        if inst.modify[operand] != 0:
            modify(handle(rows), first_row + 2 * operand, inst.modify[operand])
    result_row = first_row + NUM_MACHINE_ROWS
    if inst.op >= OP_PLOP3:
        move_state(sm, rows, inst, warp, lanes, first_row, result_row)
    elif inst.op == OP_SREG:
        special_register(sm, rows, inst, warp, np.int64(sm.cycle), result_row)
    else:
        written = lanes == ALL_LANES and gives_rows(inst)
        if written:         # straight into its registers
            result_row = base + np.int64(inst.dst[0])
        packed = np.uint64(execute_machine(inst, rows, first_row, result_row, np.uint32(lanes),
                                           predicate(sm, inst, warp, 0), predicate(sm, inst, warp, 1)))
        if written:
            return 0
        write_predicates(sm, inst, warp, packed, lanes)
    return write_results(sm, rows, inst, warp, lanes, result_row)


@device
def gives_rows(inst):
    """Return whether an instruction writes exactly the rows of its results, and these are consecutive registers."""
    first = inst.dst[0]
    if IS_VECTOR[inst.op] == 0 or inst.dst_uniform != 0:
        return False
    return first != NO_REG and (inst.num_dst == 1 or (inst.num_dst == 2 and inst.dst[1] == first + 1))


@device
def write_results(sm, rows, inst, warp, lanes, result_row):
    """Write result rows to registers, or to uniform registers."""
    if inst.dst_uniform != 0:
        return write_uniform(sm, rows, inst, warp, lanes, result_row)
    return write_registers(sm, rows, inst, warp, lanes, result_row)


@device
def access(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, lanes, own, base, first_row):
    """Execute a memory instruction, whose slots that are no registers are in their rows."""
    result_row = first_row + NUM_MACHINE_ROWS
    copied = predicate(sm, inst, warp, 0) if inst.op == OP_LDGSTS else ALL_LANES
    if inst.op == OP_PRINTF or inst.op == OP_ASSERTFAIL:
        fetch_registers(rows, inst, base, first_row)
        slot = take(sm, warp, pc, lanes, lanes, inst)
        sm.inflight[slot].stage = WRITE_BACK
        return memory.call_host(sm, rows, inst, slot, first_row, np.int64(sm.config.first_result_row) + slot * 4)
    if inst.op == OP_TEX or inst.op >= OP_SULD:
        fetch_registers(rows, inst, base, first_row)
    else:
        low, high, first_slot = operand_row(inst, 0, base, first_row), operand_row(inst, 1, base, first_row), 0
        if inst.scale != 0 or slots(inst) & 0xC0 != 0:
            for slot in (0, 1, 6, 7):
                if (np.int64(inst.src_mask) >> slot) & 1:
                    copy_row(rows, base + np.int64(inst.src[slot]), first_row + slot)
            unite_address(rows, inst, first_row)
            low, high, first_slot = first_row, first_row + 1, 2
        if inst.dst_uniform == 0 and inst.op < OP_LDGSTS and move_words(
                inst, handle(rows), base, first_row, low, high, np.uint32(lanes), handle(arena), handle(regions),
                len(regions), own, handle(sm.scratch)):
            return 0
        for slot in range(first_slot, 6):
            if (np.int64(inst.src_mask) >> slot) & 1:
                copy_row(rows, base + np.int64(inst.src[slot]), first_row + slot)
    reached = np.int64(lanes)
    if inst["flags"] & FLAG_ATOM_GLOBAL != 0:
        reached = note_global(rows, inst, lanes, first_row, result_row)
        write_predicates(sm, inst, warp, np.uint64(reached), lanes)
    if reached != 0:
        compound.perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, pc, reached, copied, first_row,
                         result_row, result_row + NUM_DST_ROWS, own)
    if sm.error != 0:
        return 0
    if inst["flags"] & FLAG_ATOM_SUCCESS != 0:
        write_predicates(sm, inst, warp, np.uint64(note_success(rows, inst, lanes, first_row, result_row)), lanes)
    return write_results(sm, rows, inst, warp, lanes, result_row)
