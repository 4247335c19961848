"""`hrf` on the sub-core: two write buffers in each, which its warps take in turn, over two STT-RAM banks (B12.4)."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.designs.hrf import (DRAINING, EMPTY, ENTRIES, FILLING, STT_QUEUED, STT_READS, STT_WRITES, WB_DRAIN_READS,
                                       WB_DROPPED, WB_LATE, WB_MERGED, WB_OVERWRITES, WB_PERIODS, WB_PERIODS_UNDER_16,
                                       WB_DRAIN, WB_READS, WB_SWITCHES, WB_WRITES)
from rfview.engine.events import RF_WRITES
from rfview.engine.stalls import STT_WRITE
from rfview.engine.state import FOREVER

MEANING = ("each sub-core has two write buffers; a warp's results go into its own, another warp's result takes the other "
           "one while the first drains into both banks; loads never switch")
BUFFER = np.dtype(
    [
        ("valid", "u8"),                  # entries that STT-RAM does not have, a bit each
        ("order", "i8"),                  # of two buffers, the smaller was taken first
        ("lanes", "u4", (ENTRIES,)),
        ("reg", "u1", (ENTRIES,)),
        ("owner", "u1"),                  # warp, unless it is empty
        ("state", "u1"),                  # EMPTY, FILLING, DRAINING
        ("used", "u1"),                   # entries taken since it was
        ("pad", "u1", (5,)),
    ],
    align=True,
)
STATE = (("switches", "i8"), ("buffer", BUFFER, (4, 2)))
PANELS = (
    {"kind": "values", "title": "switches", "field": "switches"},
    {"kind": "table", "title": "warps of the two buffers, a row per sub-core", "field": "buffer.owner"},
    {"kind": "table", "title": "their entries that STT-RAM lacks", "field": "buffer.valid", "show": "registers"},
)
UNDER_16 = 16


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read the filling buffer; on a miss STT-RAM, once the register has drained into it."""
    number = np.int64(warp) % 4
    filling, draining = in_state(rf, number, FILLING), in_state(rf, number, DRAINING)
    entry = find(rf.buffer[number][filling], warp, reg) if filling >= 0 else np.int64(-1)
    is_whole = False
    if entry >= 0:
        is_whole = np.int64(rf.buffer[number][filling].lanes[entry]) | np.int64(sm.warp[warp].exited) == 0xFFFFFFFF
    if not is_whole and draining >= 0 and find(rf.buffer[number][draining], warp, reg) >= 0:
        return -WB_DRAIN
    if entry >= 0:
        sm.events[spec.first_event + WB_READS] += 1
        if is_whole:
            return 0
        sm.events[spec.first_event + WB_MERGED] += 1
    sm.events[spec.first_event + STT_READS] += 1
    return 1


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Put a result into its warp's buffer or an empty one that it takes; late ones go past the buffers (B1.3)."""
    number = np.int64(warp) % 4
    filling = in_state(rf, number, FILLING)
    if filling < 0 or rf.buffer[number][filling].owner != warp:
        if is_late:
            draining = in_state(rf, number, DRAINING)
            if draining >= 0 and find(rf.buffer[number][draining], warp, reg) >= 0:
                sm.events[spec.first_event + WB_LATE] += 1
                return fill(sm, spec, rf.buffer[number][draining], warp, reg, lanes)
            sm.events[RF_WRITES] += 1
            sm.events[spec.first_event + STT_QUEUED] += 1
            sm.events[spec.first_event + STT_WRITES] += 1
            return np.int64(spec.write_cycles)
        empty = in_state(rf, number, EMPTY)
        if empty < 0:
            return -WB_DRAIN
        switch(sm, rf, spec, number, filling, empty, warp)
        filling = empty
    elif rf.buffer[number][filling].used >= ENTRIES and find(rf.buffer[number][filling], warp, reg) < 0:
        empty = in_state(rf, number, EMPTY)             # more registers than entries: it goes on in the other one
        if empty < 0:
            return -WB_DRAIN
        switch(sm, rf, spec, number, filling, empty, warp)
        filling = empty
    return fill(sm, spec, rf.buffer[number][filling], warp, reg, lanes)


