"""NumPy reference of sad: exact."""

from __future__ import annotations

import numpy as np

SIDE = 32


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the sums of 8 x 8 and of 16 x 16 blocks for each of 32 x 32 motions."""
    frame, before = (memory[name].astype(np.int32) for name in ("frame", "before"))
    rows, cols = frame.shape
    apart = np.array([[np.abs(frame - before[dy:dy + rows, dx:dx + cols]) for dx in range(SIDE)] for dy in range(SIDE)])

    def sums(side: int) -> np.ndarray:
        blocks = apart.reshape(SIDE * SIDE, rows // side, side, cols // side, side).sum(axis=(2, 4))
        return blocks.reshape(SIDE * SIDE, -1).T.astype(np.uint16)

    return {"sad_8": sums(8), "sad_16": sums(16)}
