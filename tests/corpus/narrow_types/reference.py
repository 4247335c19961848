"""NumPy reference of narrow_types, in 64-bit integers that are truncated at the end."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each narrow result and the sum over all types."""
    t = np.arange(128)
    a = buffers["sc"].astype("i8")
    b = buffers["uc"][t ^ 1].astype("i8")
    c = buffers["ss"][127 - t].astype("i8")
    d = buffers["us"].astype("i8")
    sums = a + b + c + d + np.minimum(c, a) - np.maximum(d, b) + (a < c) + (b > d) * 2 + ~a
    return {"sc_out": (a * 3 - b.astype("i1")).astype("i1"), "uc_out": ((b >> 1) + a).astype("u1"),
            "ss_out": (c * a + (c >> 2)).astype("i2"), "us_out": ((d * 5).astype("u2") // 3 + b).astype("u2"),
            "sums": sums.astype("i4")}
