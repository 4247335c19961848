"""Exact IEEE arithmetic for references: round a fraction to f16, f32 or f64 in any direction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def round_to(exact: Fraction, dtype: type[np.floating], mode: str = "rn"):
    """Return `exact` as a NumPy scalar of `dtype`; exact zero gives +0.0. Nearest even, or toward 0, +inf, -inf."""
    try:
        double = float(exact)
    except OverflowError:
        double = math.inf if exact > 0 else -math.inf
    if dtype is not np.float64 and math.isfinite(double) and Fraction(double) != exact:
        # Round to odd in double, so that the second rounding knows on which side the exact value lies.
        bits = np.float64(double).view(np.int64)
        if bits & 1 == 0:
            double = math.nextafter(double, math.inf if exact > Fraction(double) else -math.inf)
    with np.errstate(over="ignore"):
        near = dtype(double)
    above = np.isinf(near) and near > 0 or np.isfinite(near) and Fraction(float(near)) > exact
    below = np.isinf(near) and near < 0 or np.isfinite(near) and Fraction(float(near)) < exact
    if above and (mode == "rd" or mode == "rz" and exact > 0):
        return np.nextafter(near, dtype(-np.inf))
    if below and (mode == "ru" or mode == "rz" and exact < 0):
        return np.nextafter(near, dtype(np.inf))
    if near == 0 and exact < 0:
        return dtype(-0.0)
    return near


def root_to(exact: Fraction, dtype: type[np.floating], mode: str = "rn"):
    """Return the square root of a fraction that is not negative, rounded once."""
    # 2^-400 below the last bit of any float: enough to see on which side of it, or of a midpoint, the root lies.
    scaled = math.isqrt((exact.numerator << 2400) // exact.denominator)
    root = Fraction(scaled, 1 << 1200)
    if root * root != exact:
        root += Fraction(1, 1 << 1201)
    return round_to(root, dtype, mode)


def apply(function, dtype: type[np.floating], *arrays: np.ndarray) -> np.ndarray:
    """Return function(x, y, ...) of the elements as an array of `dtype`."""
    flat = [np.ravel(array) for array in arrays]
    return np.array([function(*values) for values in zip(*flat)], dtype).reshape(arrays[0].shape)


def finite(operation, dtype: type[np.floating], mode: str, *arrays: np.ndarray) -> np.ndarray:
    """Return an exact rational operation rounded by `mode`; NumPy's own result if an operand or the result is special.

    operation(*values) must work on fractions as well as on NumPy scalars of `dtype`.
    """

    def one(*values):
        with np.errstate(all="ignore"):
            plain = dtype(operation(*values))
        if not all(np.isfinite(value) for value in values) or np.isnan(plain):
            return plain
        try:
            exact = operation(*(Fraction(float(value)) for value in values))
        except ZeroDivisionError:
            return plain
        return plain if exact == 0 else round_to(exact, dtype, mode)

    return apply(one, dtype, *arrays)


def flush(values: np.ndarray) -> np.ndarray:
    """Return float32 values with subnormals replaced by zeros of the same sign (.ftz)."""
    tiny = np.abs(values) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), values), values)
