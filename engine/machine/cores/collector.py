"""Fermi's core: one cycle, on one page, and whether anything is left to do."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile import extern
from rfview.engine.compile.bits import set_bits
from rfview.engine.compile.device import device
from rfview.engine.machine import collectors
from rfview.engine.machine.cores.accounting import account, free_cta_slot, nothing_waits
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages import completion, ctas, fetch, issue, memory, write_back
from rfview.engine.state import MAX_INFLIGHT, NONE8


@device
def cycle(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index):
    """Run one cycle: results, memory, execution, operand reads, issue, new CTAs, fetch; what is read now executes next."""
    clear_activity(sm)
    freeze = hooks.begin_cycle(sm, rf, spec, rows)
    if freeze != sm.freeze_code:
        sm.freeze_code = freeze
        sm.undecided = np.uint64(sm.unfinished)
    completion.complete(sm, rf, spec, rows, insts)
    write_back.write_back(sm, rf, spec, rows, insts, freeze)
    memory.advance(sm, insts)
    if freeze == 0:
        if sm.late != 0:
            collectors.take_late_operands(sm)
        extern.start_execution(sm, key, rows, insts, arena, regions, log, mem_index)
        clear_refusals(sm)
        if sm.late != 0:
            collectors.show_late_operands(sm)
        hooks.arbitrate(sm, rf, spec, rows, insts)
        reconsider_refused(sm)
    issue.issue(sm, rf, spec, rows, insts, freeze)
    ctas.dispatch_ctas(sm, rf, spec, rows, arena, log, mem_index)
    fetch.fetch(sm)
    hooks.end_cycle(sm, rf, spec, rows)
    account(sm, 1)
    sm.cycle += 1


@device
def clear_activity(sm):
    """Start a cycle with idle bank ports."""
    for bank in range(sm.config.num_banks):
        port = sm.bank[bank]
        port.activity = 0
        port.written = 0
        port.read = 0
        port.queue = 0


@device
def clear_refusals(sm):
    """Clear the refusals of the previous cycle."""
    for collector in set_bits(sm.collectors_used):
        flight = sm.inflight[sm.collector[collector].inflight]
        sm.code_before[collector] = flight.code
        if flight.code != 0 or flight.refused != 0:
            flight.code = 0
            flight.refused = 0
            touch_inflight(sm, sm.collector[collector].inflight)


@device
def reconsider_refused(sm):
    """Reconsider warps that may wait for an instruction whose reads are now refused for a different reason.

    Without a branch per collector: it would depend on the data and be mispredicted.
    """
    warps = np.uint64(0)
    for collector in set_bits(sm.collectors_used):
        flight = sm.inflight[sm.collector[collector].inflight]
        warps |= np.uint64(flight.code != sm.code_before[collector]) << np.uint64(flight.warp)
    sm.undecided = np.uint64(sm.undecided) | warps


@device
def is_idle(sm, rf, spec):
    """Return whether no stage has any work: only completions and the design's own events are pending."""
    if sm.undecided != 0 or sm.collectors_used != 0 or sm.ldst_head != NONE8 or sm.need_fetch != 0 or sm.ended != 0:
        return False
    return nothing_waits(sm)


@device
def idle_cycles(sm, rf, spec, stop_cycle):
    """Return how many cycles of an idle machine pass before the next completion or event of the design.

    Only used after one idle cycle has run (sm.was_idle) and cleared the marks of the last busy one: from then on a
    cycle changes nothing but the clock.
    """
    event = hooks.next_event(sm, rf, spec)
    limit = min(np.int64(stop_cycle), np.int64(event))
    return max(np.int64(0), completion.next_completion(sm, limit) - np.int64(sm.cycle))


@device
def stuck(sm, rf, spec):
    """Return whether every live warp waits and nothing in flight could wake one."""
    if sm.undecided != 0 or sm.unfinished == 0 or sm.ended != 0 or sm.ldst_head != NONE8 or sm.collectors_used != 0:
        return False
    for word in range(MAX_INFLIGHT // 64):
        for low in set_bits(sm.inflight_used[word]):
            if completion.end_is_known(sm.inflight[word * 64 + low]):
                return False
    return sm.launch.next_cta >= sm.launch.num_ctas or not free_cta_slot(sm)
