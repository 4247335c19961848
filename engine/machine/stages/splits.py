"""SIMT divergence: a tree of splits per warp.

Every leaf is a set of lanes with one pc. A divergent branch turns its split into a parent that waits at the
reconvergence pc, with a child for each path; a child that reaches its `reconv` is done, and when all are, the parent
continues. A branch that reconverges at the same pc as its own split adds a sibling instead of a level, so loops do
not deepen the tree. forward_progress.py chooses the split that runs.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.machine.stages.forward_progress import next_split
from rfview.engine.machine.stages.split_table import (add_child, deepest, flush_ibuffer, load_split, make_room,
                                                      mark_warp, store_split)
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.program import NO_PC
from rfview.engine.state import (MAX_SPLITS, NONE8, NUM_BARRIERS, RESULTS_AT_OPENING, SPLIT_BARRIER, SPLIT_FREE,
                                 SPLIT_PARENT, SPLIT_READY, SPLIT_SYNC)


@device
def begin_warp(sm, warp, pc, mask):
    """Give a new warp its root split."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        table[index].state = SPLIT_FREE
    sm.warp[warp].num_splits = 0
    root = add_child(sm, warp, NONE8, pc, NO_PC, mask)
    flush_ibuffer(sm, warp)
    return load_split(sm, warp, root)


@device
def advance(sm, warp, pc):
    """Move the running split to `pc`; ends it at its reconvergence point."""
    entry = sm.warp[warp]
    entry.pc = pc
    if np.int64(entry.reconv) == np.int64(pc) and pc != NO_PC:
        return finish_split(sm, warp, entry.split)
    return 0


@device
def diverge(sm, warp, target, fall, reconv, taken, rest):
    """Split the running lanes into those that go to `target` and those that continue at `fall`."""
    entry = sm.warp[warp]
    make_room(sm, warp)
    here = np.int64(entry.split)
    store_split(sm, warp)
    table = sm.warp_cold[warp].split
    flush_ibuffer(sm, warp)
    if np.int64(reconv) == np.int64(entry.reconv):
        if np.int64(target) == np.int64(reconv) and reconv != NO_PC:
            return narrow(sm, warp, here, fall, rest)
        if np.int64(fall) == np.int64(reconv) and reconv != NO_PC:
            return narrow(sm, warp, here, target, taken)
        add_child(sm, warp, table[here].parent, target, reconv, taken)
        return narrow(sm, warp, here, fall, rest)
    table[here].state = SPLIT_PARENT
    table[here].pc = reconv
    table[here].pending = 0
    table[here].sync_mask = 0
    if np.int64(target) != np.int64(reconv) or reconv == NO_PC:
        add_child(sm, warp, here, target, reconv, taken)
    if np.int64(fall) != np.int64(reconv) or reconv == NO_PC:
        add_child(sm, warp, here, fall, reconv, rest)
    return choose_split(sm, warp)


@device
def narrow(sm, warp, index, pc, mask):
    """Keep only the lanes `mask` in a split and move it to `pc`."""
    split = sm.warp_cold[warp].split[index]
    split.pc = pc
    split.mask = mask
    return load_split(sm, warp, index)


@device
def choose_split(sm, warp):
    """Run another split; return 1, or 0 when nothing in the warp can run."""
    index = next_split(sm, warp)
    if index >= 0:
        load_split(sm, warp, index)
        return 1
    return stop(sm, warp)


@device
def stop(sm, warp):
    """Let a warp wait, as nothing in it can run; return 0."""
    sm.warp[warp].split = NONE8
    mark_warp(sm, warp)
    reconsider(sm, warp)
    return 0


@device
def end_split(sm, warp, index):
    """End a split that reconverged or whose lanes all exited; its parent becomes ready if that was the last child."""
    table = sm.warp_cold[warp].split
    at = np.int64(index)
    while True:
        table[at].state = SPLIT_FREE
        sm.warp[warp].num_splits -= 1
        parent = np.int64(table[at].parent)
        if parent == NONE8:
            break
        table[parent].pending -= 1
        if table[parent].pending != 0:
            break
        lanes = np.int64(table[parent].mask) & ~np.int64(sm.warp[warp].exited)
        table[parent].mask = lanes
        table[parent].state = SPLIT_READY
        if lanes != 0 and table[parent].pc != table[parent].reconv:
            break
        at = parent
    mark_warp(sm, warp)


