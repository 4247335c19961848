"""SIMT divergence: a tree of splits per warp.

Every leaf is a set of lanes with one pc. A divergent branch turns its split into a parent that waits at the reconvergence
pc, with a child for each path; a child that reaches its `reconv` is done, and when all are, the parent runs on. A branch
that reconverges where its own split does adds a sibling instead of a level, so loops do not grow the tree. The deepest
ready split runs. The running split's pc, mask and reconv are copied in the warp's hot record; the table entry is stale
until the warp switches.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, popcount
from rfview.engine.compile.device import device
from rfview.engine.events import SPLIT_YIELDS
from rfview.engine.program import NO_PC
from rfview.engine.machine.marks import mark_cold
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.state import (COLD_OFFSET, BLOCK, MAX_SPLITS, NONE8, SM, SPLIT_BARRIER, SPLIT_FREE, SPLIT_PARENT,
                                 SPLIT_READY, SPLIT_SYNC, WARP_COLD)  # fmt: skip

FIRST_WARP_BLOCK = (SM.fields["warp_cold"][1] - COLD_OFFSET) // BLOCK
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
    """Tell the journal that what will write a predicate of a warp changed."""
    return mark_cold(sm, FIRST_WARP_BLOCK + np.int64(warp) * BLOCKS_PER_WARP + PRODUCERS)


@device
def begin_warp(sm, warp, pc, mask):
    """Give a new warp its root split."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        table[index].state = SPLIT_FREE
    root = table[0]
    root.state = SPLIT_READY
    root.parent = NONE8
    root.pending = 0
    root.spins = 0
    root.reconv = NO_PC
    root.mask = mask
    root.pc = pc
    root.sync_mask = 0
    entry = sm.warp[warp]
    entry.num_splits = 1
    flush_ibuffer(sm, warp)
    return load_split(sm, warp, 0)


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
def flush_ibuffer(sm, warp):
    """Drop the decoded instructions of a warp whose pc did not run on in sequence."""
    sm.warp[warp].ibuffer = 0
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) & ~bit64(warp)
    sm.need_fetch = np.uint64(sm.need_fetch) | bit64(warp)
    return 0


@device
def store_split(sm, warp):
    """Write the running split back to the table, before another one runs."""
    entry = sm.warp[warp]
    split = sm.warp_cold[warp].split[entry.split]
    split.pc = entry.pc
    split.mask = entry.mask
    return mark_warp(sm, warp)


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
    """Return how many parents a split has."""
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
def choose_split(sm, warp):
    """Run the deepest ready split; with none, one whose missing lanes have since come or gone; with none, those lanes, if
    they wait at a reconvergence point (forward progress as on compute_70); else the warp waits.

    Return 1, or 0 when nothing in the warp can run.
    """
    index = deepest(sm, warp, SPLIT_READY, -1)
    if index < 0:
        index = completed_sync(sm, warp)
        if index >= 0:
            sm.warp_cold[warp].split[index].state = SPLIT_READY
        else:
            index = run_missing_ahead(sm, warp)
    if index >= 0:
        load_split(sm, warp, index)
        return 1
    sm.warp[warp].split = NONE8
    mark_warp(sm, warp)
    reconsider(sm, warp)
    return 0


@device
def completed_sync(sm, warp):
    """Return a split whose member mask is complete now (lanes may have exited since it began to wait), or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC:
            need = np.int64(table[index].sync_mask) & ~np.int64(sm.warp[warp].exited)
            if need & ~waiting_lanes(sm, warp, table[index].pc) == 0:
                return index
    return -1


@device
def run_missing_ahead(sm, warp):
    """Return a new split of lanes that wait at a reconvergence point for some that wait for members, or -1."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC:
            other = run_ahead(sm, warp, index)
            if other >= 0:
                return other
    return -1


@device
def waiting_lanes(sm, warp, pc):
    """Return the lanes of all splits that wait for members at `pc`."""
    table = sm.warp_cold[warp].split
    lanes = np.int64(0)
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC and table[index].pc == pc:
            lanes |= np.int64(table[index].mask)
    return lanes


@device
def end_split(sm, warp, index):
    """End a split that reconverged or whose lanes all exited; its parent becomes ready when that was the last child."""
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
    return mark_warp(sm, warp)


@device
def finish_split(sm, warp, index):
    """End a split and let the warp run on with another."""
    end_split(sm, warp, index)
    return choose_split(sm, warp)


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
    """Split the running warp into the lanes that go to `target` and those that go on at `fall`."""
    entry = sm.warp[warp]
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
def count_spin(sm, warp):
    """Count a backward branch of a split while others of its warp are held up; after spin_limit of them, let one run.

    First a ready sibling. With none, and if the loop polls memory, the lanes that wait at a reconvergence point above run
    ahead of the spinning ones: one of them may hold the lock that is waited for (forward progress as on compute_70).
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
def next_ready(sm, warp, here):
    """Return the next ready split after `here`, or -1."""
    table = sm.warp_cold[warp].split
    for step in range(1, MAX_SPLITS):
        index = (here + step) % MAX_SPLITS
        if table[index].state == SPLIT_READY:
            return index
    return -1


@device
def run_ahead(sm, warp, here):
    """Make the lanes that wait at the nearest reconvergence point above `here` a split of their own; -1 if none wait."""
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
def wait_for_members(sm, warp, need):
    """Park the running split until the lanes `need` arrive; return 1 if another split runs meanwhile."""
    entry = sm.warp[warp]
    store_split(sm, warp)
    split = sm.warp_cold[warp].split[entry.split]
    split.state = SPLIT_SYNC
    split.sync_mask = need
    return choose_split(sm, warp)


@device
def release_members(sm, warp, pc):
    """Let every split that waited at `pc` go on behind it."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC and table[index].pc == pc:
            table[index].pc = pc + 1
            table[index].state = SPLIT_READY
    settle_arrived(sm, warp)
    return mark_warp(sm, warp)


@device
def park_at_barrier(sm, warp, barrier):
    """Let the running split wait at a CTA barrier; its pc already points behind it."""
    entry = sm.warp[warp]
    store_split(sm, warp)
    split = sm.warp_cold[warp].split[entry.split]
    split.state = SPLIT_BARRIER
    split.sync_mask = barrier
    entry.barrier = barrier
    return choose_split(sm, warp)


@device
def leave_barrier(sm, warp, barrier):
    """Make the splits of a warp that wait at `barrier` ready again, from the next cycle on."""
    table = sm.warp_cold[warp].split
    entry = sm.warp[warp]
    found = 0
    others = 0
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_BARRIER:
            if table[index].sync_mask == barrier:
                table[index].state = SPLIT_READY
                found = 1
            else:
                others = 1
    if found == 0:
        return 0
    if others == 0:
        entry.barrier = NONE8
    entry.open_cycle = sm.cycle
    mark_warp(sm, warp)
    settle_arrived(sm, warp)
    if entry.split == NONE8:
        choose_split(sm, warp)
    return 1


@device
def settle_arrived(sm, warp):
    """End ready splits that already stand at their reconvergence point (a barrier was the last thing before it)."""
    table = sm.warp_cold[warp].split
    running = np.int64(sm.warp[warp].split)
    for index in range(MAX_SPLITS):
        split = table[index]
        if index != running and split.state == SPLIT_READY and split.pc == split.reconv and split.reconv != NO_PC:
            end_split(sm, warp, index)
    return 0


@device
def live_lanes(sm, warp):
    """Return how many lanes of a warp have not ended."""
    return 32 - popcount(np.int64(sm.warp[warp].exited) & 0xFFFFFFFF)
