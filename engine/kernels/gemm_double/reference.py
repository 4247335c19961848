"""NumPy reference of gemm_double: alpha * A is rounded, then fused with B into the sum, k ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64

ALPHA, BETA = 1.5, 0.5


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = ALPHA A B + BETA C."""
    a, b, total = buffers["A"], buffers["B"], buffers["C"] * BETA
    for k in range(a.shape[1]):
        total = fma64(a[:, k:k + 1] * ALPHA, b[k], total)
    return {"C": total}
