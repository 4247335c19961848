"""Checks CTA barriers: arrivals, the order that waiting establishes, and barriers that not all threads reach."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import BARRIER_EXITED, BARRIER_PART, WHOLE_WARP
from rfview.engine.check.note import NO_OTHER, note, note_other
from rfview.engine.check.order import known_of, sync_lanes
from rfview.engine.check.registers import instruction_at
from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device
from rfview.engine.isa import BAR_ARRIVE
from rfview.engine.program import NO_REG, SPACE_NONE
from rfview.engine.state import MAX_WARPS, NONE8, NUM_BARRIERS


@device
def number_of(check, sm, inst, slot):
    """Return the number of the barrier at which a warp has just arrived; -1 if it is no longer known."""
    if np.int64(inst.src[0]) == NO_REG:
        return np.int64(inst.imm[0]) & (NUM_BARRIERS - 1)
    if sm.warp[slot].barrier != NONE8:
        return np.int64(sm.warp[slot].barrier)
    # it was the last one and the barrier is open: the others that leave it have its number
    first = check.warp[slot].first_slot
    for other in range(first, first + check.cta_warps):
        if sm.warp[other].open_cycle == sm.warp[slot].open_cycle and check.warp[other].barrier != 0:
            return check.warp[other].barrier - 1
    return np.int64(-1)


@device
def arrive(check, sm, inst, slot, pc, lanes):
    """Process an arrival at a barrier."""
    me = check.warp[slot]
    if instruction_at(check, pc).facts & WHOLE_WARP:
        check_whole(check, sm, inst, slot, pc, lanes, ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF)
    number = number_of(check, sm, inst, slot)
    if number < 0:
        return
    barrier = check.barrier[sm.warp[slot].cta, number]
    if barrier.is_open != 0:
        barrier.is_open = 0
        barrier.arrived = 0
        for other in range(MAX_WARPS):
            barrier.clock[other] = 0
    for other in range(me.first_slot, me.first_slot + check.cta_warps):
        barrier.clock[other] = max(barrier.clock[other], check.clock[slot, other])
    me.clock += 1
    barrier.clock[slot] = me.clock
    barrier.arrived |= bit64(slot)
    if inst.aux != BAR_ARRIVE:
        me.barrier = number + 1
        me.barrier_lanes |= lanes
        me.barrier_pc = pc


@device
def check_whole(check, sm, inst, slot, pc, lanes, live):
    """Note an aligned barrier that lanes of a warp reach at different places, or pass before others arrive (see leave).

    Lanes that arrive one after the other at the same place would be together on a GPU: after a spin loop, from which the
    machine lets some lanes go first.
    """
    me = check.warp[slot]
    is_elsewhere = me.barrier != 0 and me.barrier_pc != pc
    if lanes != live and (is_elsewhere or inst.aux == BAR_ARRIVE):
        me.missing = 0
        note(check, sm, BARRIER_PART, slot, ctz64(np.uint64(live & ~lanes)), pc, NO_OTHER, 0, SPACE_NONE, lanes)
    elif lanes != live:
        me.missing = (me.missing | live) & ~(me.barrier_lanes | lanes)


@device
def leave(check, sm, insts, slot):
    """Process a warp's leaving an open barrier: it now knows what all that arrived did before."""
    me = check.warp[slot]
    if me.barrier == 0:
        return
    barrier = check.barrier[sm.warp[slot].cta, me.barrier - 1]
    for other in range(me.first_slot, me.first_slot + check.cta_warps):
        check.clock[slot, other] = max(check.clock[slot, other], barrier.clock[other])
        if barrier.arrived & bit64(other) != 0 and other != slot and check.warp[other].knows_others != 0:
            for warp in range(check.grid_warps):
                known = known_of(check, slot, warp)
                known.clock = max(known.clock, known_of(check, other, warp).clock)
            me.knows_others = 1
    live = ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF
    sync_lanes(check, slot, me.barrier_lanes & live, live)
    if me.missing != 0:
        note(check, sm, BARRIER_PART, slot, ctz64(np.uint64(me.missing)), me.barrier_pc, NO_OTHER, 0, SPACE_NONE,
             me.barrier_lanes)
        me.missing = 0
    inst = insts[me.barrier_pc]
    if np.int64(inst.src[2]) == NO_REG and inst.imm[2] == 0:
        check_ended(check, sm, slot, me.barrier_pc)
    me.barrier = 0
    me.barrier_lanes = 0
    barrier.is_open = 1


@device
def check_ended(check, sm, slot, pc):
    """Note a barrier of the whole CTA that opened without threads that had ended before."""
    first = check.warp[slot].first_slot
    for other in range(first, first + check.cta_warps):
        gone = check.warp[other]
        if gone.exit_lanes != 0:
            at = note(check, sm, BARRIER_EXITED, slot, 0, pc, gone.exit_pc, 0, SPACE_NONE, 0)
            note_other(check, at, gone.id, ctz64(np.uint64(gone.exit_lanes)), gone.exit_moment)
            return
