"""NumPy reference of split_sort: a stable sort of each block by the lowest bits."""

from __future__ import annotations

import numpy as np

BLOCK, BITS = 1024, 4


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return keys and values, each block sorted by the lowest BITS bits of its keys."""
    keys, values = (buffers[name].reshape(-1, BLOCK) for name in ("keys", "values"))
    order = np.argsort(keys & (1 << BITS) - 1, axis=1, kind="stable")
    return {"keys": np.take_along_axis(keys, order, 1).ravel(), "values": np.take_along_axis(values, order, 1).ravel()}
