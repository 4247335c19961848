"""Instructions that execute at issue and use no collector: branches, exit, barriers, membar, sleep, trap."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, ctz64, popcount
from rfview.engine.compile.device import device
from rfview.engine.events import BRANCHES, DIVERGENT_BRANCHES
from rfview.engine.fault_codes import BARRIER, CALL, SURFACE, TRAP
from rfview.engine.isa import (BAR_ARRIVE, BAR_SYNC, OP_BAR, OP_BRA, OP_BRA_UNI, OP_BRKPT, OP_EXIT, OP_MEMBAR, OP_NANOSLEEP,
                               OP_TRAP, TRAP_CALL, TRAP_SURFACE)
from rfview.engine.program import NO_REG
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages import barriers, collectives, forward_progress, split_table, splits
from rfview.engine.machine.stages.inflight import allocate
from rfview.engine.state import EXECUTE, NONE8, NUM_BARRIERS, RESULTS_AT_OPENING


@device
def fault(sm, code, warp, lane, pc, address, size):
    """Stop the machine at the end of this cycle because the kernel misbehaved; the first fault is kept."""
    if sm.error == 0:
        sm.error = code
        sm.error_warp = warp
        sm.error_lane = lane
        sm.error_pc = pc
        sm.error_address = address
        sm.error_size = size
    return 0


@device
def operand(sm, rf, spec, rows, inst, warp, slot):
    """Return a control instruction's operand at the first active lane: an immediate, or a register's newest value."""
    reg = np.int64(inst.src[slot])
    if reg == NO_REG:
        return np.int64(inst.imm[slot])
    lane = ctz64(np.uint64(sm.warp[warp].mask))
    return np.int64(rows[hooks.locate(sm, rf, spec, warp, reg, lane)].u[lane])


@device
def execute(sm, rf, spec, rows, insts, warp, pc, lanes, active):
    """Execute a control instruction. lanes: the SIMT mask and the guard; active: the SIMT mask alone."""
    inst = insts[pc]
    op = inst.op
    if op == OP_BRA or op == OP_BRA_UNI:
        return branch(sm, warp, pc, inst, lanes, active)
    if op == OP_EXIT:
        return leave(sm, rows, insts, warp, pc, lanes, active)
    if lanes == 0:
        return splits.advance(sm, warp, pc + 1)
    if op == OP_BAR:
        return barrier(sm, rf, spec, rows, insts, warp, pc, lanes, active)
    if op == OP_NANOSLEEP:
        nanoseconds = operand(sm, rf, spec, rows, inst, warp, 0)
        sm.warp[warp].wake_cycle = sm.cycle + max(1, nanoseconds * np.int64(sm.config.clock_mhz) // 1000)
    elif op == OP_TRAP or op == OP_BRKPT:
        code = CALL if inst.aux == TRAP_CALL else SURFACE if inst.aux == TRAP_SURFACE else TRAP
        fault(sm, code, warp, ctz64(np.uint64(lanes)), pc, 0, 0)
    elif op == OP_MEMBAR:       # a loop with a fence may wait for what others store
        sm.warp[warp].polled = 1
    return splits.advance(sm, warp, pc + 1)


@device
def branch(sm, warp, pc, inst, taken, active):
    """Resolve a branch: its predicate is available, so both paths are known at issue."""
    sm.events[BRANCHES] += 1
    target = np.int64(inst.target)
    rest = active & ~taken
    if taken == 0 or target == pc + 1:  # a skipped body may be empty: no need to split
        return splits.advance(sm, warp, pc + 1)
    if rest == 0:
        split_table.flush_ibuffer(sm, warp)
        splits.advance(sm, warp, target)
        if target <= pc and sm.warp[warp].num_splits > 1 and sm.warp[warp].split != NONE8:
            return forward_progress.count_spin(sm, warp)
        return 0
    sm.events[DIVERGENT_BRANCHES] += 1
    return splits.diverge(sm, warp, target, pc + 1, inst.reconv, taken, rest)


@device
def barrier(sm, rf, spec, rows, insts, warp, pc, lanes, active):
    """Arrive at a CTA barrier; bar.red holds its results in the scoreboard until the barrier opens, unless it diverged."""
    inst = insts[pc]
    kind = np.int64(inst.aux)
    reduces = kind != BAR_SYNC and kind != BAR_ARRIVE
    if collectives.results_wait(sm, warp) != 0:
        slot = hold_results(sm, warp, pc, lanes, active, inst)
        collectives.fetch_results(sm, rows, warp, slot, lanes)
        barriers.give_reduction(sm, rows, slot, kind, np.int64(sm.exchanged[warp][ctz64(np.uint64(lanes))]))
        return splits.advance(sm, warp, pc + 1)
    if lanes != active and kind != BAR_ARRIVE:      # only the lanes whose guard is true wait: as in a branch
        return splits.diverge(sm, warp, pc, pc + 1, pc + 1, lanes, active & ~lanes)
    number = operand(sm, rf, spec, rows, inst, warp, 0)
    if number < 0 or number >= NUM_BARRIERS:
        fault(sm, BARRIER, warp, ctz64(np.uint64(lanes)), pc, number, 0)
        return splits.advance(sm, warp, pc + 1)
    count = operand(sm, rf, spec, rows, inst, warp, 2)
    if kind == BAR_ARRIVE:
        barriers.arrive(sm, rows, insts, warp, lanes, number, count, kind, 0, number)
        return splits.advance(sm, warp, pc + 1)
    predicate, awaited = np.int64(0), number
    sm.warp[warp].pc = pc + 1
    if reduces:
        source = np.int64(inst.psrc[0])
        if source != NONE8:
            predicate = np.int64(sm.warp_cold[warp].pred[source])
            if inst.psrc_negate[0]:
                predicate ^= 0xFFFFFFFF
        if sm.warp[warp].num_splits > 1:    # held results would block the lanes for which this one waits
            awaited = number | RESULTS_AT_OPENING
            sm.warp[warp].pc = pc
        else:
            slot = hold_results(sm, warp, pc, lanes, active, inst)
            sm.inflight[slot].bank = number
    return barriers.arrive(sm, rows, insts, warp, lanes, number, count, kind, predicate, awaited)


@device
def hold_results(sm, warp, pc, lanes, active, inst):
    """Give a bar.red an in-flight entry that waits for the barrier."""
    slot = allocate(sm, warp, pc, lanes, active, inst)
    sm.inflight[slot].stage = EXECUTE
    touch_inflight(sm, slot)
    return slot


@device
def leave(sm, rows, insts, warp, pc, lanes, active):
    """End lanes; end the split, the warp and the CTA's wait for them as they run empty."""
    entry = sm.warp[warp]
    if lanes == 0:
        return splits.advance(sm, warp, pc + 1)
    entry.exited = np.int64(entry.exited) | lanes
    cta = np.int64(entry.cta)
    sm.cta[cta].live_threads -= popcount(np.uint64(lanes))
    rest = active & ~lanes
    if rest != 0:
        entry.mask = rest
        splits.advance(sm, warp, pc + 1)
    else:
        entry.mask = 0
        splits.finish_split(sm, warp, entry.split)
        if np.int64(entry.exited) == 0xFFFFFFFF:
            end_warp(sm, warp, cta)
    barriers.check_all(sm, rows, insts, cta)
    return 0


@device
def end_warp(sm, warp, cta):
    """Mark a warp whose lanes have all exited as finished from the next cycle on."""
    bit = bit64(warp)
    sm.unfinished = np.uint64(sm.unfinished) & ~bit
    sm.undecided = np.uint64(sm.undecided) & ~bit
    sm.need_fetch = np.uint64(sm.need_fetch) & ~bit
    sm.ended = np.uint64(sm.ended) | bit
    sm.cta[cta].live_warps -= 1
