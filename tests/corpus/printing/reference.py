"""NumPy reference of printing, and the lines it must print."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return printf's result (the number of its arguments) for threads that print, else the negative input."""
    value = buffers["in"]
    return {"out": np.where(value % 20 == 7, 6, -value).astype("i4")}


def printed(buffers: dict[str, np.ndarray]) -> set[str]:
    """Return the lines that must be printed, in any order."""
    return {f"thread {i}: value {value:5d}, half {value * 0.5:.3f}, {'large' if value > 50 else 'small'} x {2**40} %"
            for i, value in enumerate(buffers["in"].tolist()) if value % 20 == 7}
