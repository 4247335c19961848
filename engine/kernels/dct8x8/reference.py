"""NumPy reference of dct8x8: both products as chains of fused multiply-adds, ascending."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


COSINES = np.array([[float(f"{np.sqrt((1 if k == 0 else 2) / 8) * np.cos((2 * n + 1) * k * np.pi / 16):.7f}")
                     for n in range(8)] for k in range(8)], np.float32)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the transformed blocks in their places."""
    image = buffers["image"] - np.float32(128)
    rows, cols = image.shape
    blocks = image.reshape(rows // 8, 8, cols // 8, 8).transpose(0, 2, 1, 3)
    half = whole = np.zeros(blocks.shape, np.float32)
    for k in range(8):
        half = fma32(COSINES[:, k][:, None], blocks[:, :, k][:, :, None, :], half)
    for k in range(8):
        whole = fma32(half[..., k][..., None], COSINES[:, k], whole)
    return {"transformed": whole.transpose(0, 2, 1, 3).reshape(rows, cols)}
