"""Accesses to memory: credits and a queue per sub-core, one memory pipeline for all; and the units of variable latency.

A sub-core has credits for a few accesses, taken at issue and returned when the access leaves for the SM's memory pipeline,
which takes one every second cycle, from the sub-cores in turn (Huerta et al., MICRO'25, section 5.4 and Table 1). It leaves
when its operands are read and the address unit has been free; what follows depends on the caches.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import FP64_CYCLES, SFU_CYCLES, TRANSACTIONS
from rfview.engine.isa import (ATOM_PHASE, ATOM_SYNC, FLAG_ATOM_GLOBAL, FLAG_ATOM_SUCCESS, FLAG_PAST_L1, OP_ASSERTFAIL,
                               OP_ATOM, OP_LDGDEPBAR, OP_LDGSTS, OP_PRINTF, OP_RED)
from rfview.engine.machine.cores.subcore import values
from rfview.engine.machine.cores.subcore.results import READ_SHIFT, is_of_texture_unit, release
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES, NUM_UNITS, QUEUE_ENTRIES, UNIT_DOUBLE, UNIT_XU
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages import compound, memory
from rfview.engine.machine.stages.completion import schedule
from rfview.engine.machine.stages.machine_state import (note_global, note_success, slots, unite_address,
                                                          write_predicates)
from rfview.engine.machine.stages.sources import fetch_registers, fetch_scalars
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.machine_code import NUM_MACHINE_ROWS
from rfview.engine.program import MEM_LOAD, MEM_NONE, SPACE_CONST, SPACE_NONE, SPACE_PARAM, SPACE_SHARED
from rfview.engine.state import EXECUTE, LINE_BYTES, MAX_INFLIGHT, MEMORY, NONE8
from rfview.engine.values import sectors

LATCHES = 5             # of operands per sub-core: as many as it has credits at most
LATCH_ROWS = 9          # row slots of an access: address, data, and the uniform part of the address; gradients of TXD
START_CYCLES = 2        # from issue until a unit of variable latency takes an instruction


@device
def latch_row(sm, number, latch):
    """Return the first of the rows that hold the operands of an access in a sub-core's queue."""
    return np.int64(sm.config.first_collector_row) + NUM_MACHINE_ROWS + (number * LATCHES + np.int64(latch)) * LATCH_ROWS


@device
def enter_queue(sm, rf, spec, rows, insts, arena, sub, number, slot):
    """Put an access in its sub-core's queue, with its operands; an exchange between lanes is computed at once.

    Some take their registers when they leave the queue (mined: an ALU instruction may write them four cycles before), but
    scalars at once (mined: a texture handle's uniform register may be written again two cycles later).
    """
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    taken = 0
    for place in range(np.int64(sub.queued)):
        taken |= 1 << np.int64(sm.inflight[np.int64(sub.queue[place]) - 1].collector)
    latch = 0
    while (taken >> latch) & 1:
        latch += 1
    flight.collector = latch
    sub.queue[sub.queued] = slot + 1
    sub.queued += 1
    if inst.memory_kind == MEM_NONE:
        return values.compute(sm, rf, rows, insts, arena, slot)
    if reads_late(inst):
        return fetch_scalars(sm, rows, arena, inst, np.int64(flight.warp), latch_row(sm, number, latch))
    return capture(sm, rf, rows, insts, arena, slot, latch_row(sm, number, latch))


@device
def is_on_object(inst):
    """Return whether an access is an operation on a barrier object (SYNCS)."""
    operation = np.int64(inst.aux) & 255
    return (inst.op == OP_ATOM or inst.op == OP_RED) and (operation == ATOM_SYNC or operation == ATOM_PHASE)


@device
def reads_late(inst):
    """Return whether an access takes its registers when it leaves the queue."""
    return is_of_texture_unit(inst) or is_on_object(inst)


@device
def capture(sm, rf, rows, insts, arena, slot, row):
    """Copy an access's operands to the rows from `row` on."""
    values.gather(sm, rf, rows, insts, arena, slot, row)
    return unite(rows, insts[sm.inflight[slot].pc], row)


@device
def unite(rows, inst, row):
    """Add the parts of an address, unless it has but one or is a texture's coordinates."""
    if not is_of_texture_unit(inst) and (inst.scale != 0 or slots(inst) & 0xC0 != 0):
        unite_address(rows, inst, row)
    return 0


