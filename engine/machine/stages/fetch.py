"""Fetch: each scheduler refills one warp's I-buffer per cycle, or all share fewer ports; usable from the next cycle on."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.events import ICACHE_MISSES
from rfview.engine.machine.registers import mark_cold
from rfview.engine.machine.schedulers.round_robin import next_from
from rfview.engine.machine.stages import memory
from rfview.engine.state import BLOCK, COLD_OFFSET, L1_LINE, SM

ICACHE_BLOCK = (SM.fields["icache"][1] - COLD_OFFSET) // BLOCK
LINE_BYTES = L1_LINE.itemsize
CODE_LINES = 1 << 50        # lines of code in L2, beside all lines of data


@device
def fetch(sm):
    """Refill one empty I-buffer per scheduler with `fetch_width` instructions, from the instruction cache if it has one."""
    if sm.need_fetch == 0:
        return 0
    width = min(np.int64(sm.config.fetch_width), np.int64(sm.config.ibuffer_entries))
    number = np.int64(sm.config.num_schedulers)
    ports = np.int64(sm.config.fetch_ports) if sm.config.fetch_ports > 0 else number
    for turn in range(number):
        if ports == 0:
            return 0
        scheduler = (np.int64(sm.cycle) + turn) % number
        waiting = np.uint64(sm.need_fetch) & np.uint64(sm.scheduler_mask[scheduler])
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
    return 0


@device
def in_cache(sm, waiting, pointer):
    """Return those of the warps whose next instruction is in the instruction cache; fetch the first line that is missing.

    One miss goes out per cycle and scheduler, as long as its set has a line that is not itself awaited.
    """
    held = np.uint64(0)
    missed = False
    left = waiting
    while left != 0:
        warp = next_from(left, pointer)
        left &= ~bit64(warp)
        line = np.int64(sm.warp[warp].pc) // np.int64(sm.config.icache_instructions)
        way = find_line(sm, line)
        if way >= 0:
            if sm.icache[way].fill_cycle <= sm.cycle:
                held |= bit64(warp)
                touch(sm, way)
        elif not missed:
            missed = True
            way = oldest_line(sm, line)
            if way >= 0:
                entry = sm.icache[way]
                entry.line = line
                entry.fill_cycle = memory.request(sm, CODE_LINES + line, sm.config.line_bytes, False)
                touch(sm, way)
                sm.events[ICACHE_MISSES] += 1
    return held


@device
def touch(sm, way):
    """Note that a line of the instruction cache was used."""
    sm.icache[way].used_cycle = sm.cycle
    mark_cold(sm, ICACHE_BLOCK + way * LINE_BYTES // BLOCK)
    mark_cold(sm, ICACHE_BLOCK + (way * LINE_BYTES + LINE_BYTES - 1) // BLOCK)
    return 0


@device
def find_line(sm, line):
    """Return the entry of the instruction cache that holds or awaits a line, or -1."""
    first = line % np.int64(sm.config.icache_sets) * np.int64(sm.config.icache_ways)
    for way in range(first, first + sm.config.icache_ways):
        if sm.icache[way].line == line:
            return np.int64(way)
    return np.int64(-1)


@device
def oldest_line(sm, line):
    """Return the way of a line's set that was used longest ago and is not itself awaited, or -1."""
    first = line % np.int64(sm.config.icache_sets) * np.int64(sm.config.icache_ways)
    best = np.int64(-1)
    for way in range(first, first + sm.config.icache_ways):
        entry = sm.icache[way]
        if entry.line == -1:
            return np.int64(way)
        if entry.fill_cycle <= sm.cycle and (best < 0 or entry.used_cycle < sm.icache[best].used_cycle):
            best = np.int64(way)
    return best
