"""Divergence of machine code: a flat set of splits per warp, and convergence barriers (RULES.md, B10).

A split is a set of lanes with one pc, an entry of the table of split_table.py without a parent. Barrier registers B0..B15
name the lanes that a BSYNC waits for, as each lane sees them: a function saves a register for itself while lanes of its
caller still wait at the same one. They are rows of the machine, as are the place after a collective and the result of the
last BAR.RED.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import ctz64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import SPLIT_YIELDS
from rfview.engine.isa import WARPSYNC_COLLECTIVE
from rfview.engine.machine.marks import touch_row
from rfview.engine.machine.stages.split_table import add_child, flush_ibuffer, load_split, mark_warp, store_split
from rfview.engine.machine.stages.splits import stop
from rfview.engine.program import NO_PC
from rfview.engine.state import MAX_SPLITS, NONE8, SPLIT_BARRIER, SPLIT_BSYNC, SPLIT_FREE, SPLIT_READY, SPLIT_SYNC

# rows of a warp behind the registers of all warps: B0..B15, where each lane goes on after ENDCOLLECTIVE, what BAR.RED
# gave it, and the uniform registers, 32 to a row
AFTER, RESULT, UNIFORM, STATE_ROWS = 16, 17, 18, 26


@device
def state_row(sm, warp, which):
    """Return the row of a warp's barrier register `which`, or its row AFTER, RESULT or UNIFORM."""
    first = np.int64(sm.config.num_recorded_rows) - np.int64(sm.config.num_warps) * STATE_ROWS
    return first + np.int64(warp) * STATE_ROWS + which


@device
def clear_state(sm, rows, warp):
    """Zero the barrier registers and uniform registers of a warp that starts."""
    for which in range(STATE_ROWS):
        fill_lanes(sm, rows, state_row(sm, warp, which), 0xFFFFFFFF, 0)
    return 0


@device
def fill_lanes(sm, rows, row, lanes, value):
    """Set the lanes of a mask in a row of a warp's state to one value."""
    for lane in range(32):
        if (lanes >> lane) & 1:
            rows[row].u[lane] = value
    touch_row(sm, row)


@device
def jump(sm, warp, lanes, target):
    """Let `lanes` of the running split go to `target`; the others, if any, stay where the split is."""
    entry = sm.warp[warp]
    rest = np.int64(entry.mask) & ~lanes
    if rest == 0:
        flush_ibuffer(sm, warp)
        entry.pc = target
        return
    add_child(sm, warp, NONE8, target, NO_PC, lanes)
    entry.mask = rest
    mark_warp(sm, warp)


@device
def wait(sm, rows, warp, pc, lanes, state, kind, awaited):
    """Let `lanes` of the running split wait at the instruction at `pc`, if they have to, and another split run."""
    park(sm, warp, pc, lanes, state, kind, awaited)
    release(sm, rows, warp)
    return choose(sm, rows, warp)


@device
def park(sm, warp, pc, lanes, state, kind, awaited):
    """Make `lanes` of the running split one that waits at `pc`; the others, if any, go on as a split of their own.

    kind: of BSYNC the barrier register, of BAR its operation, of WARPSYNC its aux (of a ready split whether it has polled
    memory for a turn). awaited: of BAR the barrier, of WARPSYNC the members.
    """
    entry = sm.warp[warp]
    rest = np.int64(entry.mask) & ~lanes
    if rest != 0:
        add_child(sm, warp, NONE8, pc + 1, NO_PC, rest)
    entry.pc = pc
    entry.mask = lanes
    store_split(sm, warp)
    split = sm.warp_cold[warp].split[entry.split]
    split.state = state
    split.pending = kind
    split.sync_mask = awaited
    entry.split = NONE8


@device
def choose(sm, rows, warp):
    """Run the next ready split of a warp that has none running; return 0 if all wait, although lanes at a BSYNC gave way."""
    while True:
        index = next_ready(sm, warp, np.int64(-1))
        if index >= 0:
            load_split(sm, warp, index)
            return 1
        if give_way(sm, rows, warp, np.int64(0)) == 0:
            return stop(sm, warp)


