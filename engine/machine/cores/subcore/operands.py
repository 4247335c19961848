"""Control and Allocate: an instruction of fixed latency waits until the banks can serve it in the next three cycles.

Source: Huerta et al., MICRO'25, sections 5.1.1 and 5.3. A stall in Allocate holds the running stall counters of the warps in
Allocate and Control (assumed: else a consumer would read before its producer's result, B11.3).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import READ_CONFLICTS
from rfview.engine.machine.cores.subcore import accesses, results, values
from rfview.engine.machine.cores.subcore.state import (NUM_OPERANDS, READ_RING, UNIT_MEMORY, UNIT_NONE, WINDOW)
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.program import WAIT_LONG
from rfview.engine.state import NONE8

NO_BARRIER = 7
REUSE_SHIFT = 17


@device
def count_up(sm, rf, insts, number):
    """Count up the counters of the instruction that came to Control in the last cycle: issue sees them from now on."""
    sub = rf.core.sub[number]
    if sub.counting == 0:
        return 0
    flight = sm.inflight[np.int64(sub.counting) - 1]
    sub.counting = 0
    own = rf.core.warp[flight.warp]
    control = np.int64(insts[flight.pc].control)
    for shift in (5, 8):
        counter = (control >> shift) & 7
        if counter != NO_BARRIER:
            own.counter[counter] += 1
            others = np.int64(own.long) & ~(np.int64(1) << counter)
            own.long = others | np.int64(insts[flight.pc].wait_class == WAIT_LONG) << counter
    return 0


@device
def allocate(sm, rf, spec, rows, insts, arena, number):
    """Book the read ports of the instruction in Allocate, or hold it there."""
    sub = rf.core.sub[number]
    sub.allocated = 0
    sub.held_bank = 0
    if sub.allocate == 0:
        return 0
    slot = np.int64(sub.allocate) - 1
    flight = sm.inflight[slot]
    if flight.since_cycle >= sm.cycle:
        return 0
    inst = insts[flight.pc]
    hits = cache_hits(sub, inst, np.int64(flight.warp)) if spec.core.reuse_cache != 0 else np.int64(0)
    for bank in range(2):
        if wanted(inst, hits, bank) > free_reads(sm, spec, sub, bank):
            sub.held_bank = bank + 1
            return hold(sm, rf, spec, sub, slot)
    for operand in range(NUM_OPERANDS):
        for half in range(2):
            k = 2 * operand + half
            if (np.int64(inst.src_mask) >> k) & 1 and first_read(inst, hits, k):
                book(sm, sub, np.int64(inst.src[k]) & 1, flight.warp, inst.src[k])
    sub.hits = hits
    sub.allocate = 0
    sub.allocated = slot + 1
    values.compute(sm, rf, spec, rows, insts, arena, slot)
    update_cache(spec, sub, inst, np.int64(flight.warp))
    return results.book(sm, rf, spec, sub, inst, slot)


@device
def cache_hits(sub, inst, warp):
    """Return the operands that the reuse cache holds, one bit each; the registers of 64-bit ones are in two banks."""
    hits = np.int64(0)
    for operand in range(NUM_OPERANDS):
        used, held = 0, 0
        for half in range(2):
            k = 2 * operand + half
            if (np.int64(inst.src_mask) >> k) & 1:
                used += 1
                reg = np.int64(inst.src[k])
                if sub.cache_warp[operand, reg & 1] == warp + 1 and sub.cache_reg[operand, reg & 1] == reg:
                    held += 1
        if used != 0 and used == held:
            hits |= np.int64(1) << operand
    return hits


@device
def first_read(inst, hits, k):
    """Return whether row slot k has to be read from the register file: no hit, and no lower slot reads the same register."""
    if (hits >> (k // 2)) & 1:
        return False
    for lower in range(k):
        if (np.int64(inst.src_mask) >> lower) & 1 and inst.src[lower] == inst.src[k] and (hits >> (lower // 2)) & 1 == 0:
            return False
    return True


@device
def wanted(inst, hits, bank):
    """Return how many registers an instruction has to read from a bank."""
    count = 0
    for k in range(2 * NUM_OPERANDS):
        if (np.int64(inst.src_mask) >> k) & 1 and np.int64(inst.src[k]) & 1 == bank and first_read(inst, hits, k):
            count += 1
    return count


@device
def free_reads(sm, spec, sub, bank):
    """Return how many reads a bank can serve in the next three cycles."""
    count = 0
    for cycle in range(1, WINDOW + 1):
        if sub.read_warp[bank, (np.int64(sm.cycle) + cycle) % READ_RING] == 0:
            count += 1
    return count * np.int64(spec.core.read_ports)


@device
def book(sm, sub, bank, warp, reg):
    """Book a bank's first free read port."""
    for cycle in range(1, WINDOW + 1):
        place = (np.int64(sm.cycle) + cycle) % READ_RING
        if sub.read_warp[bank, place] == 0:
            sub.read_warp[bank, place] = warp + 1
            sub.read_reg[bank, place] = reg
            return 1
    return 0


