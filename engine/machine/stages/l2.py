"""Everything beyond the SM's caches: the ports to and from the interconnect, L2, and DRAM with limited bandwidth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import DRAM_BYTES, L2_HITS, L2_MISSES
from rfview.engine.machine.marks import begin_of, mark_entry
from rfview.engine.program import MEM_LOAD, MEM_STORE
from rfview.engine.state import L2_LINE, LINE_BYTES, SECTOR_BYTES

L2, L2_BYTES = begin_of("l2"), L2_LINE.itemsize     # where the table is in the cold section; bytes of an entry
HEADER_BYTES = 8           # of a packet in the interconnect
# numbers of other lines in L2 than those of data: of code, and of constants and parameters
CODE_LINES, CONST_LINES = 1 << 50, 1 << 51


@device
def backlog(sm):
    """Return the number of cycles for which the port of DRAM or that to the interconnect is already reserved."""
    return max(np.int64(sm.dram_free_x256) // 256, np.int64(sm.port_free_cycle)) - np.int64(sm.cycle)


@device
def set_of(line, sets, hashed):
    """Return the set of a line. hashed: as in GPGPU-Sim's Fermi L1, with bits 6-8, 10 and 12 (14 with 64 sets) folded in."""
    if hashed == 0:
        return np.int64(line) % np.int64(sets)
    number = np.int64(line)
    high = (number >> 6) & 7 | ((number >> 10) & 1) << 3 | ((number >> 12) & 1) << 4
    if sets == 64:
        high |= ((number >> 14) & 1) << 5
    return (number & (np.int64(sets) - 1)) ^ high


@device
def request(sm, line, size, kind):
    """Request a line from L2 and, on a miss, from DRAM with its limited bandwidth; return when its data is back.

    size: in bytes, whole sectors. kind: MEM_* of the access; a store is acknowledged by L2, and the cycle returned is that
    in which its last acknowledgement is back.
    """
    is_store = kind == MEM_STORE
    ways = np.int64(sm.config.l2_ways)
    first = set_of(line, sm.config.l2_sets, sm.config.l2_hash) * ways
    oldest = first
    hit = np.int64(-1)
    for way in range(first, first + ways):
        entry = sm.l2[way]
        if entry.line == line:
            hit = way
        if entry.used_cycle < sm.l2[oldest].used_cycle:
            oldest = way
    way = hit if hit >= 0 else oldest
    sm.l2[way].line = line
    sm.l2[way].used_cycle = sm.cycle
    mark_entry(sm, L2, L2_BYTES, way)
    port = through_ports(sm, size, kind)
    if hit >= 0 and not is_store:
        sm.events[L2_HITS] += 1
        return port + np.int64(sm.config.l2_hit_cycles)
    if not is_store:
        sm.events[L2_MISSES] += 1
    begin_x256 = max(np.int64(sm.cycle) * 256, np.int64(sm.dram_free_x256))
    sm.dram_free_x256 = begin_x256 + np.int64(size) * 65536 // np.int64(sm.config.bytes_per_cycle_x256)
    sm.events[DRAM_BYTES] += size
    if is_store:
        return port + np.int64(sm.config.l2_hit_cycles)
    wait = np.int64(sm.config.l2_hit_cycles) + np.int64(sm.config.dram_cycles)
    return max(begin_x256 // 256, port) + wait


@device
def through_ports(sm, size, kind):
    """Reserve the SM's ports to and from the interconnect for a request and its replies (rule B0.11).

    Return the cycle in which it would be served if L2 took no time: queues are counted when a request is made.
    One flit passes per cycle and direction; a packet has a header of 8 bytes. Stores and atomics send data. L2 works in
    sectors of 32 bytes, and sends a packet for each: its data, or the acknowledgement that it is stored.
    """
    flit = np.int64(sm.config.flit_bytes)
    if flit == 0:
        return np.int64(sm.cycle)
    begin = max(np.int64(sm.cycle), np.int64(sm.port_free_cycle))
    sent = HEADER_BYTES + (np.int64(0) if kind == MEM_LOAD else np.int64(size))
    sm.port_free_cycle = begin + -(-sent // flit)
    answer = HEADER_BYTES + (np.int64(0) if kind == MEM_STORE else np.int64(SECTOR_BYTES))
    begin = max(begin, np.int64(sm.reply_free_cycle))
    sm.reply_free_cycle = begin + -(-np.int64(size) // SECTOR_BYTES) * -(-answer // flit)
    return begin


def warm_l2(sm: Any, buffers: Iterable[tuple[int, int]]) -> None:
    """Fill L2 as host copies of these buffers, (address, bytes) in order, would leave it."""
    sets, ways = int(sm.config.l2_sets), int(sm.config.l2_ways)
    place = getattr(set_of, "py_func", set_of)
    spans = [range(address // LINE_BYTES, (address + size - 1) // LINE_BYTES + 1) for address, size in buffers if size]
    lines = [line for span in spans for line in span[-sets * ways :]]
    sm.l2["used_cycle"] = -len(lines) - 1       # empty ways are filled before any line is replaced
    for age, line in enumerate(lines, -len(lines)):
        first = int(place(line, sets, int(sm.config.l2_hash))) * ways
        held = sm.l2[first : first + ways]
        way = int(np.lexsort((held["used_cycle"], held["line"] != -1))[0])
        held["line"][way], held["used_cycle"][way] = line, age
