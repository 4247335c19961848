"""Issue: decide what every warp does in this cycle, and send out at most one instruction per scheduler.

A warp whose state can only change by an event (a release, a refusal at write-back, a barrier) is not `awake` and keeps
its state without being looked at; the event wakes it.
"""

from __future__ import annotations

import numpy as np

from rfview.engine import hooks
from rfview.engine.machine import schedulers
from rfview.engine.compile.bits import bit64, ctz64, popcount
from rfview.engine.compile.device import device
from rfview.engine.events import INSTRUCTIONS, THREAD_INSTRUCTIONS, WAR_STALLS
from rfview.engine.isa import OP_ACTIVEMASK, OP_BAR_WARP, OP_MATCH, OP_REDUX, OP_SHFL, OP_VOTE, FLAG_NO_SYNC
from rfview.engine.program import NO_PRED, NO_REG, UNIT_CTRL, UNIT_LDST, UNIT_SFU, UNIT_SP, WAIT_LONG, WAIT_SHORT
from rfview.engine.machine.registers import refresh_reads, wake
from rfview.engine.machine.schedulers import active_set
from rfview.engine.machine.stages import control, splits
from rfview.engine.machine.stages.inflight import allocate
from rfview.engine.stalls import (BANK_CONFLICT, BARRIER, COLLECTOR_FULL, FINISHED, ISSUED, LONG_SCOREBOARD,
                                  NO_INSTRUCTION, NOT_SELECTED, PIPE_THROTTLE, SHORT_SCOREBOARD, SUSPENDED,
                                  WAIT)  # fmt: skip
from rfview.engine.state import (BLOCK_BARRIER, BLOCK_COLLECTOR, BLOCK_DESIGN, BLOCK_FETCH, BLOCK_MEMORY, BLOCK_NONE,
                                 BLOCK_PREDICATE, BLOCK_READER, BLOCK_REGISTER, BLOCK_SCHEDULER, BLOCK_SLEEP,
                                 BLOCK_SYNC, BLOCK_UNIT, COLLECT, FOREVER, MAX_COLLECTORS, MAX_INFLIGHT, NONE8,
                                 PIPE_LDST, PIPE_SFU, PIPE_SP0, TWO_LEVEL, WRITE_BACK)  # fmt: skip

READY = 255
LOAD, ATOMIC = 1, 3
THROTTLED, LACKING, UNSELECTED, FROZEN = range(4)     # kinds of sm.cached


@device
def set_state(sm, warp, code):
    """Set what a warp does in this cycle, and count it."""
    entry = sm.warp[warp]
    old = np.int64(entry.state)
    if old != code:
        sm.state_count[old] -= 1
        sm.state_count[code] += 1
        entry.state = code
        entry.state_since_cycle = sm.cycle
    return 0


@device
def show_finished(sm):
    """Show warps whose exit was issued in the cycle before as finished."""
    ended = np.uint64(sm.ended)
    while ended != 0:
        warp = ctz64(ended)
        ended &= ~bit64(warp)
        set_state(sm, warp, FINISHED)
    sm.ended = 0
    return 0


@device
def sleep(sm, warp):
    """Keep a warp's state until an event wakes it."""
    sm.awake = np.uint64(sm.awake) & ~bit64(warp)
    return 0


@device
def block(sm, warp, kind, what):
    """Name what a warp waits for."""
    entry = sm.warp[warp]
    entry.blocker_kind = kind
    entry.blocker = what
    return 0


