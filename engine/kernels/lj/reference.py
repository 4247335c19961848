"""NumPy reference of lj: the source's operations in its order, neighbour by neighbour."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the forces, x of all atoms, then y, then z."""
    place = buffers["place"]
    force = np.zeros(place.shape, np.float32)
    one, half = np.float32(1), np.float32(0.5)
    for others in buffers["neighbour"]:
        apart = place - place[:, others]
        square = fma32(apart[0], apart[0], fma32(apart[1], apart[1], fma32(apart[2], apart[2], half)))
        inverse = one / square
        sixth = inverse * inverse * inverse
        strength = inverse * sixth * fma32(np.float32(1.5), sixth, np.float32(-2))
        near = square < 100
        force = np.where(near, fma32(strength, apart, force), force)
    return {"force": force}
