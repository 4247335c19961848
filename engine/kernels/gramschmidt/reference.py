"""NumPy reference of gramschmidt and its double: sums as chains of fused multiply-adds down the rows."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return R, upper triangular, and Q, whose columns are orthonormal."""
    a = buffers["A"].copy()
    rows, cols = a.shape
    r, q = np.zeros((cols, cols), a.dtype), np.zeros(a.shape, a.dtype)
    for k in range(cols):
        square, sums = a.dtype.type(0), np.zeros(cols - k - 1, a.dtype)
        for i in range(rows):
            square = fma(a[i, k], a[i, k], square)
        r[k, k] = np.sqrt(square)
        q[:, k] = a[:, k] / r[k, k]
        for i in range(rows):
            sums = fma(q[i, k], a[i, k + 1:], sums)
        r[k, k + 1:] = sums
        a[:, k + 1:] = fma(-q[:, k:k + 1], sums, a[:, k + 1:])
    return {"R": r, "Q": q}
