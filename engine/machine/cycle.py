"""The loop over cycles, which the cores (cores/) run: the only entry point that is compiled for each design."""

from __future__ import annotations


from rfview.engine.compile.jit import lean_entry
from rfview.engine.machine.cores import choice as cores
from rfview.engine.machine.cores.accounting import account
from rfview.engine.machine.journal import capture
from rfview.engine.machine.stages import ctas
from rfview.engine.state import NONE8

STOPPED, LAUNCH_DONE, FAULTED, JOURNAL_FULL, HOST_CALL, DEADLOCKED = range(6)


@lean_entry
def run(sms, rfs, specs, keys, rows, insts, arena, regions, logs, mem_index, stop_cycle):
    """Run until `stop_cycle` or until something needs the caller; return one of the codes above.

    sms, rfs, specs, keys, logs: arrays of one record each, which are quicker to pass than the records themselves.
    Cycles in which nothing can happen are skipped: the next event is known, and until then every warp keeps its state.
    """
    sm, rf, spec, key, log = sms[0], rfs[0], specs[0], keys[0], logs[0]
    while sm.cycle < stop_cycle:
        if sm.launch.running == 0:
            return LAUNCH_DONE
        if log.on != 0 and not capture.has_space(log):
            return JOURNAL_FULL
        idle = cores.is_idle(sm, rf, spec)
        if idle and sm.was_idle != 0:
            cycles = cores.idle_cycles(sm, rf, spec, stop_cycle)
            if cycles > 0:
                account(sm, cycles)
                sm.cycle += cycles
                if log.on != 0:
                    capture.capture_idle(log, cycles)
                continue
        idle = idle and cores.idle_cycles(sm, rf, spec, sm.cycle + 1) > 0
        cores.cycle(sm, rf, spec, key, rows, insts, arena, regions, log, mem_index)
        sm.was_idle = 1 if idle else 0
        if sm.launch.done_ctas == sm.launch.num_ctas:
            sm.launch.running = 0
            ctas.mark_launch(sm)
        if log.on != 0:
            capture.capture_cycle(sm, log)
        else:
            capture.forget_state(sm)
            capture.forget_values(sm, log)
        if sm.error != 0 or sm.reported != 0:
            return FAULTED
        if sm.host_call != NONE8:
            return HOST_CALL
        if cores.stuck(sm, rf, spec):
            return DEADLOCKED
    return STOPPED
