"""NumPy reference of newer_forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.corpus.ieee import round_to

EDGES = np.array([0x7F800000, 0xFF800000, 0x7FC00000, 0x3F801000, 0x3F803000, 0x3F802FFF, 0x7F7FFFFF, 0x80001000], "u4")


def inputs() -> dict[str, np.ndarray]:
    """Return halves, and floats that include ties, the largest one, infinities and a NaN."""
    state = np.random.RandomState(79)
    floats = state.uniform(-100, 100, 192).astype("f4")
    floats[:8] = EDGES.view("f4")
    return {"h": state.uniform(-4, 4, 128).astype("f2"), "f": floats}


def to_tf32(word: int, is_even: bool) -> int:
    """Round the bits of a float to 10 bits of mantissa; NaN is 0x7fffffff."""
    if word & 0x7FFFFFFF > 0x7F800000:
        return 0x7FFFFFFF
    low = word & 0x1FFF
    is_up = low > 0x1000 or low == 0x1000 and (not is_even or word & 0x2000 != 0)
    return word - low + 0x2000 * is_up


def reference(buffers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the words of both roundings, the sums, minima and maxima, and the totals."""
    h, f = buffers["h"], buffers["f"]
    n = h.size // 2
    words = [to_tf32(int(word), is_even) for is_even in (False, True) for word in f[:n].view("u4")]
    exact = [[Fraction(float(value)) for value in array] for array in (h[:n], h[n:], f[2 * n :])]
    sums = [[round_to(fused, np.float32) for fused in row] for row in (
        [a + z for a, _, z in zip(*exact, strict=True)], [a - z for a, _, z in zip(*exact, strict=True)],
        [a * b + z for a, b, z in zip(*exact, strict=True)])]
    three = f.reshape(3, n)
    lanes = np.arange(n)
    return {"tf32": np.array(words, "u4"),
            "out": np.concatenate([*sums, np.fmin.reduce(three), np.fmax.reduce(three)]).astype("f4"),
            "total": np.array([n, lanes.sum(), (lanes % 2).sum(), -lanes.sum()], "f4")}
