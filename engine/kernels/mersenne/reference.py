"""NumPy reference of mersenne: the twisters' integers exactly; sines, cosines and logarithms rounded from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

WORDS, MIDDLE = 19, 9
LN2, PI = np.float32(np.log(2)), np.float32(np.pi)


def approximate(function: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Return function(x) of float32 values, computed in float64 and rounded once."""
    return function(x.astype(np.float64)).astype(np.float32)


def uniform(memory: dict[str, np.ndarray]) -> np.ndarray:
    """Return the numbers in 0..1 of all twisters, one row per step."""
    state = np.zeros((WORDS, len(memory["seed"])), np.uint32)
    state[0] = memory["seed"]
    for i in range(1, WORDS):
        state[i] = np.uint32(1812433253) * (state[i - 1] ^ state[i - 1] >> np.uint32(30)) + np.uint32(i)
    rows = []
    for number in range(len(memory["output"])):
        at = number % WORDS
        x = state[at] & np.uint32(0xFFFFFFFE) | state[(at + 1) % WORDS] & np.uint32(1)
        odd = np.where(x & np.uint32(1), memory["matrix"], np.uint32(0))
        x = state[(at + MIDDLE) % WORDS] ^ x >> np.uint32(1) ^ odd
        state[at] = x
        x = x ^ x >> np.uint32(12)
        x = x ^ x << np.uint32(7) & memory["mask_b"]
        x = x ^ x << np.uint32(15) & memory["mask_c"]
        x = x ^ x >> np.uint32(18)
        rows.append(((x >> np.uint32(8)) + np.uint32(1)).astype(np.float32) * np.float32(2.0**-24))
    return np.array(rows)


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the normal numbers, two rows from two of uniform ones."""
    first, second = np.moveaxis(uniform(memory).reshape(-1, 2, len(memory["seed"])), 1, 0)
    radius = np.sqrt(approximate(np.log2, first) * LN2 * np.float32(-2))
    angle = fma32(second, 2 * PI, -PI)
    pairs = [radius * approximate(np.cos, angle), radius * approximate(np.sin, angle)]
    return {"output": np.stack(pairs, axis=1).reshape(memory["output"].shape)}
