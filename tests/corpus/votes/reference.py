"""NumPy reference of votes."""

from __future__ import annotations

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """Return four warps: mixed below 16, mixed, all equal, and even values above 7."""
    state = np.random.RandomState(126)
    warps = [state.randint(0, 16, 32), state.randint(0, 40, 32), np.full(32, 3), state.randint(4, 8, 32) * 2]
    return {"in": np.concatenate(warps).astype("i4")}


def mask(lanes: np.ndarray) -> int:
    """Return the 32 truth values as a mask."""
    return int(sum(1 << lane for lane in range(32) if lanes[lane]))


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one row per vote."""
    out = np.zeros((12, buffers["in"].size), np.uint32)
    for begin in range(0, buffers["in"].size, 32):
        v, keys = buffers["in"][begin:begin + 32], buffers["keys"][begin:begin + 32]
        odd, same_high = mask(v & 1), bool((v >> 4 == v[0] >> 4).all())
        above = v > 7
        for lane in range(32):
            is_odd = bool(v[lane] & 1)
            out[:, begin + lane] = [
                odd, bool((v == 3).any()), bool((v < 16).all()), mask(v == v[lane]), 0xFFFFFFFF if same_high else 0,
                bin(odd & ((1 << lane) - 1)).count("1"), (0xFFFFFFFF << lane & 0xFFFFFFFF) ^ 1 << lane,
                mask(keys == keys[lane]), odd if is_odd else 0,
                mask(((v & 1) == 1) & (np.arange(32) & 2 != 0)) if is_odd else 0,
                bool(above.all() or not above.any()), same_high]
    return {"out": out}
