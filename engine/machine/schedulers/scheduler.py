"""What describes a warp scheduler: its row in the table of `rfview.engine.machine.schedulers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ALL = 0             # `active`: every warp may issue, there is no active set
SHARE = -1          # `active`: the scheduler's share of the setting scheduler.active_set


class Scheduler(NamedTuple):
    """One warp scheduler.

    name: as users type it, and as recordings name it. sentence: what it does. source: of the rule. prefers: which ready
    warp it chooses, in a few words. pick(sm, scheduler, ready) -> warp, marked @device: `ready` is the mask of the
    scheduler's warps that passed every check, and has at least one bit set. active: ALL, SHARE, or the most warps in its
    active set (stages/active_set.py). alternates: whether the setting scheduler.parity applies to that set.
    """

    name: str
    sentence: str
    source: str
    prefers: str
    pick: Callable[..., Any]
    active: int = ALL
    alternates: bool = False

    def places(self, active_set: int, schedulers: int) -> int:
        """Return the most active warps of one of several schedulers, 0 = no active set. active_set: the SM's setting."""
        return -(-active_set // schedulers) if self.active == SHARE else self.active
