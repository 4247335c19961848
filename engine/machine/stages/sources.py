"""Where operands of machine code come from: registers, immediates, the constant image, uniform registers; predicates."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine.rows import copy_row
from rfview.engine.machine.stages.convergence import UNIFORM, state_row
from rfview.engine.machine.stages.special import fill
from rfview.engine.machine.stages.split_table import mark_predicates
from rfview.engine.machine_code import UNIFORM_PREDICATES
from rfview.engine.program import NO_PRED, NO_REG

ALL_LANES = 0xFFFFFFFF


@device
def scalar(sm, rows, arena, inst, warp, slot):
    """Return what a row slot that is no register holds in every lane."""
    value = np.int64(inst.imm[slot])
    if (np.int64(inst.const_mask) >> slot) & 1:
        return np.int64(arena[np.int64(sm.launch.param_word) + value // 4])
    if (np.int64(inst.uniform_mask) >> slot) & 1:
        return np.int64(rows[state_row(sm, warp, UNIFORM + (value >> 5))].u[value & 31])
    return value


@device
def lane_value(sm, rf, spec, rows, arena, inst, warp, slot, lane):
    """Return what a row slot holds in one lane: of a register its newest value."""
    if (np.int64(inst.src_mask) >> slot) & 1:
        return np.int64(rows[hooks.locate(sm, rf, spec, warp, inst.src[slot], lane)].u[lane])
    return scalar(sm, rows, arena, inst, warp, slot)


@device
def fetch_scalars(sm, rows, arena, inst, warp, first_row):
    """Fill the rows of the slots that are no registers. first_row: of slot 0."""
    for slot in set_bits(np.uint64(inst.imm_mask) | np.uint64(inst.const_mask) | np.uint64(inst.uniform_mask)):
        fill(rows, first_row + slot, scalar(sm, rows, arena, inst, warp, slot))
    return 0


@device
def fetch_registers(rows, inst, base, first_row):
    """Copy the registers that an instruction reads into the rows from `first_row` on. base: the row of the warp's R0."""
    for slot in set_bits(inst.src_mask):
        copy_row(rows, base + np.int64(inst.src[slot]), first_row + slot)


@device
def predicate(sm, inst, warp, index):
    """Return the lanes in which predicate operand `index` is true."""
    pred = np.int64(inst.psrc[index])
    value = np.int64(sm.warp_cold[warp].pred[pred]) if pred != NO_PRED else np.int64(0)
    return value ^ ALL_LANES if inst.psrc_negate[index] else value


@device
def executing(sm, inst, warp, lanes):
    """Return those of `lanes` whose guard lets them execute an instruction."""
    guard = np.int64(inst.guard)
    if guard == NO_PRED:
        return np.int64(0) if inst.guard_negate else lanes
    value = np.int64(sm.warp_cold[warp].pred[guard])
    return lanes & (~value if inst.guard_negate else value)


@device
def write_predicate(sm, warp, pred, value, lanes):
    """Write some lanes of a predicate result; a uniform predicate gets that of the first of them in all lanes."""
    if pred >= UNIFORM_PREDICATES:
        value = ALL_LANES if (value >> ctz64(np.uint64(lanes))) & 1 else 0
        lanes = ALL_LANES
    kept = np.int64(sm.warp_cold[warp].pred[pred]) & ~lanes
    sm.warp_cold[warp].pred[pred] = kept | (value & lanes)
    mark_predicates(sm, warp)


@device
def write_uniform(sm, rows, inst, warp, lanes, result_row):
    """Write an instruction's result rows to uniform registers, from the first lane of a mask."""
    lane = ctz64(np.uint64(lanes))
    for row in range(inst.num_dst):
        reg = np.int64(inst.dst[row])
        if reg != NO_REG:
            rows[state_row(sm, warp, UNIFORM + (reg >> 5))].u[reg & 31] = rows[result_row + row].u[lane]
    return 0
