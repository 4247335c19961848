"""What every core counts and asks at the end of a cycle."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.stalls import MAX_CODES
from rfview.engine.state import MAX_INFLIGHT


@device
def account(sm, cycles):
    """Add the states of all warp slots to the totals; every warp-cycle has exactly one."""
    for code in range(MAX_CODES):
        sm.stall_total[code] += np.int64(sm.state_count[code]) * cycles


@device
def nothing_waits(sm):
    """Return whether no result waits for its write, no CTA for a slot, and no slot to be freed."""
    for word in range(MAX_INFLIGHT // 64):
        if sm.in_write_back[word] != 0:
            return False
    for slot in range(sm.launch.resident_ctas):
        if not sm.cta[slot].valid:
            if sm.launch.next_cta < sm.launch.num_ctas:
                return False
        elif sm.cta[slot].live_warps == 0:
            return False
    return True


@device
def free_cta_slot(sm):
    """Return whether a CTA slot is free."""
    for slot in range(sm.launch.resident_ctas):
        if not sm.cta[slot].valid:
            return True
    return False
