"""NumPy reference of gesummv_double: both sums as chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


ALPHA, BETA = np.float64(1.5), np.float64(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return y = ALPHA A x + BETA B x."""
    first = second = np.zeros(buffers["A"].shape[0], np.float64)
    for a, b, x in zip(buffers["A"].T, buffers["B"].T, buffers["x"]):
        first, second = fma64(a, x, first), fma64(b, x, second)
    return {"y": fma64(ALPHA, first, BETA * second)}
