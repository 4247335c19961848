"""Control and Allocate: an instruction of fixed latency waits until the banks can serve it in the next three cycles.

Source: Huerta et al., MICRO'25, sections 5.1.1 and 5.3. A stall in Allocate holds the running stall counters of the warps in
Allocate and Control (assumed: else a consumer would read before its producer's result, B11.3).
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import READ_CONFLICTS, RF_READS
from rfview.engine.machine.cores.subcore import accesses, results, values
from rfview.engine.machine.cores.subcore.state import NUM_OPERANDS, UNIT_MEMORY, UNIT_NONE, WINDOW
from rfview.engine.machine.cores.subcore.results import number_of
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine_code import NUM_MACHINE_ROWS
from rfview.engine.program import WAIT_LONG
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import NONE8, READ_RING

IN_ALLOCATE, IN_CONTROL = range(2)
NO_BARRIER = 7
REUSE_SHIFT = 17


@device
def count_up(sm, rf, insts, number):
    """Count up the counters of the instruction that came to Control in the last cycle: issue sees them from now on."""
    sub = rf.core.sub[number]
    if sub.counting == 0:
        return
    flight = sm.inflight[np.int64(sub.counting) - 1]
    sub.counting = 0
    own = rf.core.warp[flight.warp]
    control = np.int64(insts[flight.pc].control)
    for shift in (results.WRITE_SHIFT, results.READ_SHIFT):
        counter = (control >> shift) & 7
        if counter != NO_BARRIER:
            own.counter[counter] += 1
            others = np.int64(own.long) & ~(np.int64(1) << counter)
            own.long = others | np.int64(insts[flight.pc].wait_class == WAIT_LONG) << counter


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
    accepted = accept_reads(sm, rf, spec, sub, inst, slot, hits, IN_ALLOCATE)
    if not accepted or not results.accept(sm, rf, spec, sub, inst, slot):
        return hold(sm, rf, spec, sub, slot)
    for bank in range(2):
        if sub.wanted[IN_ALLOCATE, bank] > free_reads(sm, spec, number_of(sm, slot, bank)):
            sm.events[READ_CONFLICTS] += 1
            results.refuse(sm, sub, slot, bank, BANK_CONFLICT)
            return hold(sm, rf, spec, sub, slot)
    book_reads(sm, spec, sub, inst, slot)
    sub.hits = hits
    sub.allocate = 0
    sub.allocated = slot + 1
    if spec.core.late_wide >> np.int64(inst.latency_class) & 1 == 0:
        values.compute(sm, rf, rows, insts, arena, slot)
    update_cache(spec, sub, inst, np.int64(flight.warp))
    results.release(sm, rf, inst, slot, results.READ_SHIFT)
    return results.book(sm, spec, sub, inst, slot)


@device
def place_of(inst, operand):
    """Return at which place of the instruction an operand is: that of its reuse bit, and of the reuse cache."""
    return (operand + np.int64(inst.moved[operand])) % NUM_OPERANDS


@device
def cache_hits(sub, inst, warp):
    """Return the operands that the reuse cache holds, one bit each; the registers of 64-bit ones are in two banks."""
    hits = np.int64(0)
    for operand in range(NUM_OPERANDS):
        place = place_of(inst, operand)
        used, held = 0, 0
        for half in range(2):
            k = 2 * operand + half
            if (np.int64(inst.src_mask) >> k) & 1:
                used += 1
                reg = np.int64(inst.src[k])
                if sub.cache_warp[place, reg & 1] == warp + 1 and sub.cache_reg[place, reg & 1] == reg:
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
def accept_reads(sm, rf, spec, sub, inst, slot, hits, stage):
    """Let the design accept the reads of an instruction; return whether it has, and the window can hold them.

    Reads that take more cycles than the window has keep it waiting as much longer.
    """
    warp = np.int64(sm.inflight[slot].warp)
    for k in set_bits(inst.src_mask):
        if sub.asked[stage, k] == 0 and first_read(inst, hits, k):
            reg = np.int64(inst.src[k])
            cycles = np.int64(hooks.read_cycles(sm, rf, spec, warp, reg, np.int64(inst.is_float)))
            if cycles < 0:
                return results.refuse(sm, sub, slot, reg & 1, -cycles)
            sub.asked[stage, k] = cycles + 1
            sub.wanted[stage, reg & 1] += cycles
            sm.events[RF_READS] += np.int64(cycles != 0)
    fits = True
    for bank in range(2):
        if sub.wanted[stage, bank] > WINDOW * spec.core.read_ports:
            sub.wanted[stage, bank] -= 1
            fits = results.refuse(sm, sub, slot, bank, np.int64(sm.bank[number_of(sm, slot, bank)].busy_code))
    return fits


@device
def free_reads(sm, spec, bank):
    """Return how many reads a bank can serve in the next three cycles."""
    count = np.int64(0)
    for cycle in range(1, WINDOW + 1):
        at = np.int64(sm.cycle) + cycle
        if results.is_free(sm, bank, at):
            count += np.int64(spec.core.read_ports) - np.int64(sm.booked_reads[bank, at % READ_RING])
    return count


@device
def book_reads(sm, spec, sub, inst, slot):
    """Book the banks' first free read ports for the reads of the instruction in Allocate."""
    for k in set_bits(inst.src_mask):
        cycles = np.int64(sub.asked[IN_ALLOCATE, k]) - 1
        sub.asked[IN_ALLOCATE, k] = 0
        bank = np.int64(inst.src[k]) & 1
        while cycles > 0 and sub.wanted[IN_ALLOCATE, bank] != 0:
            book(sm, spec, sub, number_of(sm, slot, bank), sm.inflight[slot].warp, inst.src[k])
            sub.wanted[IN_ALLOCATE, bank] -= 1
            cycles -= 1
    sm.inflight[slot].code = 0


