"""NumPy reference of quasirandom: exact integers, then fused multiply-adds as in the source."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


SEED = 7
DIRECTIONS = np.array([[(2654435761 * (31 * d + i + 1)) & 0x7FFFFFFF | 1 << (30 - i) for i in range(31)] for d in range(3)],
                      np.uint32)
ABOVE = (41.391197, -18.615, 2.5066282)
BELOW = (-21.06224, 23.083367, -8.473511, 1.0)


def polynomial(first: float, others: tuple[float, ...], r: np.ndarray) -> np.ndarray:
    """Return a polynomial by Horner's rule, fused."""
    total = np.full(r.shape, first, np.float32)
    for factor in others:
        total = fma32(total, r, np.float32(factor))
    return total


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the points and their inverse normal distribution."""
    index = np.arange(buffers["output"].shape[1], dtype=np.uint32) + SEED
    output = np.zeros(buffers["output"].shape, np.float32)
    for dimension, numbers in enumerate(DIRECTIONS):
        x = np.zeros(len(index), np.uint32)
        for bit in range(31):
            x ^= np.where(index >> bit & 1, numbers[bit], np.uint32(0))
        output[dimension] = (x + np.uint32(1)).astype(np.float32) * np.float32(4.656613e-10)
    q = output - np.float32(0.5)
    r = q * q
    return {"output": output, "normal": q * polynomial(-25.44106, ABOVE, r) / polynomial(3.1308291, BELOW, r)}
