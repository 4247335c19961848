"""Issue: which warps may issue by their control codes, and which of them does.

The code of an instruction: stall | yield << 4 | write barrier << 5 | read barrier << 8 | wait mask << 11 | reuse << 17.
After it, its warp issues no sooner than `stall` cycles later, and not in the next cycle if the yield bit is 0 (Huerta et
al., MICRO'25, section 4). Of the warps that may issue, the one that issued last does, else the youngest (section 5.1.2).
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import FP64_CYCLES, INSTRUCTIONS, SP_CYCLES, THREAD_INSTRUCTIONS
from rfview.engine.fault_codes import CALL
from rfview.engine.isa import OP_BAR, OP_EXIT, OP_MEMBAR, OP_NOP
from rfview.engine.machine.cores.subcore import constants, values
from rfview.engine.machine.cores.subcore.stalls import (BRANCH_RESOLVING, DISPATCH_STALL, IMC_MISS, LG_THROTTLE,
                                                        MATH_PIPE_THROTTLE, MEMBAR, MIO_THROTTLE, SLEEPING)
from rfview.engine.machine.cores.subcore.state import (NUM_COUNTERS, PIPE_ALU, PIPE_DOUBLE, PIPE_FMA, PIPE_NONE, UNIT_MEMORY,
                                                       UNIT_NONE)
from rfview.engine.machine.stages import machine_control
from rfview.engine.machine.stages.control import fault
from rfview.engine.machine.stages.inflight import take
from rfview.engine.machine.stages.sources import executing
from rfview.engine.machine.stages.units import inflight_full
from rfview.engine.machine.stages.warp_state import block, keep_state, reconsider, set_state
from rfview.engine.program import NO_REG, SPACE_SHARED, UNIT_CTRL
from rfview.engine.stalls import (BANK_CONFLICT, BARRIER, ISSUED, LONG_SCOREBOARD, NO_INSTRUCTION, NOT_SELECTED,
                                  SHORT_SCOREBOARD, WAIT)
from rfview.engine.state import (BLOCK_BARRIER, BLOCK_FETCH, BLOCK_MEMORY, BLOCK_NONE, BLOCK_REGISTER, BLOCK_SCHEDULER,
                                 BLOCK_SLEEP, BLOCK_SYNC, BLOCK_UNIT, NONE8)

READY = 255             # result of `decide` that is no stall code
STALL_OF_ZERO = 37      # a stall count of 0 is a safe wait of about this length (basalt's measurements on sm_120)


@device
def clear_control(rf, warp):
    """Give a warp that starts its control state: nothing outstanding."""
    own = rf.core.warp[warp]
    own.until_cycle = 0
    own.constant_cycle = 0
    own.limit = 0
    own.most = 0
    own.listed = 0
    own.long = 0
    own.arriving = 0
    for counter in range(NUM_COUNTERS):
        own.counter[counter] = 0


@device
def issue(sm, rf, spec, rows, insts, arena, number):
    """Decide the states of a sub-core's warps in this cycle, and issue at most one instruction."""
    sub = rf.core.sub[number]
    left = np.uint64(sm.undecided) & np.uint64(sm.unfinished) & np.uint64(sm.scheduler_mask[number])
    ready = np.uint64(0)
    for warp in set_bits(left):
        code = decide(sm, rf, spec, insts, number, warp)
        if code == READY:
            ready |= bit64(warp)
        else:
            set_state(sm, warp, code)
    sm.issued_warp[number] = NONE8
    if ready == 0:
        return 0
    if constants.holds_issue(sm, rf, spec, sub):
        return pass_over(sm, number, ready)
    chosen = pick(sm, np.int64(sub.last_warp) - 1, ready)
    pass_over(sm, number, ready & ~bit64(chosen))
    block(sm, chosen, BLOCK_NONE, 0)
    set_state(sm, chosen, ISSUED)
    sub.last_warp = chosen + 1
    sm.scheduler[number].last_warp = chosen
    sm.issued_warp[number] = chosen
    return send(sm, rf, spec, rows, insts, arena, number, chosen)


@device
def pass_over(sm, number, warps):
    """Show ready warps that are not chosen."""
    for warp in set_bits(warps):
        block(sm, warp, BLOCK_SCHEDULER, number)
        set_state(sm, warp, NOT_SELECTED)
    return 0


