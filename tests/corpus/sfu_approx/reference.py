"""NumPy reference of sfu_approx, computed in double precision."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the exact values that the functions approximate."""
    x = buffers["in"].astype("f8")
    rows = [2.0**x, np.log2(np.abs(x)), np.sin(x), np.cos(x), np.abs(x) ** -0.5, 1 / x, np.sqrt(np.abs(x)), x / 3,
            x / 7, np.exp(x) + np.sqrt(np.abs(x)) / (1.5 + np.abs(x))]
    return {"out": np.stack(rows).astype("f4"), "coarse": np.tanh(x).astype("f4")}
