"""The next warp of a mask in round-robin order, for schedulers and fetch."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64
from rfview.engine.compile.device import device


@device
def next_from(mask, pointer):
    """Return the first set bit of `mask` at or after `pointer`, wrapping around."""
    high = mask & ~(bit64(pointer) - np.uint64(1))
    return ctz64(high) if high != 0 else ctz64(mask)
