"""What every core counts and asks at the end of a cycle."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.stalls import MAX_CODES


@device
def account(sm, cycles):
    """Add the states of all warp slots to the totals; every warp-cycle has exactly one."""
    for code in range(MAX_CODES):
        sm.stall_total[code] += np.int64(sm.state_count[code]) * cycles
    return 0


@device
def free_cta_slot(sm):
    """Return whether a CTA slot is free."""
    for slot in range(sm.launch.resident_ctas):
        if not sm.cta[slot].valid:
            return True
    return False
