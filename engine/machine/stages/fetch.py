"""Fetch: each scheduler refills one warp's I-buffer per cycle, or all share fewer ports; usable from the next cycle on.

With sm.refill_cycles, a warp is fetched that long after its last issue, or sm.branch_cycles after a taken branch.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import ICACHE_MISSES
from rfview.engine.machine.schedulers.round_robin import next_from
from rfview.engine.machine.stages import l2
from rfview.engine.machine.stages.read_only import ICACHE, find_line, oldest_line, touch
from rfview.engine.program import MEM_LOAD


@device
def fetch(sm):
    """Refill one empty I-buffer per scheduler with `fetch_width` instructions, from the instruction cache if it has one."""
    if sm.need_fetch == 0:
        return
    width = min(np.int64(sm.config.fetch_width), np.int64(sm.config.ibuffer_entries))
    number = np.int64(sm.config.num_schedulers)
    ports = np.int64(sm.config.fetch_ports) if sm.config.fetch_ports > 0 else number
    for turn in range(number):
        if ports == 0:
            return
        scheduler = (np.int64(sm.cycle) + turn) % number
        waiting = np.uint64(sm.need_fetch) & np.uint64(sm.scheduler_mask[scheduler])
        if sm.config.refill_cycles != 0:
            waiting = rested(sm, waiting)
        if sm.config.icache_sets != 0:
            waiting = in_cache(sm, waiting, np.int64(sm.scheduler[scheduler].fetch_pointer))
        if waiting == 0:
            continue
        pointer = np.int64(sm.scheduler[scheduler].fetch_pointer)
        warp = next_from(waiting, pointer)
        entry = sm.warp[warp]
        jumped = entry.pc != entry.last_pc + 1
        if jumped and sm.config.branch_cycles > 0 and entry.last_issue_cycle + sm.config.branch_cycles > sm.cycle:
            continue
        entry.ibuffer = width
        ports -= 1
        sm.need_fetch = np.uint64(sm.need_fetch) & ~bit64(warp)
        sm.scheduler[scheduler].fetch_pointer = (warp + 1) & 63


@device
def rested(sm, waiting):
    """Return the warps whose last issue is long enough ago: fetched instructions are decoded in a cycle of their own."""
    held = np.uint64(0)
    for warp in set_bits(waiting):
        entry = sm.warp[warp]
        jumped = entry.pc != entry.last_pc + 1
        pause = np.int64(sm.config.branch_cycles if jumped else sm.config.refill_cycles)
        held |= np.uint64(entry.last_issue_cycle + pause <= sm.cycle) << np.uint64(warp)
    return held


@device
def in_cache(sm, waiting, pointer):
    """Return the warps whose next instruction is in the instruction cache; request the first missing line.

    One miss is sent per cycle and scheduler, as long as its set has a line that is not itself pending.
    """
    lines, sets, ways = sm.icache, sm.config.icache_sets, sm.config.icache_ways
    held = np.uint64(0)
    missed = False
    left = waiting
    while left != 0:
        warp = next_from(left, pointer)
        left &= ~bit64(warp)
        line = np.int64(sm.warp[warp].pc) // np.int64(sm.config.icache_instructions)
        way = find_line(lines, sets, ways, line)
        if way >= 0:
            if lines[way].fill_cycle <= sm.cycle:
                held |= bit64(warp)
                touch(sm, lines, ICACHE, way)
        elif not missed:
            missed = True
            request_line(sm, line)
    return held


@device
def request_line(sm, line):
    """Request a line of code that is not in the instruction cache, unless its set only has pending lines."""
    lines = sm.icache
    way = oldest_line(sm, lines, sm.config.icache_sets, sm.config.icache_ways, line)
    if way >= 0:
        lines[way].line = line
        lines[way].fill_cycle = l2.request(sm, l2.CODE_LINES + line, sm.config.line_bytes, MEM_LOAD)
        touch(sm, lines, ICACHE, way)
        sm.events[ICACHE_MISSES] += 1
