"""The happens-before relation: clocks of warps, syncs of lanes, and what strong writes publish to their readers.

Each warp has a clock, which advances at fences and when it arrives at a barrier; an access carries its warp's clock. Warps
of a CTA learn each other's clocks at barriers (CLOCKS), warps of other CTAs from what strong reads found published
(H_KNOWN). Lanes of a warp are ordered by what synchronises them: `bar.warp.sync` and barriers (LANES; W_FULL_SYNC if all
took part).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (CLOCKS, FENCED_CLOCKS, H_BASE, H_CTA_WARPS, H_FENCES, H_GRID_WARPS, H_KNOWN,
                                        H_POOL, H_POOL_SLOTS, H_PUBLISHED, LANES, POOL_ARRAYS, POOL_WORDS,
                                        P_VERSION, WARPS, WARP_WORDS, W_CLOCK, W_FENCED, W_FENCED_GPU, W_FIRST,
                                        W_FULL_SYNC, W_ID, W_KNOWS, W_POOL, W_POOL_VERSION, W_SYNC)
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.state import MAX_WARPS


@device
def lane_sync(slot, lane, other):
    """Return the place of the latest sync of the other lane that a lane knows."""
    return LANES + (np.int64(slot) * 32 + np.int64(lane)) * 32 + np.int64(other)


@device
def known_row(s, slot):
    """Return the place of what a warp slot knows about the warps of other CTAs."""
    return np.int64(s[H_KNOWN]) + np.int64(slot) * np.int64(s[H_GRID_WARPS])


@device
def is_ordered(s, slot, lane, warp, other_lane, clock, sync):
    """Say whether an access by (warp, other_lane), at that clock and sync, happened before what a lane does now."""
    me = WARPS + slot * WARP_WORDS
    mine, base = np.int64(s[me + W_ID]), np.int64(s[H_BASE])
    if warp <= base:
        return True
    if warp == mine:
        if other_lane == lane or np.int64(s[me + W_FULL_SYNC]) > sync:
            return True
        return np.int64(s[lane_sync(slot, lane, other_lane)]) > sync
    size = np.int64(s[H_CTA_WARPS])
    if (warp - 1 - base) // size == (mine - 1 - base) // size:
        other = np.int64(s[me + W_FIRST]) + (warp - 1 - base) % size
        return np.int64(s[CLOCKS + slot * MAX_WARPS + other]) > clock
    if s[me + W_KNOWS] == 0:
        return False
    return np.int64(s[known_row(s, slot) + warp - 1 - base]) > clock


@device
def sync_lanes(s, slot, lanes, live):
    """Order what `lanes` of a warp have done before what they do from now on; live: the lanes that have not ended."""
    me = WARPS + slot * WARP_WORDS
    now = np.int64(s[me + W_SYNC]) + 1
    s[me + W_SYNC] = now
    if lanes & live == live:
        s[me + W_FULL_SYNC] = now
        return 0
    for lane in range(32):
        joined = now
        if not (lanes >> lane) & 1:
            joined = np.int64(0)
            for other in range(32):
                if (lanes >> other) & 1:
                    joined = max(joined, np.int64(s[lane_sync(slot, other, lane)]))
        for other in range(32):
            if (lanes >> other) & 1:
                s[lane_sync(slot, other, lane)] = joined
    return 0


@device
def fence(s, slot, of_cta):
    """Let a warp's strong writes publish what it has done and knows so far; of_cta: only to its own CTA."""
    me = WARPS + slot * WARP_WORDS
    clock = np.int64(s[me + W_CLOCK]) + 1
    s[me + W_CLOCK] = clock
    s[me + W_FENCED] = clock
    s[H_FENCES] = 1
    if not of_cta:
        s[me + W_FENCED_GPU] = clock
    row = slot * MAX_WARPS
    first, size = np.int64(s[me + W_FIRST]), np.int64(s[H_CTA_WARPS])
    for other in range(first, first + size):
        s[FENCED_CLOCKS + row + other] = s[CLOCKS + row + other]
    # a fence is part of the warp's order: what its other lanes did before is published as well
    s[me + W_SYNC] += 1
    return 0


