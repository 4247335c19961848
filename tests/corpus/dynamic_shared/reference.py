"""NumPy reference of dynamic_shared: one array of 128 words per CTA, seen as floats, words and doubles."""

from __future__ import annotations

import numpy as np


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what is read through each view."""
    bits, doubles, out = np.zeros((2, 128), "u4"), np.zeros(64, "f8"), np.zeros(128, "f4")
    t = np.arange(64)
    for cta in range(2):
        mine = buffers["in"][cta * 64:cta * 64 + 64]
        shared = np.zeros(128, "f4")
        shared[:64] = mine
        bits[0, cta * 64:cta * 64 + 64] = shared.view("u4")[63 - t]
        shared.view("f8")[32:] = mine[:32].astype("f8") * 4.0
        out[cta * 64:cta * 64 + 64] = shared[:64] + (-mine)[t ^ 1]
        doubles[cta * 32:cta * 32 + 32] = shared.view("f8")[63 - np.arange(32)]
        bits[1, cta * 64:cta * 64 + 64] = t & 31
    return {"bits": bits, "doubles": doubles, "out": out}
