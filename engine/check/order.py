"""The happens-before relation: clocks of warps, syncs of lanes, and what strong writes publish to their readers.

Each warp has a clock, which advances at fences and when it arrives at a barrier; an access carries its warp's clock. Warps
of a CTA learn each other's clocks at barriers (clock), warps of other CTAs from what strong reads found published
(known). Lanes of a warp are ordered by what synchronises them: `bar.warp.sync` and barriers (lane_sync; full_sync if all
took part).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import KNOWN, POOL_SLOT, PUBLISHED
from rfview.engine.compile.bits import array_at, set_bits
from rfview.engine.compile.device import device


@device
def known_of(check, slot, warp):
    """Return what a warp slot knows about a warp of the grid, as a KNOWN record."""
    return array_at(check.known_at, check.known_size, KNOWN)[slot * check.grid_warps + warp]


@device
def is_ordered(check, slot, lane, warp, other_lane, clock, sync):
    """Say whether an access by (warp, other_lane), at that clock and sync, happened before what a lane does now."""
    me, base = check.warp[slot], check.first_id
    if warp <= base:
        return True
    if warp == me.id:
        return other_lane == lane or me.full_sync > sync or check.lane_sync[slot, lane, other_lane] > sync
    size = check.cta_warps
    if (warp - 1 - base) // size == (me.id - 1 - base) // size:
        return check.clock[slot, me.first_slot + (warp - 1 - base) % size] > clock
    if me.knows_others == 0:
        return False
    return known_of(check, slot, warp - 1 - base).clock > clock


@device
def sync_lanes(check, slot, lanes, live):
    """Order what `lanes` of a warp have done before what they do from now on; live: the lanes that have not ended."""
    me = check.warp[slot]
    me.sync += 1
    if lanes & live == live:
        me.full_sync = me.sync
        return
    for lane in range(32):
        joined = np.int64(me.sync)
        if not (lanes >> lane) & 1:
            joined = np.int64(0)
            for other in range(32):
                if (lanes >> other) & 1:
                    joined = max(joined, check.lane_sync[slot, other, lane])
        for other in range(32):
            if (lanes >> other) & 1:
                check.lane_sync[slot, other, lane] = joined


@device
def fence(check, slot, of_cta):
    """Let a warp's strong writes publish what it has done and knows so far; of_cta: only to its own CTA."""
    me = check.warp[slot]
    me.clock += 1
    me.fenced = me.clock
    check.has_fenced = 1
    if not of_cta:
        me.fenced_gpu = me.clock
    for other in range(me.first_slot, me.first_slot + check.cta_warps):
        check.fenced_clock[slot, other] = check.clock[slot, other]
    # a fence is part of the warp's order: what its other lanes did before is published as well
    me.sync += 1


@device
def pool_number(check, word):
    """Return the number of the pool's slot that has what was published at a word of the arena."""
    return (word * 40503 >> 3 ^ word) % check.pool_size


@device
def pool_slot(check, number):
    """Return a slot of the pool as a POOL_SLOT record."""
    return array_at(check.pool_at, check.pool_size, POOL_SLOT)[number]


@device
def published_by(check, number, warp):
    """Return what has been published in a slot of the pool for a warp of the grid, as a PUBLISHED record."""
    return array_at(check.published_at, check.published_size, PUBLISHED)[number * check.grid_warps + warp]


@device
def publish(check, slot, lane, word, is_shared):
    """Process a strong write: publish at its word what the writer has fenced and learnt from others."""
    if check.has_fenced == 0:
        return
    me, number = check.warp[slot], pool_number(check, word)
    fenced = me.fenced if is_shared else me.fenced_gpu
    mine = me.id - 1 - check.first_id
    cta = mine - mine % check.cta_warps
    for index in range(check.cta_warps):
        clock, other = fenced, me.first_slot + index
        if cta + index != mine:
            # what the writer knew at its last fence, and what it has learnt that others had fenced
            by_other = check.warp[other].fenced if is_shared else check.warp[other].fenced_gpu
            clock = min(check.clock[slot, other], by_other)
            if fenced != 0:
                clock = max(clock, check.fenced_clock[slot, other])
        entry = published_by(check, number, cta + index)
        entry.clock = max(entry.clock, clock)
    if me.knows_others != 0:
        for other in range(check.grid_warps):
            entry = published_by(check, number, other)
            entry.clock = max(entry.clock, known_of(check, slot, other).clock)
    own = published_by(check, number, mine)
    own.lanes |= np.int64(1) << lane
    own.sync = me.sync
    pool_slot(check, number).version += 1
    check.has_published = 1


@device
def take_over(check, slot, lane, word):
    """Process a strong read: the reader now knows what was published at its word."""
    if check.has_published == 0:
        return
    me, number = check.warp[slot], pool_number(check, word)
    version = pool_slot(check, number).version
    if version == 0:
        return
    mine = me.id - 1 - check.first_id
    own = published_by(check, number, mine)
    for other in set_bits(own.lanes):
        check.lane_sync[slot, lane, other] = max(check.lane_sync[slot, lane, other], own.sync)
    if me.pool_slot == number and me.pool_version == version:
        return
    me.pool_slot = number
    me.pool_version = version
    cta = mine - mine % check.cta_warps
    for other in range(check.grid_warps):
        clock = published_by(check, number, other).clock
        if clock != 0 and cta <= other < cta + check.cta_warps:
            place = me.first_slot + other - cta
            check.clock[slot, place] = max(check.clock[slot, place], clock)
        elif clock != 0:
            known = known_of(check, slot, other)
            known.clock = max(known.clock, clock)
            me.knows_others = 1


@device
def forget(check):
    """Forget what has been published."""
    if check.has_published == 0:
        return
    for number in range(check.pool_size):
        if pool_slot(check, number).version != 0:
            pool_slot(check, number).version = 0
            for warp in range(check.grid_warps):
                published_by(check, number, warp).clock = 0
                published_by(check, number, warp).lanes = 0
    check.has_published = 0
