"""Finds registers and predicates that are read but were never written, lane by lane, in the order of issue."""

from __future__ import annotations

import numpy as np

from rfview.engine.check.layout import (FOLLOWED, H_PLACES, H_STEPS, MAX_FOLLOWED, NO_STEP, STEP_CHECK, STEP_CHECK_GUARD,
                                        STEP_COPY, STEP_LOAD, STEP_NEVER, STEP_SET_ALL, STEP_STORE, STEP_STORE_NEVER,
                                        UNWRITTEN_REGISTER)
from rfview.engine.check.note import NO_OTHER, note
from rfview.engine.compile.bits import ctz64
from rfview.engine.compile.device import device
from rfview.engine.program import SPACE_NONE


@device
def check_registers(s, sm, slot, pc, lanes, active, data):
    """Carry out the steps of an issued instruction. lanes: those that execute; active: those before applying the guard.

    data: the place of the rows where to note which lanes store an undefined value (memory.py), 0 outside of a collector.
    """
    place = np.int64(s[np.int64(s[H_PLACES]) + pc])
    if place == 0:
        return 0
    at = np.int64(s[H_STEPS]) + place * 3
    mine = FOLLOWED + slot * MAX_FOLLOWED
    while s[at] != NO_STEP:
        kind, number, other = np.int64(s[at]), np.int64(s[at + 1]), np.int64(s[at + 2])
        at += 3
        if kind == STEP_NEVER:
            readers = active if other != 0 else lanes
            if readers != 0:
                note(s, sm, UNWRITTEN_REGISTER, slot, ctz64(np.uint64(readers)), pc, NO_OTHER, number, SPACE_NONE, 0)
            continue
        if kind == STEP_STORE_NEVER and data != 0:
            s[data + other] = lanes
        if kind == STEP_STORE_NEVER or kind == STEP_LOAD:
            continue
        held = np.int64(s[mine + number])
        if kind == STEP_CHECK or kind == STEP_CHECK_GUARD:
            missing = (active if kind == STEP_CHECK_GUARD else lanes) & ~held
            if missing != 0:
                note(s, sm, UNWRITTEN_REGISTER, slot, ctz64(np.uint64(missing)), pc, NO_OTHER, number, SPACE_NONE, 0)
        elif kind == STEP_STORE:
            if data != 0:
                s[data + other] = lanes & ~held
        elif kind == STEP_COPY:
            s[mine + number] = held & ~lanes | lanes & np.int64(s[mine + other])
        else:
            s[mine + number] = held | (active if kind == STEP_SET_ALL else lanes)
    return 0


@device
def set_loaded(s, slot, pc, data):
    """Make the registers undefined into which lanes have loaded copies of undefined values; data: these lanes, by row."""
    place = np.int64(s[np.int64(s[H_PLACES]) + pc])
    at = np.int64(s[H_STEPS]) + place * 3
    while s[at] != NO_STEP:
        if s[at] == STEP_LOAD:
            place = FOLLOWED + slot * MAX_FOLLOWED + np.int64(s[at + 1])
            s[place] = np.int64(s[place]) & ~np.int64(s[data + np.int64(s[at + 2])])
        at += 3
    return 0


@device
def check_stored(s, sm, slot, lane, pc, row):
    """Note the store of an undefined value to global memory through a generic address; row: the one that holds it."""
    place = np.int64(s[np.int64(s[H_PLACES]) + pc])
    at = np.int64(s[H_STEPS]) + place * 3
    while s[at] != NO_STEP:
        if (s[at] == STEP_STORE or s[at] == STEP_STORE_NEVER) and s[at + 2] == row:
            note(s, sm, UNWRITTEN_REGISTER, slot, lane, pc, NO_OTHER, np.int64(s[at + 1]), SPACE_NONE, 0)
        at += 3
    return 0
