"""The in-flight table: an entry for every issued instruction until it is written back and released."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device
from rfview.engine.program import MEM_NONE, NO_PRED, NO_REG, WAIT_LONG
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages import split_table
from rfview.engine.state import COLLECT, MAX_INFLIGHT, NONE8

INFLIGHT_LIMIT = MAX_INFLIGHT - 1


@device
def take(sm, warp, pc, lanes, active, inst):
    """Take a free in-flight entry for an issued instruction; its stage is COLLECT until it has its operands."""
    slot = np.int64(0)
    for word in range(MAX_INFLIGHT // 64):
        used = np.uint64(sm.inflight_used[word])
        if ~used != 0:
            low = ctz64(~used)
            slot = word * 64 + low
            if slot < INFLIGHT_LIMIT:
                sm.inflight_used[word] = used | bit64(low)
                break
    flight = sm.inflight[slot]
    flight.issue_cycle = sm.cycle
    flight.since_cycle = sm.cycle
    flight.seq = sm.seq
    sm.seq += 1
    flight.pc = pc
    flight.mask = lanes
    flight.active = active
    flight.warp = warp
    flight.unit = inst.unit
    flight.stage = COLLECT
    flight.collector = NONE8
    flight.pipe = NONE8
    flight.code = 0
    flight.refused = 0
    flight.missed = 0
    flight.transactions = 0
    for index in range(2):
        flight.pval[index] = 0
    sm.num_inflight[warp] += 1
    touch_inflight(sm, slot)
    return slot


@device
def allocate(sm, warp, pc, lanes, active, inst):
    """Take an in-flight entry for an issued instruction and hold its results in the scoreboard."""
    slot = take(sm, warp, pc, lanes, active, inst)
    flight = sm.inflight[slot]
    entry = sm.warp[warp]
    cold = sm.warp_cold[warp]
    for index in range(2):
        pred = np.int64(inst.psrc[index])
        value = np.int64(cold.pred[pred]) if pred != NO_PRED else np.int64(0)
        flight.psrc[index] = (value ^ 0xFFFFFFFF) if inst.psrc_negate[index] else value
        result = np.int64(inst.pdst[index])
        if result != NO_PRED:
            cold.pred_producer[result] = slot
    unwritten = 0
    for row in range(inst.num_dst):
        reg = np.int64(inst.dst[row])
        if reg != NO_REG:
            unwritten |= 1 << row
            sm.producer[warp, reg] = slot
    flight.unwritten = unwritten
    sm.unreleased[slot] = inst.dst_regs
    if inst.dst_preds != 0:
        split_table.mark_producers(sm, warp)
    entry.sb_write = np.uint64(entry.sb_write) | np.uint64(inst.dst_regs)
    if inst.wait_class == WAIT_LONG:
        entry.sb_long = np.uint64(entry.sb_long) | np.uint64(inst.dst_regs)
    entry.sb_pred = np.int64(entry.sb_pred) | np.int64(inst.dst_preds)
    if inst.memory_kind != MEM_NONE:
        sm.mem_pending[warp] += 1
    return slot
