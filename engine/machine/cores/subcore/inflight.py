"""In-flight entries of the sub-core: as the collector core's, but without a scoreboard."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.machine.marks import touch_inflight
from rfview.engine.machine.stages import inflight
from rfview.engine.machine.stages.sources import predicate
from rfview.engine.program import NO_REG
from rfview.engine.state import FREE, MAX_INFLIGHT


@device
def is_full(sm):
    """Return whether no entry is free; NONE8, the last number, is none."""
    for word in range(MAX_INFLIGHT // 64):
        free = ~np.uint64(sm.inflight_used[word])
        if free != 0 and (word < MAX_INFLIGHT // 64 - 1 or free != bit64(63)):
            return False
    return True


@device
def take(sm, warp, pc, lanes, active, inst):
    """Take a free entry for an issued instruction; its stage is COLLECT until it has its operands."""
    slot = inflight.take(sm, warp, pc, lanes, active, inst)
    flight = sm.inflight[slot]
    flight.unread = 0
    flight.unwritten = 0
    for row in range(inst.num_dst):
        if inst.dst[row] != NO_REG and inst.dst_uniform == 0:
            flight.unwritten |= np.uint8(1 << row)
    return slot


@device
def capture_predicates(sm, inst, flight):
    """Note the values of an instruction's predicate operands."""
    for index in range(2):
        flight.psrc[index] = predicate(sm, inst, np.int64(flight.warp), index)
    return 0


@device
def give_back(sm, slot):
    """Free the entry of an instruction that has left the pipeline."""
    flight = sm.inflight[slot]
    flight.stage = FREE
    flight.unwritten = 0
    word = np.int64(slot) >> 6
    sm.inflight_used[word] = np.uint64(sm.inflight_used[word]) & ~bit64(np.int64(slot) & 63)
    sm.num_inflight[flight.warp] -= 1
    return touch_inflight(sm, slot)
