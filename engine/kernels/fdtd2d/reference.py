"""NumPy reference of fdtd2d and its double: differences rounded, then one fused multiply-add per field and step."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma


STEPS = {False: 2, True: 4}     # of the small size, of the full one


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the three fields after all steps."""
    ex, ey, hz = (buffers[name].copy() for name in ("ex", "ey", "hz"))
    half, most = hz.dtype.type(-0.5), hz.dtype.type(-0.7)
    for _ in range(STEPS[hz.shape[1] > 64]):
        ey[1:] = fma(half, hz[1:] - hz[:-1], ey[1:])
        ex[:, 1:] = fma(half, hz[:, 1:] - hz[:, :-1], ex[:, 1:])
        change = (ex[:-1, 1:] - ex[:-1, :-1]) + (ey[1:, :-1] - ey[:-1, :-1])
        hz[:-1, :-1] = fma(most, change, hz[:-1, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}
