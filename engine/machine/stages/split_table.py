"""The table of a warp's splits: a tree of entries; the running one is copied to the warp's hot record.

The copy has pc, mask and reconv; the table's entry is stale until the warp switches. splits.py explains splits.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.machine.marks import begin_of, mark_cold
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import BLOCK, MAX_SPLITS, NONE8, SPLIT_FREE, SPLIT_READY, SPLIT_SYNC, WARP_COLD

FIRST_WARP_BLOCK = begin_of("warp_cold") // BLOCK
BLOCKS_PER_WARP = WARP_COLD.itemsize // BLOCK
SPARE_SPLITS = 3        # a divergent branch adds two entries, lanes that run ahead one
PREDICATES, PRODUCERS = (WARP_COLD.fields[name][1] // BLOCK for name in ("pred", "pred_producer"))
assert WARP_COLD["pred"].itemsize == BLOCK


@device
def mark_warp(sm, warp):
    """Tell the journal that the cold part of a warp changed."""
    first = FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP
    for block in range(BLOCKS_PER_WARP):
        mark_cold(sm, first + block)


@device
def mark_predicates(sm, warp):
    """Tell the journal that a predicate of a warp changed."""
    mark_cold(sm, FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP + PREDICATES)


@device
def mark_producers(sm, warp):
    """Tell the journal that the producer of a warp's predicate changed."""
    mark_cold(sm, FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP + PRODUCERS)


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
    mark_warp(sm, warp)


@device
def flush_ibuffer(sm, warp):
    """Drop the decoded instructions of a warp that jumped."""
    sm.warp[warp].ibuffer = 0
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) & ~bit64(warp)
    sm.need_fetch = np.uint64(sm.need_fetch) | bit64(warp)


@device
def free_split(sm, warp):
    """Return a free table entry; the table cannot overflow (make_room)."""
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
def deepest(sm, warp):
    """Return the deepest split that is ready, or -1."""
    table = sm.warp_cold[warp].split
    best = -1
    best_depth = -1
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_READY:
            at = depth(sm, warp, index)
            if at > best_depth:
                best = index
                best_depth = at
    return best


@device
def lanes_below(sm, warp, parent):
    """Return the lanes of all children of a parent: those that run or wait in them, and those parked at their own joins."""
    entry = sm.warp[warp]
    table = sm.warp_cold[warp].split
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        if table[index].state != SPLIT_FREE and table[index].parent == parent:
            lanes |= np.int64(entry.mask) if index == entry.split else np.int64(table[index].mask)
    return lanes


@device
def waiting_members(sm, warp, kind, need):
    """Return the lanes of all splits that wait in a collective of a kind (INST.collective) for the members `need`."""
    table = sm.warp_cold[warp].split
    live = ~np.int64(sm.warp[warp].exited)
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state == SPLIT_SYNC and split.pending == kind and np.int64(split.sync_mask) & live == need & live:
            lanes |= np.int64(split.mask)
    return lanes


@device
def make_room(sm, warp):
    """If the table is nearly full, remove parents with a single child and no waiting lanes; the child takes their place.

    Such parents remain where waiting lanes ran ahead or exited. Without them, every parent joins two or more disjoint sets
    of the 32 lanes: its children and those that wait. So at most 63 entries are in use.
    """
    entry = sm.warp[warp]
    if entry.num_splits < MAX_SPLITS - SPARE_SPLITS:
        return
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        child = table[index]
        if child.state == SPLIT_FREE:
            continue
        at = np.int64(child.parent)
        while at != NONE8 and table[at].pending == 1 and parked_lanes(sm, warp, at) == 0:
            child.reconv = table[at].reconv
            child.parent = table[at].parent
            table[at].state = SPLIT_FREE
            entry.num_splits -= 1
            at = np.int64(child.parent)
        if index == entry.split:
            entry.reconv = child.reconv
    mark_warp(sm, warp)


@device
def parked_lanes(sm, warp, at):
    """Return the lanes that wait at the reconvergence point of parent `at`."""
    mask = np.int64(sm.warp_cold[warp].split[at].mask)
    return mask & ~np.int64(sm.warp[warp].exited) & ~lanes_below(sm, warp, at)
