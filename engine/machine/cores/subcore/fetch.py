"""Fetch: one instruction per cycle and sub-core, for the warp that issued last if it has room, else for the youngest.

An instruction can issue two cycles after its fetch. Buffers hold three instructions, those on their way included (Huerta et
al., MICRO'25, section 5.2, which assumes the policy). The four L0 caches and the L1 behind them are one cache here, whose
lines are as long as the stream buffer of a sub-core (B11.9); with memory.icache_sets = 0, it always hits; with
core.fetch_stages = 0, buffers are always full.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine.cores.subcore import issue
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES
from rfview.engine.machine.stages.fetch import request_line
from rfview.engine.machine.stages.read_only import ICACHE, find_line, touch
from rfview.engine.state import NONE8


@device
def fetch(sm, rf, spec):
    """Move fetched instructions into buffers, and fetch one for each sub-core."""
    rf.core.fetching = 0
    jumped = np.uint64(sm.need_fetch)
    sm.need_fetch = 0
    if spec.core.fetch_stages == 0:
        for warp in set_bits(jumped):
            sm.warp[warp].ibuffer = 1
        return
    roomy = np.uint64(0)
    for warp in set_bits(sm.unfinished):
        own = rf.core.warp[warp]
        if jumped & bit64(warp) != 0:
            own.arriving = 0
        sm.warp[warp].ibuffer += np.int64(own.arriving) & 1
        own.arriving = np.int64(own.arriving) >> 1
        if own.arriving != 0:
            rf.core.fetching = 1
        if np.int64(sm.warp[warp].ibuffer) + popcount(np.uint64(own.arriving)) < sm.config.ibuffer_entries:
            if sm.warp[warp].split != NONE8:
                roomy |= bit64(warp)
    if roomy == 0:
        return
    rf.core.fetching = 1
    for number in range(NUM_SUBCORES):
        of_this = roomy & np.uint64(sm.scheduler_mask[number])
        if of_this != 0:
            fetch_one(sm, rf, spec, number, of_this)


@device
def fetch_one(sm, rf, spec, number, roomy):
    """Fetch an instruction for one of a sub-core's warps, if it is in the cache; else request its line."""
    warp = issue.pick(sm, np.int64(rf.core.sub[number].last_warp) - 1, roomy)
    own = rf.core.warp[warp]
    place = np.int64(sm.warp[warp].pc) + np.int64(sm.warp[warp].ibuffer) + popcount(np.uint64(own.arriving))
    if sm.config.icache_sets != 0 and not in_cache(sm, place // np.int64(sm.config.icache_instructions)):
        return 0
    own.arriving = np.int64(own.arriving) | np.int64(1) << (np.int64(spec.core.fetch_stages) - 2)
    return 1


@device
def in_cache(sm, line):
    """Return whether a line of code is there; request it if it is missing."""
    way = find_line(sm.icache, sm.config.icache_sets, sm.config.icache_ways, line)
    if way < 0:
        request_line(sm, line)
    elif sm.icache[way].fill_cycle <= sm.cycle:
        touch(sm, sm.icache, ICACHE, way)
        return True
    return False
