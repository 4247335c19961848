"""NumPy reference of 2dconv_double: the first tap, then eight fused ones."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


TAPS = (0.2, 0.5, -0.8, -0.3, 0.6, -0.9, 0.4, 0.7, 0.1)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return B with every pixel but the border filtered."""
    a, b = buffers["A"], buffers["B"].copy()
    rows, cols = a.shape
    shifted = [a[i:rows - 2 + i, j:cols - 2 + j] for i in range(3) for j in range(3)]
    total = TAPS[0] * shifted[0]
    for tap in range(1, 9):
        total = fma64(np.float64(TAPS[tap]), shifted[tap], total)
    b[1:-1, 1:-1] = total
    return {"B": b}
