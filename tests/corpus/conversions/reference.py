"""Reference of conversions by exact fractions, as the PTX manual defines cvt."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tests.corpus.ieee import apply, round_to

ROUND = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}


def inputs() -> dict[str, np.ndarray]:
    """Return values at every edge, then random ones."""
    state = np.random.RandomState(152)
    edges = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 0.99999994, 255.5, 256.0, -1.0, 2147483520.0, 2147483648.0,
             -2147483648.0, -3e9, 4294967040.0, 4294967296.0, 9.2e18, -9.3e18, 1.9e19, 1e-40, np.inf, -np.inf, np.nan]
    f = np.concatenate([edges, state.uniform(-300, 300, 40)]).astype("f4")
    d = np.concatenate([edges, [2147483647.5, -2147483648.5, 1e-310, 3.4028235677973366e38, 1 + 2.0**-24, 1e-46],
                        state.uniform(-1e10, 1e10, 34)])
    k = np.concatenate([[0, 1, -1, 127, 128, -128, -129, 65535, 65536, 2**31 - 1, -2**31, 2**24 + 1, -2**24 - 1],
                        state.randint(-2**31, 2**31, 51, np.int64)]).astype("i4")
    w = np.concatenate([[0, 1, -1, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 2**24 + 1, 2**40 + 1],
                        state.randint(-2**62, 2**62, 55, np.int64) >> state.randint(0, 50, 55)]).astype("i8")
    return {"f": f, "d": d, "k": k, "w": w}


def to_int(x: np.floating, mode: str, low: int, high: int) -> int:
    """Return a float as an integer, saturated.

    NaN becomes 0 if the source is f32 and the target has up to 32 bits; otherwise only the target's top bit is set.
    """
    if np.isnan(x):
        bits = (high - low).bit_length()
        return 0 if isinstance(x, np.float32) and bits <= 32 else 1 << (bits - 1)
    if np.isinf(x):
        return high if x > 0 else low
    return min(max(ROUND[mode](Fraction(float(x))), low), high)


def ints(values: np.ndarray, mode: str, low: int, high: int, bits: int = 32) -> np.ndarray:
    """Return saturated integers in two's complement of `bits`."""
    words = [to_int(x, mode, low, high) & ((1 << bits) - 1) for x in values]
    return np.array(words, f"u{bits // 8}").view(f"i{bits // 8}")


def floats(values, dtype: type[np.floating], mode: str) -> np.ndarray:
    """Return integers or floats rounded to `dtype`."""
    def one(x):
        if isinstance(x, np.floating) and (not np.isfinite(x) or x == 0):
            return dtype(x)
        return round_to(Fraction(float(x)) if isinstance(x, np.floating) else Fraction(int(x)), dtype, mode)
    return apply(one, dtype, values)


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one row per conversion."""
    f, d, k, w = (buffers[name] for name in "fdkw")
    s32, u32, s64, u64 = (-2**31, 2**31 - 1), (0, 2**32 - 1), (-2**63, 2**63 - 1), (0, 2**64 - 1)
    words = d.view("u8")
    int_rows = [ints(f, "rn", *s32), ints(f, "rz", *s32), ints(f, "ru", *s32), ints(f, "rd", *s32),
                ints(f, "rz", *u32), ints(d, "rn", *s32), ints(d, "rz", *s32),
                ((words >> 32) ^ (words & 0xFFFFFFFF)).astype("u4").view("i4"),
                ints(f, "rz", 0, 255), np.clip(k, -128, 127), np.clip(k, 0, 65535)]
    long_rows = [ints(f, "rz", *s64, 64), ints(d, "rd", *s64, 64), ints(d, "rz", *u64, 64), k.astype("i8"),
                 k.view("u4").astype("i8")]
    float_rows = [floats(d, np.float32, "rn"), floats(d, np.float32, "rz"), k.astype("f4"),
                  floats(k.view("u4"), np.float32, "ru"), w.astype("f4"), floats(w.view("u8"), np.float32, "rn"),
                  np.where(np.isnan(f), 0, np.clip(f, 0, 1)), np.rint(f) + np.trunc(f) * np.float32(0.5),
                  np.floor(f) - np.ceil(f)]
    double_rows = [f.astype("f8"), w.astype("f8"), floats(w.view("u8"), np.float64, "rz"),
                   np.rint(d) + np.trunc(d) * 0.5, k.view("u4").astype("f8")]
    return {"ints": np.stack(int_rows).astype("i4"), "longs": np.stack(long_rows),
            "floats": np.stack(float_rows).astype("f4"), "doubles": np.stack(double_rows)}