@device
def issue(sm, rf, spec, rows, insts, freeze):
    """Run every scheduler once; the first to choose alternates, so that none always finds the collectors taken."""
    number = np.int64(sm.config.num_schedulers)
    show_finished(sm)
    sm.awake = np.uint64(sm.awake) & np.uint64(sm.unfinished)
    if sm.config.scheduler >= TWO_LEVEL:
        active_set.manage(sm, rf, spec, rows, insts)
    for turn in range(number):
        scheduler = (np.int64(sm.cycle) + turn) % number
        candidates = np.uint64(sm.awake) & np.uint64(sm.scheduler_mask[scheduler])
        clear = candidates & np.uint64(sm.scoreboard_clear)
        ready = decide_clear(sm, rf, spec, rows, insts, scheduler, clear, freeze)
        candidates &= ~clear
        while candidates != 0:
            warp = ctz64(candidates)
            candidates &= ~bit64(warp)
            code = evaluate(sm, rf, spec, rows, insts, warp, freeze)
            if code == READY:
                ready |= bit64(warp)
            else:
                set_state(sm, warp, code)
        chosen = np.int64(NONE8)
        if ready != 0:
            chosen = schedulers.pick(sm, scheduler, ready)
            ready &= ~bit64(chosen)
        sm.issued_warp[scheduler] = chosen
        changed = ready & ~np.uint64(sm.cached[UNSELECTED])
        while changed != 0:
            warp = ctz64(changed)
            changed &= ~bit64(warp)
            block(sm, warp, BLOCK_SCHEDULER, scheduler)
            set_state(sm, warp, NOT_SELECTED)
        cache_states(sm, scheduler, UNSELECTED, ready & np.uint64(sm.scoreboard_clear))
        if chosen != NONE8:
            block(sm, chosen, BLOCK_NONE, 0)
            set_state(sm, chosen, ISSUED)
            sm.scheduler[scheduler].last_warp = chosen
            send(sm, rf, spec, rows, insts, chosen)
    return 0


@device
def full_units(sm):
    """Return the units that take no further instruction, bit per unit."""
    bits = np.int64(0)
    for unit in range(UNIT_CTRL):
        if unit_full(sm, unit):
            bits |= 1 << unit
    return bits


@device
def decide_clear(sm, rf, spec, rows, insts, scheduler, clear, freeze):
    """Decide the warps that have been scoreboard-clear since an earlier cycle; return the mask of the ready ones.

    Only unit, collector, design and freeze can block these. They get what `evaluate` gives, without looking everything
    up again; a warp whose record has that state already (`cached`) is not touched.
    """
    full = full_units(sm)
    no_collector = 1 if collectors_full(sm) else 0
    note_conditions(sm, scheduler, freeze, full, no_collector)
    throttled = np.uint64(0)
    for unit in range(UNIT_CTRL):
        if (full >> unit) & 1:
            throttled |= clear & np.uint64(sm.at_unit[unit])
    lacking = clear & ~throttled if no_collector != 0 else np.uint64(0)
    ready = clear & ~throttled & ~lacking
    if hooks.checks_issue(sm, rf, spec):
        ready &= ~refused_by_design(sm, rf, spec, rows, insts, ready)
    if freeze != 0:
        show_frozen(sm, throttled | lacking | ready, throttled if no_collector != 0 else np.uint64(0), freeze)
        cache_states(sm, scheduler, FROZEN, throttled | lacking | ready)
        cache_states(sm, scheduler, THROTTLED, np.uint64(0))
        cache_states(sm, scheduler, LACKING, np.uint64(0))
        return np.uint64(0)
    changed = (throttled & ~np.uint64(sm.cached[THROTTLED])) | (lacking & ~np.uint64(sm.cached[LACKING]))
    while changed != 0:
        warp = ctz64(changed)
        changed &= ~bit64(warp)
        if throttled & bit64(warp) != 0:
            block(sm, warp, BLOCK_UNIT, sm.head_unit[warp])
            sm.warp[warp].losers = no_collector << COLLECTOR_FULL
            set_state(sm, warp, PIPE_THROTTLE)
        else:
            block(sm, warp, BLOCK_COLLECTOR, 0)
            sm.warp[warp].losers = 0
            set_state(sm, warp, COLLECTOR_FULL)
    changed = ready & ~np.uint64(sm.cached[UNSELECTED])
    while changed != 0:
        warp = ctz64(changed)
        changed &= ~bit64(warp)
        sm.warp[warp].losers = 0
    cache_states(sm, scheduler, THROTTLED, throttled)
    cache_states(sm, scheduler, LACKING, lacking)
    cache_states(sm, scheduler, FROZEN, np.uint64(0))
    return ready


