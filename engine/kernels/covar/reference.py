"""NumPy reference of covar and its double: sums in the order of the rows, products as chains of fused multiply-adds."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


def column_sum(rows: np.ndarray) -> np.ndarray:
    """Return the sums of the columns, row by row."""
    total = np.zeros(rows.shape[1], rows.dtype)
    for row in rows:
        total = total + row
    return total


def products(data: np.ndarray) -> np.ndarray:
    """Return the products of all pairs of columns as chains of fused multiply-adds."""
    total = np.zeros((data.shape[1],) * 2, data.dtype)
    for row in data:
        total = fma(row[:, None], row, total)
    return np.triu(total) + np.triu(total, 1).T


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the products of all pairs of centred columns."""
    data = buffers["data"]
    return {"result": products(data - column_sum(data) / data.dtype.type(len(data)))}