@device
def pick(sm, last, ready):
    """Return the warp that issued last if it is ready, else the youngest ready one."""
    if last >= 0 and ready & bit64(last) != 0:
        return np.int64(last)
    best = ctz64(ready)
    for warp in set_bits(ready):
        if np.uint64(sm.older_warps[warp]) & bit64(best) != 0:
            best = warp
    return np.int64(best)


@device
def decide(sm, rf, spec, insts, number, warp):
    """Return READY, or the one reason why a warp does not issue in this cycle (the first that applies)."""
    entry = sm.warp[warp]
    own = rf.core.warp[warp]
    entry.losers = 0
    if entry.split == NONE8:
        if entry.barrier != NONE8:
            block(sm, warp, BLOCK_BARRIER, entry.barrier)
        else:
            block(sm, warp, BLOCK_SYNC, 0)
        keep_state(sm, warp)
        return BARRIER
    if entry.wake_cycle > sm.cycle:
        block(sm, warp, BLOCK_SLEEP, 0)
        return SLEEPING
    if entry.ibuffer == 0:
        block(sm, warp, BLOCK_FETCH, 0)
        jumped = entry.pc != entry.last_pc + 1 and entry.num_issued != 0
        return BRANCH_RESOLVING if jumped else NO_INSTRUCTION
    if own.until_cycle > sm.cycle:
        block(sm, warp, BLOCK_NONE, 0)
        return WAIT
    inst = insts[entry.pc]
    counter = awaited(own, (np.int64(inst.control) >> 11) & 63)
    if counter >= 0:
        keep_state(sm, warp)            # until the counter falls
        block(sm, warp, BLOCK_REGISTER, counter)
        return LONG_SCOREBOARD if (np.int64(own.long) >> counter) & 1 else SHORT_SCOREBOARD
    if inst.const_mask != 0 and constants.wait_for(sm, rf, spec, number, warp, inst) > sm.cycle:
        block(sm, warp, BLOCK_NONE, 0)
        return IMC_MISS
    return decide_unit(sm, rf, spec, number, warp, inst)


@device
def awaited(own, mask):
    """Return the first counter that a warp waits for, or -1. mask: those that its instruction waits for."""
    mask |= np.int64(own.listed)
    for counter in range(NUM_COUNTERS):
        if (mask >> counter) & 1 and own.counter[counter] != 0:
            return np.int64(counter)
    if own.limit != 0 and own.counter[np.int64(own.limit) - 1] > own.most:
        return np.int64(own.limit) - 1
    return np.int64(-1)


@device
def decide_unit(sm, rf, spec, number, warp, inst):
    """Return READY, or what the instruction's pipe, unit or the stages behind issue lack."""
    sub = rf.core.sub[number]
    kind = np.int64(inst.latency_class)
    if inst.unit == UNIT_CTRL and sm.mem_pending[warp] != 0 and (inst.op == OP_BAR or inst.op == OP_MEMBAR):
        block(sm, warp, BLOCK_MEMORY, 0)
        return MEMBAR if inst.op == OP_MEMBAR else BARRIER
    unit = np.int64(spec.core.unit[kind])
    if unit == UNIT_MEMORY:
        if sub.credits_used >= spec.core.credits:
            block(sm, warp, BLOCK_UNIT, inst.unit)
            return MIO_THROTTLE if inst.space == SPACE_SHARED else LG_THROTTLE
    elif unit == UNIT_NONE and free_pipe(sm, spec, sub, kind) < 0:
        block(sm, warp, BLOCK_UNIT, inst.unit)
        return MATH_PIPE_THROTTLE
    if inflight_full(sm):   # accesses that wait for memory; how many may, is not published (B11.5)
        block(sm, warp, BLOCK_UNIT, inst.unit)
        return LG_THROTTLE
    if sub.control != 0:
        block(sm, warp, BLOCK_UNIT, inst.unit)
        return why_held(sm, sub)
    return READY


@device
def why_held(sm, sub):
    """Return why Control is taken: the design's reason to hold an instruction there or in Allocate, else DISPATCH_STALL."""
    if sub.held_bank == 0:
        return np.int64(DISPATCH_STALL)
    code = np.int64(sm.inflight[np.int64(sub.control) - 1].code)
    if sub.allocate != 0 and sm.inflight[np.int64(sub.allocate) - 1].code != 0:
        code = np.int64(sm.inflight[np.int64(sub.allocate) - 1].code)
    return np.int64(DISPATCH_STALL) if code == 0 or code == BANK_CONFLICT else code


