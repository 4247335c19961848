"""Reference of wide_division: Python's integers."""

from __future__ import annotations

import numpy as np

WORD = 2**64


def inputs() -> dict[str, np.ndarray]:
    """Return pairs of random magnitudes."""
    random = np.random.RandomState(12)
    return {"in": random.randint(-(2**63), 2**63 - 1, (64, 2), "i8") >> random.randint(0, 61, (64, 2))}


def quotient(a: int, b: int) -> int:
    """Return a / b towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    """Return the remainder of a / b, with a's sign."""
    return a - quotient(a, b) * b


def signed(value: int, bits: int) -> int:
    """Return the low bits as a signed number."""
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def row(x: int, y: int) -> list[int]:
    """Return the results of one thread."""
    y |= 1
    p, q, a, b = signed(x, 32), signed(y, 32), x % WORD, y % WORD
    w, v = a * b + a, x * y - x
    return [quotient(x, y), rest(x, y), a // b, a % b, w // (b >> 3 | 1), w % (b >> 3 | 1),
            quotient(v, y >> 5 | 1), rest(v, y >> 5 | 1), quotient(p, q | 2), x % 2**32 % (y % 2**16 | 1),
            signed(x % 2**16 * (y % 2**16) + p, 32), quotient(x, 1000) + a % 60]


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the low 64 bits of every quotient and remainder."""
    return {"out": np.array([[signed(value, 64) for value in row(x, y)] for x, y in buffers["in"].tolist()], "i8")}
