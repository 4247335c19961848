"""Two-level scheduling: the inner policy over the active set, greedy or round robin (RFC section 3.2)."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers import lrr
from rfview.engine.machine.schedulers.scheduler import SHARE, Scheduler
from rfview.engine.state import NONE8

INNER_GREEDY = 0


@device
def pick(sm, scheduler, ready):
    """Return the active warp that issues: the last one while it is ready (greedy), else the next in warp order."""
    last = np.int64(sm.scheduler[scheduler].last_warp)
    if sm.config.inner_policy == INNER_GREEDY and last != NONE8 and ready & bit64(last) != 0:
        return last
    return lrr.pick(sm, scheduler, ready)


ROW = Scheduler("two_level", "a small active set of warps, the rest wait for memory outside it", "RFC section 3.2",
                "chosen by two_level", pick, active=SHARE)
