"""NumPy reference of 2mm and its double: chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


ALPHA, BETA = np.float32(1.5), np.float32(0.5)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a b, k ascending."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = fma(a[:, k:k + 1], b[k], total)
    return total


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return ALPHA A B and D = ALPHA A B C + BETA D."""
    first = ALPHA * product(buffers["A"], buffers["B"])
    return {"product": first, "D": fma(BETA, buffers["D"], product(first, buffers["C"]))}