@device
def book(sm, spec, sub, bank, warp, reg):
    """Book a bank's first free read port."""
    for cycle in range(1, WINDOW + 1):
        at = np.int64(sm.cycle) + cycle
        place = at % READ_RING
        if sm.booked_reads[bank, place] < spec.core.read_ports and results.is_free(sm, bank, at):
            sm.booked_reads[bank, place] += 1
            sub.read_warp[bank & 1, place] = warp + 1
            sub.read_reg[bank & 1, place] = reg
            return 1
    return 0


@device
def hold(sm, rf, spec, sub, slot):
    """Keep an instruction in Allocate for a cycle: its pipe's latch and the stall counters behind it stand still."""
    flight = sm.inflight[slot]
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


@device
def update_cache(spec, sub, inst, warp):
    """Empty the places of the reuse cache that the operands use, and fill those of operands to be reused."""
    if spec.core.reuse_cache == 0:
        return
    reuse = (np.int64(inst.control) >> REUSE_SHIFT) & 15
    for operand in range(NUM_OPERANDS):
        place = place_of(inst, operand)
        for half in range(2):
            k = 2 * operand + half
            if (np.int64(inst.src_mask) >> k) & 1:
                bank = np.int64(inst.src[k]) & 1
                sub.cache_warp[place, bank] = 0
                if np.int64(sub.hits) >> operand & reuse >> place & 1 == 0:
                    sub.stale = np.int64(sub.stale) & ~(np.int64(1) << (2 * place + bank))
                if (reuse >> place) & 1:
                    sub.cache_warp[place, bank] = warp + 1
                    sub.cache_reg[place, bank] = inst.src[k]


@device
def control(sm, rf, spec, rows, insts, arena, number):
    """Send the instruction in Control to Allocate, to the queue of accesses or to its unit, if there is room.

    None overtakes an instruction of its own warp that Allocate holds, or the distance between them would be lost (B11.3).
    """
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
    elif sub.allocate != 0 and sm.inflight[np.int64(sub.allocate) - 1].warp == flight.warp:
        return 0
    elif unit != UNIT_MEMORY and sub.unit[unit] != 0 or not accept_reads(sm, rf, spec, sub, inst, slot, 0, IN_CONTROL):
        return 0
    elif unit == UNIT_MEMORY:
        accesses.enter_queue(sm, rf, spec, rows, insts, arena, sub, number, slot)
    else:
        sub.unit[unit] = slot + 1
    for k in range(NUM_MACHINE_ROWS):
        sub.asked[IN_CONTROL, k] = 0
    sub.wanted[IN_CONTROL, 0] = 0
    sub.wanted[IN_CONTROL, 1] = 0
    flight.code = 0
    sub.control = 0
    flight.since_cycle = sm.cycle
    return touch_inflight(sm, slot)
