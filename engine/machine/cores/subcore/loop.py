"""One cycle of the sub-cores, and whether anything is left to do.

t is the cycle in which an instruction issues: Control in t + 1, Allocate in t + 2. A stage takes what the one before it has
held for a cycle; a place that is free is taken in the same cycle, so the stages run backwards.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.device import device
from rfview.engine.machine.cores.accounting import account, free_cta_slot, nothing_waits
from rfview.engine.machine.cores.subcore import accesses, fetch, issue, operands, results
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES
from rfview.engine.machine.stages import convergence, ctas
from rfview.engine.machine.stages.completion import next_completion
from rfview.engine.machine.stages.warp_state import reconsider, show_finished
from rfview.engine.state import MAX_INFLIGHT, NONE8


@device
def cycle(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index):
    """Run one cycle: results, memory, then in each sub-core Allocate, Control and issue; new CTAs, and fetch."""
    results.begin(sm, rf, spec, rows, insts)
    for number in range(NUM_SUBCORES):
        operands.count_up(sm, rf, insts, number)
    results.complete(sm, rf, spec, rows, insts, arena)
    accesses.advance(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index)
    results.write_variable(sm, rf, spec, rows, insts)
    show_finished(sm)
    for number in range(NUM_SUBCORES):
        operands.allocate(sm, rf, spec, rows, insts, arena, number)
        operands.control(sm, rf, spec, rows, insts, arena, number)
        issue.issue(sm, rf, spec, rows, insts, arena, number)
    start_cta(sm, rf, spec, rows, arena, log, mem_index)
    fetch.fetch(sm, rf, spec)
    hooks.end_cycle(sm, rf, spec, rows)
    account(sm, 1)
    sm.cycle += 1


@device
def start_cta(sm, rf, spec, rows, arena, log, mem_index):
    """Start at most one CTA; the control state of its warps is that of new ones."""
    number = np.int64(sm.launch.next_cta)
    ctas.dispatch_ctas(sm, rf, spec, rows, arena, log, mem_index)
    if sm.launch.next_cta == number:
        return
    for slot in range(sm.launch.resident_ctas):
        cta = sm.cta[slot]
        if cta.valid and cta.id == number:
            first = np.int64(cta.first_warp)
            for warp in range(first, first + np.int64(cta.num_warps)):
                convergence.clear_state(sm, rows, warp)
                issue.clear_control(rf, warp)
                reconsider(sm, warp)


@device
def is_idle(sm, rf, spec):
    """Return whether nothing moves until a completion: all warps wait for one, and no stage holds anything."""
    if sm.undecided != 0 or sm.ended != 0 or rf.core.fetching != 0 or sm.ldst_head != NONE8 or not pipeline_empty(sm, rf):
        return False
    return nothing_waits(sm)


@device
def pipeline_empty(sm, rf):
    """Return whether no sub-core holds an instruction before its unit."""
    for number in range(NUM_SUBCORES):
        sub = rf.core.sub[number]
        if sub.control != 0 or sub.counting != 0 or sub.allocate != 0 or sub.allocated != 0 or sub.queued != 0:
            return False
        if sm.booked_work[2 * number] != 0 or sm.booked_work[2 * number + 1] != 0:
            return False
        for unit in range(len(sub.unit)):
            if sub.unit[unit] != 0:
                return False
    return True


@device
def idle_cycles(sm, rf, spec, stop_cycle):
    """Return how many cycles pass before the next completion or event of the design; only after an idle cycle has run."""
    limit = min(np.int64(stop_cycle), np.int64(hooks.next_event(sm, rf, spec)))
    return max(np.int64(0), next_completion(sm, limit) - np.int64(sm.cycle))


@device
def stuck(sm, rf, spec):
    """Return whether every live warp waits and nothing in flight could wake one."""
    if sm.undecided != 0 or sm.unfinished == 0 or sm.ended != 0 or not pipeline_empty(sm, rf):
        return False
    for word in range(MAX_INFLIGHT // 64):
        if sm.inflight_used[word] != 0:
            return False
    return sm.launch.next_cta >= sm.launch.num_ctas or not free_cta_slot(sm)
