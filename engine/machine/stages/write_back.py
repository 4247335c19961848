"""Write-back: results leave the pipes through the result buses into the register file, as the design allows."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.program import UNIT_LDST, WAIT_LONG
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.ports import count_refused_write
from rfview.engine.machine.rows import note_write
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import NONE8, WRITE_BACK, WRITTEN

ALU, MEMORY = 0, 1        # the two kinds of result bus


@device
def queue_result(sm, slot):
    """Queue a finished instruction for its result bus, in the order of issue."""
    flight = sm.inflight[slot]
    bus = MEMORY if flight.unit == UNIT_LDST else ALU
    before = np.int64(sm.write_last[bus])       # from the end: few waiting results were issued later
    while before != NONE8 and sm.inflight[before].seq > flight.seq:
        before = np.int64(sm.write_before[before])
    following = np.int64(sm.write_first[bus] if before == NONE8 else sm.write_next[before])
    link(sm, bus, before, slot)
    link(sm, bus, slot, following)
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) | bit64(np.int64(slot) & 63)
    return 0


@device
def link(sm, bus, before, after):
    """Link two consecutive results in a bus's queue; NONE8 means its ends."""
    if before == NONE8:
        sm.write_first[bus] = after
    else:
        sm.write_next[before] = after
    if after == NONE8:
        sm.write_last[bus] = before
    else:
        sm.write_before[after] = before


@device
def unqueue_result(sm, bus, before, slot):
    """Remove a written result from its queue. before: the one before it, NONE8 if none."""
    link(sm, bus, before, np.int64(sm.write_next[slot]))
    word = np.int64(slot) >> 6
    sm.in_write_back[word] = np.uint64(sm.in_write_back[word]) & ~bit64(np.int64(slot) & 63)


@device
def write_back(sm, rf, spec, rows, insts, freeze):
    """Offer finished results to the design, oldest first: `result_buses` ALU instructions and one memory instruction.

    In a frozen pipeline (B0.10) only long-latency results are written.
    """
    buses = np.int64(sm.config.result_buses)
    memory_port = np.int64(1)
    alu, memory = np.int64(sm.write_first[ALU]), np.int64(sm.write_first[MEMORY])
    before_alu, before_memory = np.int64(NONE8), np.int64(NONE8)
    while True:
        next_alu = alu if buses > 0 else np.int64(NONE8)
        next_memory = memory if memory_port > 0 else np.int64(NONE8)
        if next_alu == NONE8 and next_memory == NONE8:
            return 0
        if next_memory == NONE8 or (next_alu != NONE8 and sm.inflight[next_alu].seq < sm.inflight[next_memory].seq):
            held = is_held_back(sm, insts, next_alu, freeze)
            alu = np.int64(sm.write_next[next_alu])
            before_alu = offer(sm, rf, spec, rows, insts, ALU, before_alu, next_alu, freeze, held)
            buses -= 0 if held else 1
        else:
            held = is_held_back(sm, insts, next_memory, freeze)
            memory = np.int64(sm.write_next[next_memory])
            before_memory = offer(sm, rf, spec, rows, insts, MEMORY, before_memory, next_memory, freeze, held)
            memory_port -= 0 if held else 1


@device
def offer(sm, rf, spec, rows, insts, bus, before, slot, freeze, held):
    """Write one result if the design accepts it; return the result that now precedes the next one in its queue."""
    if held:
        refuse(sm, slot, freeze)
        return slot
    if write_result(sm, rf, spec, rows, insts, slot) != 0:
        return slot
    unqueue_result(sm, bus, before, slot)
    return before


@device
def is_held_back(sm, insts, slot, freeze):
    """Return whether a frozen pipeline keeps a result from being written."""
    return freeze != 0 and insts[sm.inflight[slot].pc].wait_class != WAIT_LONG


@device
def write_result(sm, rf, spec, rows, insts, slot):
    """Offer every unwritten row of an instruction; return 0 if all were accepted, else note and return the refusal."""
    flight = sm.inflight[slot]
    pc = flight.pc
    warp = np.int64(flight.warp)
    mask = flight.mask
    unwritten = np.int64(flight.unwritten)
    refused = 0
    for row in set_bits(flight.unwritten):
        unwritten &= ~(1 << row)
        flight.unwritten = unwritten
        reg = np.int64(insts[pc].dst[row])
        value_row = sm.config.first_result_row + slot * 4 + row
        code = hooks.write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot)
        if code != 0:
            unwritten |= 1 << row
            flight.unwritten = unwritten
            refused = code
            count_refused_write(sm, code)
            flight.bank = hooks.bank_of(sm, rf, spec, warp, reg)
        else:
            note_write(sm, warp, reg, mask, pc, value_row)
    touch_inflight(sm, slot)
    if refused != 0:
        return refuse(sm, slot, refused)
    if flight.code != 0:
        reconsider(sm, warp)
    flight.code = 0
    hooks.on_retire(sm, rf, spec, rows, slot, insts[pc])
    if flight.stage == WRITE_BACK:
        flight.stage = WRITTEN
        flight.since_cycle = sm.cycle
    return 0


@device
def refuse(sm, slot, code):
    """Note why a result could not be written in this cycle; warps waiting for it show that reason."""
    flight = sm.inflight[slot]
    if flight.code != code:
        flight.code = code
        touch_inflight(sm, slot)
        reconsider(sm, np.int64(flight.warp))
    return code