@device
def free_pipe(sm, spec, sub, kind):
    """Return the pipe whose input latch can take an instruction of a class, or -1; FP32 may take the integer lanes too."""
    pipe = np.int64(spec.core.pipe[kind])
    if pipe == PIPE_NONE or sub.pipe_cycle[pipe] <= sm.cycle:
        return pipe
    if pipe == PIPE_FMA and spec.core.full_fp32 >> kind & 1 and sub.pipe_cycle[PIPE_ALU] <= sm.cycle:
        return np.int64(PIPE_ALU)
    return np.int64(-1)


@device
def send(sm, rf, spec, rows, insts, arena, number, warp):
    """Issue the next instruction of a warp: it enters Control, and its control code takes effect."""
    entry = sm.warp[warp]
    sub = rf.core.sub[number]
    pc, active = np.int64(entry.pc), np.int64(entry.mask)
    inst = insts[pc]
    lanes = executing(sm, inst, warp, active)
    slot = take(sm, warp, pc, lanes, active, inst)
    flight = sm.inflight[slot]
    flight.unread = 0
    flight.unwritten = 0
    for row in range(inst.num_dst):
        if inst.dst[row] != NO_REG and inst.dst_uniform == 0:
            flight.unwritten |= np.uint8(1 << row)
    kind = np.int64(inst.latency_class)
    if spec.core.unit[kind] == UNIT_MEMORY:
        sub.credits_used += 1
        sm.mem_pending[warp] += 1
    elif spec.core.unit[kind] == UNIT_NONE:
        pipe = free_pipe(sm, spec, sub, kind)
        flight.pipe = pipe
        if pipe != PIPE_NONE:
            sub.pipe_cycle[pipe] = sm.cycle + spec.core.interval[kind]
            if pipe == PIPE_FMA or pipe == PIPE_ALU:
                sm.events[SP_CYCLES] += spec.core.interval[kind]
            elif pipe == PIPE_DOUBLE:
                sm.events[FP64_CYCLES] += spec.core.interval[kind]
    sub.control = slot + 1
    obey(sm, rf, inst, warp)
    if values.takes_barrier(inst) and lanes != 0:
        values.take_barrier(sm, rows, inst, slot)
    entry.num_issued += 1
    entry.last_issue_cycle = sm.cycle
    entry.last_pc = pc
    if spec.core.fetch_stages != 0:
        entry.ibuffer -= 1
    reconsider(sm, warp)
    sm.events[INSTRUCTIONS] += 1
    sm.events[THREAD_INSTRUCTIONS] += popcount(np.uint64(lanes))
    if inst.polls != 0:
        entry.polled = 1
    entry.pc = pc + 1
    if pc + 1 >= len(insts) and inst.op != OP_EXIT and inst.unit != UNIT_CTRL:
        return fault(sm, CALL, warp, ctz64(np.uint64(active)), pc, pc + 1, 0)
    if inst.unit == UNIT_CTRL:
        if inst.src_mask != 0:
            values.forward(sm, rf, rows, insts, warp)
        machine_control.execute(sm, rf, spec, rows, insts, arena, warp, pc, lanes, active)
        after_control(sm, rf, spec, warp, pc)
    return 0


@device
def obey(sm, rf, inst, warp):
    """Set a warp's stall counter and DEPBAR's limit from an instruction; its counters count from Control on."""
    own = rf.core.warp[warp]
    control = np.int64(inst.control)
    stall = control & 15
    own.until_cycle = 0
    own.constant_cycle = 0
    if stall > 1:
        own.until_cycle = sm.cycle + stall
    elif stall == 0:
        own.until_cycle = sm.cycle + STALL_OF_ZERO
    elif (control >> 4) & 1 == 0:
        own.until_cycle = sm.cycle + 2
    own.limit = 0
    own.listed = 0
    if inst.op == OP_NOP and inst.aux != 0:     # DEPBAR.LE
        own.limit = np.int64(inst.aux) & 255
        own.most = (np.int64(inst.aux) >> 8) & 255
        own.listed = np.int64(inst.aux) >> 16


@device
def after_control(sm, rf, spec, warp, pc):
    """After a control instruction: a warp that has jumped has nothing to issue until its new instructions arrive."""
    entry = sm.warp[warp]
    if entry.split != NONE8 and np.int64(entry.pc) != pc + 1:
        own = rf.core.warp[warp]
        own.arriving = 0
        own.until_cycle = max(np.int64(own.until_cycle), np.int64(sm.cycle) + np.int64(spec.core.branch_cycles))
