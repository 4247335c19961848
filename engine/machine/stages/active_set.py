"""Active sets: the few warps of a scheduler that may issue (RFC section 3.2), or the one (HRF section 4.3).

At the start of every cycle's issue, an active warp that waits for a long-latency result, a barrier, a membar or other
lanes, or that has ended, leaves (rules B0.5, B0.6, B2.4); the design's on_leave may delay it for its own work.
A free place goes to the next ready warp in round-robin order, or, with outer = next, to the next warp, ready or not, which
leaves again in the next cycle if it still waits (B0.20). Parity of warp ids can be made to alternate: "strict" takes the
same parity only when no unfinished warp of the other waits for memory.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers.round_robin import next_from
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import ACTIVE, LEAVING, NONE8, OUTSIDE

PARITY_OFF, PARITY_PREFER, PARITY_STRICT = 0, 1, 2
SUSPEND_PENDING, SUSPEND_MARKED = 0, 1
OUTER_READY, OUTER_NEXT = 0, 1
EVEN = np.uint64(0x5555555555555555)


@device
def manage(sm, rf, spec, rows, insts):
    """Let warps leave and join the active set of every scheduler."""
    for scheduler in range(sm.config.num_schedulers):
        leave(sm, rf, spec, rows, insts, scheduler)
        join(sm, rf, spec, rows, insts, scheduler)


@device
def leave(sm, rf, spec, rows, insts, scheduler):
    """Remove active warps that wait for something long, once the design releases them."""
    for warp in set_bits(sm.scheduler[scheduler].active):
        entry = sm.warp[warp]
        gone = np.uint64(sm.unfinished) & bit64(warp) == 0
        if not gone and entry.membership == ACTIVE and not must_leave(sm, insts, warp):
            continue
        code = 0
        if not gone:
            entry.membership = LEAVING
            code = hooks.on_leave(sm, rf, spec, rows, warp)
            reconsider(sm, warp)
        entry.leave_code = code
        if code == 0:
            entry.membership = OUTSIDE
            sm.scheduler[scheduler].active = np.uint64(sm.scheduler[scheduler].active) & ~bit64(warp)


@device
def must_leave(sm, insts, warp):
    """Return whether a warp waits for a barrier, a membar, other lanes, or a long-latency result."""
    entry = sm.warp[warp]
    if entry.split == NONE8:
        return True
    inst = insts[entry.pc]
    if sm.mem_pending[warp] != 0 and inst.waits_for_memory != 0:
        return True
    if sm.config.suspend == SUSPEND_MARKED and inst.long_source != 0 and entry.suspended_pc != entry.pc:
        entry.suspended_pc = entry.pc
        return True
    return np.uint64(entry.sb_long) & np.uint64(inst.need_regs) != 0


@device
def may_join(sm, insts, warp):
    """Return whether a warp outside the active set could run."""
    entry = sm.warp[warp]
    if entry.split == NONE8:
        return False
    inst = insts[entry.pc]
    if sm.mem_pending[warp] != 0 and inst.waits_for_memory != 0:
        return False
    return np.uint64(entry.sb_long) & np.uint64(inst.need_regs) == 0


@device
def join(sm, rf, spec, rows, insts, scheduler):
    """Fill free places with ready warps, or with any, round robin by warp id."""
    state = sm.scheduler[scheduler]
    takes_any = sm.config.outer_policy == OUTER_NEXT
    free = np.int64(sm.config.active_places) - popcount(np.uint64(state.active))
    while free > 0:
        outside = np.uint64(sm.unfinished) & np.uint64(sm.scheduler_mask[scheduler]) & ~np.uint64(state.active)
        ready = np.uint64(0)
        for warp in set_bits(outside):
            if takes_any or may_join(sm, insts, warp):
                ready |= bit64(warp)
        if ready == 0:
            return
        warp = choose(sm, scheduler, ready)
        if warp < 0:
            return
        state.active = np.uint64(state.active) | bit64(warp)
        sm.warp[warp].membership = ACTIVE
        sm.warp[warp].leave_code = 0
        state.join_pointer = (warp + 1) & 63
        state.joined_warp = warp
        state.parity_pointer[warp & 1] = (warp + 2) & 63
        reconsider(sm, warp)
        hooks.on_join(sm, rf, spec, rows, warp)
        free -= 1


@device
def choose(sm, scheduler, ready):
    """Return the ready warp that joins next, or -1 if strict parity keeps the place empty."""
    state = sm.scheduler[scheduler]
    last = np.int64(state.joined_warp)
    if sm.config.parity == PARITY_OFF or last == NONE8:
        return next_from(ready, np.int64(state.join_pointer))
    other_mask = EVEN if last & 1 else ~EVEN
    other = ready & other_mask
    if other != 0:
        return next_from(other, np.int64(state.parity_pointer[1 - (last & 1)]))
    if sm.config.parity == PARITY_STRICT and waits_on_memory(sm, scheduler, other_mask):
        return np.int64(-1)
    return next_from(ready, np.int64(state.parity_pointer[last & 1]))


@device
def waits_on_memory(sm, scheduler, warps):
    """Return whether an unfinished warp among `warps` waits for memory rather than at a barrier."""
    for warp in set_bits(np.uint64(sm.unfinished) & np.uint64(sm.scheduler_mask[scheduler]) & warps):
        if sm.warp[warp].split != NONE8:
            return True
    return False
