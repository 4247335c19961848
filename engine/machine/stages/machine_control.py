"""Control instructions of machine code: branches, jumps, convergence barriers, CTA barriers, exit, traps."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import BRANCHES, DIVERGENT_BRANCHES
from rfview.engine.fault_codes import BARRIER, CALL, TRAP
from rfview.engine.isa import (BAR_ARRIVE, BAR_RED_AND, BAR_RED_OR, BAR_RED_POPC, BAR_SYNC, BRA_CONV, BRA_DIV, BRA_IF,
                               BREAK_IF, OP_BAR, OP_BRA, OP_BREAK, OP_BSSY, OP_BSYNC, OP_ENDCOLLECTIVE, OP_EXIT, OP_JUMP,
                               OP_MEMBAR, OP_NANOSLEEP, OP_TRAP, OP_WARPSYNC, OP_YIELD, WARPSYNC_COLLECTIVE)
from rfview.engine.machine.stages import barriers
from rfview.engine.machine.stages.control import end_warp, fault
from rfview.engine.machine.stages.convergence import (AFTER, RESULT, choose, count_turn, fill_lanes, free_split, join, jump,
                                                      park, release, state_row, wait)
from rfview.engine.machine.stages.sources import lane_value, predicate
from rfview.engine.machine.stages.split_table import add_child
from rfview.engine.machine.stages.splits import stop
from rfview.engine.machine_code import CODE_BASE
from rfview.engine.program import NO_PC
from rfview.engine.state import MAX_SPLITS, NONE8, NUM_BARRIERS, SPLIT_BARRIER, SPLIT_BSYNC, SPLIT_SYNC


@device
def execute(sm, rf, spec, rows, insts, arena, warp, pc, lanes, active):
    """Execute a control instruction, behind which the split is already.

    lanes: those of `active`, the lanes of the split, for which the guard holds.
    """
    inst = insts[pc]
    op = inst.op
    if op == OP_BRA and inst.aux & (BRA_DIV | BRA_CONV) != 0:
        branch_on_divergence(sm, rf, spec, rows, arena, inst, warp, lanes, active)
        return
    if lanes == 0:
        return
    first = ctz64(np.uint64(lanes))
    if op == OP_BRA:
        branch(sm, inst, warp, lanes, active)
        count_backward(sm, rows, warp, pc)
    elif op == OP_JUMP:
        jump_through(sm, rf, spec, rows, insts, arena, inst, warp, pc, lanes)
        count_backward(sm, rows, warp, pc)
    elif op == OP_EXIT:
        leave(sm, rows, warp, lanes & predicate(sm, inst, warp, 0) if inst.aux & BRA_IF else lanes)
    elif op == OP_BSSY:
        fill_lanes(sm, rows, state_row(sm, warp, np.int64(inst.aux) & 15), lanes, lanes)
    elif op == OP_BSYNC:
        wait(sm, rows, warp, pc, lanes, SPLIT_BSYNC, np.int64(inst.aux) & 15, 0)
    elif op == OP_BREAK:
        leaving = lanes & predicate(sm, inst, warp, 0) if inst.aux & BREAK_IF else lanes
        leave_barrier(sm, rows, warp, np.int64(inst.aux) & 15, leaving)
    elif op == OP_WARPSYNC:
        meet(sm, rf, spec, rows, arena, inst, warp, pc, lanes)
    elif op == OP_ENDCOLLECTIVE:
        go_apart(sm, rows, warp, lanes)
    elif op == OP_BAR:
        barrier(sm, rf, spec, rows, arena, inst, warp, pc, lanes, active)
    elif op == OP_YIELD:
        if sm.warp[warp].num_splits > 1:
            count_turn(sm, rows, warp, True)
    elif op == OP_NANOSLEEP:
        nanoseconds = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, first)
        sm.warp[warp].wake_cycle = sm.cycle + max(1, nanoseconds * np.int64(sm.config.clock_mhz) // 1000)
    elif op == OP_TRAP:
        fault(sm, TRAP, warp, first, pc, 0, 0)
    elif op == OP_MEMBAR:       # a loop with a fence may wait for what others store
        sm.warp[warp].polled = 1


@device
def count_backward(sm, rows, warp, pc):
    """End the turn of a split that has gone backwards often while others of its warp wait for theirs."""
    entry = sm.warp[warp]
    if entry.split == NONE8 or np.int64(entry.pc) > pc or entry.num_splits <= 1:
        return 0
    polled = entry.polled != 0
    entry.polled = 0
    return count_turn(sm, rows, warp, polled)


@device
def branch(sm, inst, warp, lanes, active):
    """BRA, also if a predicate holds."""
    sm.events[BRANCHES] += 1
    if inst.aux & BRA_IF:
        lanes &= predicate(sm, inst, warp, 0)
    go(sm, warp, lanes, active, np.int64(inst.target))


@device
def branch_on_divergence(sm, rf, spec, rows, arena, inst, warp, lanes, active):
    """BRA.DIV and BRA.CONV: the split branches as a whole if `lanes` are not, or are, all live lanes of a mask."""
    sm.events[BRANCHES] += 1
    mask = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, ctz64(np.uint64(active)))
    diverged = lanes != mask & ~np.int64(sm.warp[warp].exited)
    if diverged == (inst.aux & BRA_DIV != 0):
        go(sm, warp, active, active, np.int64(inst.target))


@device
def go(sm, warp, lanes, active, target):
    """Let lanes of a split jump, and count it if others do not."""
    if lanes == 0:
        return
    if lanes != active:
        sm.events[DIVERGENT_BRANCHES] += 1
    jump(sm, warp, lanes, target)


@device
def jump_through(sm, rf, spec, rows, insts, arena, inst, warp, pc, lanes):
    """Jump to the address that each lane holds: a code address, or relative to INST.target."""
    sm.events[BRANCHES] += 1
    if inst.aux & BRA_IF:
        lanes &= predicate(sm, inst, warp, 0)
    left = lanes
    while left != 0:
        first = ctz64(np.uint64(left))
        target = np.int64(-1)
        group = np.int64(0)
        for lane in set_bits(left):
            place = destination(sm, rf, spec, rows, arena, inst, warp, lane)
            if lane == first:
                target = place
            if place == target:
                group |= np.int64(1) << lane
        left &= ~group
        if target < 0 or target >= len(insts):
            low = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, first)
            high = lane_value(sm, rf, spec, rows, arena, inst, warp, 1, first)
            return fault(sm, CALL, warp, first, pc, high << 32 | low, 0)
        go(sm, warp, group, np.int64(sm.warp[warp].mask), target)
    return 0


@device
def destination(sm, rf, spec, rows, arena, inst, warp, lane):
    """Return the pc that a lane's operand of JUMP means."""
    low = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, lane)
    high = lane_value(sm, rf, spec, rows, arena, inst, warp, 1, lane)
    if high == CODE_BASE >> 32:
        return (low + np.int64(inst.offset)) >> 4
    signed = low - ((low & 0x80000000) << 1)
    return np.int64(inst.target) + ((signed + np.int64(inst.offset)) >> 4)


