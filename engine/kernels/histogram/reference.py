"""NumPy reference of histogram."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return how often each byte value occurs."""
    return {"bins": np.bincount(buffers["bytes"], minlength=256).astype(np.uint32)}
