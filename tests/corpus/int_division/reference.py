"""Reference of int_division; C divides toward zero."""

from __future__ import annotations

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """Return dividends and divisors of all sizes and signs; no divisor is 0, no quotient overflows."""
    state = np.random.RandomState(140)
    a = state.randint(-2**31 + 1, 2**31, 64, np.int64).astype("i4")
    b = (state.randint(1, 2**31, 64, np.int64) >> state.randint(0, 31, 64)) | 1
    c = state.randint(-2**63 + 1, 2**63 - 1, 64, np.int64) >> state.randint(0, 40, 64)
    d = (state.randint(1, 2**63 - 1, 64, np.int64) >> state.randint(0, 62, 64)) | 1
    sign = np.where(state.randint(0, 2, 64) == 1, 1, -1)
    return {"a": a, "b": (b * sign).astype("i4"), "c": c, "d": d * sign}


def divide(x: int, y: int) -> tuple[int, int]:
    """Return quotient and remainder toward zero."""
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def short(value: int) -> int:
    """Return the low 16 bits as a signed number."""
    return (value + 2**15) % 2**16 - 2**15


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quotients and remainders, one row per kind."""
    m32, m64 = 2**32 - 1, 2**64 - 1
    rows, wide = [], []
    for x, y in zip(buffers["a"].tolist(), buffers["b"].tolist()):
        u, v = x & m32, y & m32
        rows.append([*divide(x, y), u // v, u % v, divide(x, 7)[0] + divide(x, 1000)[1] + u // 10,
                     divide(short(x), short(y | 1))[0], (x & 0xFFFF) % ((y | 1) & 0xFFFF)])
    for p, q in zip(buffers["c"].tolist(), buffers["d"].tolist()):
        wide.append([*divide(p, q), (p & m64) // (q & m64), (p & m64) % (q & m64),
                     divide(p, 1000003)[0] - divide(p, 97)[1]])
    return {"out": (np.array(rows, "i8").T & m32).astype("u4").view("i4"),
            "wide": np.array([[value & m64 for value in row] for row in wide], "u8").T.copy().view("i8")}
