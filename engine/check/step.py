"""The stage that starts execution, with the checker: the machine's unchanged code, and checks before and after it.

The machine calls this stage by symbol, so that a checking process can put this one in its place
(engine/check/machine.py). What was issued since the last call shows in the warps and collectors, what starts now in the
collectors that the stage has emptied. Nothing of the machine's state is written.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.check.barriers import arrive, leave
from rfview.engine.check.lanes import check_members, check_warp_barrier
from rfview.engine.check.layout import (BETWEEN_LANES, CLOCKS, CTA_FENCE, DATA, DATA_ROWS, FOLLOWED, H_BASE,
                                        H_CTA_WARPS, H_FOLLOWED, H_GRID_WARPS, H_ISSUED, H_LAUNCH, H_PCS, H_POOL,
                                        H_POOL_SLOTS, H_PUBLISHED, H_SEQ, LANES, MAX_FOLLOWED, POINTER, POINTER_WORDS,
                                        POOL_ARRAYS, POOL_WORDS, P_VERSION, WARPS, WARP_WORDS, W_CLOCK, W_EXIT_CYCLE,
                                        W_EXIT_LANES, W_EXIT_PC, W_FIRST, W_ID, W_ISSUED, W_KNOWS, W_MASK, W_OPEN,
                                        W_SYNC)
from rfview.engine.check.memory import check_access
from rfview.engine.check.order import fence, known_row, sync_lanes
from rfview.engine.check.registers import check_registers
from rfview.engine.compile.bits import bit64, ctz64, words_at
from rfview.engine.compile.device import device
from rfview.engine.events import INSTRUCTIONS
from rfview.engine.isa import BAR_ARRIVE, OP_BAR, OP_BAR_WARP, OP_EXIT, OP_MEMBAR, OP_TEX
from rfview.engine.machine.stages.execution import start_execution
from rfview.engine.program import MEM_NONE, NO_PRED, NUM_SRC_ROWS, UNIT_CTRL, UNIT_LDST
from rfview.engine.state import FREE, MAX_INFLIGHT, MAX_SPLITS, MAX_WARPS, NONE8, SPLIT_SYNC


@device
def follow(s, sm, insts):
    """Process what has been issued since the last call."""
    if s[H_LAUNCH] != sm.launch.index + 1:
        begin_launch(s, sm)
    resident = np.uint64(sm.resident)
    issued = np.int64(sm.events[INSTRUCTIONS]) & 0xFFFFFFFF != np.int64(s[H_ISSUED])
    s[H_ISSUED] = np.int64(sm.events[INSTRUCTIONS]) & 0xFFFFFFFF
    size, base = np.int64(s[H_CTA_WARPS]), np.int64(s[H_BASE])
    opened = np.uint64(0)
    while resident != 0:
        slot = ctz64(resident)
        resident &= resident - np.uint64(1)
        entry = sm.warp[slot]
        me = WARPS + slot * WARP_WORDS
        name = base + 1 + np.int64(sm.cta[entry.cta].id) * size + np.int64(entry.warp_in_cta)
        if np.int64(s[me + W_ID]) != name:
            begin_warp(s, slot, name, np.int64(sm.cta[entry.cta].first_warp))
            s[me + W_OPEN] = np.int64(entry.open_cycle) & 0xFFFFFFFF
        elif issued and s[me + W_ISSUED] != entry.num_issued:
            inst = insts[entry.last_pc]
            active = np.int64(s[me + W_MASK])
            lanes = executing(sm, inst, slot, active)
            if inst.unit == UNIT_CTRL:
                follow_control(s, sm, inst, slot, np.int64(entry.last_pc), lanes, active)
            elif lanes == 0:        # it acted at issue and is in no collector
                check_registers(s, sm, slot, np.int64(entry.last_pc), lanes, active, np.int64(0))
        if np.int64(s[me + W_OPEN]) != np.int64(entry.open_cycle) & 0xFFFFFFFF:
            opened |= bit64(slot)
            s[me + W_OPEN] = np.int64(entry.open_cycle) & 0xFFFFFFFF
        s[me + W_ISSUED] = entry.num_issued
        mask = np.int64(entry.mask)
        if entry.num_splits > 1 and entry.split != NONE8 and insts[entry.pc].op == OP_BAR_WARP:
            mask |= partners(sm, slot, np.int64(insts[entry.pc].collective), mask)
        s[me + W_MASK] = mask
    while opened != 0:
        slot = ctz64(opened)
        opened &= opened - np.uint64(1)
        leave(s, sm, insts, slot)
    follow_collected(s, sm)
    s[H_SEQ] = np.int64(sm.seq) & 0xFFFFFFFF
    return 0


@device
def follow_collected(s, sm):
    """Process the instructions that have been issued to a collector since the last call."""
    held = np.uint64(sm.collectors_used)
    while held != 0:
        collector = ctz64(held)
        held &= held - np.uint64(1)
        if np.int64(sm.collector_seq[collector]) & 0xFFFFFFFF >= np.int64(s[H_SEQ]):
            flight = sm.inflight[sm.collector[collector].inflight]
            data = DATA + np.int64(collector) * DATA_ROWS
            for row in range(DATA_ROWS):
                s[data + row] = 0
            check_registers(s, sm, np.int64(flight.warp), np.int64(flight.pc), np.int64(flight.mask),
                            np.int64(flight.active), data)
    return 0


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
def begin_launch(s, sm):
    """Begin a launch: its warps get new numbers, and what earlier launches published is forgotten."""
    s[H_BASE] += s[H_GRID_WARPS]
    s[H_LAUNCH] = sm.launch.index + 1
    slots = np.int64(s[H_POOL_SLOTS]) if s[H_PUBLISHED] != 0 else np.int64(0)
    for number in range(slots):
        at = np.int64(s[H_POOL]) + number * (POOL_WORDS + POOL_ARRAYS * np.int64(s[H_GRID_WARPS]))
        if s[at + P_VERSION] != 0:
            for k in range(POOL_WORDS + POOL_ARRAYS * np.int64(s[H_GRID_WARPS])):
                s[at + k] = 0
    s[H_PUBLISHED] = 0
    s[H_CTA_WARPS] = sm.launch.warps_per_cta
    return 0


@device
def begin_warp(s, slot, name, first):
    """Begin a warp: it has written nothing and is ordered with no other warp."""
    me = WARPS + slot * WARP_WORDS
    if s[me + W_KNOWS] != 0:
        row = known_row(s, slot)
        for k in range(np.int64(s[H_GRID_WARPS])):
            s[row + k] = 0
    for k in range(WARP_WORDS):
        s[me + k] = 0
    s[me + W_ID] = name
    s[me + W_CLOCK] = 1
    s[me + W_SYNC] = 1
    s[me + W_FIRST] = first
    for k in range(np.int64(s[H_FOLLOWED])):
        s[FOLLOWED + slot * MAX_FOLLOWED + k] = 0
    for other in range(MAX_WARPS):
        s[CLOCKS + slot * MAX_WARPS + other] = 0
        s[CLOCKS + other * MAX_WARPS + slot] = 0
    for k in range(32 * 32):
        s[LANES + slot * 32 * 32 + k] = 0
    return 0


@device
def executing(sm, inst, slot, active):
    """Return the active lanes whose guard predicate lets them execute."""
    if inst.guard == NO_PRED:
        return active
    value = np.int64(sm.warp_cold[slot].pred[inst.guard])
    return active & ~value if inst.guard_negate else active & value


@device
def follow_control(s, sm, inst, slot, pc, lanes, active):
    """Process an instruction that acted at issue: barriers, fences, exits, and what it read."""
    me = WARPS + slot * WARP_WORDS
    check_registers(s, sm, slot, pc, lanes, active, np.int64(0))
    if lanes == 0:
        return 0
    if inst.op == OP_BAR:
        # not where lanes only part from those whose guard is false, or fetch the results of an open barrier
        if (lanes == active or inst.aux == BAR_ARRIVE) and not fetches(sm, slot, pc):
            arrive(s, sm, inst, slot, pc, lanes)
    elif inst.op == OP_BAR_WARP:
        check_warp_barrier(s, sm, inst, slot, pc, lanes)
        sync_lanes(s, slot, lanes, ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF)
    elif inst.op == OP_MEMBAR:
        fence(s, slot, np.int64(s[np.int64(s[H_PCS]) + pc]) & CTA_FENCE != 0)
    elif inst.op == OP_EXIT:
        if s[me + W_EXIT_LANES] == 0:
            s[me + W_EXIT_PC] = pc
            s[me + W_EXIT_CYCLE] = sm.cycle - 1
        s[me + W_EXIT_LANES] = np.int64(s[me + W_EXIT_LANES]) | lanes
    return 0


@device
def fetches(sm, slot, pc):
    """Return whether the instruction that a warp has just issued is a bar.red that fetches its results."""
    if sm.num_inflight[slot] == 0:
        return False
    for index in range(MAX_INFLIGHT):
        flight = sm.inflight[index]
        if flight.stage != FREE and flight.warp == slot and flight.pc == pc and flight.missed != 0 and (
                flight.issue_cycle == sm.warp[slot].last_issue_cycle):
            return True
    return False


@device
def look_at(s, sm, rows, insts, arena, begun):
    """Check the instructions that have just left these collectors."""
    while begun != 0:
        collector = ctz64(begun)
        begun &= begun - np.uint64(1)
        flight = sm.inflight[sm.collector[collector].inflight]
        pc, slot, mask = np.int64(flight.pc), np.int64(flight.warp), np.int64(flight.mask)
        inst = insts[pc]
        if inst.unit == UNIT_LDST:
            mask &= ~np.int64(sm.dropped)
        first_row = np.int64(sm.config.first_collector_row) + collector * NUM_SRC_ROWS
        if inst.unit == UNIT_LDST:
            if inst.memory_kind != MEM_NONE and inst.op != OP_TEX and sm.error == 0:
                check_access(s, sm, inst, rows, arena, slot, pc, mask, first_row,
                             DATA + np.int64(collector) * DATA_ROWS)
        elif np.int64(s[np.int64(s[H_PCS]) + pc]) & BETWEEN_LANES:
            took_part = np.int64(flight.psrc[1]) if flight.missed != 0 else mask
            check_members(s, sm, inst, rows, slot, pc, mask, took_part, first_row)
    return 0


def checked_stage(tag):
    """Return the function to compile. tag: hash of the checker's sources, which thereby becomes part of the cache key."""

    def checked(sm, key, rows, insts, arena, regions, log, mem_index):
        pointer = np.int64(sm.scratch[POINTER])
        if pointer == 0:
            return start_execution(sm, key, rows, insts, arena, regions, log, mem_index) + (tag & 0)
        s = words_at(pointer, np.int64(sm.scratch[POINTER_WORDS]))
        follow(s, sm, insts)
        used = np.uint64(sm.collectors_used)
        start_execution(sm, key, rows, insts, arena, regions, log, mem_index)
        look_at(s, sm, rows, insts, arena, used & ~np.uint64(sm.collectors_used))
        return np.int64(0)

    return checked
