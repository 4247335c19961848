"""NumPy reference of corr_double: sums in the order of the rows, products as chains of fused multiply-adds."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


def column_sum(rows: np.ndarray) -> np.ndarray:
    """Return the sums of the columns, row by row."""
    total = np.zeros(rows.shape[1], np.float64)
    for row in rows:
        total = total + row
    return total


def products(data: np.ndarray) -> np.ndarray:
    """Return the products of all pairs of columns as chains of fused multiply-adds."""
    total = np.zeros((data.shape[1],) * 2, np.float64)
    for row in data:
        total = fma64(row[:, None], row, total)
    return np.triu(total) + np.triu(total, 1).T


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the products of all pairs of normed columns."""
    data, rows = buffers["data"], np.float64(len(buffers["data"]))
    mean = column_sum(data) / rows
    squares = np.zeros(data.shape[1], np.float64)
    for row in data - mean:
        squares = fma64(row, row, squares)
    root = np.sqrt(squares / rows)
    deviation = np.where(root <= np.float64(0.005), np.float64(1), root)
    return {"result": products((data - mean) / (np.sqrt(rows) * deviation))}
