"""The table of a warp's splits: a tree of entries; the running one is copied to the warp's hot record.

The copy has pc, mask and reconv; the table's entry is stale until the warp switches. splits.py explains splits.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.machine.marks import begin_of, mark_cold
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import (BLOCK, MAX_SPLITS, NONE8, SPLIT_FREE, SPLIT_PARENT, SPLIT_READY, SPLIT_SYNC,
                                 WARP_COLD)

FIRST_WARP_BLOCK = begin_of("warp_cold") // BLOCK
BLOCKS_PER_WARP = WARP_COLD.itemsize // BLOCK
PREDICATES, PRODUCERS = (WARP_COLD.fields[name][1] // BLOCK for name in ("pred", "pred_producer"))
assert WARP_COLD["pred"].itemsize == BLOCK


@device
def mark_warp(sm, warp):
    """Tell the journal that the cold part of a warp changed."""
    first = FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP
    for block in range(BLOCKS_PER_WARP):
        mark_cold(sm, first + block)
    return 0


@device
def mark_predicates(sm, warp):
    """Tell the journal that a predicate of a warp changed."""
    return mark_cold(sm, FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP + PREDICATES)


@device
def mark_producers(sm, warp):
    """Tell the journal that the producer of a warp's predicate changed."""
    return mark_cold(sm, FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP + PRODUCERS)


@device
def load_split(sm, warp, index):
    """Make split `index` the running one: copy it into the hot record."""
    entry = sm.warp[warp]
    split = sm.warp_cold[warp].split[index]
    if entry.pc != split.pc:
        flush_ibuffer(sm, warp)
    entry.split = index
    entry.pc = split.pc
    entry.mask = split.mask
    entry.reconv = split.reconv
    mark_warp(sm, warp)
    return reconsider(sm, warp)


@device
def store_split(sm, warp):
    """Write the running split back to the table, before another one runs."""
    entry = sm.warp[warp]
    split = sm.warp_cold[warp].split[entry.split]
    split.pc = entry.pc
    split.mask = entry.mask
    return mark_warp(sm, warp)


@device
def flush_ibuffer(sm, warp):
    """Drop the decoded instructions of a warp that jumped."""
    sm.warp[warp].ibuffer = 0
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) & ~bit64(warp)
    sm.need_fetch = np.uint64(sm.need_fetch) | bit64(warp)
    return 0


@device
def free_split(sm, warp):
    """Return a free table entry; the table cannot overflow, as splits partition 32 lanes (at most 63 are needed)."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_FREE:
            return index
    return 0


@device
def add_child(sm, warp, parent, pc, reconv, mask):
    """Add a ready split below `parent` (NONE8: a root)."""
    index = free_split(sm, warp)
    table = sm.warp_cold[warp].split
    split = table[index]
    split.state = SPLIT_READY
    split.parent = parent
    split.pending = 0
    split.spins = 0
    split.pc = pc
    split.reconv = reconv
    split.mask = mask
    split.sync_mask = 0
    if parent != NONE8:
        table[parent].pending += 1
    sm.warp[warp].num_splits += 1
    return index


@device
def depth(sm, warp, index):
    """Return a split's depth: the number of its ancestors."""
    table = sm.warp_cold[warp].split
    count = 0
    at = np.int64(table[index].parent)
    while at != NONE8:
        count += 1
        at = np.int64(table[at].parent)
    return count


@device
def deepest(sm, warp, state, skip):
    """Return the deepest split in `state` other than `skip`, or -1."""
    table = sm.warp_cold[warp].split
    best = -1
    best_depth = -1
    for index in range(MAX_SPLITS):
        if table[index].state == state and index != skip:
            at = depth(sm, warp, index)
            if at > best_depth:
                best = index
                best_depth = at
    return best


@device
def next_ready(sm, warp, here):
    """Return the next ready split after `here`, or -1."""
    table = sm.warp_cold[warp].split
    for step in range(1, MAX_SPLITS):
        index = (here + step) % MAX_SPLITS
        if table[index].state == SPLIT_READY:
            return index
    return -1


@device
def lanes_below(sm, warp, parent):
    """Return the lanes of all leaves below a parent, the running one included."""
    entry = sm.warp[warp]
    table = sm.warp_cold[warp].split
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        state = table[index].state
        if state == SPLIT_FREE or state == SPLIT_PARENT:
            continue
        at = np.int64(table[index].parent)
        while at != NONE8 and at != parent:
            at = np.int64(table[at].parent)
        if at == parent:
            lanes |= np.int64(entry.mask) if index == entry.split else np.int64(table[index].mask)
    return lanes


@device
def waiting_lanes(sm, warp, pc):
    """Return the lanes of all splits that wait for members at `pc`."""
    table = sm.warp_cold[warp].split
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC and table[index].pc == pc:
            lanes |= np.int64(table[index].mask)
    return lanes
