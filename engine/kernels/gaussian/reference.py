"""NumPy reference of gaussian: quotients rounded once, then one fused multiply-add per element and column."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a and b after the elimination of all columns but the last."""
    a, b = buffers["a"].copy(), buffers["b"].copy()
    for t in range(len(b) - 1):
        factor = -(a[t + 1:, t] / a[t, t])
        a[t + 1:, t:] = fma32(factor[:, None], a[t, t:], a[t + 1:, t:])
        b[t + 1:] = fma32(factor, b[t], b[t + 1:])
    return {"a": a, "b": b}
