"""What a warp does in a cycle, what it waits for, and whether that must be decided again in the next."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, set_bits
from rfview.engine.compile.device import device
from rfview.engine.stalls import FINISHED


@device
def set_state(sm, warp, code):
    """Set the state of a warp in this cycle, and count it."""
    entry = sm.warp[warp]
    old = np.int64(entry.state)
    if old != code:
        sm.state_count[old] -= 1
        sm.state_count[code] += 1
        entry.state = code
        entry.state_since_cycle = sm.cycle


@device
def show_finished(sm):
    """Show warps whose exit was issued in the previous cycle as finished."""
    for warp in set_bits(sm.ended):
        set_state(sm, warp, FINISHED)
    sm.ended = 0


@device
def block(sm, warp, kind, what):
    """Set what a warp waits for."""
    entry = sm.warp[warp]
    entry.blocker_kind = kind
    entry.blocker = what


@device
def keep_state(sm, warp):
    """Keep a warp's state, unexamined, until an event reconsiders it."""
    sm.undecided = np.uint64(sm.undecided) & ~bit64(warp)


@device
def reconsider(sm, warp):
    """Let the next issue stage decide the state of a warp again."""
    sm.undecided = np.uint64(sm.undecided) | bit64(warp)
    return 0
