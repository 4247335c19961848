"""NumPy reference of nw: the plain recurrence over whole matrices, all pairs at once."""

from __future__ import annotations

import numpy as np

MATCH, MISMATCH, PENALTY = 5, -4, 3


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the best score of every pair of beginnings, of every pair of sequences."""
    a, b = buffers["a"], buffers["b"]
    pairs, length = a.shape
    score = np.zeros((pairs, length + 1, length + 1), np.int32)
    score[:, 0, :] = score[:, :, 0] = -PENALTY * np.arange(length + 1)
    for i in range(length):
        for j in range(length):
            gap = np.maximum(score[:, i, j + 1], score[:, i + 1, j]) - PENALTY
            pair = np.where(a[:, i] == b[:, j], MATCH, MISMATCH)
            score[:, i + 1, j + 1] = np.maximum(score[:, i, j] + pair, gap)
    return {"score": score[:, 1:, 1:].copy()}
