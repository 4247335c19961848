"""The scoreboard: registers with a pending write or read, and the instructions that hold them."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import FREE


@device
def release(sm, warp, reg):
    """Free a register in the scoreboard; the instruction that held it retires once it holds no other."""
    entry = sm.warp[warp]
    bit = bit64(reg)
    entry.sb_write = np.uint64(entry.sb_write) & ~bit
    entry.sb_long = np.uint64(entry.sb_long) & ~bit
    slot = sm.producer[warp, reg]
    left = np.uint64(sm.unreleased[slot]) & ~bit
    sm.unreleased[slot] = left
    reconsider(sm, warp)
    if left == 0 and sm.inflight[slot].unwritten == 0:
        free_inflight(sm, slot)
    return 0


@device
def free_inflight(sm, slot):
    """Retire an in-flight entry whose results are written and released."""
    flight = sm.inflight[slot]
    flight.stage = FREE
    word = np.int64(slot) >> 6
    clear = ~bit64(np.int64(slot) & 63)
    sm.inflight_used[word] = np.uint64(sm.inflight_used[word]) & clear
    sm.num_inflight[flight.warp] -= 1
    touch_inflight(sm, slot)
    return 0


@device
def refresh_reads(sm, warp):
    """Recompute which registers of a warp its collectors still have to read (WAR)."""
    regs = np.uint64(0)
    for collector in set_bits(sm.collectors_of[warp]):
        regs |= np.uint64(sm.collector_regs[collector])
    sm.sb_read[warp] = regs
    return 0
