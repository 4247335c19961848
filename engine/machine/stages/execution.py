"""Start of execution: instructions with all operands go from their collector to a unit, oldest first."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.events import SFU_CYCLES, SP_CYCLES
from rfview.engine.values.execute import execute
from rfview.engine.isa import OP_LDPARAM, OP_SREG
from rfview.engine.compile.jit import lean_entry
from rfview.engine.program import NUM_SRC_ROWS, UNIT_LDST, UNIT_SFU, UNIT_SP
from rfview.engine.machine.collectors import MIN_COLLECT_CYCLES, oldest_collector
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.rows import copy_row
from rfview.engine.machine.scoreboard import refresh_reads
from rfview.engine.machine.stages.warp_state import reconsider
from rfview.engine.machine.stages import memory as memory_stage
from rfview.engine.machine.stages.completion import WHEEL_MASK, schedule
from rfview.engine.machine.stages.special import load_parameter, special_register
from rfview.engine.state import EXECUTE, NONE8, PIPE_SFU, PIPE_SP0


@lean_entry
def start_execution(sm, key, rows, insts, arena, regions, log, mem_index):
    """Send every gathered instruction whose unit is free; an instruction spends at least two cycles in its collector.

    No hook is called from here, so this is compiled once, under `key`, and shared by all designs (extern.py calls it).
    """
    gathered = np.uint64(0)
    for collector in set_bits(np.uint64(sm.collectors_used) & ~np.uint64(sm.reading) & ~np.uint64(sm.late)):
        if sm.inflight[sm.collector[collector].inflight].issue_cycle + MIN_COLLECT_CYCLES <= sm.cycle:
            gathered |= bit64(collector)
    turn = np.int64(PIPE_SP0)       # the first SP that has not yet been given a chance in this cycle
    full = 0                        # units that can take no more
    while gathered != 0:
        collector = oldest_collector(sm, gathered)
        gathered &= ~bit64(collector)
        slot = np.int64(sm.collector[collector].inflight)
        unit = sm.inflight[slot].unit
        if unit == UNIT_LDST:
            if sm.ldst_head == NONE8 and first_of_warp(sm, slot):
                repeat_operands(sm, rows, insts[sm.inflight[slot].pc], collector)
                memory_stage.begin(sm, key, rows, insts, arena, regions, log, mem_index, slot, collector)
                leave_collector(sm, collector, slot)
                sm.queued[UNIT_LDST] -= 1
        elif (full >> unit) & 1 == 0:
            pipe = free_pipe(sm, insts, slot, unit, turn)
            if unit == UNIT_SP:
                turn = pipe + 1
            if pipe < 0:
                full |= 1 << unit
            else:
                start(sm, key, rows, insts, arena, slot, collector, pipe)
    return 0


@device
def first_of_warp(sm, slot):
    """Return whether no older memory instruction of the warp is still collecting operands: accesses keep program order."""
    flight = sm.inflight[slot]
    for collector in set_bits(sm.collectors_of[flight.warp]):
        other = sm.inflight[sm.collector[collector].inflight]
        if other.unit == UNIT_LDST and other.seq < flight.seq:
            return False
    return True


@device
def free_pipe(sm, insts, slot, unit, turn):
    """Return a pipe of `unit` that can take an instruction in this cycle (an SP from `turn` on), or -1."""
    reserves = sm.config.reserve_results != 0
    first, last = turn, PIPE_SP0 + np.int64(sm.config.num_sp)
    if unit == UNIT_SFU:
        first, last = np.int64(PIPE_SFU), np.int64(PIPE_SFU + 1)
    for pipe in range(first, last):
        if sm.pipe[pipe].until_cycle <= sm.cycle and not (reserves and not has_result_slot(sm, insts, slot, pipe)):
            return pipe
    return np.int64(-1)


@device
def has_result_slot(sm, insts, slot, pipe):
    """Return whether a result bus is free when an instruction will end, and no other of its pipe ends then."""
    done_cycle = np.int64(sm.cycle) + sm.config.latency_cycles[insts[sm.inflight[slot].pc].latency_class]
    taken = 0
    other = np.int64(sm.wheel[done_cycle & WHEEL_MASK])
    while other != NONE8:
        flight = sm.inflight[other]
        if flight.stage == EXECUTE and flight.done_cycle == done_cycle:
            if flight.pipe == pipe:
                return False
            taken += 1
        other = np.int64(sm.wheel_next[other])
    return taken < sm.config.result_buses


@device
def start(sm, key, rows, insts, arena, slot, collector, pipe):
    """Execute an instruction: its results are computed now and written back after its latency."""
    flight = sm.inflight[slot]
    inst = insts[flight.pc]
    result_row = sm.config.first_result_row + slot * 4
    repeat_operands(sm, rows, inst, collector)
    if flight.missed == 0:          # else its results were exchanged when it issued (collectives.py)
        first_row = sm.config.first_collector_row + collector * NUM_SRC_ROWS
        packed = compute(sm, key, rows, inst, arena, np.int64(flight.warp), np.int64(flight.issue_cycle), flight.mask,
                         flight.psrc[0], flight.psrc[1], first_row, result_row)
        flight.pval[0] = np.uint64(packed) & np.uint64(0xFFFFFFFF)
        flight.pval[1] = np.uint64(packed) >> np.uint64(32)
    unit = sm.pipe[pipe]
    unit.until_cycle = sm.cycle + sm.config.initiation_cycles[inst.latency_class]
    sm.events[SFU_CYCLES if flight.unit == UNIT_SFU else SP_CYCLES] += sm.config.initiation_cycles[inst.latency_class]
    unit.inflight = slot
    flight.pipe = pipe
    flight.stage = EXECUTE
    flight.since_cycle = sm.cycle
    leave_collector(sm, collector, slot)
    sm.queued[flight.unit] -= 1
    return schedule(sm, slot, sm.cycle + sm.config.latency_cycles[inst.latency_class])


@device
def compute(sm, key, rows, inst, arena, warp, cycle, mask, p0, p1, first_row, result_row):
    """Compute an instruction that accesses no memory, for the lanes `mask`; return its packed predicates (execute.py).

    cycle: of its issue. p0, p1: its predicate operands. first_row, result_row: of its operands and of its results.
    """
    if inst.op == OP_SREG:
        special_register(sm, rows, inst, warp, cycle, result_row)
    elif inst.op == OP_LDPARAM:
        load_parameter(sm, rows, inst, arena, result_row)
    else:
        return np.uint64(execute(key, inst, rows, first_row, result_row, mask, p0, p1))
    return np.uint64(0)


@device
def repeat_operands(sm, rows, inst, collector):
    """Give each row slot whose register a lower slot names too what was read for that one (B0.16)."""
    first_row = sm.config.first_collector_row + collector * NUM_SRC_ROWS
    for slot in set_bits(inst.repeats):
        source = np.int64(0)
        while inst.src[source] != inst.src[slot]:
            source += 1
        copy_row(rows, first_row + source, first_row + slot)


@device
def leave_collector(sm, collector, slot):
    """Free an operand collector."""
    flight = sm.inflight[slot]
    flight.collector = NONE8
    warp = np.int64(flight.warp)
    if flight.code != 0:
        reconsider(sm, warp)
    flight.code = 0
    flight.refused = 0
    sm.collector[collector].valid = 0
    sm.collectors_used = np.uint64(sm.collectors_used) & ~bit64(collector)
    sm.collectors_of[warp] = np.uint64(sm.collectors_of[warp]) & ~bit64(collector)
    refresh_reads(sm, warp)
    return touch_inflight(sm, slot)