@device
def note_conditions(sm, scheduler, freeze, full, no_collector):
    """Forget states cached under other conditions: `losers` names full collectors, and in a freeze full units."""
    key = freeze << 4 | full << 1 | no_collector
    before = np.int64(sm.cached_under[scheduler])
    if key != before:
        sm.cached_under[scheduler] = key
        cache_states(sm, scheduler, FROZEN, np.uint64(0))
        if (key ^ before) & 1:
            cache_states(sm, scheduler, THROTTLED, np.uint64(0))
    return 0


@device
def cache_states(sm, scheduler, kind, warps):
    """Remember which of a scheduler's warps have a state of this kind in their record."""
    sm.cached[kind] = (np.uint64(sm.cached[kind]) & ~np.uint64(sm.scheduler_mask[scheduler])) | warps
    return 0


@device
def show_frozen(sm, warps, losers, freeze):
    """Show the freeze as the state of warps that it alone stops; `losers`: those that lack a unit and a collector too."""
    changed = warps & ~np.uint64(sm.cached[FROZEN])
    while changed != 0:
        warp = ctz64(changed)
        changed &= ~bit64(warp)
        block(sm, warp, BLOCK_DESIGN, 0)
        sm.warp[warp].losers = (1 << COLLECTOR_FULL) if losers & bit64(warp) != 0 else 0
        set_state(sm, warp, freeze)
    return 0


@device
def refused_by_design(sm, rf, spec, rows, insts, warps):
    """Return which of the warps the design holds back, and show its reasons."""
    refused = np.uint64(0)
    left = warps
    while left != 0:
        warp = ctz64(left)
        left &= ~bit64(warp)
        code = np.int64(hooks.issue_check(sm, rf, spec, rows, warp, insts[sm.warp[warp].pc]))
        if code != 0:
            refused |= bit64(warp)
            block(sm, warp, BLOCK_DESIGN, 0)
            sm.warp[warp].losers = 0
            set_state(sm, warp, code)
    return refused


@device
def evaluate(sm, rf, spec, rows, insts, warp, freeze):
    """Return READY, or the one reason why the warp cannot issue (the first that holds)."""
    entry = sm.warp[warp]
    entry.losers = 0
    if entry.split == NONE8:
        if entry.barrier != NONE8:
            block(sm, warp, BLOCK_BARRIER, entry.barrier)
        else:
            block(sm, warp, BLOCK_SYNC, 0)
        if sm.config.scheduler < TWO_LEVEL or entry.is_active != active_set.LEAVING:
            sleep(sm, warp)
        return BARRIER
    if entry.open_cycle == sm.cycle:
        return BARRIER
    if entry.wake_cycle > sm.cycle:
        block(sm, warp, BLOCK_SLEEP, 0)
        return WAIT
    if sm.config.scheduler >= TWO_LEVEL and entry.is_active != active_set.ACTIVE:
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
def note_clear(sm, warp, unit):
    """Note that a warp's head instruction is scoreboard-clear: no hazard holds it back, and it needs `unit`."""
    bit = bit64(warp)
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) | bit
    old = sm.head_unit[warp]
    sm.at_unit[old] = np.uint64(sm.at_unit[old]) & ~bit
    sm.at_unit[unit] = np.uint64(sm.at_unit[unit]) | bit
    sm.head_unit[warp] = unit
    return 0


