"""Reference of float_edges by exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rfview.engine.kernels.rounding import fma32
from tests.corpus.ieee import apply, finite, flush, root_to


def inputs() -> dict[str, np.ndarray]:
    """Return all pairs of some edges, then random bit patterns."""
    state = np.random.RandomState(153)
    special = [0.0, -0.0, 1.0, -1.5, 1e-40, -2e-45, 3.4e38, np.inf, -np.inf, np.nan]
    a, b = (edge.ravel() for edge in np.meshgrid(special, special))
    random = [state.randint(0, 2**32, 28, np.uint64).astype("u4").view("f4") for _ in range(2)]
    random = [np.where(np.isnan(values), np.float32(0.1), values) for values in random]
    wide = [0.0, -0.0, 1.0, -1.5, 1e-310, -5e-324, 1.7e308, np.inf, -np.inf, np.nan]
    c, d = (edge.ravel() for edge in np.meshgrid(wide, wide))
    return {"a": np.concatenate([a, random[0]]).astype("f4"), "b": np.concatenate([b, random[1]]).astype("f4"),
            "c": np.concatenate([c, state.uniform(-9, 9, 28)]), "d": np.concatenate([d, state.uniform(-1e-3, 9, 28)])}


def root(values: np.ndarray, dtype: type[np.floating], mode: str) -> np.ndarray:
    """Return square roots rounded by `mode`; NaN below zero."""
    def one(x):
        return root_to(Fraction(float(x)), dtype, mode) if np.isfinite(x) and x > 0 else np.sqrt(x)
    return apply(one, dtype, values)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one row per operation and a word of comparison results."""
    x, y, p, q = (buffers[name] for name in "abcd")
    f4, f8 = np.float32, np.float64
    fx, fy = flush(x), flush(y)
    flushed = flush(fx * fy)
    rows = [x + y, finite(lambda a, b: a + b, f4, "rz", x, y), finite(lambda a, b: a * b, f4, "ru", x, y),
            finite(lambda a, b: a * b, f4, "rd", x, y), x / y, np.sqrt(x), f4(1) / x,
            finite(lambda a, b: a * b + 1, f4, "rz", x, y), fma32(x, y, -x), np.fmin(x, y), np.fmax(x, y),
            np.copysign(x, y), flush(fx + fy), np.where(np.isnan(flushed), 0, np.clip(flushed, 0, 1)), -x, np.abs(x),
            finite(lambda a, b: a / b, f4, "rz", x, y), root(x, f4, "ru")]
    wide = [finite(lambda a, b: a + b, f8, "ru", p, q), finite(lambda a, b: a * b, f8, "rz", p, q), p / q,
            np.sqrt(p), np.fmin(p, q), finite(lambda a, b: a * b + 1, f8, "rn", p, q)]
    tests = [x < y, x <= y, x == y, x != y, ~(x > y), ~(x >= y), ~(x < y), np.isnan(x), np.isinf(y), p < q, ~(p <= q),
             np.signbit(x)]
    flags = sum(np.where(test, 1 << bit, 0) for bit, test in enumerate(tests))
    return {"out": np.stack(rows).astype("f4"), "wide": np.stack(wide), "flags": np.asarray(flags).astype("i4")}
