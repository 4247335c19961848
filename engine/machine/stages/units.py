"""Whether the execution units and the operand collectors can take one more instruction."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import popcount
from rfview.engine.compile.device import device
from rfview.engine.program import UNIT_CTRL
from rfview.engine.state import MAX_INFLIGHT


@device
def unit_full(sm, unit):
    """Return whether no further instruction for this unit may enter the collectors."""
    return sm.queued[unit] >= sm.config.queue_entries[unit]


@device
def full_units(sm):
    """Return the full units, one bit each."""
    bits = np.int64(0)
    for unit in range(UNIT_CTRL):
        if unit_full(sm, unit):
            bits |= 1 << unit
    return bits


@device
def collectors_full(sm):
    """Return whether no operand collector (or no in-flight entry) is free."""
    return popcount(np.uint64(sm.collectors_used)) >= sm.config.num_collectors or inflight_full(sm)


@device
def inflight_full(sm):
    """Return whether no in-flight entry is free; NONE8, the last number, is none."""
    for word in range(MAX_INFLIGHT // 64):
        limit = 63 if word == MAX_INFLIGHT // 64 - 1 else 64
        if popcount(np.uint64(sm.inflight_used[word])) < limit:
            return False
    return True
