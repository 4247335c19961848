"""NumPy reference of gesummv and its double: both sums as chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return y = ALPHA A x + BETA B x."""
    first = second = np.zeros(buffers["A"].shape[0], buffers["A"].dtype)
    for a, b, x in zip(buffers["A"].T, buffers["B"].T, buffers["x"]):
        first, second = fma(a, x, first), fma(b, x, second)
    return {"y": fma(ALPHA, first, BETA * second)}
