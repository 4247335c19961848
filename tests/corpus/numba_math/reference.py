"""NumPy reference of numba_math."""

from __future__ import annotations

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """Return small angles and some beyond 2^31, where sin takes its slow path."""
    state = np.random.RandomState(158)
    return {"angle": np.concatenate([state.uniform(-9, 9, 60), state.uniform(-1e13, 1e13, 40)])}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return sums of sines and roots, and a third of fifth powers where i % 3 is not 0."""
    i = np.arange(buffers["angle"].size)
    matrix = buffers["matrix"].T
    powers = np.where(i % 3 != 0, (1 + i % 7) ** 5 // 3, 0)
    return {"out": np.sin(buffers["angle"]) + np.sqrt(matrix[i % 6, i % 5]), "powers": powers}
