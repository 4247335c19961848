"""NumPy reference of pathfinder: row by row, exact; the launches take turns with two buffers."""

from __future__ import annotations

import numpy as np

STEPS = 4


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the costs after the last launch and after the one before it, in the buffers that hold them."""
    wall = buffers["wall"]
    results = [buffers["second"], buffers["first"]]
    for first in range(0, len(wall), STEPS):
        cost = results[-1]
        for row in wall[first:first + STEPS]:
            padded = np.pad(cost, 1, constant_values=1 << 28)
            cost = row + np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
        results.append(cost.astype(np.int32))
    is_odd = len(results) % 2
    return {"second": results[-1 if is_odd else -2], "first": results[-2 if is_odd else -1]}
