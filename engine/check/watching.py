"""The checker in the functional loop: what engine/functional/watch.py calls, under the name of a design.

There is no interval between an instruction and what comes of it: each is checked when it executes, and moments are numbers
of instructions of the warp, from 1 on.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import CHECK, DATA_ROWS, POINTER
from rfview.engine.check.registers import check_registers
from rfview.engine.check.step import begin_launch, check_result, follow_control, leave_opened, note_warp
from rfview.engine.compile.bits import array_at, bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.isa import OP_BAR, OP_EXIT


@device
def check_of(sm):
    """Return the checker's data."""
    return array_at(np.int64(sm.scratch[POINTER]), 1, CHECK)[0]


def on_start(sm, rf, spec):
    """Begin the launch and its new warps."""
    check = check_of(sm)
    if check.launch != sm.launch.index + 1:
        begin_launch(check, sm)
    for slot in set_bits(sm.unfinished):
        note_warp(check, sm, slot)


def on_control(sm, rf, spec, insts, warp, pc, lanes, active, count):
    """Check a control instruction, and let the warps go on whose barrier it has opened."""
    check = check_of(sm)
    check.now = count
    inst = insts[pc]
    follow_control(check, sm, inst, warp, pc, lanes, active, np.int64(sm.cycle))
    if inst.op != OP_BAR and inst.op != OP_EXIT:
        return
    cta = sm.cta[sm.warp[warp].cta]
    opened = np.uint64(0)
    for other in range(np.int64(cta.first_warp), np.int64(cta.first_warp) + np.int64(cta.num_warps)):
        if check.warp[other].open_cycle != sm.warp[other].open_cycle:
            check.warp[other].open_cycle = sm.warp[other].open_cycle
            opened |= bit64(other)
    leave_opened(check, sm, insts, opened)


def on_step(sm, rf, spec, warp, pc, lanes, active, count):
    """Check the registers that an instruction reads."""
    check = check_of(sm)
    check.now = count
    for row in range(DATA_ROWS):
        check.copied_lanes[0, row] = 0
    check_registers(check, sm, warp, pc, lanes, active, 0)


def on_result(sm, rf, spec, rows, inst, arena, warp, pc, lanes, took_part):
    """Check an access, or what lanes exchange."""
    check = check_of(sm)
    check_result(check, sm, inst, rows, arena, warp, pc, lanes, took_part, np.int64(sm.config.first_collector_row),
                 0)
