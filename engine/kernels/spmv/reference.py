"""NumPy reference of spmv, and the seeded lengths of its rows."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

ROWS, WARPS, DIAGONALS = 4608, 144, 24


def inputs() -> dict[str, np.ndarray]:
    """Return the number of values of each warp's rows, and where each diagonal begins."""
    lengths = np.sort(np.random.RandomState(140).randint(1, DIAGONALS + 1, WARPS))[::-1].astype(np.int32)
    lengths[0] = DIAGONALS
    rows = [32 * int((lengths > k).sum()) for k in range(DIAGONALS)]
    return {"length": lengths, "diagonal": np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int32)}


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the matrix times x, each sum a chain of fused multiply-adds; in the small size the first rows alone."""
    total = np.zeros(ROWS, np.float32)
    for k, first in enumerate(memory["diagonal"]):
        rows = 32 * int((memory["length"] > k).sum())
        at = slice(first, first + rows)
        total[:rows] = fma32(memory["values"][at], memory["x"][memory["columns"][at]], total[:rows])
    return {"y": total[:len(memory["y"])]}
