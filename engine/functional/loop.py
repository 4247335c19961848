"""The functional loop: resident warps take turns, each executes its instructions one after the other, values only.

It shares with the cycle-level machine all that gives an instruction its meaning: values/, control instructions, splits,
collectives, barriers, CTAs, special registers, host calls and faults. Registers are the rows of the main register file: the
"design" that the hooks are bound to has none of its own. The clock, sm.cycle, counts warp instructions.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rfview.engine import hooks
from rfview.engine.compile.bits import popcount, set_bits
from rfview.engine.compile.device import device
from rfview.engine.compile.jit import lean_entry
from rfview.engine.events import INSTRUCTIONS, THREAD_INSTRUCTIONS
from rfview.engine.functional import watch
from rfview.engine.functional.steps import perform_step, write_opened, write_served
from rfview.engine.hooks import hook
from rfview.engine.isa import OP_ACTIVEMASK, OP_BAR, OP_EXIT, OP_MEMBAR, OP_NANOSLEEP
from rfview.engine.machine.cycle import DEADLOCKED, FAULTED, HOST_CALL, LAUNCH_DONE, STOPPED
from rfview.engine.machine.journal.capture import forget_state, forget_values
from rfview.engine.machine.stages import control, ctas, splits
from rfview.engine.machine.stages.collectives import gather_members, taking_part
from rfview.engine.machine.stages.memory import memory_of
from rfview.engine.program import UNIT_CTRL, UNIT_LDST
from rfview.engine.state import NONE8

NAME = "values"     # of the design to which the loop binds the hooks: the defaults
hooks.register(NAME, ModuleType(NAME))
TURN = 4096         # the most instructions of a warp before another one has its turn


@lean_entry
def run(sms, rfs, specs, keys, rows, insts, arena, regions, logs, mem_index, stop):
    """Execute until `stop` instructions have been executed, or until something needs the caller; return a code of cycle.run.

    The arguments are those of cycle.run. `spec` decides whether a turn is the one below or that of machine code.
    """
    sm, rf, spec, key, log = sms[0], rfs[0], specs[0], keys[0], logs[0]
    write_served(sm, rows, insts)
    code = np.int64(STOPPED)
    while sm.cycle < stop and code == STOPPED:
        started = fill(sm, rf, spec, rows, arena, log, mem_index)
        watch.on_start(sm, rf, spec)
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
def outcome(sm, moved):
    """Return how a round of turns has ended. moved: whether anything was executed or started."""
    if sm.error != 0 or sm.reported != 0:
        return np.int64(FAULTED)
    if sm.host_call != NONE8:
        return np.int64(HOST_CALL)
    return np.int64(STOPPED) if moved or sm.ended != 0 else np.int64(DEADLOCKED)


@device
def needs_caller(sm):
    """Return whether a fault, a report of one, or a host call has to be served before anything else executes."""
    return sm.error != 0 or sm.reported != 0 or sm.host_call != NONE8


@device
def fill(sm, rf, spec, rows, arena, log, mem_index):
    """Free the slots of CTAs that have ended, and start CTAs in all that are free; return how many were started."""
    sm.ended = 0
    first = np.int64(sm.launch.next_cta)
    while True:
        before = np.int64(sm.launch.next_cta)
        ctas.dispatch_ctas(sm, rf, spec, rows, arena, log, mem_index)
        if sm.launch.next_cta == before:
            return before - first


@hook
def turn(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, warp, most):
    """Execute a warp's instructions until it waits, ends, sleeps, goes back to poll memory, or the clock is at `most`."""
    entry = sm.warp[warp]
    own = memory_of(sm, warp, False)
    first, threads = np.int64(sm.cycle), np.int64(0)
    clock = first
    polled, goes_on = False, True
    while goes_on and entry.split != NONE8 and clock < most:
        pc = np.int64(entry.pc)
        inst = insts[pc]
        if inst.collective != 0 and gather_members(sm, rf, spec, rows, warp, inst) != 0:
            continue
        lanes, active, took_part = taking_part(sm, rf, spec, rows, insts, warp, inst)
        clock += 1
        sm.cycle = clock
        entry.last_pc = pc
        threads += popcount(np.uint64(lanes))
        if inst.polls != 0 or inst.op == OP_MEMBAR:
            entry.polled = 1
            polled = True
        if inst.unit == UNIT_CTRL:
            control.execute(sm, rf, spec, rows, insts, warp, pc, lanes, active)
            watch.on_control(sm, rf, spec, insts, warp, pc, lanes, active, entry.num_issued + clock - first)
            if inst.op == OP_BAR or inst.op == OP_EXIT:
                write_opened(sm, rows, insts)
            goes_on = sm.error == 0 and inst.op != OP_NANOSLEEP and not (polled and entry.pc <= pc)
            if inst.op == OP_BAR and watch.is_watched(sm, rf, spec):        # RULES.md, B9.5
                goes_on = False
            continue
        watch.on_step(sm, rf, spec, warp, pc, lanes, active, entry.num_issued + clock - first)
        if lanes != 0 or inst.op == OP_ACTIVEMASK:
            perform_step(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index, warp, pc, lanes, active, took_part,
                         own)
            if inst.unit == UNIT_LDST:
                goes_on = not needs_caller(sm) and not watch.is_watched(sm, rf, spec)
                if sm.error != 0:
                    break
        splits.advance(sm, warp, pc + 1)
    entry.num_issued += clock - first
    sm.events[INSTRUCTIONS] += clock - first
    sm.events[THREAD_INSTRUCTIONS] += threads
