"""NumPy reference of two_kernels."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the running sums of the whole array and of the CTAs' sums."""
    sums = buffers["sums"].copy()
    sums[:4] = buffers["in"].reshape(4, 128).sum(axis=1)
    return {"out": np.cumsum(buffers["in"]).astype("i4"), "sums": sums, "scanned": np.cumsum(sums).astype("i4")}
