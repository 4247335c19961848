"""Reference of indirect_calls: the same choices, made in NumPy."""

from __future__ import annotations

import numpy as np

OPERATIONS = (np.add, np.multiply, np.subtract)


def chosen(choice: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sum, product or difference that each thread chose."""
    return np.choose(choice, [operation(a, b) for operation in OPERATIONS])


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the results of the called functions."""
    choice = buffers["choice"]
    i = np.arange(choice.size)
    f = i.astype("f4")
    value = chosen(choice, f, np.float32(2)) + chosen(2 - i % 3, np.float32(3), f)
    for k in range(5):
        value = chosen(np.roll(choice, -k), value, np.float32(1.5))
    return {"out": value.astype("f4"), "areas": np.where(i & 1, (choice + 3) ** 2 + i, i).astype("i4")}
