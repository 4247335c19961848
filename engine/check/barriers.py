"""Checks CTA barriers: arrivals, the order that waiting establishes, and barriers that not all threads reach."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (B_ARRIVED, B_CLOSED, BARRIER_EXITED, BARRIER_PART, BARRIER_WORDS, BARRIERS, CLOCKS,
                                        H_CTA_WARPS, H_GRID_WARPS, H_PCS, W_BARRIER, W_BARRIER_LANES, W_BARRIER_PC, W_CLOCK,
                                        W_EXIT_CYCLE, W_EXIT_LANES, W_EXIT_PC, W_FIRST, W_ID, W_KNOWS, W_MISSING, WARP_WORDS,
                                        WARPS, WHOLE_WARP)
from rfview.engine.check.note import NO_OTHER, note, note_other
from rfview.engine.check.order import known_row, sync_lanes
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.isa import BAR_ARRIVE
from rfview.engine.program import NO_REG, SPACE_NONE
from rfview.engine.state import MAX_WARPS, NONE8, NUM_BARRIERS


@device
def place_of(sm, slot, number):
    """Return the place of a barrier of the warp's CTA: clocks by warp slot, then B_*."""
    return BARRIERS + (np.int64(sm.warp[slot].cta) * NUM_BARRIERS + number) * BARRIER_WORDS


@device
def number_of(s, sm, inst, slot):
    """Return the number of the barrier at which a warp has just arrived; -1 if it is no longer known."""
    if np.int64(inst.src[0]) == NO_REG:
        return np.int64(inst.imm[0]) & (NUM_BARRIERS - 1)
    if sm.warp[slot].barrier != NONE8:
        return np.int64(sm.warp[slot].barrier)
    # it was the last one and the barrier is open: the others that leave it have its number
    first = np.int64(s[WARPS + slot * WARP_WORDS + W_FIRST])
    for other in range(first, first + np.int64(s[H_CTA_WARPS])):
        if sm.warp[other].open_cycle == sm.warp[slot].open_cycle and s[WARPS + other * WARP_WORDS + W_BARRIER] != 0:
            return np.int64(s[WARPS + other * WARP_WORDS + W_BARRIER]) - 1
    return np.int64(-1)


@device
def arrive(s, sm, inst, slot, pc, lanes):
    """Process an arrival at a barrier."""
    me = WARPS + slot * WARP_WORDS
    live = ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF
    if np.int64(s[np.int64(s[H_PCS]) + pc]) & WHOLE_WARP:
        check_whole(s, sm, inst, slot, pc, lanes, live)
    number = number_of(s, sm, inst, slot)
    if number < 0:
        return 0
    at = place_of(sm, slot, number)
    tail = at + MAX_WARPS
    if s[tail + B_CLOSED] != 0:
        for k in range(BARRIER_WORDS):
            s[at + k] = 0
    first = np.int64(s[me + W_FIRST])
    for other in range(first, first + np.int64(s[H_CTA_WARPS])):
        s[at + other] = max(np.int64(s[at + other]), np.int64(s[CLOCKS + slot * MAX_WARPS + other]))
    clock = np.int64(s[me + W_CLOCK]) + 1
    s[me + W_CLOCK] = clock
    s[at + slot] = clock
    word = tail + B_ARRIVED + slot // 32
    s[word] = np.int64(s[word]) | np.int64(1) << slot % 32
    if inst.aux != BAR_ARRIVE:
        s[me + W_BARRIER] = number + 1
        s[me + W_BARRIER_LANES] = np.int64(s[me + W_BARRIER_LANES]) | lanes
        s[me + W_BARRIER_PC] = pc
    return 0


@device
def check_whole(s, sm, inst, slot, pc, lanes, live):
    """Note an aligned barrier that lanes of a warp reach at different places, or pass before others arrive (see leave).

    Lanes that arrive one after the other at the same place would be together on a GPU: after a spin loop, from which the
    machine lets some lanes go first.
    """
    me = WARPS + slot * WARP_WORDS
    is_elsewhere = s[me + W_BARRIER] != 0 and np.int64(s[me + W_BARRIER_PC]) != pc
    if lanes != live and (is_elsewhere or inst.aux == BAR_ARRIVE):
        s[me + W_MISSING] = 0
        note(s, sm, BARRIER_PART, slot, ctz64(np.uint64(live & ~lanes)), pc, NO_OTHER, 0, SPACE_NONE, lanes)
    elif lanes != live:
        s[me + W_MISSING] = (np.int64(s[me + W_MISSING]) | live) & ~(np.int64(s[me + W_BARRIER_LANES]) | lanes)
    return 0


@device
def leave(s, sm, insts, slot):
    """Process a warp's leaving an open barrier: it now knows what all that arrived did before."""
    me = WARPS + slot * WARP_WORDS
    number = np.int64(s[me + W_BARRIER]) - 1
    if number < 0:
        return 0
    at = place_of(sm, slot, number)
    first, size = np.int64(s[me + W_FIRST]), np.int64(s[H_CTA_WARPS])
    for other in range(first, first + size):
        place = CLOCKS + slot * MAX_WARPS + other
        s[place] = max(np.int64(s[place]), np.int64(s[at + other]))
        arrived = np.int64(s[at + MAX_WARPS + B_ARRIVED + other // 32]) >> (other % 32) & 1
        if arrived != 0 and other != slot and s[WARPS + other * WARP_WORDS + W_KNOWS] != 0:
            mine, others = known_row(s, slot), known_row(s, other)
            for k in range(np.int64(s[H_GRID_WARPS])):
                s[mine + k] = max(np.int64(s[mine + k]), np.int64(s[others + k]))
            s[me + W_KNOWS] = 1
    live = ~np.int64(sm.warp[slot].exited) & 0xFFFFFFFF
    sync_lanes(s, slot, np.int64(s[me + W_BARRIER_LANES]) & live, live)
    missing = np.int64(s[me + W_MISSING])
    if missing != 0:
        s[me + W_MISSING] = 0
        note(s, sm, BARRIER_PART, slot, ctz64(np.uint64(missing)), np.int64(s[me + W_BARRIER_PC]), NO_OTHER, 0, SPACE_NONE,
             np.int64(s[me + W_BARRIER_LANES]))
    inst = insts[s[me + W_BARRIER_PC]]
    if np.int64(inst.src[2]) == NO_REG and inst.imm[2] == 0:
        check_ended(s, sm, slot, np.int64(s[me + W_BARRIER_PC]), first, size)
    s[me + W_BARRIER] = 0
    s[me + W_BARRIER_LANES] = 0
    s[at + MAX_WARPS + B_CLOSED] = 1
    return 0


@device
def check_ended(s, sm, slot, pc, first, size):
    """Note a barrier of the whole CTA that opened without threads that had ended before."""
    for other in range(first, first + size):
        place = WARPS + other * WARP_WORDS
        if s[place + W_EXIT_LANES] != 0:
            lane = ctz64(np.uint64(s[place + W_EXIT_LANES]))
            at = note(s, sm, BARRIER_EXITED, slot, 0, pc, np.int64(s[place + W_EXIT_PC]), 0, SPACE_NONE, 0)
            return note_other(s, at, np.int64(s[place + W_ID]), lane, np.int64(s[place + W_EXIT_CYCLE]))
    return 0
