"""The write ports: one per bank and cycle; results of fixed latency book theirs in Allocate, others wait for a free one.

Two fixed results of one bank and cycle are written one after the other, which delays no reader: the result queue bypasses
(Huerta et al., MICRO'25, section 5.3). One of variable latency is not bypassed; its counter falls a cycle after its write.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device
from rfview.engine.events import RF_READS, RF_WRITES, WRITE_CONFLICTS
from rfview.engine.machine.cores.subcore.inflight import give_back
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES, READ_RING, UNIT_NONE, WRITE_RING
from rfview.engine.machine.cores.subcore.values import show_results
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages.completion import WHEEL_MASK, schedule
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.program import NO_REG
from rfview.engine.stalls import BANK_CONFLICT
from rfview.engine.state import BANK_READ, BANK_WRITE, EXECUTE, FOREVER, MAX_INFLIGHT, NONE8, WRITE_BACK, WRITTEN

PORT_CYCLES = 4         # from the cycle in which a result can be bypassed until it is written
NO_BARRIER = 7


@device
def begin(sm, rf):
    """Begin a cycle: the ports that the last one used are free again, and those booked for this one are in use."""
    before, now = (np.int64(sm.cycle) - 1) % READ_RING, np.int64(sm.cycle) % READ_RING
    for number in range(NUM_SUBCORES):
        sub = rf.core.sub[number]
        for bank in range(2):
            sub.read_warp[bank, before] = 0
            sub.write_slot[bank, (np.int64(sm.cycle) - 1) % WRITE_RING] = 0
            port = sm.bank[2 * number + bank]
            port.activity = 0
            port.read = 0
            port.written = 0
            port.queue = 1 if sub.held_bank == bank + 1 else 0
            if sub.read_warp[bank, now] != 0:
                port.activity = BANK_READ
                port.read = 1
                port.owner_warp = sub.read_warp[bank, now] - 1
                port.owner_reg = sub.read_reg[bank, now]
                sm.events[RF_READS] += 1
            writer = np.int64(sub.write_slot[bank, np.int64(sm.cycle) % WRITE_RING])
            if writer != 0:
                note_write_port(sm, 2 * number + bank, writer - 1)
    return 0


@device
def note_write_port(sm, bank, slot):
    """Show that an instruction writes a bank in this cycle."""
    port = sm.bank[bank]
    port.activity = BANK_WRITE
    port.written = 1
    port.owner_warp = sm.inflight[slot].warp
    sm.events[RF_WRITES] += 1
    return 0


@device
def book(sm, rf, spec, sub, inst, slot):
    """Send an instruction of fixed latency on from Allocate: when its result can be read, and when it is written."""
    flight = sm.inflight[slot]
    latency = max(np.int64(1), np.int64(spec.core.latency[inst.latency_class]))
    wait = np.int64(PORT_CYCLES)
    for row in range(inst.num_dst):
        if (np.int64(flight.unwritten) >> row) & 1:
            bank = np.int64(inst.dst[row]) & 1
            place = np.int64(sm.cycle) + latency + PORT_CYCLES
            while sub.write_slot[bank, place % WRITE_RING] != 0:
                place += 1
            sub.write_slot[bank, place % WRITE_RING] = slot + 1
            wait = max(wait, place - np.int64(sm.cycle) - latency)
    flight.transactions = wait
    flight.stage = EXECUTE
    flight.since_cycle = sm.cycle
    touch_inflight(sm, slot)
    return schedule(sm, slot, sm.cycle + latency)


@device
def complete(sm, rf, spec, rows, insts):
    """Move every instruction on whose time has come: to its write, or out of the pipeline."""
    wheel_slot = np.int64(sm.cycle) & WHEEL_MASK
    slot = np.int64(sm.wheel[wheel_slot])
    sm.wheel[wheel_slot] = NONE8
    while slot != NONE8:
        following = np.int64(sm.wheel_next[slot])
        if sm.inflight[slot].done_cycle > sm.cycle:
            schedule(sm, slot, sm.inflight[slot].done_cycle)
        else:
            move_on(sm, rf, spec, rows, insts, slot)
        slot = following
    return 0


@device
def move_on(sm, rf, spec, rows, insts, slot):
    """Move one instruction on."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    touch_inflight(sm, slot)
    if flight.stage == WRITTEN:
        release(sm, rf, inst, slot, 5)
        return give_back(sm, slot)
    if flight.stage == WRITE_BACK:
        return give_back(sm, slot)
    flight.stage = WRITE_BACK
    flight.since_cycle = sm.cycle
    if spec.core.unit[inst.latency_class] == UNIT_NONE:
        writes = flight.unwritten != 0
        show_results(sm, rf, rows, inst, slot)
        return schedule(sm, slot, sm.cycle + flight.transactions) if writes else give_back(sm, slot)
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) | bit64(np.int64(slot) & 63)
    return 0


@device
def release(sm, rf, inst, slot, shift):
    """Let the write counter (shift 5) or the read counter (8) of an instruction fall."""
    warp = np.int64(sm.inflight[slot].warp)
    counter = (np.int64(inst.control) >> shift) & 7
    if counter != NO_BARRIER:
        rf.core.warp[warp].counter[counter] -= 1
        reconsider(sm, warp)
    return 0


@device
def write_variable(sm, rf, rows, insts):
    """Write the results of variable latency whose bank has a free port, the oldest first."""
    left = np.int64(0)
    for word in range(MAX_INFLIGHT // 64):
        left |= np.int64(sm.in_write_back[word] != 0)
    before = np.int64(-1)
    while left != 0:
        best, best_seq = np.int64(-1), FOREVER
        for word in range(MAX_INFLIGHT // 64):
            used = np.uint64(sm.in_write_back[word])
            while used != 0:
                slot = word * 64 + ctz64(used)
                used &= used - np.uint64(1)
                seq = np.int64(sm.inflight[slot].seq)
                if before < seq < best_seq:
                    best, best_seq = np.int64(slot), seq
        if best < 0:
            return 0
        before = best_seq
        write_one(sm, rf, rows, insts, best)
    return 0


@device
def write_one(sm, rf, rows, insts, slot):
    """Write a result of variable latency, or note that the port of its (first register's) bank is taken."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    number = np.int64(flight.warp) % NUM_SUBCORES
    sub = rf.core.sub[number]
    touch_inflight(sm, slot)
    if flight.unwritten != 0 and inst.dst[0] != NO_REG:
        bank = np.int64(inst.dst[0]) & 1
        if sub.write_slot[bank, np.int64(sm.cycle) % WRITE_RING] != 0:
            flight.code = BANK_CONFLICT
            flight.bank = 2 * number + bank
            sm.events[WRITE_CONFLICTS] += 1
            return 0
        sub.write_slot[bank, np.int64(sm.cycle) % WRITE_RING] = slot + 1
        note_write_port(sm, 2 * number + bank, slot)
    flight.code = 0
    show_results(sm, rf, rows, inst, slot)
    flight.stage = WRITTEN
    flight.since_cycle = sm.cycle
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) & ~bit64(np.int64(slot) & 63)
    return schedule(sm, slot, sm.cycle + 1)
