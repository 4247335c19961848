"""The write ports: one per bank and cycle; results of fixed latency book theirs in Allocate, others wait for a free one.

Two fixed results of one bank and cycle are written one after the other, which delays no reader: the result queue bypasses
(Huerta et al., MICRO'25, section 5.3). One of variable latency is not bypassed; its counter falls a cycle after its write.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import RF_WRITES, WRITE_CONFLICTS
from rfview.engine.isa import OP_SULD, OP_TEX
from rfview.engine.machine.cores.subcore.state import CLASSES, NUM_SUBCORES, UNIT_NONE
from rfview.engine.machine.cores.subcore.values import compute, show_register, show_results
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.scoreboard import free_inflight
from rfview.engine.machine.stages.completion import WHEEL_MASK, schedule, wait_until
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.program import NO_REG, SPACE_SHARED
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import (BANK_BUSY, BANK_READ, BANK_WRITE, EXECUTE, FOREVER, MAX_INFLIGHT, NONE8, READ_RING,
                                 WRITE_BACK, WRITE_RING, WRITTEN)

RESULT_QUEUE = 8        # results of a bank that wait for their write (M 5.3)
NO_BARRIER = 7
LOAD_SHARED, SHUFFLE = CLASSES.index("load_shared"), CLASSES.index("shuffle")
WRITE_SHIFT, READ_SHIFT = 5, 8  # where a control code names these counters


@device
def begin(sm, rf, spec, rows, insts):
    """Begin a cycle: the ports that the last one used are free again, and those booked for this one are in use."""
    before, now = np.int64(sm.cycle) - 1, np.int64(sm.cycle)
    for number in range(NUM_SUBCORES):
        sub = rf.core.sub[number]
        for half in range(2):
            bank = 2 * number + half
            sm.booked_reads[bank, before % READ_RING] = 0
            sm.booked_write[bank, before % WRITE_RING] = 0
            sm.booked_work[bank] = np.uint64(sm.booked_work[bank]) & ~bit64(before % WRITE_RING)
            sub.read_warp[half, before % READ_RING] = 0
            port = sm.bank[bank]
            port.activity = 0
            port.read = 0
            port.written = 0
            port.queue = 1 if sub.held_bank == half + 1 else 0
            if port.until_cycle <= now:
                work(sm, bank, port, np.int64(hooks.bank_cycles(sm, rf, spec, rows, bank)))
            if is_free(sm, bank, now):
                port.owner_warp = NONE8
            else:
                port.activity = BANK_BUSY
            if sm.booked_reads[bank, now % READ_RING] != 0:
                port.activity = BANK_READ
                port.read = 1
                port.owner_warp = sub.read_warp[half, now % READ_RING] - 1
                port.owner_reg = sub.read_reg[half, now % READ_RING]
            writer = np.int64(sm.booked_write[bank, now % WRITE_RING])
            if writer != 0:
                note_write_port(sm, insts, bank, writer - 1)


@device
def work(sm, bank, port, cycles):
    """Let a design have a bank for some cycles, from the first on in which nothing has booked it for so long."""
    if cycles > 0:
        start = first_free(sm, bank, np.int64(sm.cycle), cycles)
        occupy(sm, bank, start, cycles)
        port.since_cycle = start
        port.until_cycle = start + cycles


@device
def first_free(sm, bank, start, cycles):
    """Return the first cycle from `start` on for a write, of one cycle or longer, or other work of so many cycles.

    Long ones need a bank that is not read either. At most the ring's last: then the bank has much more than it can do.
    """
    place, last = start, np.int64(sm.cycle) + WRITE_RING - 1 - cycles
    cycle = start
    while cycle < place + cycles and place < last:
        free = sm.booked_write[bank, cycle % WRITE_RING] == 0 and is_free(sm, bank, cycle)
        if cycles > 1 and cycle < sm.cycle + READ_RING:
            free = free and sm.booked_reads[bank, cycle % READ_RING] == 0
        cycle += 1
        if not free:
            place = cycle
    return min(place, last)


@device
def is_free(sm, bank, cycle):
    """Return whether no long write and no work of the design has a bank in a cycle."""
    return np.uint64(sm.booked_work[bank]) & bit64(cycle % WRITE_RING) == 0


@device
def occupy(sm, bank, start, cycles):
    """Keep a bank from being read or written otherwise for some cycles."""
    for cycle in range(start, start + cycles):
        sm.booked_work[bank] = np.uint64(sm.booked_work[bank]) | bit64(cycle % WRITE_RING)


@device
def ask(sm, rf, spec, inst, slot, row, is_late):
    """Ask the design to accept one register of a result."""
    flight = sm.inflight[slot]
    return np.int64(hooks.write_cycles(sm, rf, spec, np.int64(flight.warp), np.int64(inst.dst[row]), np.int64(flight.mask),
                                       is_late, np.int64(inst.is_float)))


@device
def accept(sm, rf, spec, sub, inst, slot):
    """Let the design accept the results of the instruction in Allocate; return whether it has, and their banks have room.

    A bank's results wait in a queue of eight (M 5.3); beyond that, Allocate holds the instruction.
    """
    flight = sm.inflight[slot]
    kind = np.int64(inst.latency_class)
    due = np.int64(sm.cycle) + max(np.int64(1), np.int64(spec.core.latency[kind])) + spec.core.port_cycles[kind]
    for row in range(inst.num_dst):
        if (np.int64(flight.unwritten) >> row) & 1 == 0:
            continue
        reg = np.int64(inst.dst[row])
        code = np.int64(BANK_CONFLICT)
        cycles = ((np.int64(sub.accepted) >> 8 * row) & 255) - 1
        if cycles < 0:
            cycles = np.int64(1)
            if flight.mask != 0:
                cycles = ask(sm, rf, spec, inst, slot, row, 0)
            code = -cycles
            if cycles >= 0:
                sub.accepted = np.int64(sub.accepted) | (cycles + 1) << 8 * row
        if cycles > 0:
            limit = min(due + RESULT_QUEUE * cycles, np.int64(sm.cycle) + WRITE_RING - 2 - 2 * cycles)
            if first_free(sm, number_of(sm, slot, reg & 1), due, cycles) > limit:
                sm.events[WRITE_CONFLICTS] += 1
                cycles, code = np.int64(-1), np.int64(BANK_CONFLICT)
        if cycles < 0:
            return refuse(sm, sub, slot, reg & 1, code)
    return True


@device
def number_of(sm, slot, bank):
    """Return the SM's number of a bank of an instruction's sub-core."""
    return np.int64(sm.inflight[slot].warp) % NUM_SUBCORES * 2 + bank


@device
def refuse(sm, sub, slot, bank, code):
    """Note why an instruction waits in Allocate or Control, and for which bank; return False."""
    sub.held_bank = bank + 1
    flight = sm.inflight[slot]
    flight.code = code
    flight.bank = number_of(sm, slot, bank)
    sm.access_wait[code] += 1
    touch_inflight(sm, slot)
    return False


@device
def note_write_port(sm, insts, bank, slot):
    """Show that an instruction writes a bank in this cycle: the first of its result's registers there."""
    port = sm.bank[bank]
    port.activity = BANK_WRITE
    port.written = 1
    port.owner_warp = sm.inflight[slot].warp
    inst = insts[sm.inflight[slot].pc]
    for row in range(inst.num_dst):
        reg = np.int64(inst.dst[inst.num_dst - 1 - row])
        if reg != NO_REG and reg & 1 == bank & 1:
            port.owner_reg = reg
    sm.events[RF_WRITES] += 1