def bank_cycles(sm, rf, spec, rows, bank):
    """Write the next entry of a draining buffer whose register is in the bank; an empty one can be taken again."""
    for index in range(2):
        buffer = rf.buffer[bank // 2][index]
        left = np.uint64(buffer.valid)
        if buffer.state != DRAINING:
            continue
        if left == 0:
            buffer.state = EMPTY
        for entry in set_bits(left):
            if np.int64(buffer.reg[entry]) & 1 == bank & 1:
                buffer.valid = np.uint64(buffer.valid) & ~bit64(entry)
                sm.bank[bank].busy_code = STT_WRITE
                sm.bank[bank].owner_warp = buffer.owner
                sm.bank[bank].owner_reg = buffer.reg[entry]
                sm.events[spec.first_event + WB_DRAIN_READS] += 1
                sm.events[spec.first_event + STT_WRITES] += 1
                return np.int64(spec.write_cycles)
    return 0


def on_exit(sm, rf, spec, rows, warp):
    """Drop what the buffers hold for a warp that has ended (B0.7)."""
    for index in range(2):
        buffer = rf.buffer[np.int64(warp) % 4][index]
        if buffer.state != EMPTY and buffer.owner == warp:
            drop(sm, spec, buffer)
            buffer.state = EMPTY
    return 0


def next_event(sm, rf, spec):
    """Return the current cycle while a buffer drains."""
    for number in range(4):
        if in_state(rf, number, DRAINING) >= 0:
            return np.int64(sm.cycle)
    return np.int64(FOREVER)


@device
def in_state(rf, number, state):
    """Return a sub-core's first buffer in a state, or -1."""
    for index in range(2):
        if rf.buffer[number][index].state == state:
            return np.int64(index)
    return np.int64(-1)


@device
def find(buffer, warp, reg):
    """Return the entry of a warp's register in a buffer, or -1."""
    if buffer.state == EMPTY or buffer.owner != warp:
        return np.int64(-1)
    for entry in set_bits(buffer.valid):
        if buffer.reg[entry] == reg:
            return np.int64(entry)
    return np.int64(-1)


@device
def switch(sm, rf, spec, number, filling, empty, warp):
    """Give a warp an empty buffer, and let the filling one drain; what an ended warp had there is dropped."""
    if filling >= 0:
        buffer = rf.buffer[number][filling]
        buffer.state = DRAINING
        sm.events[spec.first_event + WB_PERIODS] += 1
        sm.events[spec.first_event + WB_PERIODS_UNDER_16] += np.int64(buffer.used < UNDER_16)
        if np.uint64(sm.unfinished) & bit64(buffer.owner) == 0:
            drop(sm, spec, buffer)
    buffer = rf.buffer[number][empty]
    buffer.state = FILLING
    buffer.owner = warp
    buffer.used = 0
    buffer.valid = 0
    buffer.order = rf.switches
    rf.switches += 1
    sm.events[spec.first_event + WB_SWITCHES] += 1


@device
def drop(sm, spec, buffer):
    """Forget the entries of a buffer."""
    sm.events[spec.first_event + WB_DROPPED] += popcount(np.uint64(buffer.valid))
    buffer.valid = 0


@device
def fill(sm, spec, buffer, warp, reg, lanes):
    """Write a result over its register's entry, or into a new one."""
    entry = find(buffer, warp, reg)
    if entry < 0:
        entry = np.int64(buffer.used)
        buffer.used += 1
        buffer.reg[entry] = reg
        buffer.lanes[entry] = 0
        buffer.valid = np.uint64(buffer.valid) | bit64(entry)
    else:
        sm.events[spec.first_event + WB_OVERWRITES] += 1
    buffer.lanes[entry] = np.int64(buffer.lanes[entry]) | np.int64(lanes)
    sm.events[RF_WRITES] += 1
    sm.events[spec.first_event + WB_WRITES] += 1
    return 0
