"""Loose round robin: the first ready warp after the one that issued last."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers.round_robin import next_from
from rfview.engine.machine.schedulers.scheduler import Scheduler
from rfview.engine.state import NONE8


@device
def pick(sm, scheduler, ready):
    """Return the next ready warp in warp order."""
    last = np.int64(sm.scheduler[scheduler].last_warp)
    return next_from(ready, 0 if last == NONE8 else (last + 1) & 63)


ROW = Scheduler("lrr", "loose round robin: the next ready warp after the last one that issued", "HC-RF section II",
                "next in turn", pick)
