"""`stt` on the sub-core: a write takes `write_cycles` of its bank, which is not read meanwhile (B12.2)."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.designs.stt import STALL_PIPELINE
from rfview.engine.stalls import STT_WRITE
from rfview.engine.state import BANK_BUSY

MEANING = ("a write takes several cycles of its bank, and results wait for it in the result queue, from which they are "
           "bypassed; with stall = pipeline nothing passes Allocate meanwhile")
STATE = (("writes", "i8"),)        # results written


def read_cycles(sm, rf, spec, warp, reg, is_float):
    """Read the bank, unless a write stops the sub-core."""
    return -STT_WRITE if is_frozen(sm, spec, warp) else 1


def write_cycles(sm, rf, spec, warp, reg, lanes, is_late, is_float):
    """Write slowly."""
    if is_frozen(sm, spec, warp):
        return -STT_WRITE
    rf.writes += 1
    return np.int64(spec.write_cycles)


@device
def is_frozen(sm, spec, warp):
    """Return whether a warp's sub-core stands still for a write that began in an earlier cycle (B1.9)."""
    first = np.int64(warp) % 4 * 2
    is_writing = sm.bank[first].activity == BANK_BUSY or sm.bank[first + 1].activity == BANK_BUSY
    return spec.stall == STALL_PIPELINE and is_writing
