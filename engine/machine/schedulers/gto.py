"""Greedy then oldest: the warp that issued last while it is ready, else the one that started first."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers.scheduler import Scheduler
from rfview.engine.state import NONE8


@device
def pick(sm, scheduler, ready):
    """Return the greedy warp or the oldest ready one; warps of one CTA are ordered by warp id."""
    last = np.int64(sm.scheduler[scheduler].last_warp)
    if last != NONE8 and ready & bit64(last) != 0:
        return last
    left = ready
    warp = ctz64(left)
    while ready & np.uint64(sm.older_warps[warp]) != 0:
        left &= left - np.uint64(1)
        warp = ctz64(left)
    return warp


ROW = Scheduler("gto", "greedy then oldest: the same warp until it stalls, then the oldest ready one (default)",
                "HC-RF section II", "greedy, else the oldest", pick)
