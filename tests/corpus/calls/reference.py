"""Reference of calls: what the functions return, computed in Python."""

from __future__ import annotations

import numpy as np


def collatz(n: int) -> int:
    """Return the steps to 1."""
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n >> 1), steps + 1
    return steps


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what the called functions store; products by 16 and sums of small numbers are exact."""
    i = np.arange(buffers["in"].size)
    scaled = buffers["in"] * np.float32(16)
    whole = np.trunc(scaled)
    low, flag = scaled - whole, i & 1
    mixed = np.where(i % 3 == 0, 0.25 * i * 2.0 + (2**33 + collatz(7)),
                     [float(collatz(k)) if k % 3 == 1 else 0.0 for k in range(i.size)])
    return {"steps": np.array([collatz(k + 1) for k in range(i.size)], "i4"),
            "low": np.where(flag, -low, low), "high": (whole + flag).astype("i4"), "mixed": mixed}
