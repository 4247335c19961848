"""NumPy reference of clocks."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a product and the word in which all six conditions are true."""
    return {"facts": np.stack([buffers["in"] * 3, np.full_like(buffers["in"], 0b111111)])}
