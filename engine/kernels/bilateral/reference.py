"""NumPy reference of bilateral: weights by distance and difference, rows and columns ascending, one rounding each."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

RADIUS = 3
NEAR_BY = np.array([0.135335, 0.411112, 0.800737, 1.0, 0.800737, 0.411112, 0.135335], np.float32)
SHIFTS = (0, 8, 16)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the filtered image: a pixel beyond the edge is that at the edge."""
    image, alike = buffers["image"].astype(np.int64), buffers["alike"]
    height, width = image.shape
    wide = np.pad(image, RADIUS, mode="edge")
    middle = [image >> shift & 255 for shift in SHIFTS]
    colours = [np.zeros(image.shape, np.float32) for _ in SHIFTS]
    total = np.zeros(image.shape, np.float32)
    for dy, across in enumerate(NEAR_BY):
        for dx, along in enumerate(NEAR_BY):
            here = wide[dy:dy + height, dx:dx + width]
            parts = [here >> shift & 255 for shift in SHIFTS]
            apart = sum(abs(part - own) for part, own in zip(parts, middle)) // 3
            weight = across * along * alike[apart]
            colours = [fma32(weight, part.astype(np.float32), colour) for part, colour in zip(parts, colours)]
            total = total + weight
    out = np.zeros(image.shape, np.uint32)
    for shift, colour in zip(SHIFTS, colours):
        out |= fma32(colour, np.float32(1) / total, np.float32(0.5)).astype(np.uint32) << np.uint32(shift)
    return {"filtered": out}
