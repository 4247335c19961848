"""Why a warp cannot issue: every check in order, one warp at a time; issue_cache.py is its fast path."""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import WAR_STALLS
from rfview.engine.machine.stages.collectives import gather_members
from rfview.engine.machine.stages.issue_cache import note_clear
from rfview.engine.machine.stages.units import collectors_full, unit_full
from rfview.engine.machine.stages.warp_state import block, keep_state, reconsider
from rfview.engine.program import UNIT_CTRL, WAIT_LONG, WAIT_SHORT
from rfview.engine.stalls import (BANK_CONFLICT, BARRIER, COLLECTOR_FULL, LONG_SCOREBOARD, NO_INSTRUCTION,
                                  PIPE_THROTTLE, SHORT_SCOREBOARD, SUSPENDED, WAIT)
from rfview.engine.state import (ACTIVE, BLOCK_BARRIER, BLOCK_COLLECTOR, BLOCK_DESIGN, BLOCK_FETCH, BLOCK_MEMORY,
                                 BLOCK_PREDICATE, BLOCK_READER, BLOCK_REGISTER, BLOCK_SCHEDULER, BLOCK_SLEEP,
                                 BLOCK_SYNC, BLOCK_UNIT, COLLECT, FOREVER, LEAVING, NONE8, WRITE_BACK)

READY = 255     # result of `evaluate` that is no stall code


@device
def evaluate(sm, rf, spec, rows, insts, warp, freeze):
    """Return READY, or the one reason why the warp cannot issue (the first that applies)."""
    entry = sm.warp[warp]
    entry.losers = 0
    if entry.split == NONE8:
        if entry.barrier != NONE8:
            block(sm, warp, BLOCK_BARRIER, entry.barrier)
        else:
            block(sm, warp, BLOCK_SYNC, 0)
        if sm.config.active_places == 0 or entry.membership != LEAVING:
            keep_state(sm, warp)
        return BARRIER
    if entry.open_cycle == sm.cycle:
        return BARRIER
    if entry.wake_cycle > sm.cycle:
        block(sm, warp, BLOCK_SLEEP, 0)
        return WAIT
    if sm.config.active_places != 0 and entry.membership != ACTIVE:
        return outside_code(sm, warp, insts)
    if entry.ibuffer == 0:
        block(sm, warp, BLOCK_FETCH, 0)
        return NO_INSTRUCTION
    inst = insts[entry.pc]
    need = np.uint64(inst.need_regs)
    held = np.uint64(entry.sb_write) & need
    war = np.uint64(sm.sb_read[warp]) & np.uint64(inst.dst_regs)
    preds = np.int64(entry.sb_pred) & np.int64(inst.need_preds)
    if held != 0 or war != 0 or preds != 0:
        code = held_code(sm, warp, held, war, preds, insts, freeze)
        note_losers(sm, entry, inst)
        return np.int64(freeze) if freeze != 0 and code >= BANK_CONFLICT else code
    code = unit_code(sm, rf, spec, rows, warp, entry, inst)
    if may_skip_checks(sm, inst, code):
        note_clear(sm, warp, inst.unit)
    if freeze != 0 and (code == READY or code == PIPE_THROTTLE or code == COLLECTOR_FULL):
        block(sm, warp, BLOCK_DESIGN, 0)
        return np.int64(freeze)
    return code


@device
def may_skip_checks(sm, inst, code):
    """Return whether checks up to the scoreboard stay valid until this warp moves (not with active sets or collectives)."""
    if sm.config.active_places != 0 or inst.collective != 0 or inst.unit == UNIT_CTRL:
        return False
    return code == READY or code == PIPE_THROTTLE or code == COLLECTOR_FULL


@device
def outside_code(sm, warp, insts):
    """Return the state of a warp outside the active set: while leaving, why; what it waits for; or suspended."""
    entry = sm.warp[warp]
    if entry.membership == LEAVING:
        block(sm, warp, BLOCK_DESIGN, 0)
        return np.int64(entry.leave_code)
    waited = np.uint64(entry.sb_long) & np.uint64(insts[entry.pc].need_regs)
    keep_state(sm, warp)
    if waited != 0:
        block(sm, warp, BLOCK_REGISTER, ctz64(waited))
        return LONG_SCOREBOARD
    if sm.mem_pending[warp] != 0 and insts[entry.pc].waits_for_memory != 0:
        reconsider(sm, warp)
        block(sm, warp, BLOCK_MEMORY, 0)
        return BARRIER
    block(sm, warp, BLOCK_SCHEDULER, NONE8)
    return SUSPENDED


