"""CTA barriers: bar.sync, bar.arrive and bar.red over threads; lanes that have exited count as arrived."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, popcount
from rfview.engine.compile.device import device
from rfview.engine.events import BARRIERS
from rfview.engine.isa import BAR_ARRIVE, BAR_RED_AND, BAR_RED_OR, BAR_RED_POPC
from rfview.engine.machine.marks import begin_of, mark_cold, touch_inflight
from rfview.engine.machine.stages.completion import end_is_known, schedule
from rfview.engine.machine.stages.splits import leave_barrier, park_at_barrier
from rfview.engine.state import BLOCK, EXECUTE, NUM_BARRIERS, SM

FIRST_BARRIER_BLOCK = begin_of("barrier") // BLOCK
BARRIER_BYTES = SM["barrier"].subdtype[0].itemsize


@device
def mark_barrier(sm, cta, barrier):
    """Tell the journal that a barrier's counters changed."""
    return mark_cold(sm, FIRST_BARRIER_BLOCK + (np.int64(cta) * NUM_BARRIERS + np.int64(barrier)) * BARRIER_BYTES // BLOCK)


@device
def arrive(sm, rows, insts, warp, barrier, count, kind, predicate):
    """Let the active lanes of a warp arrive at a barrier of its CTA, and wait there unless `kind` is arrive.

    count: threads the barrier waits for, 0 = all of the CTA. predicate: lane mask for bar.red.
    """
    entry = sm.warp[warp]
    cta = np.int64(entry.cta)
    counter = sm.barrier[cta][barrier]
    lanes = np.int64(entry.mask) & ~np.int64(entry.exited)
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
    if kind != BAR_ARRIVE:
        park_at_barrier(sm, warp, barrier)
    return check(sm, rows, insts, cta, barrier)


@device
def check(sm, rows, insts, cta, barrier):
    """Open a barrier if all threads it waits for have arrived; return 1 if it opened."""
    counter = sm.barrier[cta][barrier]
    if counter.arrived == 0:
        return 0
    expected = np.int64(counter.expected)
    if expected == 0:
        expected = np.int64(sm.cta[cta].live_threads)
    if counter.arrived < expected:
        return 0
    counter.arrived = 0
    mark_barrier(sm, cta, barrier)
    first = np.int64(sm.cta[cta].first_warp)
    for warp in range(first, first + np.int64(sm.cta[cta].num_warps)):
        leave_barrier(sm, warp, barrier)
        give_reductions(sm, rows, insts, warp, cta, barrier)
    return 1


@device
def give_reductions(sm, rows, insts, warp, cta, barrier):
    """Complete the bar.red instructions of a warp that waited for this barrier's result."""
    counter = sm.barrier[cta][barrier]
    for word in range(len(sm.inflight_used)):
        used = np.uint64(sm.inflight_used[word])
        while used != 0:
            low = ctz64(used)
            used &= ~bit64(low)
            slot = word * 64 + low
            flight = sm.inflight[slot]
            if flight.warp != warp or flight.stage != EXECUTE or end_is_known(flight):
                continue
            if flight.bank != barrier:
                continue
            kind = insts[flight.pc].aux
            value = 0
            if kind == BAR_RED_POPC:
                value = np.int64(counter.red_count)
            elif kind == BAR_RED_AND:
                value = np.int64(counter.red_and)
            elif kind == BAR_RED_OR:
                value = np.int64(counter.red_or)
            flight.pval[0] = 0xFFFFFFFF if value != 0 else 0
            result = rows[sm.config.first_result_row + slot * 4].u
            for lane in range(32):
                result[lane] = value
            touch_inflight(sm, slot)
            schedule(sm, slot, sm.cycle + 1)
    return 0


@device
def check_all(sm, rows, insts, cta):
    """Check every barrier of a CTA, after some of its lanes have exited."""
    for barrier in range(NUM_BARRIERS):
        if sm.barrier[cta][barrier].arrived != 0:
            check(sm, rows, insts, cta, barrier)
    return 0
