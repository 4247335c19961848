"""L1, the data cache: loads look up their lines, a miss takes an MSHR and a way; stores write through.

A line stores the cycle in which it is filled, so that no event has to end a miss.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import L1_HITS, L1_MISSES, L1_PENDING_HITS
from rfview.engine.machine.marks import begin_of, mark_entry
from rfview.engine.machine.stages.l2 import request, set_of
from rfview.engine.program import MEM_LOAD, SPACE_GLOBAL
from rfview.engine.state import FOREVER, L1_LINE, LDST_MSHRS_FULL, LDST_SET_FULL, MSHR

# where the tables are in the cold section, and bytes of an entry
L1, MSHRS = begin_of("l1"), begin_of("mshr")
L1_BYTES, MSHR_BYTES = L1_LINE.itemsize, MSHR.itemsize
EVICT = 1                  # of memory.l1_stores
IDEAL_L1 = 2               # of memory.l1_enabled: 0 none, 1 as it is, 2 every load hits


@device
def load_line(sm, inst, flight, line):
    """Look up a line in L1; a miss takes an MSHR and a way, or waits in LD/ST if there is none."""
    hit = np.int64(sm.cycle) + np.int64(sm.config.l1_hit_cycles)
    if sm.config.l1_enabled == IDEAL_L1:
        sm.events[L1_HITS] += 1
        return hit
    way = find_line(sm, line)
    if way >= 0:
        entry = sm.l1[way]
        entry.used_cycle = sm.cycle
        mark_entry(sm, L1, L1_BYTES, way)
        if entry.fill_cycle > sm.cycle:
            flight.missed = 1
            sm.events[L1_PENDING_HITS] += 1
            return max(hit, np.int64(entry.fill_cycle))
        sm.events[L1_HITS] += 1
        return hit
    mshr = free_mshr(sm)
    if mshr < 0:
        sm.ldst_reason = LDST_MSHRS_FULL
        return np.int64(-1)
    way = victim(sm, line)
    if way < 0:
        sm.ldst_reason = LDST_SET_FULL
        return np.int64(-1)
    ready = request(sm, line, sm.config.line_bytes, MEM_LOAD)
    sm.events[L1_MISSES] += 1
    flight.missed = 1
    entry = sm.l1[way]
    entry.line = line
    entry.fill_cycle = ready
    entry.used_cycle = sm.cycle
    mark_entry(sm, L1, L1_BYTES, way)
    miss = sm.mshr[mshr]
    miss.line = line
    miss.since_cycle = sm.cycle
    miss.until_cycle = ready
    miss.owner_warp = flight.warp
    miss.owner_reg = inst.dst[0]
    mark_entry(sm, MSHRS, MSHR_BYTES, mshr)
    return ready


@device
def store_line(sm, line):
    """Keep a stored line young in L1, or evict it; stores write through and do not allocate.

    Evicting (memory.l1_stores) is for global stores to lines that have arrived.
    """
    if sm.config.l1_enabled == 0:
        return
    way = find_line(sm, line)
    if way >= 0:
        entry = sm.l1[way]
        entry.used_cycle = sm.cycle
        if sm.config.l1_stores == EVICT and sm.access_space == SPACE_GLOBAL and entry.fill_cycle <= sm.cycle:
            entry.line = -1
        mark_entry(sm, L1, L1_BYTES, way)


@device
def find_line(sm, line):
    """Return the L1 entry that holds or awaits a line, or -1."""
    ways = np.int64(sm.config.l1_ways)
    first = set_of(line, sm.config.l1_sets, sm.config.l1_hash) * ways
    for way in range(first, first + ways):
        if sm.l1[way].line == line:
            return way
    return np.int64(-1)


@device
def victim(sm, line):
    """Return the least recently used way of a line's L1 set that is not itself pending, or -1."""
    ways = np.int64(sm.config.l1_ways)
    first = set_of(line, sm.config.l1_sets, sm.config.l1_hash) * ways
    best = np.int64(-1)
    best_cycle = FOREVER
    for way in range(first, first + ways):
        entry = sm.l1[way]
        if entry.line == -1:
            return way
        if entry.fill_cycle <= sm.cycle and entry.used_cycle < best_cycle:
            best = way
            best_cycle = np.int64(entry.used_cycle)
    return best


@device
def free_mshr(sm):
    """Return an MSHR whose line has arrived, or -1 when all are in use."""
    for index in range(sm.config.mshrs):
        if sm.mshr[index].until_cycle <= sm.cycle:
            return index
    return -1