@device
def unit_code(sm, rf, spec, rows, warp, entry, inst):
    """Check everything after the scoreboard: members, memory order, unit, collector, and the design's own condition."""
    if inst.collective != 0:
        state = gather_members(sm, rf, spec, rows, warp, inst)
        if state != 0:
            return NO_INSTRUCTION if state == 2 else BARRIER
    if inst.unit == UNIT_CTRL:
        if sm.mem_pending[warp] != 0 and inst.waits_for_memory != 0:
            block(sm, warp, BLOCK_MEMORY, 0)
            return BARRIER
    else:
        if unit_full(sm, inst.unit):
            block(sm, warp, BLOCK_UNIT, inst.unit)
            entry.losers = (1 << COLLECTOR_FULL) if collectors_full(sm) else 0
            return PIPE_THROTTLE
        if collectors_full(sm):
            block(sm, warp, BLOCK_COLLECTOR, 0)
            return COLLECTOR_FULL
    code = hooks.issue_check(sm, rf, spec, rows, warp, inst)
    if code != 0:
        block(sm, warp, BLOCK_DESIGN, 0)
        return code
    return READY


@device
def note_losers(sm, entry, inst):
    """Set the bits of other conditions that would have blocked the head instruction."""
    bits = 0
    if inst.unit != UNIT_CTRL:
        if unit_full(sm, inst.unit):
            bits |= 1 << PIPE_THROTTLE
        if collectors_full(sm):
            bits |= 1 << COLLECTOR_FULL
    entry.losers = bits


@device
def held_code(sm, warp, held, war, preds, insts, freeze):
    """Return the state of a warp that waits for registers, by its youngest producer (RAW, WAW) or oldest reader (WAR)."""
    cold = sm.warp_cold[warp]
    best = np.int64(-1)
    best_seq = np.int64(-1)
    what = np.int64(0)
    kind = BLOCK_REGISTER
    for reg in set_bits(held):
        slot = np.int64(sm.producer[warp, reg])
        if sm.inflight[slot].seq > best_seq:
            best = slot
            best_seq = np.int64(sm.inflight[slot].seq)
            what = np.int64(reg)
    for pred in set_bits(preds):
        slot = np.int64(cold.pred_producer[pred])
        if sm.inflight[slot].seq > best_seq:
            best = slot
            best_seq = np.int64(sm.inflight[slot].seq)
            what = np.int64(pred)
            kind = BLOCK_PREDICATE
    if best < 0:
        kind = BLOCK_READER
        sm.events[WAR_STALLS] += 1
        what = np.int64(ctz64(war))
        best = oldest_reader(sm, warp, war)
    block(sm, warp, kind, what)
    flight = sm.inflight[best]
    if kind != BLOCK_READER and flight.stage >= COLLECT and flight.stage <= WRITE_BACK:
        keep_state(sm, warp)  # a change of `code` or of the freeze reconsiders the warp
    if freeze != 0 and flight.stage == COLLECT:
        return np.int64(freeze)
    if flight.code != 0:
        return np.int64(flight.code)
    if kind == BLOCK_READER:
        return WAIT
    wait_class = insts[flight.pc].wait_class
    if wait_class == WAIT_LONG:
        return LONG_SCOREBOARD
    return SHORT_SCOREBOARD if wait_class == WAIT_SHORT else WAIT


@device
def oldest_reader(sm, warp, regs):
    """Return the oldest instruction of a warp that still has to read one of `regs`."""
    best = np.int64(0)
    best_seq = FOREVER
    for collector in set_bits(sm.collectors_of[warp]):
        slot = np.int64(sm.collector[collector].inflight)
        flight = sm.inflight[slot]
        if np.uint64(sm.collector_regs[collector]) & np.uint64(regs) != 0 and flight.seq < best_seq:
            best = slot
            best_seq = np.int64(flight.seq)
    return best
