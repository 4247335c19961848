"""Finds registers and predicates that are read but were never written, lane by lane, in the order of issue."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (INSTRUCTION, NO_STEP, STEP, STEP_CHECK, STEP_CHECK_GUARD, STEP_COPY, STEP_LOAD,
                                        STEP_NEVER, STEP_SET_ALL, STEP_STORE, STEP_STORE_NEVER, UNWRITTEN_REGISTER)
from rfview.engine.check.note import NO_OTHER, note
from rfview.engine.compile.bits import array_at, ctz64
from rfview.engine.compile.device import device
from rfview.engine.program import SPACE_NONE


@device
def instruction_at(check, pc):
    """Return the INSTRUCTION record of an instruction."""
    return array_at(check.instructions_at, check.instructions_size, INSTRUCTION)[pc]


@device
def check_registers(check, sm, slot, pc, lanes, active, collector):
    """Carry out the steps of an issued instruction. lanes: those that execute; active: those before applying the guard.

    collector: where to note which lanes store an undefined value (memory.py), -1 outside of a collector.
    """
    at = np.int64(instruction_at(check, pc).first_step)
    if at == 0:
        return
    steps, followed = array_at(check.steps_at, check.steps_size, STEP), check.followed[slot]
    while steps[at].kind != NO_STEP:
        kind, number, other = steps[at].kind, np.int64(steps[at].variable), np.int64(steps[at].other)
        at += 1
        if kind == STEP_NEVER:
            readers = active if other != 0 else lanes
            if readers != 0:
                note(check, sm, UNWRITTEN_REGISTER, slot, ctz64(np.uint64(readers)), pc, NO_OTHER, number, SPACE_NONE, 0)
            continue
        if kind == STEP_STORE_NEVER and collector >= 0:
            check.copied_lanes[collector, other] = lanes
        if kind == STEP_STORE_NEVER or kind == STEP_LOAD:
            continue
        written = np.int64(followed[number])
        if kind == STEP_CHECK or kind == STEP_CHECK_GUARD:
            missing = (active if kind == STEP_CHECK_GUARD else lanes) & ~written
            if missing != 0:
                note(check, sm, UNWRITTEN_REGISTER, slot, ctz64(np.uint64(missing)), pc, NO_OTHER, number, SPACE_NONE, 0)
        elif kind == STEP_STORE:
            if collector >= 0:
                check.copied_lanes[collector, other] = lanes & ~written
        elif kind == STEP_COPY:
            followed[number] = written & ~lanes | lanes & np.int64(followed[other])
        else:
            followed[number] = written | (active if kind == STEP_SET_ALL else lanes)


@device
def set_loaded(check, slot, pc, collector):
    """Make the registers undefined into which lanes have loaded copies of undefined values (check.copied_lanes)."""
    steps, at = array_at(check.steps_at, check.steps_size, STEP), np.int64(instruction_at(check, pc).first_step)
    while steps[at].kind != NO_STEP:
        if steps[at].kind == STEP_LOAD:
            check.followed[slot, steps[at].variable] &= ~check.copied_lanes[collector, steps[at].other]
        at += 1


@device
def check_stored(check, sm, slot, lane, pc, row):
    """Note the store of an undefined value to global memory through a generic address; row: the one that holds it."""
    steps, at = array_at(check.steps_at, check.steps_size, STEP), np.int64(instruction_at(check, pc).first_step)
    while steps[at].kind != NO_STEP:
        if (steps[at].kind == STEP_STORE or steps[at].kind == STEP_STORE_NEVER) and steps[at].other == row:
            note(check, sm, UNWRITTEN_REGISTER, slot, lane, pc, NO_OTHER, np.int64(steps[at].variable), SPACE_NONE, 0)
        at += 1
