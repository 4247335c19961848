"""NumPy reference of 3dconv (and double): the centre times its weight, then ten taps fused in the source's order."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


TAPS = (((-1, -1, -1), 0.2), ((-1, 0, 0), -0.3), ((-1, 1, 1), 0.4), ((0, -1, 0), 0.6), ((0, 0, -1), -0.8),
        ((0, 0, 1), -0.9), ((0, 1, 0), 0.1), ((1, -1, -1), 0.7), ((1, 0, 0), -0.25), ((1, 1, 1), 0.35))


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return B: every inner element filtered."""
    a, b = buffers["A"], buffers["B"].copy()

    def shifted(offsets: tuple[int, ...]) -> np.ndarray:
        return a[tuple(slice(1 + by, size - 1 + by) for by, size in zip(offsets, a.shape))]

    total = a.dtype.type(0.5) * shifted((0, 0, 0))
    for offsets, weight in TAPS:
        total = fma(a.dtype.type(weight), shifted(offsets), total)
    b[1:-1, 1:-1, 1:-1] = total
    return {"B": b}
