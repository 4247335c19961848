"""NumPy reference of bicg and its double: chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


def product(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a x, one column of a at a time."""
    total = np.zeros(a.shape[0], a.dtype)
    for column, factor in zip(a.T, x):
        total = fma(column, factor, total)
    return total


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return s = A^T r and q = A p."""
    a = buffers["A"]
    return {"s": product(a.T, buffers["r"]), "q": product(a, buffers["p"])}
