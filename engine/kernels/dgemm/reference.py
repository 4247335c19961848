"""NumPy reference of dgemm: chains of fused multiply-adds, k ascending; A and C by columns."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64

BETA = 0.5


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = A B + BETA C."""
    total = np.zeros(buffers["C"].shape)
    for a, b in zip(buffers["A"], buffers["B"]):
        total = fma64(a, b[:, None], total)
    return {"C": fma64(np.float64(BETA), buffers["C"], total)}
