"""NumPy reference of sobol: exact integers, one rounded conversion and one product."""

from __future__ import annotations

import numpy as np

def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return every dimension's points in Gray-code order."""
    directions, output = buffers["directions"], buffers["output"].copy()
    index = np.arange(output.shape[1], dtype=np.uint32)
    gray = index ^ index >> 1
    for dimension, numbers in enumerate(directions):
        x = np.zeros(len(index), np.uint32)
        for bit in range(32):
            x ^= np.where(gray >> bit & 1, numbers[bit], np.uint32(0))
        output[dimension] = x.astype(np.float32) * np.float32(2.3283064e-10)
    return {"output": output}