@device
def next_ready(sm, warp, here):
    """Return the first ready entry after `here`, in a circle, other than the running one; -1 if there is none."""
    table = sm.warp_cold[warp].split
    for step in range(1, MAX_SPLITS + 1):
        index = (here + step) % MAX_SPLITS
        if table[index].state == SPLIT_READY and index != sm.warp[warp].split:
            return np.int64(index)
    return np.int64(-1)


@device
def take_turns(sm, rows, warp, polls):
    """End the running split's turn: the next ready one runs.

    If all ready splits poll memory and have had a turn each, lanes at a BSYNC that wait only for them give way first.
    """
    entry = sm.warp[warp]
    table = sm.warp_cold[warp].split
    here = np.int64(entry.split)
    if polls:
        table[here].pending = 1
        polling, others = np.int64(0), 0
        for index in range(MAX_SPLITS):
            if table[index].state == SPLIT_READY:
                polling |= np.int64(entry.mask) if index == here else np.int64(table[index].mask)
                others += table[index].pending == 0
        if others == 0:
            for index in range(MAX_SPLITS):
                if table[index].state == SPLIT_READY:
                    table[index].pending = 0
            give_way(sm, rows, warp, polling)
    other = next_ready(sm, warp, here)
    if other < 0:
        return 0
    store_split(sm, warp)
    load_split(sm, warp, other)
    sm.events[SPLIT_YIELDS] += 1
    return 1


@device
def count_turn(sm, rows, warp, polls):
    """Count a jump backwards or a YIELD of a split that is not alone; its turn ends after spin_limit or poll_limit."""
    entry = sm.warp[warp]
    split = sm.warp_cold[warp].split[entry.split]
    split.spins = min(np.int64(split.spins) + 1, 255)
    mark_warp(sm, warp)
    if split.spins < (sm.config.poll_limit if polls else sm.config.spin_limit):
        return 0
    split.spins = 0
    return take_turns(sm, rows, warp, polls)


@device
def free_split(sm, warp, index):
    """Free the entry of a split that has no lanes left."""
    sm.warp_cold[warp].split[index].state = SPLIT_FREE
    sm.warp[warp].num_splits -= 1
    mark_warp(sm, warp)


@device
def seeing(sm, rows, warp, barrier, lanes, value):
    """Return those of `lanes` for which a barrier register has a value."""
    row = rows[state_row(sm, warp, barrier)].u
    same = np.int64(0)
    for lane in set_bits(lanes):
        if np.int64(row[lane]) == value:
            same |= np.int64(1) << lane
    return same


@device
def arrived(sm, rows, warp, split):
    """Return the lanes that wait for the same as `split` does, at its first lane, and the lanes still missing.

    At a BSYNC, lanes for which the register has another value wait for others: in another call of a function.
    """
    table = sm.warp_cold[warp].split
    state, kind = table[split].state, table[split].pending
    value = np.int64(table[split].sync_mask)
    if state == SPLIT_BSYNC:
        value = np.int64(rows[state_row(sm, warp, np.int64(kind))].u[ctz64(np.uint64(table[split].mask))])
    here = np.int64(0)
    for index in range(MAX_SPLITS):
        other = table[index]
        if other.state == state and other.pending == kind and (state == SPLIT_BSYNC or other.sync_mask == value):
            here |= np.int64(other.mask)
    if state == SPLIT_BSYNC:
        here = seeing(sm, rows, warp, np.int64(kind), here, value)
    return here, value & ~np.int64(sm.warp[warp].exited) & ~here


@device
def apart(sm, rows, warp, index):
    """Make lanes of a split at a BSYNC that see other participants than its first lane a split of their own; 1 if any do."""
    split = sm.warp_cold[warp].split[index]
    kind, pc, mask = np.int64(split.pending), np.int64(split.pc), np.int64(split.mask)
    row = rows[state_row(sm, warp, kind)].u
    rest = mask & ~seeing(sm, rows, warp, kind, mask, np.int64(row[ctz64(np.uint64(mask))]))
    if rest != 0:
        split.mask = mask & ~rest
        other = sm.warp_cold[warp].split[add_child(sm, warp, NONE8, pc, NO_PC, rest)]
        other.state = SPLIT_BSYNC
        other.pending = kind
    return int(rest != 0)


