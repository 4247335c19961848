"""Read-only caches, for code and constants: LRU sets of lines that store the cycle in which they are filled."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.machine.marks import begin_of, mark_entry
from rfview.engine.state import L1_LINE

ENTRY_BYTES = L1_LINE.itemsize
# where their lines start in the cold section, in bytes
ICACHE, CCACHE = begin_of("icache"), begin_of("ccache")


@device
def find_line(lines, sets, ways, line):
    """Return the entry of `lines` that holds or awaits a line, or -1."""
    first = line % np.int64(sets) * np.int64(ways)
    for way in range(first, first + ways):
        if lines[way].line == line:
            return np.int64(way)
    return np.int64(-1)


@device
def oldest_line(sm, lines, sets, ways, line):
    """Return the least recently used way of a line's set that is not itself pending, or -1."""
    first = line % np.int64(sets) * np.int64(ways)
    best = np.int64(-1)
    for way in range(first, first + ways):
        entry = lines[way]
        if entry.line == -1:
            return np.int64(way)
        if entry.fill_cycle <= sm.cycle and (best < 0 or entry.used_cycle < lines[best].used_cycle):
            best = np.int64(way)
    return best


@device
def touch(sm, lines, begin, way):
    """Note that a line was used. begin: ICACHE or CCACHE."""
    lines[way].used_cycle = sm.cycle
    mark_entry(sm, begin, ENTRY_BYTES, way)


@device
def num_awaited(sm, lines, sets, ways):
    """Return the number of pending lines."""
    count = 0
    for way in range(sets * ways):
        if lines[way].fill_cycle > sm.cycle:
            count += 1
    return count
