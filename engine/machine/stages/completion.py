"""The timing wheel: the in-flight instructions whose execution or memory access ends in this cycle."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.device import device
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.scoreboard import free_inflight
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.machine.stages.split_table import mark_predicates
from rfview.engine.machine.stages.write_back import queue_result
from rfview.engine.state import NONE8, WHEEL_SIZE, WRITE_BACK

WHEEL_MASK = WHEEL_SIZE - 1


@device
def schedule(sm, slot, done_cycle):
    """Let in-flight entry `slot` complete at `done_cycle`, which is in the future."""
    sm.inflight[slot].done_cycle = done_cycle
    return wait_until(sm, slot, done_cycle)


@device
def wait_until(sm, slot, cycle):
    """Let the wheel bring in-flight entry `slot` up again in a cycle, which is in the future."""
    wheel_slot = np.int64(cycle) & WHEEL_MASK
    sm.wheel_next[slot] = sm.wheel[wheel_slot]
    sm.wheel[wheel_slot] = slot
    return 0


@device
def end_is_known(flight):
    """Return whether the cycle in which an in-flight instruction ends is known: an end is later than the issue.

    Until then `done_cycle` is that of the entry's previous instruction, which had ended by then: no value for "unknown"
    is stored, because every word that changes is recorded.
    """
    return flight.done_cycle > flight.issue_cycle


@device
def complete(sm, rf, spec, rows, insts):
    """Move every instruction that ends in this cycle to write-back; write its predicates, whose file has no ports."""
    wheel_slot = np.int64(sm.cycle) & WHEEL_MASK
    slot = np.int64(sm.wheel[wheel_slot])
    sm.wheel[wheel_slot] = NONE8
    while slot != NONE8:
        following = np.int64(sm.wheel_next[slot])
        if sm.inflight[slot].done_cycle > sm.cycle:
            wait_until(sm, slot, sm.inflight[slot].done_cycle)
        else:
            end_execution(sm, rf, spec, rows, insts, slot)
        slot = following


@device
def end_execution(sm, rf, spec, rows, insts, slot):
    """Write the predicate results of an instruction and queue its registers for write-back."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    warp = np.int64(flight.warp)
    if inst.dst_preds != 0:
        for index in range(2):
            pred = np.int64(inst.pdst[index])
            if pred != NONE8:
                write_predicate(sm, warp, pred, flight.pval[index], flight.mask)
        reconsider(sm, warp)
    touch_inflight(sm, slot)
    if flight.unwritten == 0:
        hooks.on_retire(sm, rf, spec, rows, slot, inst)
        return free_inflight(sm, slot)
    flight.stage = WRITE_BACK
    flight.since_cycle = sm.cycle
    return queue_result(sm, slot)


@device
def write_predicate(sm, warp, pred, value, mask):
    """Merge a predicate result under its lane mask and free the predicate in the scoreboard."""
    old = np.int64(sm.warp_cold[warp].pred[pred])
    lanes = np.int64(mask)
    sm.warp_cold[warp].pred[pred] = (old & ~lanes) | (np.int64(value) & lanes)
    sm.warp[warp].sb_pred = np.int64(sm.warp[warp].sb_pred) & ~(np.int64(1) << pred)
    mark_predicates(sm, warp)


@device
def next_completion(sm, limit):
    """Return the first cycle from now on in which something completes, at most `limit`."""
    cycle = np.int64(sm.cycle)
    last = min(np.int64(limit), cycle + WHEEL_SIZE)
    while cycle < last:
        slot = np.int64(sm.wheel[cycle & WHEEL_MASK])
        if slot != NONE8:
            return cycle
        cycle += 1
    return last


