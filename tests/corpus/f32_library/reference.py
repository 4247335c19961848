"""NumPy reference of f32_library, computed in double precision."""

from __future__ import annotations

import math

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """Return angles from tiny to huge; those above 105,615 take the Payne-Hanek path."""
    state = np.random.RandomState(122)
    return {"angle": np.concatenate([state.uniform(-7, 7, 64), state.uniform(-1e5, 1e5, 24),
                                     state.uniform(-1e8, 1e8, 24), state.uniform(-1e38, 1e38, 16)]).astype("f4")}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return eight library functions."""
    angle, x = buffers["angle"].astype("f8"), buffers["x"].astype("f8")
    exponent, leg = float(np.float32(1.7)), float(np.float32(0.7))
    rows = [np.sin(angle), np.cos(angle), np.abs(x) ** exponent, np.exp(x), np.log(np.abs(x)), np.tanh(x),
            np.arctan2(x, leg), np.vectorize(math.erf)(x)]
    return {"out": np.stack(rows).astype("f4")}
