"""NumPy reference of syrk_double: alpha A is rounded, then fused into the sum, k ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


ALPHA, BETA = np.float64(1.5), np.float64(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = ALPHA A A^T + BETA C."""
    a, total = buffers["A"], BETA * buffers["C"]
    for k in range(a.shape[1]):
        total = fma64(ALPHA * a[:, k:k + 1], a[:, k], total)
    return {"C": total}