@device
def outside_code(sm, warp, insts):
    """Return the state of a warp outside the active set: why it left, while it leaves; what it waits for; or suspended."""
    entry = sm.warp[warp]
    if entry.is_active == active_set.LEAVING:
        block(sm, warp, BLOCK_DESIGN, 0)
        return np.int64(entry.leave_code)
    waited = np.uint64(entry.sb_long) & np.uint64(insts[entry.pc].need_regs)
    sleep(sm, warp)
    if waited != 0:
        block(sm, warp, BLOCK_REGISTER, ctz64(waited))
        return LONG_SCOREBOARD
    if sm.mem_pending[warp] != 0 and control.waits_for_memory(insts[entry.pc]):
        wake(sm, warp)
        block(sm, warp, BLOCK_MEMORY, 0)
        return BARRIER
    block(sm, warp, BLOCK_SCHEDULER, NONE8)
    return SUSPENDED


@device
def may_skip_checks(sm, inst, code):
    """Say whether the checks up to the scoreboard hold until this warp moves (not so with active sets or collectives)."""
    if sm.config.scheduler >= TWO_LEVEL or is_collective(inst) or inst.unit == UNIT_CTRL:
        return False
    return code == READY or code == PIPE_THROTTLE or code == COLLECTOR_FULL


@device
def note_losers(sm, entry, inst):
    """Set the bits of the conditions that would have blocked the head instruction as well."""
    bits = 0
    if inst.unit != UNIT_CTRL:
        if unit_full(sm, inst.unit):
            bits |= 1 << PIPE_THROTTLE
        if collectors_full(sm):
            bits |= 1 << COLLECTOR_FULL
    entry.losers = bits
    return 0


@device
def held_code(sm, warp, held, war, preds, insts, freeze):
    """Book where the youngest producer (RAW, WAW) or the oldest reader (WAR) of a held register stands."""
    cold = sm.warp_cold[warp]
    best = np.int64(-1)
    best_seq = np.int64(-1)
    what = np.int64(0)
    kind = BLOCK_REGISTER
    while held != 0:
        reg = ctz64(held)
        held &= ~bit64(reg)
        slot = np.int64(sm.producer[warp, reg])
        if sm.inflight[slot].seq > best_seq:
            best = slot
            best_seq = np.int64(sm.inflight[slot].seq)
            what = np.int64(reg)
    pending = np.uint64(preds)
    while pending != 0:
        pred = ctz64(pending)
        pending &= ~bit64(pred)
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
        sleep(sm, warp)  # whoever changes `code` or the freeze wakes it
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
    held = np.uint64(sm.collectors_of[warp])
    while held != 0:
        collector = ctz64(held)
        held &= ~bit64(collector)
        slot = np.int64(sm.collector[collector].inflight)
        flight = sm.inflight[slot]
        if np.uint64(sm.collector_regs[collector]) & np.uint64(regs) != 0 and flight.seq < best_seq:
            best = slot
            best_seq = np.int64(flight.seq)
    return best


@device
def unit_full(sm, unit):
    """Say whether an execution unit takes no further instruction into the collectors."""
    if unit == UNIT_SP:
        return sm.queued[PIPE_SP0] >= sm.config.sp_queue
    if unit == UNIT_SFU:
        return sm.queued[PIPE_SFU] >= sm.config.sfu_queue
    return sm.queued[PIPE_LDST] >= sm.config.ldst_queue


