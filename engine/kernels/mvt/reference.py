"""NumPy reference of mvt and its double: chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


def added(a: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x + a y, one column of a at a time."""
    for column, factor in zip(a.T, y):
        x = fma(column, factor, x)
    return x


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return x1 + A y1 and x2 + A^T y2."""
    a = buffers["A"]
    return {"x1": added(a, buffers["y1"], buffers["x1"]), "x2": added(a.T, buffers["y2"], buffers["x2"])}
