"""NumPy reference of atax and its double: chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma

SLICES = 8

def product_with(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a x, one column of a at a time."""
    total = np.zeros(a.shape[0], a.dtype)
    for column, factor in zip(a.T, x):
        total = fma(column, factor, total)
    return total


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return A x and y = A^T (A x), whose rows are dealt out to SLICES sums."""
    a = buffers["A"]
    product = product_with(a, buffers["x"])
    y = product_with(a[::SLICES].T, product[::SLICES])
    for part in range(1, SLICES):
        y = y + product_with(a[part::SLICES].T, product[part::SLICES])
    return {"product": product, "y": y}
