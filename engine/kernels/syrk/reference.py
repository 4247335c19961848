"""NumPy reference of syrk and its double: alpha A is rounded, then fused into the sum, k ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return C = ALPHA A A^T + BETA C."""
    a, total = buffers["A"], BETA * buffers["C"]
    for k in range(a.shape[1]):
        total = fma(ALPHA * a[:, k:k + 1], a[:, k], total)
    return {"C": total}
