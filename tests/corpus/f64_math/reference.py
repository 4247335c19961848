"""NumPy reference of f64_math."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma64


def inputs() -> dict[str, np.ndarray]:
    """Return angles from tiny to beyond 2^31, where sin and cos take their slow path."""
    state = np.random.RandomState(120)
    return {"angle": np.concatenate([state.uniform(-7, 7, 64), state.uniform(-1e12, 1e12, 48),
                                     state.uniform(-1e300, 1e300, 16)])}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the exact rows (each rounded once) and the library rows (within an ulp or two)."""
    x, y, angle = buffers["a"], buffers["b"], buffers["angle"]
    exact = np.stack([x / y, np.sqrt(np.abs(x)), fma64(x, y, np.array(-1.0)), 1.0 / x,
                      np.fmin(x, y) - np.fmax(x, 0.5), np.where(x > y, np.floor(x), np.ceil(y))])
    library = np.stack([np.sin(angle), np.cos(angle), np.abs(x) ** y, np.exp(x), np.log(np.abs(x)), np.cbrt(x)])
    return {"exact": exact, "library": library}
