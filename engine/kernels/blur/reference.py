"""NumPy reference of blur: seventeen fused multiply-adds from left to right; the edge pixels go on beyond the edge."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


WEIGHTS = np.array([
    0.0025899, 0.0066135, 0.0149039, 0.0296398, 0.0520195, 0.0805695, 0.1101254, 0.1328366,
    0.1414038, 0.1328366, 0.1101254, 0.0805695, 0.0520195, 0.0296398, 0.0149039, 0.0066135, 0.0025899,
], np.float32)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the blurred rows."""
    image = buffers["image"]
    wide = np.pad(image, ((0, 0), (8, 8)), mode="edge")
    total = np.zeros(image.shape, np.float32)
    for tap, weight in enumerate(WEIGHTS):
        total = fma32(weight, wide[:, tap:tap + image.shape[1]], total)
    return {"blurred": total}