@device
def advance(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index):
    """Start the units' next instructions, let an access into the memory pipeline, and send its lines."""
    for number in range(NUM_SUBCORES):
        for unit in range(NUM_UNITS):
            if rf.core.sub[number].unit[unit] != 0:
                start(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, rf.core.sub[number], unit)
    if sm.ldst_head == NONE8 and rf.core.free_cycle <= sm.cycle:
        grant(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index)
    if sm.ldst_head != NONE8:
        send_lines(sm, rf, spec, insts)


@device
def start(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, sub, unit):
    """Let a unit of variable latency take the instruction that waits for it, with its operands.

    A load of constants is performed at once, between accesses in the memory pipeline, whose lines are in sm.scratch.
    """
    slot = np.int64(sub.unit[unit]) - 1
    flight = sm.inflight[slot]
    if sub.unit_cycle[unit] > sm.cycle or flight.issue_cycle + START_CYCLES > sm.cycle:
        return 0
    inst = insts[flight.pc]
    if inst.memory_kind == MEM_NONE:
        values.compute(sm, rf, rows, insts, arena, slot)
    elif sm.ldst_head != NONE8:
        return 0
    elif flight.mask != 0:
        row = np.int64(sm.config.first_collector_row)
        capture(sm, rf, rows, insts, arena, slot, row)
        perform(sm, key, rows, inst, arena, regions, log, mem_index, slot, row)
    sub.unit[unit] = 0
    sub.unit_cycle[unit] = sm.cycle + spec.core.interval[inst.latency_class]
    if unit == UNIT_XU:
        sm.events[SFU_CYCLES] += spec.core.interval[inst.latency_class]
    if unit == UNIT_DOUBLE:         # one for all sub-cores
        sm.events[FP64_CYCLES] += spec.core.interval[inst.latency_class]
        for number in range(NUM_SUBCORES):
            rf.core.sub[number].unit_cycle[unit] = sub.unit_cycle[unit]
    release(sm, rf, inst, slot, READ_SHIFT)
    flight.stage = EXECUTE
    flight.since_cycle = sm.cycle
    touch_inflight(sm, slot)
    left = np.int64(spec.core.latency[inst.latency_class]) - START_CYCLES - 1
    return schedule(sm, slot, sm.cycle + max(np.int64(1), left))


@device
def width_of(inst):
    """Return the index of an access's width in the tables: 4, 8 or 16 bytes per lane."""
    size = np.int64(inst.width) * np.int64(inst.count)
    return 0 if size <= 4 else 1 if size <= 8 else 2


@device
def grant(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index):
    """Let the oldest access of the first sub-core in turn that has one ready into the memory pipeline."""
    for step in range(NUM_SUBCORES):
        number = (np.int64(rf.core.turn) + step) % NUM_SUBCORES
        sub = rf.core.sub[number]
        if sub.queued == 0:
            continue
        slot = np.int64(sub.queue[0]) - 1
        flight = sm.inflight[slot]
        inst = insts[flight.pc]
        kind = np.int64(inst.latency_class)
        ready = np.int64(flight.issue_cycle) + spec.core.read_cycles[kind, width_of(inst)]
        if max(ready, np.int64(sub.left_cycle) + spec.core.interval[kind]) <= sm.cycle:
            rf.core.turn = (number + 1) % NUM_SUBCORES
            rf.core.free_cycle = sm.cycle + spec.core.grant_cycles
            leave(sm, rf, key, rows, insts, arena, regions, log, mem_index, sub, number, slot)
            return 0
    return 0


@device
def leave(sm, rf, key, rows, insts, arena, regions, log, mem_index, sub, number, slot):
    """Take an access from its queue and perform it: its operands are read, its credit is free."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    warp = np.int64(flight.warp)
    for place in range(QUEUE_ENTRIES - 1):
        sub.queue[place] = sub.queue[place + 1]
    sub.queue[QUEUE_ENTRIES - 1] = 0
    sub.queued -= 1
    sub.credits_used -= 1
    sub.left_cycle = sm.cycle
    sm.mem_pending[warp] -= 1
    reconsider(sm, warp)
    release(sm, rf, inst, slot, READ_SHIFT)
    flight.stage = MEMORY
    flight.since_cycle = sm.cycle
    flight.done_cycle = sm.cycle + 1
    sm.ldst_head = slot
    sm.next_line = 0
    sm.num_lines = 0
    sm.access_space = SPACE_NONE
    row = latch_row(sm, number, flight.collector)
    if reads_late(inst):
        fetch_registers(rows, inst, np.int64(sm.warp[warp].reg_base), row)
        values.modify_all(rows, inst, row)
        unite(rows, inst, row)
    if flight.mask == 0:
        pass
    elif inst.memory_kind != MEM_NONE:
        perform(sm, key, rows, inst, arena, regions, log, mem_index, slot, row)
    elif inst.op == OP_PRINTF or inst.op == OP_ASSERTFAIL:
        fetch_registers(rows, inst, np.int64(sm.warp[warp].reg_base), row)
        memory.call_host(sm, rows, inst, slot, row, values.result_row_of(sm, slot))
    if inst.op == OP_LDGDEPBAR:
        flight.done_cycle = last_copy(sm, insts, warp)
    flight.collector = NONE8
    rf.core.lines = sm.num_lines
    return touch_inflight(sm, slot)


@device
def last_copy(sm, insts, warp):
    """Return the cycle in which the last of a warp's earlier asynchronous copies ends; all of them have left the queue."""
    done = np.int64(sm.cycle) + 1
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            flight = sm.inflight[word * 64 + low]
            if flight.warp == warp and flight.stage == MEMORY and insts[flight.pc].op == OP_LDGSTS:
                done = max(done, np.int64(flight.done_cycle))
    return done


