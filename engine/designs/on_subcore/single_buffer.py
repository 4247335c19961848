"""`single_buffer` on the sub-core: each sub-core has a buffer of 16 entries, which drains into its two banks (B12.3)."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.designs.single_buffer import (BUFFER_DRAINS, BUFFER_DROPPED, BUFFER_MERGES, BUFFER_READS, BUFFER_WRITES,
                                                 ENTRIES, STT_READS, STT_WRITES)
from rfview.engine.events import RF_WRITES
from rfview.engine.stalls import STT_WRITE, WB_FULL
from rfview.engine.state import FOREVER

MEANING = "each sub-core has a buffer of 16 entries, which takes its results and drains into its two banks, the oldest first"
BUFFER = np.dtype([("warp", "u1", (ENTRIES,)), ("reg", "u1", (ENTRIES,)), ("lanes", "u4", (ENTRIES,)), ("count", "u4")])
STATE = (("buffer", BUFFER, (4,)),)     # of each sub-core: the oldest entry first
PANELS = (
    {"kind": "values", "title": "entries in the buffer of each sub-core", "field": "buffer.count"},
    {"kind": "table", "title": "their warps, a row per sub-core, the oldest first", "field": "buffer.warp"},
    {"kind": "table", "title": "their registers", "field": "buffer.reg"},
)


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read the buffer; lanes that it lacks, from the bank."""
    buffer = rf.buffer[np.int64(warp) % 4]
    entry = find(buffer, warp, reg)
    if entry >= 0:
        sm.events[spec.first_event + BUFFER_READS] += 1
        if np.int64(buffer.lanes[entry]) | np.int64(sm.warp[warp].exited) == 0xFFFFFFFF:
            return 0
    sm.events[spec.first_event + STT_READS] += 1
    return 1


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Merge a result with its register's entry, or append it; a full buffer refuses it."""
    buffer = rf.buffer[np.int64(warp) % 4]
    entry = find(buffer, warp, reg)
    if entry < 0:
        if buffer.count >= ENTRIES:
            return -WB_FULL
        entry = np.int64(buffer.count)
        buffer.count += 1
        buffer.warp[entry] = warp
        buffer.reg[entry] = reg
        buffer.lanes[entry] = 0
    else:
        sm.events[spec.first_event + BUFFER_MERGES] += 1
    buffer.lanes[entry] = np.int64(buffer.lanes[entry]) | np.int64(lanes)
    sm.events[RF_WRITES] += 1
    sm.events[spec.first_event + BUFFER_WRITES] += 1
    return 0


def bank_cycles(sm, rf, spec, rows, bank):
    """Write the oldest entry of a bank."""
    buffer = rf.buffer[bank // 2]
    for entry in range(np.int64(buffer.count)):
        if np.int64(buffer.reg[entry]) & 1 == bank & 1:
            sm.bank[bank].busy_code = STT_WRITE
            sm.bank[bank].owner_warp = buffer.warp[entry]
            sm.bank[bank].owner_reg = buffer.reg[entry]
            remove(buffer, entry)
            sm.events[spec.first_event + BUFFER_DRAINS] += 1
            sm.events[spec.first_event + STT_WRITES] += 1
            return np.int64(spec.write_cycles)
    return 0


def on_exit(sm, rf, spec, rows, warp):
    """Drop the entries of a warp that has ended (B0.7)."""
    buffer = rf.buffer[np.int64(warp) % 4]
    for entry in range(np.int64(buffer.count) - 1, -1, -1):
        if buffer.warp[entry] == warp:
            remove(buffer, entry)
            sm.events[spec.first_event + BUFFER_DROPPED] += 1
    return 0


def next_event(sm, rf, spec):
    """Return the current cycle while a buffer has entries."""
    for number in range(4):
        if rf.buffer[number].count != 0:
            return np.int64(sm.cycle)
    return np.int64(FOREVER)


@device
def find(buffer, warp, reg):
    """Return a register's entry, or -1."""
    for entry in range(np.int64(buffer.count)):
        if buffer.warp[entry] == warp and buffer.reg[entry] == reg:
            return np.int64(entry)
    return np.int64(-1)


@device
def remove(buffer, entry):
    """Remove an entry; younger ones move up."""
    buffer.count -= 1
    for place in range(entry, np.int64(buffer.count)):
        buffer.warp[place] = buffer.warp[place + 1]
        buffer.reg[place] = buffer.reg[place + 1]
        buffer.lanes[place] = buffer.lanes[place + 1]
    buffer.warp[buffer.count] = 0       # shown beside the others
    buffer.reg[buffer.count] = 0
