"""NumPy reference of streamcluster: squared distances as chains of fused multiply-adds."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

CANDIDATE = 7


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each point's row of savings, and which points would switch."""
    coordinates, savings = memory["coordinates"], memory["savings"].copy()
    total = np.zeros(coordinates.shape[1], np.float32)
    for values in coordinates:
        apart = values - values[CANDIDATE]
        total = fma32(apart, apart, total)
    change = total * memory["weight"] - memory["cost"]
    nearer = change < 0
    column = np.where(nearer, savings.shape[1] - 1, memory["centre_of"])
    savings[np.arange(len(column)), column] = np.where(nearer, change, -change)
    return {"savings": savings, "switched": nearer.astype(np.uint8)}
