"""Warp schedulers: which ready warp issues. Chosen by a number at run time, so that designs compile only once.

`two_level` and `switch_on_stall` choose from the active set kept by active_set.py. A scheduler is one file with
`pick(sm, scheduler, ready) -> warp`, where `ready` is the mask of the scheduler's warps that passed every check; and one
line here.

    lrr  gto                   loose round robin; greedy then oldest
    round_robin                the next warp of a mask in turn
    two_level  active_set      the inner policy over a few active warps; which warps are active
"""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers import gto, lrr, two_level
from rfview.engine.state import GTO, LRR


@device
def pick(sm, scheduler, ready):
    """Return the warp that issues; `ready` has at least one bit set."""
    if sm.config.scheduler == LRR:
        return lrr.pick(sm, scheduler, ready)
    if sm.config.scheduler == GTO:
        return gto.pick(sm, scheduler, ready)
    return two_level.pick(sm, scheduler, ready)