@device
def leave(sm, rows, warp, lanes):
    """End lanes; what waited for them goes on."""
    entry = sm.warp[warp]
    cta = np.int64(entry.cta)
    entry.exited = np.int64(entry.exited) | lanes
    sm.cta[cta].live_threads -= popcount(np.uint64(lanes))
    rest = np.int64(entry.mask) & ~lanes
    entry.mask = rest
    if rest == 0:
        free_split(sm, warp, entry.split)
        entry.split = NONE8
    release(sm, rows, warp)
    if np.int64(entry.exited) == 0xFFFFFFFF:
        stop(sm, warp)
        end_warp(sm, warp, cta)
    for number in range(NUM_BARRIERS):
        open_complete(sm, rows, cta, number)
    return go_on_elsewhere(sm, rows, warp)


@device
def leave_barrier(sm, rows, warp, barrier, lanes):
    """BREAK: take lanes out of a convergence barrier, as all lanes see it."""
    row = state_row(sm, warp, barrier)
    for lane in range(32):
        rows[row].u[lane] = np.int64(rows[row].u[lane]) & ~lanes
    fill_lanes(sm, rows, row, 0, 0)
    release(sm, rows, warp)


@device
def meet(sm, rf, spec, rows, arena, inst, warp, pc, lanes):
    """WARPSYNC: wait for the members that each lane names; collective: to go on at one place until ENDCOLLECTIVE."""
    if inst.aux == WARPSYNC_COLLECTIVE:
        fill_lanes(sm, rows, state_row(sm, warp, AFTER), lanes, np.int64(inst.target))
    table = sm.warp_cold[warp].split
    index = np.int64(sm.warp[warp].split)
    park(sm, warp, pc, lanes, SPLIT_SYNC, np.int64(inst.aux), 0)
    left = np.int64(lanes)
    while left != 0:            # lanes with other members wait apart
        first = ctz64(np.uint64(left))
        members, others = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, first), np.int64(0)
        for lane in range(first + 1, 32):
            if (left >> lane) & 1 and lane_value(sm, rf, spec, rows, arena, inst, warp, 0, lane) != members:
                others |= np.int64(1) << lane
        table[index].sync_mask = members
        table[index].mask = left & ~others
        left = others
        if left != 0:
            index = np.int64(add_child(sm, warp, NONE8, pc, NO_PC, left))
            table[index].state = SPLIT_SYNC
            table[index].pending = np.int64(inst.aux)
    release(sm, rows, warp)
    return choose(sm, rows, warp)


