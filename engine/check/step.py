"""The stage that starts execution, with the checker: the machine's unchanged code, and checks before and after it.

The machine calls this stage by symbol, so that a checking process can put this one in its place
(engine/check/machine.py). What was issued since the last call shows in the warps and collectors, what starts now in the
collectors that the stage has emptied. Nothing of the machine's state is written.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.check.barriers import arrive, leave
from rfview.engine.check.lanes import check_members, check_warp_barrier
from rfview.engine.check.layout import BETWEEN_LANES, CHECK, CTA_FENCE, DATA_ROWS, POINTER
from rfview.engine.check.memory import check_access
from rfview.engine.check.order import fence, forget, known_of, sync_lanes
from rfview.engine.check.registers import check_registers, instruction_at
from rfview.engine.compile.bits import array_at, bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import INSTRUCTIONS
from rfview.engine.isa import BAR_ARRIVE, OP_BAR, OP_BAR_WARP, OP_EXIT, OP_MEMBAR, OP_TEX
from rfview.engine.machine.stages.execution import start_execution
from rfview.engine.program import MEM_NONE, NO_PRED, NUM_SRC_ROWS, UNIT_CTRL, UNIT_LDST
from rfview.engine.state import FREE, MAX_INFLIGHT, MAX_SPLITS, MAX_WARPS, NONE8, SPLIT_SYNC


@device
def follow(check, sm, insts):
    """Process what has been issued since the last call."""
    if check.launch != sm.launch.index + 1:
        begin_launch(check, sm)
    issued = sm.events[INSTRUCTIONS] != check.num_issued
    check.num_issued = sm.events[INSTRUCTIONS]
    opened = np.uint64(0)
    for slot in set_bits(sm.resident):
        entry = sm.warp[slot]
        me = check.warp[slot]
        if not note_warp(check, sm, slot) and issued and me.num_issued != entry.num_issued:
            follow_issued(check, sm, insts[entry.last_pc], slot, np.int64(entry.last_pc), me.mask)
        if me.open_cycle != entry.open_cycle:
            opened |= bit64(slot)
            me.open_cycle = entry.open_cycle
        me.num_issued = entry.num_issued
        me.mask = entry.mask
        if entry.num_splits > 1 and entry.split != NONE8 and insts[entry.pc].op == OP_BAR_WARP:
            me.mask |= partners(sm, slot, np.int64(insts[entry.pc].collective), me.mask)
    leave_opened(check, sm, insts, opened)
    follow_collected(check, sm)
    check.seq = sm.seq


@device
def note_warp(check, sm, slot):
    """Begin a slot's warp if that is new; return whether it is."""
    entry = sm.warp[slot]
    cta = sm.cta[entry.cta]
    number = check.first_id + 1 + np.int64(cta.id) * check.cta_warps + np.int64(entry.warp_in_cta)
    if check.warp[slot].id == number:
        return False
    begin_warp(check, slot, number, cta.first_warp)
    check.warp[slot].open_cycle = entry.open_cycle
    return True


@device
def leave_opened(check, sm, insts, opened):
    """Let the warps `opened` leave the barriers at which they have waited."""
    for slot in set_bits(opened):
        leave(check, sm, insts, slot)


@device
def follow_issued(check, sm, inst, slot, pc, active):
    """Process the instruction that a warp has issued, unless that is in a collector."""
    lanes = executing(sm, inst, slot, active)
    if inst.unit == UNIT_CTRL:
        follow_control(check, sm, inst, slot, pc, lanes, active, np.int64(sm.warp[slot].last_issue_cycle))
    elif lanes == 0:        # it acted at issue
        check_registers(check, sm, slot, pc, lanes, active, -1)


@device
def follow_collected(check, sm):
    """Process the instructions that have been issued to a collector since the last call."""
    for collector in set_bits(sm.collectors_used):
        if sm.collector_seq[collector] >= check.seq:
            flight = sm.inflight[sm.collector[collector].inflight]
            for row in range(DATA_ROWS):
                check.copied_lanes[collector, row] = 0
            check_registers(check, sm, np.int64(flight.warp), np.int64(flight.pc), np.int64(flight.mask),
                            np.int64(flight.active), collector)


@device
def partners(sm, slot, kind, mask):
    """Return the lanes that wait for all of `mask` in a collective of a kind, wherever they are."""
    table = sm.warp_cold[slot].split
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state == SPLIT_SYNC and split.pending == kind and np.int64(split.sync_mask) & mask == mask:
            lanes |= np.int64(split.mask)
    return lanes


@device
def begin_launch(check, sm):
    """Begin a launch: its warps get new numbers, and what earlier launches published is forgotten."""
    check.first_id += check.grid_warps
    check.launch = sm.launch.index + 1
    check.cta_warps = sm.launch.warps_per_cta
    forget(check)


