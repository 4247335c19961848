"""NumPy reference of half_floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.corpus.ieee import apply, round_to


def inputs() -> dict[str, np.ndarray]:
    """Return floats around every edge of half precision."""
    edges = [0.0, -0.0, 1.0, -2.5, 65504.0, 65519.0, 65520.0, 1e6, -1e6, 6.0e-8, 2.9e-8, -3.1e-8, 6.1e-5, 6.0e-5,
             np.inf, -np.inf]
    return {"in": np.concatenate([edges, np.random.RandomState(147).uniform(-3000, 3000, 48)]).astype("f4")}


def to_half(values: np.ndarray, mode: str) -> np.ndarray:
    """Return float32 values rounded to half."""
    def one(x):
        return np.float16(x) if not np.isfinite(x) or x == 0 else round_to(Fraction(float(x)), np.float16, mode)
    return apply(one, np.float16, values)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return conversions and arithmetic, each operation rounded once to half."""
    x, pairs = buffers["in"], buffers["pairs"]
    swapped = pairs[:, ::-1]
    clipped = np.clip(np.trunc(x.astype("f8")), -2**31, 2**31 - 1)  # (int) of an infinity saturates
    wide, wide_swapped = pairs.astype("f8"), swapped.astype("f8")  # sums and products of halves are exact in double
    out = [to_half(x, "rn"), to_half(x, "rz"), to_half(x, "ru"), clipped.astype("f2"),
           (wide[:, 0] - wide[:, 1]).astype("f2")]
    floats = [buffers["halves"].astype("f4") * np.float32(0.5),
              np.where(pairs[:, 0] < pairs[:, 1], np.float32(1), np.float32(2))]
    pairs_out = [wide + wide_swapped, wide * wide_swapped, wide * wide_swapped + wide]
    return {"out": np.stack(out), "floats": np.stack(floats), "pairs_out": np.stack(pairs_out).astype("f2")}
