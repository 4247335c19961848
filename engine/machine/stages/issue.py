"""Issue: every scheduler decides the states of its warps in this cycle, and issues at most one instruction.

A warp whose state can only change through an event (a release, a refusal at write-back, a barrier) is not in sm.undecided
and keeps its state unexamined until the event reconsiders it (warp_state.py). Undecided warps
without a hazard take the fast path of issue_cache.py, all others go through evaluate.py.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import bit64, ctz64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import INSTRUCTIONS, THREAD_INSTRUCTIONS
from rfview.engine.isa import OP_ACTIVEMASK
from rfview.engine.machine import schedulers
from rfview.engine.machine.scoreboard import refresh_reads
from rfview.engine.machine.stages import active_set, control, splits
from rfview.engine.machine.stages.collectives import fetch_results, taking_part
from rfview.engine.machine.stages.evaluate import READY, evaluate
from rfview.engine.machine.stages.inflight import allocate
from rfview.engine.machine.stages.issue_cache import UNSELECTED, cache_states, decide_clear
from rfview.engine.machine.stages.warp_state import block, reconsider, set_state, show_finished
from rfview.engine.program import NUM_SRC_ROWS, UNIT_CTRL
from rfview.engine.stalls import ISSUED, NOT_SELECTED
from rfview.engine.state import BLOCK_NONE, BLOCK_SCHEDULER, MAX_COLLECTORS, NONE8


@device
def issue(sm, rf, spec, rows, insts, freeze):
    """Run every scheduler once; they take turns at being first, so that none always finds the collectors taken."""
    number = np.int64(sm.config.num_schedulers)
    show_finished(sm)
    sm.undecided = np.uint64(sm.undecided) & np.uint64(sm.unfinished)
    if sm.config.active_places != 0:
        active_set.manage(sm, rf, spec, rows, insts)
    for turn in range(number):
        scheduler = (np.int64(sm.cycle) + turn) % number
        candidates = np.uint64(sm.undecided) & np.uint64(sm.scheduler_mask[scheduler])
        clear = candidates & np.uint64(sm.scoreboard_clear)
        ready = decide_clear(sm, rf, spec, rows, insts, scheduler, clear, freeze)
        candidates &= ~clear
        for warp in set_bits(candidates):
            code = evaluate(sm, rf, spec, rows, insts, warp, freeze)
            if code == READY:
                ready |= bit64(warp)
            else:
                set_state(sm, warp, code)
        chosen = np.int64(NONE8)
        if ready != 0:
            chosen = schedulers.pick(sm.policy, sm, scheduler, ready)
            ready &= ~bit64(chosen)
        sm.issued_warp[scheduler] = chosen
        for warp in set_bits(ready & ~np.uint64(sm.cached[UNSELECTED])):
            block(sm, warp, BLOCK_SCHEDULER, scheduler)
            set_state(sm, warp, NOT_SELECTED)
        cache_states(sm, scheduler, UNSELECTED, ready & np.uint64(sm.scoreboard_clear))
        if chosen != NONE8:
            block(sm, chosen, BLOCK_NONE, 0)
            set_state(sm, chosen, ISSUED)
            sm.scheduler[scheduler].last_warp = chosen
            send(sm, rf, spec, rows, insts, chosen)


@device
def send(sm, rf, spec, rows, insts, warp):
    """Issue the head instruction of a warp."""
    entry = sm.warp[warp]
    pc = np.int64(entry.pc)
    inst = insts[pc]
    lanes, active, took_part = taking_part(sm, rf, spec, rows, insts, warp, inst)
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) & ~bit64(warp)
    entry.num_issued += 1
    entry.last_issue_cycle = sm.cycle
    entry.last_pc = pc
    entry.ibuffer -= 1
    if entry.ibuffer == 0:
        sm.need_fetch = np.uint64(sm.need_fetch) | bit64(warp)
    reconsider(sm, warp)
    if inst.polls != 0:
        entry.polled = 1
    sm.events[INSTRUCTIONS] += 1
    sm.events[THREAD_INSTRUCTIONS] += popcount(np.uint64(lanes))
    if inst.unit == UNIT_CTRL:
        return control.execute(sm, rf, spec, rows, insts, warp, pc, lanes, active)
    if lanes != 0 or inst.op == OP_ACTIVEMASK:
        slot = allocate(sm, warp, pc, lanes, active, inst)
        if took_part != 0:
            fetch_results(sm, rows, warp, slot, took_part)
        enter_collector(sm, rf, spec, rows, slot, inst)
        hooks.on_issue(sm, rf, spec, rows, slot, inst)
    return splits.advance(sm, warp, pc + 1)


@device
def enter_collector(sm, rf, spec, rows, slot, inst):
    """Put an issued instruction in a free operand collector and queue its reads at the banks."""
    used = np.uint64(sm.collectors_used)
    collector = ctz64(~used)
    if collector >= MAX_COLLECTORS:
        collector = 0
    sm.collectors_used = used | bit64(collector)
    unit = sm.collector[collector]
    unit.valid = 1
    unit.inflight = slot
    flight = sm.inflight[slot]
    flight.collector = collector
    sm.collector_seq[collector] = flight.seq
    warp = np.int64(flight.warp)
    sm.collectors_of[warp] = np.uint64(sm.collectors_of[warp]) | bit64(collector)
    sm.queued[inst.unit] += 1
    first_row = sm.config.first_collector_row + collector * NUM_SRC_ROWS
    src_mask = np.int64(inst.src_mask)
    imm_mask = np.int64(inst.imm_mask)
    regs = np.uint64(0)
    banks = np.uint64(0)
    for operand in range(NUM_SRC_ROWS):
        unit.bank[operand] = NONE8
        if (src_mask >> operand) & 1:
            reg = np.int64(inst.src[operand])
            regs |= bit64(reg)
            bank = hooks.bank_of(sm, rf, spec, warp, reg)
            unit.bank[operand] = bank
            banks |= bit64(bank)
            sm.bank_requests[bank] = np.uint64(sm.bank_requests[bank]) | bit64(collector)
            sm.banks_requested = np.uint64(sm.banks_requested) | bit64(bank)
        elif (imm_mask >> operand) & 1:
            value = inst.imm[operand]
            target = rows[first_row + operand].u
            for lane in range(32):
                target[lane] = value
    flight.unread = src_mask
    sm.collector_regs[collector] = regs
    sm.collector_banks[collector] = banks
    if src_mask != 0:
        sm.reading = np.uint64(sm.reading) | bit64(collector)
        refresh_reads(sm, warp)