@device
def pool_slot(s, word):
    """Return the place of what was published at a word of the arena."""
    number = (np.int64(word) * 40503 >> 3 ^ np.int64(word)) % np.int64(s[H_POOL_SLOTS])
    return np.int64(s[H_POOL]) + number * (POOL_WORDS + POOL_ARRAYS * np.int64(s[H_GRID_WARPS]))


@device
def publish(s, slot, lane, word, is_shared):
    """Process a strong write: publish at its word what the writer has fenced and learnt from others."""
    me = WARPS + slot * WARP_WORDS
    if s[H_FENCES] == 0:
        return 0
    which = W_FENCED if is_shared else W_FENCED_GPU
    fenced = np.int64(s[me + which])
    at = pool_slot(s, word)
    clocks = at + POOL_WORDS
    base, size = np.int64(s[H_BASE]), np.int64(s[H_CTA_WARPS])
    first, mine = np.int64(s[me + W_FIRST]), np.int64(s[me + W_ID]) - 1 - base
    cta = mine - mine % size
    for other in range(size):
        clock = fenced
        if cta + other != mine:
            # what the writer knew at its last fence, and what it has learnt that others had fenced
            row = slot * MAX_WARPS + first + other
            by_other = np.int64(s[WARPS + (first + other) * WARP_WORDS + which])
            clock = min(np.int64(s[CLOCKS + row]), by_other)
            if fenced != 0:
                clock = max(clock, np.int64(s[FENCED_CLOCKS + row]))
        s[clocks + cta + other] = max(np.int64(s[clocks + cta + other]), clock)
    if s[me + W_KNOWS] != 0:
        row = known_row(s, slot)
        for other in range(np.int64(s[H_GRID_WARPS])):
            s[clocks + other] = max(np.int64(s[clocks + other]), np.int64(s[row + other]))
    lanes = clocks + np.int64(s[H_GRID_WARPS]) + mine
    s[lanes] = np.int64(s[lanes]) | 1 << lane
    s[lanes + np.int64(s[H_GRID_WARPS])] = s[me + W_SYNC]
    s[at + P_VERSION] += 1
    s[H_PUBLISHED] = 1
    return 0


@device
def take_over(s, slot, lane, word):
    """Process a strong read: the reader now knows what was published at its word."""
    me = WARPS + slot * WARP_WORDS
    if s[H_PUBLISHED] == 0:
        return 0
    at = pool_slot(s, word)
    if s[at + P_VERSION] == 0:
        return 0
    base, grid = np.int64(s[H_BASE]), np.int64(s[H_GRID_WARPS])
    mine, clocks = np.int64(s[me + W_ID]) - 1 - base, at + POOL_WORDS
    lanes, sync = np.uint64(s[clocks + grid + mine]), np.int64(s[clocks + 2 * grid + mine])
    while lanes != 0:
        other = ctz64(lanes)
        lanes &= lanes - np.uint64(1)
        place = lane_sync(slot, lane, other)
        s[place] = max(np.int64(s[place]), sync)
    if np.int64(s[me + W_POOL]) == at & 0xFFFFFFFF and s[me + W_POOL_VERSION] == s[at + P_VERSION]:
        return 0
    s[me + W_POOL] = at & 0xFFFFFFFF
    s[me + W_POOL_VERSION] = s[at + P_VERSION]
    size, first = np.int64(s[H_CTA_WARPS]), np.int64(s[me + W_FIRST])
    cta, row = mine - mine % size, known_row(s, slot)
    for other in range(grid):
        clock = np.int64(s[clocks + other])
        if clock != 0:
            if cta <= other < cta + size:
                place = CLOCKS + slot * MAX_WARPS + first + other - cta
                s[place] = max(np.int64(s[place]), clock)
            else:
                s[row + other] = max(np.int64(s[row + other]), clock)
                s[me + W_KNOWS] = 1
    return 0