@device
def go_apart(sm, rows, warp, lanes):
    """ENDCOLLECTIVE: let each lane go on where its WARPSYNC says."""
    places = rows[state_row(sm, warp, AFTER)].u
    left = lanes
    while left != 0:
        target = np.int64(places[ctz64(np.uint64(left))])
        group = np.int64(0)
        for lane in range(32):
            if (left >> lane) & 1 and np.int64(places[lane]) == target:
                group |= np.int64(1) << lane
        left &= ~group
        jump(sm, warp, group, target)


@device
def barrier(sm, rf, spec, rows, arena, inst, warp, pc, lanes, active):
    """Arrive at a CTA barrier with the whole split, lanes off by guard too, and wait there; BAR.ARV: with `lanes` only."""
    kind = np.int64(inst.aux)
    first = ctz64(np.uint64(lanes))
    number = lane_value(sm, rf, spec, rows, arena, inst, warp, 0, first)
    count = lane_value(sm, rf, spec, rows, arena, inst, warp, 2, first)
    if np.int64(inst.imm_mask) & 1 == 0:        # a register has the number in bits 0..3
        number &= 15
    if np.int64(inst.imm_mask) & 4 == 0:        # and the number of threads in bits 16..27
        count = (count >> 16) & 0xFFF
    if number >= NUM_BARRIERS:
        return fault(sm, BARRIER, warp, first, pc, number, 0)
    cta = np.int64(sm.warp[warp].cta)
    if kind == BAR_ARRIVE:
        barriers.count_arrivals(sm, cta, number, lanes, count, 0)
    else:
        votes = predicate(sm, inst, warp, 0) & lanes if kind != BAR_SYNC else np.int64(0)
        barriers.count_arrivals(sm, cta, number, active, count, votes)
        sm.warp[warp].barrier = number
        park(sm, warp, pc, active, SPLIT_BARRIER, kind, number)
    open_complete(sm, rows, cta, number)
    return go_on_elsewhere(sm, rows, warp)


@device
def go_on_elsewhere(sm, rows, warp):
    """Run another split of a live warp that has none running."""
    entry = sm.warp[warp]
    if entry.split == NONE8 and np.int64(entry.exited) != 0xFFFFFFFF:
        choose(sm, rows, warp)
    return 0


@device
def open_complete(sm, rows, cta, number):
    """Let all go on that wait at a CTA barrier, if all threads it waits for have arrived."""
    if not barriers.takes_all(sm, cta, number):
        return 0
    counter = sm.barrier[cta][number]
    first = np.int64(sm.cta[cta].first_warp)
    for warp in range(first, first + np.int64(sm.cta[cta].num_warps)):
        if np.uint64(sm.unfinished) & bit64(warp) != 0:
            pass_barrier(sm, rows, warp, number, counter)
    return 1


@device
def pass_barrier(sm, rows, warp, number, counter):
    """Let the splits of a warp go on that wait at a CTA barrier, those of one place together; note the result of BAR.RED."""
    entry = sm.warp[warp]
    table = sm.warp_cold[warp].split
    waits = 0
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state != SPLIT_BARRIER:
            continue
        if split.sync_mask != number:
            waits = 1
            continue
        lanes, kind, pc = np.int64(split.mask), np.int64(split.pending), np.int64(split.pc)
        value = np.int64(counter.red_count)
        if kind == BAR_RED_AND:
            value = np.int64(counter.red_and)
        elif kind == BAR_RED_OR:
            value = np.int64(counter.red_or)
        if kind == BAR_RED_POPC or kind == BAR_RED_AND or kind == BAR_RED_OR:
            fill_lanes(sm, rows, state_row(sm, warp, RESULT), lanes, value)
        free_split(sm, warp, index)
        join(sm, warp, lanes, pc + 1)
    if waits == 0:
        entry.barrier = NONE8
    if entry.split == NONE8:
        choose(sm, rows, warp)
        entry.open_cycle = sm.cycle
