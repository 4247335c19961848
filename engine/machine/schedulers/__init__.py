"""Warp schedulers: which ready warp issues. Chosen by a number at run time, so that designs compile only once.

A scheduler is one file with its `pick` and its row, named in SCHEDULERS here. Its number is the place in that table, which
no recording contains; the machine and the views read from the state what follows from the row (config.active_places,
config.parity).

    scheduler                  what a row says of a scheduler
    lrr  gto                   loose round robin; greedy then oldest
    two_level                  the inner policy over a few active warps
    switch_on_stall            the same over one active warp
    round_robin                the next warp of a mask in turn
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rfview.engine.compile.device import device
from rfview.engine.machine.schedulers import gto, lrr, switch_on_stall, two_level
from rfview.engine.machine.schedulers.scheduler import Scheduler

SCHEDULERS: dict[str, Scheduler] = {row.name: row for row in (lrr.ROW, gto.ROW, two_level.ROW, switch_on_stall.ROW)}


def choice(rows: Sequence[Scheduler]) -> Callable[..., Any]:
    """Return `pick(policy, sm, scheduler, ready)`, which calls the pick of rows[policy]."""
    own = rows[0].pick
    others = choice(rows[1:]) if len(rows) > 1 else None

    def pick(policy, sm, scheduler, ready):
        if others is None or policy == 0:
            return own(sm, scheduler, ready)
        return others(policy - 1, sm, scheduler, ready)

    return device(pick)


pick = choice(tuple(SCHEDULERS.values()))
