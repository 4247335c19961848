"""Forward progress as on compute_70: lanes that others wait for run even from a reconvergence point.

Without it, a lock held by one lane, or a shuffle that some lanes have not reached, would block its warp forever.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.events import SPLIT_YIELDS
from rfview.engine.machine.stages.split_table import (add_child, lanes_below, load_split, mark_warp, next_ready,
                                                      store_split, waiting_lanes)
from rfview.engine.state import MAX_SPLITS, NONE8, SPLIT_SYNC


@device
def count_spin(sm, warp):
    """Count a backward branch of a split while others of its warp are blocked; after spin_limit of them, let one run.

    A ready sibling comes first. If there is none and the loop polls memory, lanes waiting at an enclosing
    reconvergence point run ahead of the spinning ones: one of them may hold the lock (forward progress as on
    compute_70).
    """
    entry = sm.warp[warp]
    here = np.int64(entry.split)
    table = sm.warp_cold[warp].split
    polled = entry.polled
    entry.polled = 0
    other = next_ready(sm, warp, here)
    if other < 0 and polled == 0:
        return 0
    table[here].spins = min(np.int64(table[here].spins) + 1, 255)
    mark_warp(sm, warp)
    if table[here].spins < sm.config.spin_limit:
        return 0
    table[here].spins = 0
    if other < 0:
        other = run_ahead(sm, warp, here)
    if other < 0:
        return 0
    store_split(sm, warp)
    load_split(sm, warp, other)
    sm.events[SPLIT_YIELDS] += 1
    return 1


@device
def run_ahead(sm, warp, here):
    """Make the lanes waiting at the nearest reconvergence point above `here` a split of their own; -1 if there are none."""
    table = sm.warp_cold[warp].split
    at = np.int64(table[here].parent)
    while at != NONE8:
        waiting = np.int64(table[at].mask) & ~np.int64(sm.warp[warp].exited) & ~lanes_below(sm, warp, at)
        if waiting != 0:
            table[at].mask = np.int64(table[at].mask) & ~waiting
            return add_child(sm, warp, np.int64(table[at].parent), table[at].pc, table[at].reconv, waiting)
        at = np.int64(table[at].parent)
    return -1


@device
def run_missing_ahead(sm, warp):
    """Return a new split of lanes that wait at a reconvergence point and are awaited as members, or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC:
            other = run_ahead(sm, warp, index)
            if other >= 0:
                return other
    return -1


@device
def completed_sync(sm, warp):
    """Return a split whose member mask is now complete (lanes may have exited while it waited), or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC:
            need = np.int64(table[index].sync_mask) & ~np.int64(sm.warp[warp].exited)
            if need & ~waiting_lanes(sm, warp, table[index].pc) == 0:
                return index
    return -1
