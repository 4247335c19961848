"""NumPy reference of gesummv: both sums as chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return y = ALPHA A x + BETA B x."""
    first = second = np.zeros(buffers["A"].shape[0], np.float32)
    for a, b, x in zip(buffers["A"].T, buffers["B"].T, buffers["x"]):
        first, second = fma32(a, x, first), fma32(b, x, second)
    return {"y": fma32(ALPHA, first, BETA * second)}
