"""Fused multiply-adds for NumPy references: one rounding, as `fma.rn` does it; NumPy has none of its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a * b + c, rounded once to float64 if any of them is that, otherwise to float32."""
    return (fma64 if np.result_type(a, b, c) == np.float64 else fma32)(a, b, c)


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a * b + c of float32 arrays (any shapes that broadcast), rounded once to float32.

    The product is exact in float64. The sum is rounded to odd there, which keeps it from being rounded twice when it
    becomes float32: float64 has more than 2 x 24 + 2 bits (Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008).
    """
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.asarray(product + addend)
        virtual = total - product
        error = (product - (total - virtual)) + (addend - virtual)  # exact: Knuth's TwoSum
        is_even = (total.view(np.int64) & 1) == 0
        to_odd = np.isfinite(error) & (error != 0) & is_even
        return np.where(to_odd, np.nextafter(total, np.copysign(np.inf, error)), total).astype(np.float32)


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a * b + c of finite float64 arrays, rounded once; slow, one exact fraction per element."""
    a, b, c = np.broadcast_arrays(a, b, c)
    flat = [float(Fraction(x) * Fraction(y) + Fraction(z))
            for x, y, z in zip(a.ravel().tolist(), b.ravel().tolist(), c.ravel().tolist())]
    return np.array(flat, np.float64).reshape(a.shape)
