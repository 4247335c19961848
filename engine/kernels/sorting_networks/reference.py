"""NumPy reference of sorting_networks: the network itself, step by step, so that equal keys end as there."""

from __future__ import annotations

import numpy as np

SIZE = 1024


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return keys and values, each block sorted."""
    keys, values = (buffers[name].reshape(-1, SIZE).copy() for name in ("keys", "values"))
    thread = np.arange(SIZE // 2)
    size = 2
    while size <= SIZE:
        stride = size // 2
        while stride:
            low = 2 * thread - (thread & stride - 1)
            high = low + stride
            swap = (keys[:, low] > keys[:, high]) == ((low & size) == 0)
            for array in (keys, values):
                array[:, low], array[:, high] = (np.where(swap, array[:, high], array[:, low]),
                                                 np.where(swap, array[:, low], array[:, high]))
            stride //= 2
        size *= 2
    return {"keys": keys.ravel(), "values": values.ravel()}
