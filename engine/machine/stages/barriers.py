"""CTA barriers: bar.sync, bar.arrive and bar.red over threads; lanes that have exited count as arrived."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import BARRIERS
from rfview.engine.isa import BAR_ARRIVE, BAR_RED_AND, BAR_RED_OR, BAR_RED_POPC
from rfview.engine.machine.marks import begin_of, mark_cold, touch_inflight
from rfview.engine.machine.stages.completion import end_is_known, schedule
from rfview.engine.machine.stages.splits import choose_split, leave_barrier, park_at_barrier
from rfview.engine.state import BLOCK, EXECUTE, NONE8, NUM_BARRIERS, SM

FIRST_BARRIER_BLOCK = begin_of("barrier") // BLOCK
BARRIER_BYTES = SM["barrier"].subdtype[0].itemsize


@device
def mark_barrier(sm, cta, barrier):
    """Tell the journal that a barrier's counters changed."""
    mark_cold(sm, FIRST_BARRIER_BLOCK + (np.int64(cta) * NUM_BARRIERS + np.int64(barrier)) * BARRIER_BYTES // BLOCK)


@device
def arrive(sm, rows, insts, warp, lanes, barrier, count, kind, predicate, awaited):
    """Let lanes of a warp arrive at a barrier of its CTA, and wait there unless `kind` is arrive.

    count: threads the barrier waits for, 0 = all of the CTA. predicate: lane mask for bar.red. awaited: the barrier, or
    that and RESULTS_AT_OPENING.
    """
    cta = np.int64(sm.warp[warp].cta)
    count_arrivals(sm, cta, barrier, lanes, count, predicate)
    if kind != BAR_ARRIVE:
        park_at_barrier(sm, warp, awaited)
    check(sm, rows, insts, cta, barrier)
    if sm.warp[warp].split == NONE8 and sm.warp[warp].num_splits > 1:
        choose_split(sm, warp)
    return 0


@device
def count_arrivals(sm, cta, barrier, lanes, count, predicate):
    """Count lanes that arrive at a barrier, and their predicate. count, predicate: see `arrive`."""
    counter = sm.barrier[cta][barrier]
    if counter.arrived == 0:
        counter.red_and = 1
        counter.red_or = 0
        counter.red_count = 0
        counter.expected = count
    number = popcount(lanes)
    counter.arrived += number
    votes = popcount(lanes & np.int64(predicate))
    counter.red_count += votes
    if votes < number:
        counter.red_and = 0
    if votes > 0:
        counter.red_or = 1
    mark_barrier(sm, cta, barrier)
    sm.events[BARRIERS] += 1


@device
def takes_all(sm, cta, barrier):
    """Return whether all threads that a barrier waits for have arrived, which it then counts anew."""
    counter = sm.barrier[cta][barrier]
    if counter.arrived == 0:
        return False
    expected = np.int64(counter.expected)
    if expected == 0:
        expected = np.int64(sm.cta[cta].live_threads)
    if counter.arrived < expected:
        return False
    counter.arrived = 0
    mark_barrier(sm, cta, barrier)
    return True


@device
def check(sm, rows, insts, cta, barrier):
    """Open a barrier if all threads it waits for have arrived; return 1 if it opened."""
    if not takes_all(sm, cta, barrier):
        return 0
    counter = sm.barrier[cta][barrier]
    first = np.int64(sm.cta[cta].first_warp)
    for warp in range(first, first + np.int64(sm.cta[cta].num_warps)):
        lanes = leave_barrier(sm, warp, barrier)
        if lanes != 0:
            keep_reductions(sm, warp, lanes, counter)
        give_reductions(sm, rows, insts, warp, cta, barrier)
    return 1


@device
def keep_reductions(sm, warp, lanes, counter):
    """Keep what a barrier counted for those of its lanes that fetch their results after it has opened."""
    for lane in range(32):
        if (lanes >> lane) & 1:
            sm.exchanged[warp][lane] = counted(counter)


@device
def counted(counter):
    """Return what a barrier counted as one word: the threads whose predicate is true, whether all are, whether any is."""
    return np.int64(counter.red_count) | np.int64(counter.red_and) << 16 | np.int64(counter.red_or) << 17


@device
def give_reductions(sm, rows, insts, warp, cta, barrier):
    """Complete the bar.red instructions of a warp that waited for this barrier's result."""
    for word in range(len(sm.inflight_used)):
        for low in set_bits(sm.inflight_used[word]):
            slot = word * 64 + low
            flight = sm.inflight[slot]
            if flight.warp != warp or flight.stage != EXECUTE or end_is_known(flight):
                continue
            if flight.bank != barrier:
                continue
            give_reduction(sm, rows, slot, insts[flight.pc].aux, counted(sm.barrier[cta][barrier]))


@device
def give_reduction(sm, rows, slot, kind, word):
    """Complete a bar.red instruction with what its barrier counted."""
    value = word & 0xFFFF
    if kind == BAR_RED_AND:
        value = (word >> 16) & 1
    elif kind == BAR_RED_OR:
        value = (word >> 17) & 1
    elif kind != BAR_RED_POPC:
        value = np.int64(0)
    sm.inflight[slot].pval[0] = 0xFFFFFFFF if value != 0 else 0
    result = rows[sm.config.first_result_row + slot * 4].u
    for lane in range(32):
        result[lane] = value
    touch_inflight(sm, slot)
    return schedule(sm, slot, sm.cycle + 1)


@device
def check_all(sm, rows, insts, cta):
    """Check every barrier of a CTA, after some of its lanes have exited."""
    for barrier in range(NUM_BARRIERS):
        if sm.barrier[cta][barrier].arrived != 0:
            check(sm, rows, insts, cta, barrier)