@device
def book(sm, spec, sub, inst, slot):
    """Send an instruction of fixed latency on from Allocate: when its result can be read, and when it is written."""
    flight = sm.inflight[slot]
    latency = max(np.int64(1), np.int64(spec.core.latency[inst.latency_class]))
    wait = np.int64(spec.core.port_cycles[inst.latency_class])
    due = np.int64(sm.cycle) + latency + wait
    for row in range(inst.num_dst):
        if (np.int64(flight.unwritten) >> row) & 1:
            cycles = ((np.int64(sub.accepted) >> 8 * row) & 255) - 1
            if cycles > 0:
                place = write_at(sm, number_of(sm, slot, np.int64(inst.dst[row]) & 1), due, cycles, slot)
                wait = max(wait, place - np.int64(sm.cycle) - latency)
    sub.accepted = 0
    flight.transactions = wait
    flight.stage = EXECUTE
    flight.since_cycle = sm.cycle
    touch_inflight(sm, slot)
    return schedule(sm, slot, sm.cycle + latency)


@device
def write_at(sm, bank, start, cycles, slot):
    """Book a write of some cycles from the first free one on; return that."""
    place = first_free(sm, bank, start, cycles)
    sm.booked_write[bank, place % WRITE_RING] = slot + 1
    if cycles > 1:
        occupy(sm, bank, place, cycles)
    return place


@device
def complete(sm, rf, spec, rows, insts, arena):
    """Move every instruction on whose time has come: to its write, or out of the pipeline."""
    wheel_slot = np.int64(sm.cycle) & WHEEL_MASK
    slot = np.int64(sm.wheel[wheel_slot])
    sm.wheel[wheel_slot] = NONE8
    while slot != NONE8:
        following = np.int64(sm.wheel_next[slot])
        if sm.inflight[slot].done_cycle > sm.cycle:
            wait_until(sm, slot, sm.inflight[slot].done_cycle)
        else:
            move_on(sm, rf, spec, rows, insts, arena, slot)
        slot = following


