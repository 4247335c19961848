"""Reference of grid_sync: every thread sees the sum over the whole grid."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the sums less each thread's own number, round by round."""
    given = buffers["in"]
    return {"out": np.concatenate([(given << k).sum() - given for k in range(3)]).astype("i4")}
