"""NumPy reference of 2dconv; the compiler multiplies the second tap first and fuses all others."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

# Row i-1, i, i+1 of the filter, as the source's c11 c21 c31, c12 c22 c32, c13 c23 c33.
TAPS = np.array([[0.2, 0.5, -0.8], [-0.3, 0.6, -0.9], [0.4, 0.7, 0.10]], np.float32)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return B with every pixel but the border filtered."""
    a, b = buffers["A"], buffers["B"].copy()
    rows, cols = a.shape

    def shifted(i: int, j: int) -> np.ndarray:
        return a[i:rows - 2 + i, j:cols - 2 + j]

    total = fma32(shifted(0, 0), TAPS[0, 0], shifted(0, 1) * TAPS[0, 1])
    for tap in range(2, 9):
        i, j = divmod(tap, 3)
        total = fma32(shifted(i, j), TAPS[i, j], total)
    b[1:-1, 1:-1] = total
    return {"B": b}
