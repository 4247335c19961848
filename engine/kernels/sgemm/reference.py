"""NumPy reference of sgemm: chains of fused multiply-adds, k ascending; A and C by columns."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


BETA = np.float32(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = A B + BETA C."""
    total = np.zeros(buffers["C"].shape, np.float32)
    for a, b in zip(buffers["A"], buffers["B"]):
        total = fma32(a, b[:, None], total)
    return {"C": fma32(BETA, buffers["C"], total)}
