"""Warp schedulers: which ready warp issues. Chosen by an integer at run time, so that designs compile once (contract C4).

A scheduler is one file with `pick(sm, scheduler, ready) -> warp`, where `ready` is the mask of the scheduler's warps that
passed every check; and one line here.
"""

from __future__ import annotations

from engine.device import device
from engine.schedulers import gto, lrr
from engine.state import LRR


@device
def pick(sm, scheduler, ready):
    """Return the warp that issues; `ready` has at least one bit set."""
    if sm.config.scheduler == LRR:
        return lrr.pick(sm, scheduler, ready)
    return gto.pick(sm, scheduler, ready)
