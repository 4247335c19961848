"""NumPy reference of syr2k_double: alpha times one factor is rounded, then fused into the sum, k ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


ALPHA, BETA = np.float64(1.5), np.float64(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = ALPHA (A B^T + B A^T) + BETA C."""
    a, b, total = buffers["A"], buffers["B"], BETA * buffers["C"]
    for k in range(a.shape[1]):
        total = fma64(ALPHA * a[:, k:k + 1], b[:, k], total)
        total = fma64(ALPHA * b[:, k:k + 1], a[:, k], total)
    return {"C": total}
