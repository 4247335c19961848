"""Forward progress as on compute_70: which split of a warp runs, so that no lane waits for one that could come.

RULES.md, B7, has the table of what waits for whom. Lanes at a reconvergence point wait only for company: they run on
whenever nothing else in their warp can, or when a loop that polls memory has had its turns.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import SPLIT_YIELDS
from rfview.engine.machine.stages.split_table import (add_child, deepest, load_split, make_room, mark_warp,
                                                      parked_lanes, store_split, waiting_members)
from rfview.engine.state import MAX_SPLITS, NONE8, SPLIT_BARRIER, SPLIT_PARENT, SPLIT_READY, SPLIT_SYNC


@device
def next_split(sm, warp):
    """Return the split to run in a warp whose running one ended or waits, made ready; -1 if the warp has to wait.

    The deepest ready split comes first; then one whose members have all come or gone; then lanes at the reconvergence
    point nearest to a split that waits: it may wait for them.
    """
    index = deepest(sm, warp)
    if index < 0:
        index = completed_members(sm, warp)
    if index < 0:
        index = run_ahead_of(sm, warp, SPLIT_SYNC)
    if index < 0:
        index = run_ahead_of(sm, warp, SPLIT_BARRIER)
    return index


@device
def count_spin(sm, warp):
    """Count a backward branch of a split while others of its warp are blocked; after spin_limit of them, let one run.

    All ready splits have a turn, one after another. A loop that polls memory yields after poll_limit of them, and also to
    the lanes at each reconvergence point: any of them may hold the lock.
    """
    entry = sm.warp[warp]
    here = np.int64(entry.split)
    table = sm.warp_cold[warp].split
    polled = entry.polled
    entry.polled = 0
    other = next_in_turn(sm, warp, here, polled)
    if other < 0 and polled == 0:
        return 0
    table[here].spins = min(np.int64(table[here].spins) + 1, 255)
    mark_warp(sm, warp)
    if table[here].spins < (sm.config.poll_limit if polled != 0 else sm.config.spin_limit):
        return 0
    table[here].spins = 0
    if completed_members(sm, warp) >= 0:
        other = next_in_turn(sm, warp, here, polled)
    if other < 0:
        return 0
    store_split(sm, warp)
    if table[other].state != SPLIT_READY:
        other = run_ahead(sm, warp, other)
    load_split(sm, warp, other)
    sm.events[SPLIT_YIELDS] += 1
    return 1


@device
def next_in_turn(sm, warp, here, polled):
    """Return the next ready entry after `here`, or -1; if `polled`, also a parent whose lanes wait to reconverge."""
    table = sm.warp_cold[warp].split
    for step in range(1, MAX_SPLITS):
        index = (here + step) % MAX_SPLITS
        state = table[index].state
        if state == SPLIT_READY or (polled != 0 and state == SPLIT_PARENT and parked_lanes(sm, warp, index) != 0):
            return np.int64(index)
    return np.int64(-1)


@device
def parked_above(sm, warp, here):
    """Return the nearest parent above `here` at whose reconvergence point lanes wait, or -1."""
    table = sm.warp_cold[warp].split
    at = np.int64(table[here].parent)
    while at != NONE8:
        if parked_lanes(sm, warp, at) != 0:
            return at
        at = np.int64(table[at].parent)
    return np.int64(-1)


@device
def run_ahead(sm, warp, at):
    """Make the lanes waiting at the reconvergence point of parent `at` a ready split of their own; return it."""
    make_room(sm, warp)
    waiting = parked_lanes(sm, warp, at)
    table = sm.warp_cold[warp].split
    table[at].mask = np.int64(table[at].mask) & ~waiting
    while table[at].pc == table[at].reconv:     # the next join is at the same place
        at = np.int64(table[at].parent)
        table[at].mask = np.int64(table[at].mask) & ~waiting
    return np.int64(add_child(sm, warp, np.int64(table[at].parent), table[at].pc, table[at].reconv, waiting))


@device
def run_ahead_of(sm, warp, state):
    """Let the lanes at the reconvergence point nearest to a split in `state` run; return their split, or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == state:
            at = parked_above(sm, warp, index)
            if at >= 0:
                return run_ahead(sm, warp, at)
    return np.int64(-1)


@device
def completed_members(sm, warp):
    """Return a split whose members have all come (lanes may have exited while it waited), made ready, or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state == SPLIT_SYNC:
            need = np.int64(split.sync_mask) & ~np.int64(sm.warp[warp].exited)
            if need & ~waiting_members(sm, warp, np.int64(split.pending), need) == 0:
                split.state = SPLIT_READY
                split.pending = 0
                split.sync_mask = 0
                return np.int64(index)
    return np.int64(-1)
