"""Write-back: results leave the pipes through the result buses into the register file, as the design allows."""

from __future__ import annotations

import numpy as np

from engine import hooks
from engine.bits import bit64, ctz64
from engine.device import device
from engine.program import NUM_DST_ROWS, UNIT_LDST, WAIT_LONG
from engine.registers import touch_inflight, wake
from engine.state import MAX_INFLIGHT, WRITE_BACK, WRITTEN

WORDS = MAX_INFLIGHT // 64


@device
def write_back(sm, rf, spec, rows, insts, freeze):
    """Offer finished results to the design, oldest first: `result_buses` ALU instructions and one memory instruction.

    In a frozen pipeline (B0.10) only long-latency results are written.
    """
    pending = 0
    for word in range(WORDS):
        if sm.writing[word] != 0:
            pending = 1
    if pending == 0:
        return 0
    buses = np.int64(sm.config.result_buses)
    memory_port = 1
    last_seq = np.int64(-1)
    while buses > 0 or memory_port > 0:
        slot = next_result(sm, last_seq, buses, memory_port)
        if slot < 0:
            break
        flight = sm.inflight[slot]
        last_seq = np.int64(flight.seq)
        inst = insts[flight.pc]
        if freeze != 0 and inst.wait_class != WAIT_LONG:
            refuse(sm, slot, freeze)
            continue
        if flight.unit == UNIT_LDST:
            memory_port = 0
        else:
            buses -= 1
        write_result(sm, rf, spec, rows, insts, slot)
    return 0


@device
def next_result(sm, last_seq, buses, memory_port):
    """Return the oldest waiting result younger than `last_seq` that a free bus can carry, or -1."""
    best = np.int64(-1)
    best_seq = np.int64(0)
    for word in range(WORDS):
        waiting = np.uint64(sm.writing[word])
        while waiting != 0:
            low = ctz64(waiting)
            waiting &= ~bit64(low)
            slot = word * 64 + low
            flight = sm.inflight[slot]
            if flight.seq <= last_seq or (best >= 0 and flight.seq >= best_seq):
                continue
            if (memory_port if flight.unit == UNIT_LDST else buses) > 0:
                best = slot
                best_seq = np.int64(flight.seq)
    return best


@device
def write_result(sm, rf, spec, rows, insts, slot):
    """Offer every unwritten row of one instruction; note the refusal, retire it when all rows are in."""
    flight = sm.inflight[slot]
    pc = flight.pc
    warp = np.int64(flight.warp)
    mask = flight.mask
    unwritten = np.int64(flight.unwritten)
    refused = 0
    for row in range(NUM_DST_ROWS):
        if (unwritten >> row) & 1:
            unwritten &= ~(1 << row)
            flight.unwritten = unwritten
            reg = np.int64(insts[pc].dst[row])
            value_row = sm.config.first_result_row + slot * 4 + row
            code = hooks.write_back(sm, rf, spec, rows, warp, reg, mask, value_row, slot)
            if code != 0:
                unwritten |= 1 << row
                flight.unwritten = unwritten
                refused = code
                flight.bank = hooks.bank_of(sm, rf, spec, warp, reg)
    touch_inflight(sm, slot)
    if refused != 0:
        return refuse(sm, slot, refused)
    flight.code = 0
    word = np.int64(slot) >> 6
    sm.writing[word] = np.uint64(sm.writing[word]) & ~bit64(np.int64(slot) & 63)
    hooks.on_retire(sm, rf, spec, rows, slot, insts[pc])
    if flight.stage == WRITE_BACK:
        flight.stage = WRITTEN
        flight.since_cycle = sm.cycle
    return 0


@device
def refuse(sm, slot, code):
    """Note why a result could not be written in this cycle; who waits for it books that reason."""
    flight = sm.inflight[slot]
    if flight.code != code:
        flight.code = code
        touch_inflight(sm, slot)
        wake(sm, np.int64(flight.warp))
    return code
