"""Fetch: each scheduler refills the I-buffer of one warp per cycle, round robin; usable from the next cycle on."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device


@device
def fetch(sm):
    """Refill one empty I-buffer per scheduler with `fetch_width` instructions (no instruction cache is modelled)."""
    if sm.need_fetch == 0:
        return 0
    width = min(np.int64(sm.config.fetch_width), np.int64(sm.config.ibuffer_entries))
    for scheduler in range(sm.config.num_schedulers):
        waiting = np.uint64(sm.need_fetch) & np.uint64(sm.scheduler_mask[scheduler])
        if waiting == 0:
            continue
        pointer = np.int64(sm.scheduler[scheduler].fetch_pointer)
        warp = next_from(waiting, pointer)
        entry = sm.warp[warp]
        jumped = entry.pc != entry.last_pc + 1
        if jumped and sm.config.branch_cycles > 0 and entry.last_issue_cycle + sm.config.branch_cycles > sm.cycle:
            continue
        entry.ibuffer = width
        sm.need_fetch = np.uint64(sm.need_fetch) & ~bit64(warp)
        sm.scheduler[scheduler].fetch_pointer = (warp + 1) & 63
    return 0


@device
def next_from(mask, pointer):
    """Return the first set bit of `mask` at or after `pointer`, wrapping around."""
    high = mask & ~(bit64(pointer) - np.uint64(1))
    return ctz64(high) if high != 0 else ctz64(mask)
