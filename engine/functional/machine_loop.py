"""The functional loop for machine code: as loop.py, with the splits, convergence barriers and operands of machine code.

Splits of a warp take turns only at branches, waits and YIELD: uniform registers are the warp's, so what one split keeps
in them is safe only between such places (RULES.md, B10.5).
"""

from __future__ import annotations

import sys

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64, popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.compile.jit import lean_entry
from rfview.engine.events import INSTRUCTIONS, THREAD_INSTRUCTIONS
from rfview.engine.fault_codes import CALL
from rfview.engine.functional.loop import fill, needs_caller, outcome, TURN
from rfview.engine.functional.machine_steps import perform_step
from rfview.engine.functional.steps import write_served
from rfview.engine.isa import OP_MEMBAR, OP_NANOSLEEP
from rfview.engine.machine import registers
from rfview.engine.machine.cycle import LAUNCH_DONE, STOPPED
from rfview.engine.machine.journal.capture import forget_state, forget_values
from rfview.engine.machine.stages import control, convergence, machine_control
from rfview.engine.machine.stages.memory import memory_of
from rfview.engine.machine.stages.sources import executing
from rfview.engine.program import UNIT_CTRL, UNIT_LDST
from rfview.engine.state import NONE8


@device
def on_warp_start(sm, rf, spec, rows, warp):
    """Clear the registers of a warp that starts, uniform and barrier registers too."""
    registers.clear_warp(sm, rows, warp)
    return convergence.clear_state(sm, rows, warp)


NAME = "machine_values"     # of the design to which this loop binds the hooks
hooks.register(NAME, sys.modules[__name__])


@lean_entry
def run(sms, rfs, specs, keys, rows, insts, arena, regions, logs, mem_index, stop):
    """Do what loop.run does, for machine code. insts: (n,) MACHINE_INST."""
    sm, rf, spec, key, log = sms[0], rfs[0], specs[0], keys[0], logs[0]
    write_served(sm, rows, insts)
    code = np.int64(STOPPED)
    while sm.cycle < stop and code == STOPPED:
        started = fill(sm, rf, spec, rows, arena, log, mem_index)
        if sm.launch.done_ctas == sm.launch.num_ctas:
            sm.launch.running = 0
            code = np.int64(LAUNCH_DONE)
            break
        before = np.int64(sm.cycle)
        for warp in set_bits(sm.unfinished):
            if sm.cycle >= stop or needs_caller(sm):
                break
            most = min(np.int64(stop), np.int64(sm.cycle) + TURN)
            turn(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, warp, most)
        code = outcome(sm, sm.cycle != before or started != 0)
    forget_state(sm)
    forget_values(sm, log)
    return code


@device
def turn(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, warp, most):
    """Execute a warp's instructions until it waits, ends, sleeps, goes back to poll memory, or the clock is at `most`."""
    entry = sm.warp[warp]
    own = memory_of(sm, warp, False)
    first, threads = np.int64(sm.cycle), np.int64(0)
    clock = first
    polled, goes_on = False, True
    while goes_on and entry.split != NONE8 and clock < most:
        pc, active = np.int64(entry.pc), np.int64(entry.mask)
        if pc >= len(insts):
            control.fault(sm, CALL, warp, ctz64(np.uint64(active)), len(insts) - 1, pc, 0)
            break
        inst = insts[pc]
        lanes = executing(sm, inst, warp, active)
        clock += 1
        sm.cycle = clock
        entry.last_pc = pc
        threads += popcount(np.uint64(lanes))
        if inst.polls != 0 or inst.op == OP_MEMBAR:
            entry.polled = 1
            polled = True
        entry.pc = pc + 1
        if inst.unit == UNIT_CTRL:
            machine_control.execute(sm, rf, spec, rows, insts, arena, warp, pc, lanes, active)
            goes_on = sm.error == 0 and inst.op != OP_NANOSLEEP and not (polled and entry.pc <= pc)
        elif lanes != 0:
            perform_step(sm, key, rows, insts, arena, regions, log, mem_index, warp, pc, lanes, own)
            if inst.unit == UNIT_LDST:
                goes_on = not needs_caller(sm)
    entry.num_issued += clock - first
    sm.events[INSTRUCTIONS] += clock - first
    sm.events[THREAD_INSTRUCTIONS] += threads