@device
def finish_split(sm, warp, index):
    """End a split and continue the warp with another."""
    end_split(sm, warp, index)
    return choose_split(sm, warp)


@device
def settle_arrived(sm, warp):
    """End ready splits that are already at their reconvergence point (right after a barrier)."""
    table = sm.warp_cold[warp].split
    running = np.int64(sm.warp[warp].split)
    for index in range(MAX_SPLITS):
        split = table[index]
        if index != running and split.state == SPLIT_READY and split.pc == split.reconv and split.reconv != NO_PC:
            end_split(sm, warp, index)


@device
def wait_for_members(sm, warp, kind, need):
    """Park the running split until the lanes `need` come to a collective of its kind; return 1 if another split runs."""
    sm.warp_cold[warp].split[sm.warp[warp].split].pending = kind
    park(sm, warp, SPLIT_SYNC, need)
    return choose_split(sm, warp)


@device
def release_members(sm, warp, kind, need, pc, results):
    """Let the splits that waited in a complete collective go on; return the lanes of those at `pc`, which are past it.

    results: 0, or the lanes that took part: splits elsewhere then issue their own instruction, and find its results.
    """
    table = sm.warp_cold[warp].split
    live = ~np.int64(sm.warp[warp].exited)
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state != SPLIT_SYNC or split.pending != kind or np.int64(split.sync_mask) & live != need & live:
            continue
        split.state = SPLIT_READY
        split.pending = 0
        if split.pc == pc or results == 0:
            lanes |= np.int64(split.mask)
            split.pc += 1
            split.sync_mask = 0
        else:
            split.sync_mask = results
    settle_arrived(sm, warp)
    mark_warp(sm, warp)
    return lanes


@device
def park_at_barrier(sm, warp, barrier):
    """Let the running split wait at a CTA barrier, and a ready one of its warp run; the barrier may open now.

    Its pc already points past the barrier, unless it will fetch results there.
    """
    sm.warp[warp].barrier = barrier & (NUM_BARRIERS - 1)
    park(sm, warp, SPLIT_BARRIER, barrier)
    index = deepest(sm, warp) if sm.warp[warp].num_splits > 1 else -1
    return load_split(sm, warp, index) if index >= 0 else stop(sm, warp)


@device
def park(sm, warp, state, awaited):
    """Let the running split wait in a state, for what its sync_mask says."""
    store_split(sm, warp)
    split = sm.warp_cold[warp].split[sm.warp[warp].split]
    split.state = state
    split.sync_mask = awaited


@device
def leave_barrier(sm, warp, barrier):
    """Make the splits of a warp that wait at `barrier` ready again, from the next cycle on.

    A split that waited with RESULTS_AT_OPENING issues its instruction once more, to fetch the results: return the lanes of
    these.
    """
    table = sm.warp_cold[warp].split
    entry = sm.warp[warp]
    if entry.num_splits == 1 and table[0].state == SPLIT_BARRIER and table[0].sync_mask == barrier:
        table[0].state = SPLIT_READY
        table[0].sync_mask = 0
        entry.barrier = NONE8
        entry.open_cycle = sm.cycle
        load_split(sm, warp, 0)
        return np.int64(0)
    found, lanes = 0, np.int64(0)
    other = np.int64(NONE8)
    for index in range(MAX_SPLITS):
        split = table[index]
        if split.state == SPLIT_BARRIER:
            number = np.int64(split.sync_mask) & (NUM_BARRIERS - 1)
            if number == barrier:
                fetching = np.int64(split.mask) if np.int64(split.sync_mask) & RESULTS_AT_OPENING != 0 else np.int64(0)
                split.state = SPLIT_READY
                split.sync_mask = fetching
                lanes |= fetching
                found = 1
            else:
                other = number
    if found == 0:
        return lanes
    entry.barrier = other
    entry.open_cycle = sm.cycle
    mark_warp(sm, warp)
    settle_arrived(sm, warp)
    if entry.split == NONE8:
        choose_split(sm, warp)
    return lanes
