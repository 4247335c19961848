"""NumPy reference of atomics, applied in thread order; the results hold for every order."""

from __future__ import annotations

import numpy as np

CTA = 64


def inputs() -> dict[str, np.ndarray]:
    """Return initial words: small numbers, of which some equal the 5 that the compare-and-swap looks for."""
    ints = np.random.RandomState(127).randint(0, 10, 8 + 2 * 128)
    ints[:8] = 0
    return {"ints": ints.astype("i4"), "unsigneds": np.array([0, 0, 0xFFFFFFFF, 0, 0], "u4")}


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return all memory the kernel changes."""
    values = [int(value) for value in buffers["in"]]
    n = len(values)
    ints, unsigneds = buffers["ints"].astype("i8"), [int(word) for word in buffers["unsigneds"]]
    ints[:4] += [sum(values), min(values), max(values), -sum(values)]
    xored, wide_max = int(ints[4]), 0
    unsigneds[0] += n // CTA * (CTA % 13)
    for value in values:
        unsigneds[1] |= 1 << (value & 31)
        unsigneds[2] &= ~(1 << (value & 15))
        unsigneds[3] = 99 if unsigneds[3] == 0 or unsigneds[3] > 99 else unsigneds[3] - 1
        unsigneds[4] = max(unsigneds[4], value * 77777 & 0xFFFFFFFF)
        xored ^= value * 2654435
        wide_max = max(wide_max, (value + 100) << 33)
    ints[4] = xored
    old = ints[8:].reshape(2, n).copy()
    ints[8:8 + n] = np.array(values) + 1
    ints[8 + n:] = np.where(old[1] == 5, values, old[1])
    return {"ints": (ints & 0xFFFFFFFF).astype("u4").view("i4"), "unsigneds": np.array(unsigneds, "u4"),
            "floats": np.array([sum(values), n * 0.5], "f4"),
            "doubles": np.array([sum(values), 2 * sum(values)], "f8"),
            "wide": np.array([sum(values) * 2**20 % 2**64, wide_max], "u8"), "returned": old.astype("i4")}