@device
def hold(sm, rf, spec, sub, slot):
    """Keep an instruction in Allocate for a cycle: its pipe's latch and the stall counters behind it stand still."""
    flight = sm.inflight[slot]
    sm.events[READ_CONFLICTS] += 1
    pipe = np.int64(flight.pipe)
    if pipe != NONE8 and sub.pipe_cycle[pipe] > sm.cycle:
        sub.pipe_cycle[pipe] += 1
    if spec.core.hold_counters == 0:
        return 0
    hold_counter(sm, rf, np.int64(flight.warp))
    if sub.control != 0:
        behind = np.int64(sm.inflight[np.int64(sub.control) - 1].warp)
        if behind != flight.warp:
            hold_counter(sm, rf, behind)
    return 0


@device
def hold_counter(sm, rf, warp):
    """Let a running stall counter stand still for a cycle."""
    own = rf.core.warp[warp]
    if own.until_cycle >= sm.cycle:
        own.until_cycle += 1
    return 0


@device
def update_cache(spec, sub, inst, warp):
    """Empty the places of the reuse cache that the operands use, and fill those of operands to be reused."""
    if spec.core.reuse_cache == 0:
        return 0
    reuse = (np.int64(inst.control) >> REUSE_SHIFT) & 15
    for operand in range(NUM_OPERANDS):
        for half in range(2):
            k = 2 * operand + half
            if (np.int64(inst.src_mask) >> k) & 1:
                bank = np.int64(inst.src[k]) & 1
                sub.cache_warp[operand, bank] = 0
                if (np.int64(sub.hits) & reuse) >> operand & 1 == 0:
                    sub.stale = np.int64(sub.stale) & ~(np.int64(1) << (2 * operand + bank))
                if (reuse >> operand) & 1:
                    sub.cache_warp[operand, bank] = warp + 1
                    sub.cache_reg[operand, bank] = inst.src[k]
    return 0


@device
def control(sm, rf, spec, rows, insts, arena, number):
    """Send the instruction in Control to Allocate, to the queue of accesses or to its unit, if there is room."""
    sub = rf.core.sub[number]
    if sub.control == 0:
        return 0
    slot = np.int64(sub.control) - 1
    flight = sm.inflight[slot]
    if flight.issue_cycle >= sm.cycle:
        return 0
    if flight.issue_cycle + 1 == sm.cycle:
        sub.counting = slot + 1
    inst = insts[flight.pc]
    unit = np.int64(spec.core.unit[inst.latency_class])
    if unit == UNIT_NONE:
        if sub.allocate != 0:
            return 0
        sub.allocate = slot + 1
    elif unit == UNIT_MEMORY:
        accesses.enter_queue(sm, rf, spec, rows, insts, arena, sub, number, slot)
    else:
        if sub.unit[unit] != 0:
            return 0
        sub.unit[unit] = slot + 1
    sub.control = 0
    flight.since_cycle = sm.cycle
    return touch_inflight(sm, slot)
