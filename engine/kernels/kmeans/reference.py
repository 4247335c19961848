"""NumPy reference of kmeans: squared distances as chains of fused multiply-adds, the first of equal ones wins."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


CENTRES = np.array([[float(f"{((c * 37 + j * 11) % 97) / 97:.4f}") for j in range(34)] for c in range(5)], np.float32)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the nearest centre of each point."""
    features = buffers["features"]
    distances = []
    for centre in CENTRES:
        total = np.zeros(features.shape[1], np.float32)
        for feature, place in zip(features, centre):
            apart = feature - place
            total = fma32(apart, apart, total)
        distances.append(total)
    return {"membership": np.argmin(distances, axis=0).astype(np.int32)}