@device
def perform(sm, key, rows, inst, arena, regions, log, mem_index, slot, first_row):
    """Perform an access, and find the lines or passes that it needs."""
    flight = sm.inflight[slot]
    warp = np.int64(flight.warp)
    result_row = values.result_row_of(sm, slot)
    lanes = np.int64(flight.mask)
    if inst["flags"] & FLAG_ATOM_GLOBAL != 0:
        lanes = note_global(rows, inst, lanes, first_row, result_row)
        write_predicates(sm, inst, warp, np.uint64(lanes), np.int64(flight.mask))
    if lanes != 0:
        lanes = compound.perform(sm, key, rows, inst, arena, regions, log, mem_index, warp, np.int64(flight.pc), lanes,
                                 np.int64(flight.psrc[0]), first_row, result_row,
                                 np.int64(sm.config.first_collector_row), memory.memory_of(sm, warp, True))
    if lanes <= 0:          # a fault, no lane's space, or only zeros that LDGSTS stores
        return
    memory.settle_space(sm, inst, sm.scratch, np.uint32(lanes))
    if inst.memory_kind != MEM_LOAD or inst["flags"] & FLAG_PAST_L1 != 0:
        sectors.note_sectors(inst, rows, first_row, np.uint32(lanes), sm.scratch)
    memory.count_access(sm, inst)
    if inst["flags"] & FLAG_ATOM_SUCCESS != 0:
        flight.pval[0] = note_success(rows, inst, lanes, first_row, result_row)


@device
def send_lines(sm, rf, spec, insts):
    """Send the lines of the access in the memory pipeline: at first those of a coalesced one, then one per cycle."""
    slot = np.int64(sm.ldst_head)
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    kind, width = np.int64(inst.latency_class), width_of(inst)
    after = np.int64(spec.core.use_cycles[kind, width]) - np.int64(spec.core.read_cycles[kind, width]) - 1
    natural = max(np.int64(1), 32 * np.int64(inst.width) * np.int64(inst.count) // LINE_BYTES)
    space = np.int64(sm.access_space)
    done = np.int64(flight.since_cycle) + max(after, np.int64(1))
    if space == SPACE_SHARED:
        extra = max(np.int64(0), np.int64(sm.num_lines) - natural)
        done += extra
        rf.core.free_cycle = max(np.int64(rf.core.free_cycle), np.int64(sm.cycle) + np.int64(sm.num_lines))
    elif space != SPACE_NONE and space != SPACE_CONST and space != SPACE_PARAM:
        now = natural if sm.next_line == 0 else np.int64(1)
        while now > 0 and sm.next_line < sm.num_lines:
            ready = np.int64(memory.handle_line(sm, inst, flight, sm.scratch[memory.access.LINES + sm.next_line]))
            if ready < 0:
                return touch_inflight(sm, slot)
            done = max(done, ready + max(np.int64(0), after - np.int64(sm.config.l1_hit_cycles)))
            flight.done_cycle = max(np.int64(flight.done_cycle), done)
            sm.events[TRANSACTIONS] += 1
            sm.next_line += 1
            now -= 1
        flight.transactions = min(np.int64(sm.num_lines) - np.int64(sm.next_line), np.int64(255))
        if sm.next_line < sm.num_lines:
            return touch_inflight(sm, slot)
    sm.ldst_head = NONE8
    touch_inflight(sm, slot)
    return schedule(sm, slot, max(np.int64(flight.done_cycle), done))