@device
def collectors_full(sm):
    """Say whether no operand collector (or no in-flight entry) is free."""
    if popcount(np.uint64(sm.collectors_used)) >= sm.config.num_collectors:
        return True
    for word in range(MAX_INFLIGHT // 64):
        limit = 63 if word == MAX_INFLIGHT // 64 - 1 else 64
        if popcount(np.uint64(sm.inflight_used[word])) < limit:
            return False
    return True


@device
def unit_code(sm, rf, spec, rows, warp, entry, inst):
    """Check everything behind the scoreboard: members, memory order, unit, collector, and the design's own wish."""
    if is_collective(inst):
        state = gather_members(sm, rf, spec, rows, warp, inst)
        if state != 0:
            return NO_INSTRUCTION if state == 2 else BARRIER
    if inst.unit == UNIT_CTRL:
        if sm.mem_pending[warp] != 0 and control.waits_for_memory(inst):
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
def is_collective(inst):
    """Say whether an instruction needs all lanes of a member mask together."""
    op = inst.op
    return (op == OP_SHFL or op == OP_VOTE or op == OP_MATCH or op == OP_REDUX or op == OP_BAR_WARP) and (
        inst["flags"] & FLAG_NO_SYNC
    ) == 0


@device
def member_mask(sm, rf, spec, rows, warp, inst):
    """Return the lanes that a collective needs: an immediate, or what the active lanes' registers name together."""
    slot = 0
    if inst.op == OP_SHFL:
        slot = 5
    elif inst.op == OP_MATCH or inst.op == OP_REDUX:
        slot = 2
    reg = np.int64(inst.src[slot])
    if reg == NO_REG:
        return np.int64(inst.imm[slot])
    need, left = np.int64(0), np.uint64(sm.warp[warp].mask)
    while left != 0:
        lane = ctz64(left)
        left &= left - np.uint64(1)
        need |= np.int64(rows[hooks.locate(sm, rf, spec, warp, reg, lane)].u[lane])
    return need


@device
def gather_members(sm, rf, spec, rows, warp, inst):
    """Return 0 if all members are here; else park the split and return 1, or 2 if another split of the warp can run."""
    entry = sm.warp[warp]
    if entry.num_splits <= 1:
        return 0
    need = member_mask(sm, rf, spec, rows, warp, inst) & ~np.int64(entry.exited)
    missing = need & ~np.int64(entry.mask)
    if missing == 0 or missing & ~splits.waiting_lanes(sm, warp, entry.pc) == 0:
        return 0
    if splits.wait_for_members(sm, warp, need) == 1:
        return 2
    return 1


@device
def send(sm, rf, spec, rows, insts, warp):
    """Issue the head instruction of a warp."""
    entry = sm.warp[warp]
    pc = np.int64(entry.pc)
    inst = insts[pc]
    lanes = np.int64(entry.mask)
    if entry.num_splits > 1 and is_collective(inst):
        lanes |= splits.waiting_lanes(sm, warp, pc)
        splits.release_members(sm, warp, pc)
    active = lanes
    if inst.guard != NO_PRED:
        value = np.int64(sm.warp_cold[warp].pred[inst.guard])
        lanes &= ~value if inst.guard_negate else value
    sm.scoreboard_clear = np.uint64(sm.scoreboard_clear) & ~bit64(warp)
    entry.num_issued += 1
    entry.last_issue_cycle = sm.cycle
    entry.last_pc = pc
    entry.ibuffer -= 1
    if entry.ibuffer == 0:
        sm.need_fetch = np.uint64(sm.need_fetch) | bit64(warp)
    wake(sm, warp)
    if inst.is_memory == ATOMIC or (inst.is_memory == LOAD and inst["flags"] != 0):
        entry.polled = 1
    sm.events[INSTRUCTIONS] += 1
    sm.events[THREAD_INSTRUCTIONS] += popcount(np.uint64(lanes))
    if inst.unit == UNIT_CTRL:
        return control.execute(sm, rf, spec, rows, insts, warp, pc, lanes, active)
    if lanes != 0 or inst.op == OP_ACTIVEMASK:
        slot = allocate(sm, warp, pc, lanes, active, inst)
        enter_collector(sm, rf, spec, rows, insts, slot, inst)
        hooks.on_issue(sm, rf, spec, rows, slot, inst)
    return splits.advance(sm, warp, pc + 1)


@device
def enter_collector(sm, rf, spec, rows, insts, slot, inst):
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
    if inst.unit == UNIT_SP:
        sm.queued[PIPE_SP0] += 1
    elif inst.unit == UNIT_SFU:
        sm.queued[PIPE_SFU] += 1
    elif inst.unit == UNIT_LDST:
        sm.queued[PIPE_LDST] += 1
    first_row = sm.config.first_collector_row + collector * 6
    src_mask = np.int64(inst.src_mask)
    imm_mask = np.int64(inst.imm_mask)
    regs = np.uint64(0)
    banks = np.uint64(0)
    for operand in range(6):
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
    return 0
