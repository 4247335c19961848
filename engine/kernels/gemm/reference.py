"""NumPy reference of gemm and its double: alpha * A is rounded, then fused with B into the sum, k ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma

ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = ALPHA A B + BETA C."""
    a, b, total = buffers["A"], buffers["B"], buffers["C"] * BETA
    for k in range(a.shape[1]):
        total = fma(a[:, k:k + 1] * ALPHA, b[k], total)
    return {"C": total}
