"""NumPy reference of fwt: the plain radix-2 levels, longest stride first, which are the kernel's own additions."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the transform, in Hadamard's order and not scaled."""
    data = buffers["data"].copy()
    stride = data.size // 2
    while stride:
        low, high = np.moveaxis(data.reshape(-1, 2, stride), 1, 0)
        data = np.stack([low + high, low - high], axis=1).reshape(-1)
        stride //= 2
    return {"data": data}
