"""The L0 cache of constants: what an operand c[bank][offset] is read from, 512 bytes per sub-core.

A warp looks for the constants of its next instruction when it could issue otherwise; if one is missing, it waits for a fixed
number of cycles, and for the first of them nobody else of its sub-core issues if it issued last (Huerta et al., MICRO'25,
section 5.4). The line then replaces the one that came first (assumed).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import CONST_HITS, CONST_MISSES
from rfview.engine.machine.cores.subcore.state import CONSTANT_LINES

LINE = 64               # bytes (assumed)
HELD_CYCLES = 4         # for which a sub-core waits for its greedy warp's constants
SLOTS = 8               # of operand words in an instruction


@device
def wait_for(sm, rf, spec, number, warp, inst):
    """Return until which cycle a warp waits for the constants of its next instruction, which it asks for once."""
    own = rf.core.warp[warp]
    if own.constant_cycle == 0:
        own.constant_cycle = sm.cycle
        for slot in range(SLOTS):
            if (np.int64(inst.const_mask) >> slot) & 1:
                own.constant_cycle = max(np.int64(own.constant_cycle),
                                         look_up(sm, spec, rf.core.sub[number], np.int64(inst.imm[slot]) // LINE))
    return np.int64(own.constant_cycle)


@device
def look_up(sm, spec, sub, line):
    """Return the cycle from which on the cache has a line; request it if it is missing."""
    for place in range(CONSTANT_LINES):
        if sub.constant_line[place] == line + 1:
            sm.events[CONST_HITS] += 1
            return np.int64(sub.constant_cycle[place])
    place = np.int64(sub.constant_next)
    sub.constant_next = (place + 1) % CONSTANT_LINES
    sub.constant_line[place] = line + 1
    sub.constant_cycle[place] = sm.cycle + spec.core.constant_cycles
    sm.events[CONST_MISSES] += 1
    return np.int64(sub.constant_cycle[place])


@device
def holds_issue(sm, rf, spec, sub):
    """Return whether nobody issues in this cycle, since the warp that issued last has just missed a constant."""
    if sub.last_warp == 0 or spec.core.constant_cycles == 0:
        return False
    until = np.int64(rf.core.warp[np.int64(sub.last_warp) - 1].constant_cycle)
    return until > sm.cycle and sm.cycle < until - spec.core.constant_cycles + HELD_CYCLES