@device
def begin_warp(check, slot, number, first_slot):
    """Begin a warp: it has written nothing and is ordered with no other warp."""
    if check.warp[slot].knows_others != 0:
        for other in range(check.grid_warps):
            known_of(check, slot, other).clock = 0
    check.warp[slot] = check.new_warp
    check.warp[slot].id = number
    check.warp[slot].first_slot = first_slot
    for variable in range(check.num_followed):
        check.followed[slot, variable] = 0
    for other in range(MAX_WARPS):
        check.clock[slot, other] = 0
        check.clock[other, slot] = 0
    for lane in range(32):
        for other in range(32):
            check.lane_sync[slot, lane, other] = 0


@device
def executing(sm, inst, slot, active):
    """Return the active lanes whose guard predicate lets them execute."""
    if inst.guard == NO_PRED:
        return active
    value = np.int64(sm.warp_cold[slot].pred[inst.guard])
    return active & ~value if inst.guard_negate else active & value


@device
def follow_control(check, sm, inst, slot, pc, lanes, active, issue_cycle):
    """Process an instruction that acted at issue, in that cycle: barriers, fences, exits, and what it read."""
    check_registers(check, sm, slot, pc, lanes, active, -1)
    if lanes == 0:
        return
    me = check.warp[slot]
    if inst.op == OP_BAR:
        # not where lanes only part from those whose guard is false, or fetch the results of an open barrier
        if (lanes == active or inst.aux == BAR_ARRIVE) and not fetches(sm, slot, pc, issue_cycle):
            arrive(check, sm, inst, slot, pc, lanes)
    elif inst.op == OP_BAR_WARP:
        check_warp_barrier(check, sm, inst, slot, pc, lanes)
        sync_lanes(check, slot, lanes, ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF)
    elif inst.op == OP_MEMBAR:
        fence(check, slot, instruction_at(check, pc).facts & CTA_FENCE != 0)
    elif inst.op == OP_EXIT:
        if me.exit_lanes == 0:
            me.exit_pc = pc
            me.exit_moment = check.now
        me.exit_lanes |= lanes


@device
def fetches(sm, slot, pc, issue_cycle):
    """Return whether the instruction that a warp has just issued is a bar.red that fetches its results."""
    if sm.num_inflight[slot] == 0:
        return False
    for index in range(MAX_INFLIGHT):
        flight = sm.inflight[index]
        if flight.stage != FREE and flight.warp == slot and flight.pc == pc and flight.missed != 0 and (
                flight.issue_cycle == issue_cycle):
            return True
    return False


@device
def check_started(check, sm, rows, insts, arena, begun):
    """Check the instructions that have just left these collectors."""
    for collector in set_bits(begun):
        flight = sm.inflight[sm.collector[collector].inflight]
        pc, slot, mask = np.int64(flight.pc), np.int64(flight.warp), np.int64(flight.mask)
        took_part = np.int64(flight.psrc[1]) if flight.missed != 0 else mask
        check_result(check, sm, insts[pc], rows, arena, slot, pc, mask, took_part,
                     np.int64(sm.config.first_collector_row) + collector * NUM_SRC_ROWS, collector)


@device
def check_result(check, sm, inst, rows, arena, slot, pc, mask, took_part, first_row, collector):
    """Check an access that has been performed, or what lanes exchange. first_row: of the operands, which are still there."""
    facts = instruction_at(check, pc).facts
    if inst.unit == UNIT_LDST:
        if inst.memory_kind != MEM_NONE and inst.op != OP_TEX and sm.error == 0:
            check_access(check, sm, inst, rows, arena, facts, slot, pc, mask & ~np.int64(sm.dropped), first_row, collector)
    elif facts & BETWEEN_LANES:
        check_members(check, sm, inst, rows, slot, pc, mask, took_part, first_row)


def checked_stage(tag):
    """Return the function to compile. tag: hash of the checker's sources, which thereby becomes part of the cache key."""

    def checked(sm, key, rows, insts, arena, regions, log, mem_index):
        pointer = np.int64(sm.scratch[POINTER])
        if pointer == 0:
            return start_execution(sm, key, rows, insts, arena, regions, log, mem_index) + (tag & 0)
        check = array_at(pointer, 1, CHECK)[0]
        check.now = np.int64(sm.cycle) - 1      # what it sees now was issued in the last cycle
        follow(check, sm, insts)
        check.now = sm.cycle
        used = np.uint64(sm.collectors_used)
        start_execution(sm, key, rows, insts, arena, regions, log, mem_index)
        check_started(check, sm, rows, insts, arena, used & ~np.uint64(sm.collectors_used))
        return np.int64(0)

    return checked