@device
def release(sm, rows, warp):
    """Let lanes go on whose participants have all come, at any BSYNC or WARPSYNC of a warp."""
    table = sm.warp_cold[warp].split
    index = 0
    while index < MAX_SPLITS:
        state = table[index].state
        if state == SPLIT_BSYNC and apart(sm, rows, warp, index):
            index = -1              # the new one may have any entry, and may have all its participants
        elif state == SPLIT_BSYNC or state == SPLIT_SYNC:
            here, missing = arrived(sm, rows, warp, index)
            if missing == 0:
                kind = np.int64(table[index].pending) if state == SPLIT_SYNC else np.int64(0)
                together = np.int64(table[index].pc) if kind == WARPSYNC_COLLECTIVE else np.int64(NO_PC)
                go_on(sm, warp, here, together, kind != 0)
                index = -1          # what has left may be missing no longer elsewhere
        index += 1


@device
def go_on(sm, warp, lanes, together, alone):
    """Let waiting lanes go on after the instruction they wait at, those of one place as one split; all after `together`.

    The turns that they have counted go on, too: a loop that polls may have a barrier in it.
    alone: without other lanes that are ready at the same place.
    """
    table = sm.warp_cold[warp].split
    left, own, place, spins = lanes, np.int64(-1), np.int64(-1), np.int64(0)
    while left != 0:
        lane, index = ctz64(np.uint64(left)), 0
        while table[index].state <= SPLIT_READY or (np.int64(table[index].mask) >> lane) & 1 == 0:
            index += 1
        going = np.int64(table[index].mask) & left
        left &= ~going
        pc = np.int64(table[index].pc) if together == NO_PC else together
        spins = max(spins, np.int64(table[index].spins))
        table[index].mask = np.int64(table[index].mask) & ~going
        if table[index].mask == 0:
            free_split(sm, warp, index)
        if not alone:
            own = join(sm, warp, going, pc + 1)
            table[own].spins = max(spins, np.int64(table[own].spins))
        elif place == pc:
            table[own].mask = np.int64(table[own].mask) | going
            table[own].spins = spins
        else:
            own, place = np.int64(add_child(sm, warp, NONE8, pc + 1, NO_PC, going)), pc
            table[own].spins = spins


@device
def join(sm, warp, lanes, pc):
    """Add lanes to the ready split at `pc`, or make them one; return its entry."""
    table = sm.warp_cold[warp].split
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_READY and table[index].pc == pc and index != sm.warp[warp].split:
            table[index].mask = np.int64(table[index].mask) | lanes
            mark_warp(sm, warp)
            return np.int64(index)
    mark_warp(sm, warp)
    return np.int64(add_child(sm, warp, NONE8, pc, NO_PC, lanes))


@device
def give_way(sm, rows, warp, yielding):
    """Divide a BSYNC's participants into those that wait there, which go on, and those that cannot come; return 1 if done.

    Lanes cannot come that wait at a WARPSYNC or BAR; `yielding`: lanes that poll memory, and perhaps cannot either.
    """
    table = sm.warp_cold[warp].split
    away = yielding
    for index in range(MAX_SPLITS):
        if table[index].state == SPLIT_SYNC or table[index].state == SPLIT_BARRIER:
            away |= np.int64(table[index].mask)
    if away == 0:
        return 0
    for index in range(MAX_SPLITS):
        if table[index].state != SPLIT_BSYNC:
            continue
        here, missing = arrived(sm, rows, warp, index)
        if missing != 0 and missing & ~away == 0:
            barrier = np.int64(table[index].pending)
            row = state_row(sm, warp, barrier)
            value = np.int64(rows[row].u[ctz64(np.uint64(here))])
            own = seeing(sm, rows, warp, barrier, missing, value)
            fill_lanes(sm, rows, row, here, value & ~missing)
            fill_lanes(sm, rows, row, own, own)
            release(sm, rows, warp)
            return 1
    return 0