@device
def move_on(sm, rf, spec, rows, insts, arena, slot):
    """Move one instruction on."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    touch_inflight(sm, slot)
    if flight.stage == WRITTEN:
        release(sm, rf, inst, slot, WRITE_SHIFT)
        return free_inflight(sm, slot)
    if flight.stage == WRITE_BACK:
        return free_inflight(sm, slot)
    flight.stage = WRITE_BACK
    flight.since_cycle = sm.cycle
    if spec.core.unit[inst.latency_class] == UNIT_NONE:
        writes = flight.unwritten != 0
        if spec.core.late_wide >> np.int64(inst.latency_class) & 1:
            compute(sm, rf, rows, insts, arena, slot)
        show_results(sm, rf, rows, inst, slot)
        release(sm, rf, inst, slot, WRITE_SHIFT)        # FP64 of sm_80 has a fixed latency, and counters (B11.4)
        return wait_until(sm, slot, sm.cycle + flight.transactions) if writes else free_inflight(sm, slot)
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) | bit64(np.int64(slot) & 63)
    return 0


@device
def release(sm, rf, inst, slot, shift):
    """Let the write counter (WRITE_SHIFT) or the read counter (READ_SHIFT) of an instruction fall."""
    warp = np.int64(sm.inflight[slot].warp)
    counter = (np.int64(inst.control) >> shift) & 7
    if counter != NO_BARRIER:
        rf.core.warp[warp].counter[counter] -= 1
        reconsider(sm, warp)


@device
def write_variable(sm, rf, spec, rows, insts):
    """Write the results of variable latency whose bank has a free port, the oldest first."""
    left = np.int64(0)
    for word in range(MAX_INFLIGHT // 64):
        left |= np.int64(sm.in_write_back[word] != 0)
    before = np.int64(-1)
    while left != 0:
        best, best_seq = np.int64(-1), FOREVER
        for word in range(MAX_INFLIGHT // 64):
            for low in set_bits(sm.in_write_back[word]):
                slot = word * 64 + low
                seq = np.int64(sm.inflight[slot].seq)
                if before < seq < best_seq:
                    best, best_seq = np.int64(slot), seq
        if best < 0:
            return
        before = best_seq
        if not overtakes(sm, insts, best):
            write_one(sm, rf, spec, rows, insts, best)


@device
def is_of_texture_unit(inst):
    """Return whether an access is one of the texture unit: a fetch, or an access to a surface."""
    return inst.op == OP_TEX or inst.op >= OP_SULD


@device
def is_one_pipe(first, second):
    """Return whether two instructions are of one class, or of those that shared memory or the texture unit serves."""
    if is_of_texture_unit(first) or is_of_texture_unit(second):
        return is_of_texture_unit(first) and is_of_texture_unit(second)
    kind, other = np.int64(first.latency_class), np.int64(second.latency_class)
    return kind == other or kind in (LOAD_SHARED, SHUFFLE) and other in (LOAD_SHARED, SHUFFLE)


@device
def overtakes(sm, insts, slot):
    """Return whether a result would be written before an older one of its warp and class that its counter may cover too.

    Those that wait for their port keep their order, and shared memory and the texture unit return in order, shuffles among
    the loads of the former: a compiler gives only the last of them a counter, or waits for some of the first (B11.4).
    """
    own = sm.inflight[slot]
    if sm.num_inflight[own.warp] < 2:
        return False
    inst = insts[own.pc]
    is_in_order = inst.space == SPACE_SHARED or inst.latency_class == SHUFFLE or is_of_texture_unit(inst)
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            other = sm.inflight[word * 64 + low]
            if other.warp == own.warp and other.seq < own.seq and is_one_pipe(insts[other.pc], inst):
                if other.stage == WRITE_BACK or is_in_order and other.stage < WRITE_BACK:
                    return True
    return False


@device
def write_one(sm, rf, spec, rows, insts, slot):
    """Write a result of variable latency, or note that the port of its (first register's) bank is taken."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    touch_inflight(sm, slot)
    flight.code = 0
    if flight.unwritten != 0 and inst.dst[0] != NO_REG:
        bank, now = number_of(sm, slot, np.int64(inst.dst[0]) & 1), np.int64(sm.cycle)
        flight.bank = bank
        if sm.booked_write[bank, now % WRITE_RING] != 0 or not is_free(sm, bank, now):
            flight.code = BANK_CONFLICT
            sm.events[WRITE_CONFLICTS] += 1
            return 0
        cycles = accept_late(sm, rf, spec, rows, inst, slot)
        if cycles > 0 and write_at(sm, bank, now, cycles, slot) == now:
            note_write_port(sm, insts, bank, slot)
        if flight.code != 0:
            sm.access_wait[flight.code] += 1
            return 0
    show_results(sm, rf, rows, inst, slot)
    flight.stage = WRITTEN
    flight.since_cycle = sm.cycle
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) & ~bit64(np.int64(slot) & 63)
    return wait_until(sm, slot, sm.cycle + 1)


@device
def accept_late(sm, rf, spec, rows, inst, slot):
    """Let the design accept the registers of a result of variable latency; return the cycles of the longest write.

    Those before one that it refuses are written already.
    """
    flight = sm.inflight[slot]
    longest = np.int64(0)
    for row in set_bits(np.uint64(flight.unwritten) if flight.mask != 0 else np.uint64(0)):
        cycles = ask(sm, rf, spec, inst, slot, row, 1)
        if cycles < 0:
            flight.code = -cycles
            return longest
        show_register(sm, rf, rows, inst, slot, row)
        longest = max(longest, cycles)
    return longest
