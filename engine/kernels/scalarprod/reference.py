"""NumPy reference of scalarprod: fused multiply-adds and additions in the kernel's own order."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

PARTIALS = 256


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one dot product per row of a and b."""
    a, b = (buffers[name].reshape(buffers["out"].size, -1, PARTIALS) for name in "ab")
    partial = np.zeros((buffers["out"].size, PARTIALS), np.float32)
    for i in range(a.shape[1]):
        partial = fma32(a[:, i], b[:, i], partial)
    stride = PARTIALS // 2
    while stride:
        partial[:, :stride] += partial[:, stride:2 * stride]
        stride //= 2
    return {"out": partial[:, 0].copy()}
