"""A warp's turn in the functional loop for machine code: as loop.py's, with splits, convergence barriers and operands.

Splits of a warp take turns only at branches, waits and YIELD: uniform registers are the warp's, so what one split keeps
in them is safe only between such places (RULES.md, B10.5).
"""

from __future__ import annotations

import sys

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import ctz64, popcount
from rfview.engine.compile.device import device
from rfview.engine.events import INSTRUCTIONS, THREAD_INSTRUCTIONS
from rfview.engine.fault_codes import CALL
from rfview.engine.functional.loop import needs_caller
from rfview.engine.functional.machine_steps import perform_step
from rfview.engine.isa import OP_MEMBAR, OP_NANOSLEEP
from rfview.engine.machine import registers
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


NAME = "machine_values"     # of the design to which the loop binds the hooks, its own `turn` among them
hooks.register(NAME, sys.modules[__name__])


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
