"""Reference of struct_params; every step is exact in double precision."""

from __future__ import annotations

import numpy as np

TAPS = (0.5, -1.0, 2.0, 0.25, -0.75)
SHIFT, BIAS, SCALE, CORNER_Z, LIMIT, SIGN, BIG, FACTOR = 2, -7, 1.5, 33, 900, -1, 123456789012345, 0.125


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the filtered values; the launch file holds the same numbers as bytes."""
    out = []
    for i, number in enumerate(buffers["in"].tolist()):
        total = sum(TAPS[(k + i) % 5] * (number >> SHIFT) for k in range(5))
        value = total * SCALE + BIAS + CORNER_Z + (BIG >> 30) * FACTOR
        out.append(-(value * SIGN if number > LIMIT else value))
    return {"out": np.array(out, "f8")}
