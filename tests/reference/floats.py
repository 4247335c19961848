"""Exact floating point on bit patterns, in integer arithmetic: every operation is rounded once, in any IEEE direction.

A format is (exponent bits, fraction bits, the NaN that operations return). A finite (sign, m, e) is (-1)^sign m 2^e.
"""

from __future__ import annotations

import math
from typing import NamedTuple

RN, RZ, RM, RP = range(4)   # to nearest even, towards zero, down, up


class Format(NamedTuple):
    """A binary interchange format."""

    exponent: int
    fraction: int
    nan: int

    @property
    def bits(self) -> int:
        """Return the width in bits."""
        return 1 + self.exponent + self.fraction

    @property
    def sign(self) -> int:
        """Return the sign bit."""
        return 1 << (self.exponent + self.fraction)

    @property
    def infinity(self) -> int:
        """Return the pattern of plus infinity."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def bias(self) -> int:
        """Return the exponent's bias."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def one(self) -> int:
        """Return the pattern of 1.0."""
        return self.bias << self.fraction


F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)
F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, 0xFFF8000000000000)


def is_nan(f: Format, x: int) -> bool:
    """Say whether a pattern is a NaN."""
    return x & ~f.sign > f.infinity


def is_infinite(f: Format, x: int) -> bool:
    """Say whether a pattern is an infinity."""
    return x & ~f.sign == f.infinity


def is_zero(f: Format, x: int) -> bool:
    """Say whether a pattern is a zero."""
    return x & ~f.sign == 0


def is_subnormal(f: Format, x: int) -> bool:
    """Say whether a pattern is a subnormal number."""
    return 0 < x & ~f.sign < 1 << f.fraction


def flush(f: Format, x: int) -> int:
    """Return zero of the same sign for a subnormal number."""
    return x & f.sign if is_subnormal(f, x) else x


def split(f: Format, x: int) -> tuple[int, int, int]:
    """Return (sign, m, e) of a finite number."""
    field = (x >> f.fraction) & ((1 << f.exponent) - 1)
    fraction = x & ((1 << f.fraction) - 1)
    sign = int(bool(x & f.sign))
    if field == 0:
        return sign, fraction, 1 - f.bias - f.fraction
    return sign, fraction | 1 << f.fraction, field - f.bias - f.fraction


def join(f: Format, sign: int, m: int, e: int, mode: int = RN, sticky: bool = False) -> int:
    """Round (-1)^sign m 2^e to the format; `sticky` makes its magnitude larger by an unknown amount below 2^e."""
    m, e = (m << 2) | sticky, e - 2     # room for the unknown amount
    top = f.sign if sign else 0
    if m == 0:
        return top
    least = 1 - f.bias - f.fraction     # exponent of the last place of subnormal numbers
    place = max(m.bit_length() + e - (f.fraction + 1), least)
    shift = place - e
    if shift > 0:
        kept, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        if mode == RN:
            kept += rest > half or (rest == half and kept & 1)
        elif (mode == RP and not sign) or (mode == RM and sign):
            kept += rest != 0
    else:
        kept = m << -shift
    if kept.bit_length() > f.fraction + 1:
        kept, place = kept >> 1, place + 1
    if kept.bit_length() + place > f.bias + 1:
        away = mode == RN or (mode == RP and not sign) or (mode == RM and sign)
        return top | (f.infinity if away else f.infinity - 1)
    if kept >> f.fraction == 0:
        return top | kept
    return top | ((place + f.fraction + f.bias) << f.fraction) | (kept & ((1 << f.fraction) - 1))


def add(f: Format, a: int, b: int, mode: int = RN) -> int:
    """Return a + b."""
    return fma(f, a, f.one, b, mode) if not (is_zero(f, a) and is_zero(f, b)) else _zero_sum(f, a, b, mode)


def subtract(f: Format, a: int, b: int, mode: int = RN) -> int:
    """Return a - b."""
    return add(f, a, b if is_nan(f, b) else b ^ f.sign, mode)


def _zero_sum(f: Format, a: int, b: int, mode: int) -> int:
    """Return the sum of two zeros: their sign if it is the same, else plus, or minus when rounding down."""
    if a == b:
        return a
    return f.sign if mode == RM else 0


def multiply(f: Format, a: int, b: int, mode: int = RN) -> int:
    """Return a * b."""
    if is_nan(f, a) or is_nan(f, b):
        return f.nan
    sign = (a ^ b) & f.sign
    if is_infinite(f, a) or is_infinite(f, b):
        return f.nan if is_zero(f, a) or is_zero(f, b) else sign | f.infinity
    (sa, ma, ea), (sb, mb, eb) = split(f, a), split(f, b)
    return join(f, sa ^ sb, ma * mb, ea + eb, mode)


def fma(f: Format, a: int, b: int, c: int, mode: int = RN) -> int:
    """Return a * b + c, rounded once."""
    if is_nan(f, a) or is_nan(f, b) or is_nan(f, c):
        return f.nan
    product_sign = (a ^ b) & f.sign
    if is_infinite(f, a) or is_infinite(f, b):
        if is_zero(f, a) or is_zero(f, b) or (is_infinite(f, c) and (c & f.sign) != product_sign):
            return f.nan
        return product_sign | f.infinity
    if is_infinite(f, c):
        return c
    (sa, ma, ea), (sb, mb, eb), (sc, mc, ec) = split(f, a), split(f, b), split(f, c)
    if ma == 0 or mb == 0:
        return c if mc else _zero_sum(f, product_sign, c, mode)
    low = min(ea + eb, ec)
    total = (ma * mb << (ea + eb - low)) * (-1 if sa ^ sb else 1) + (mc << (ec - low)) * (-1 if sc else 1)
    if total == 0:
        return f.sign if mode == RM else 0
    return join(f, int(total < 0), abs(total), low, mode)


def divide(f: Format, a: int, b: int, mode: int = RN) -> int:
    """Return a / b."""
    if is_nan(f, a) or is_nan(f, b):
        return f.nan
    sign = (a ^ b) & f.sign
    if is_infinite(f, a):
        return f.nan if is_infinite(f, b) else sign | f.infinity
    if is_infinite(f, b):
        return sign
    if is_zero(f, b):
        return f.nan if is_zero(f, a) else sign | f.infinity
    (sa, ma, ea), (sb, mb, eb) = split(f, a), split(f, b)
    more = 2 * f.fraction + 8
    quotient, rest = divmod(ma << more, mb)
    return join(f, sa ^ sb, quotient, ea - eb - more, mode, rest != 0)


def square_root(f: Format, a: int, mode: int = RN) -> int:
    """Return the square root."""
    if is_nan(f, a):
        return f.nan
    if is_zero(f, a):
        return a
    if a & f.sign:
        return f.nan
    if is_infinite(f, a):
        return a
    _, m, e = split(f, a)
    more = 2 * f.fraction + 8
    more += (e - more) & 1
    m, e = m << more, e - more
    root = math.isqrt(m)
    return join(f, 0, root, e // 2, mode, root * root != m)


def order(f: Format, x: int) -> int:
    """Return an integer that sorts like the number, -0 just below +0 (not for NaN)."""
    return -(x & ~f.sign) - 1 if x & f.sign else x


def compare(f: Format, a: int, b: int) -> int | None:
    """Return -1, 0 or 1 as a is less than, equal to or greater than b; None if either is a NaN."""
    if is_nan(f, a) or is_nan(f, b):
        return None
    if is_zero(f, a) and is_zero(f, b):
        return 0
    x, y = order(f, a), order(f, b)
    return (x > y) - (x < y)


def smallest(f: Format, a: int, b: int, propagate_nan: bool = False) -> int:
    """Return the minimum; of a number and a NaN, the number unless `propagate_nan`; -0 is below +0."""
    if is_nan(f, a) or is_nan(f, b):
        if propagate_nan or (is_nan(f, a) and is_nan(f, b)):
            return f.nan
        return b if is_nan(f, a) else a
    return a if order(f, a) < order(f, b) else b


def largest(f: Format, a: int, b: int, propagate_nan: bool = False) -> int:
    """Return the maximum, by the same rules."""
    if is_nan(f, a) or is_nan(f, b):
        return smallest(f, a, b, propagate_nan)
    return b if order(f, a) < order(f, b) else a


def saturate(f: Format, x: int) -> int:
    """Clamp to [0, 1]; NaN becomes +0."""
    if is_nan(f, x) or x & f.sign:
        return 0
    return min(x, f.one)


def to_format(source: Format, target: Format, x: int, mode: int = RN) -> int:
    """Convert between formats."""
    if is_nan(source, x):
        return target.nan
    if is_infinite(source, x):
        return (target.sign if x & source.sign else 0) | target.infinity
    return join(target, *split(source, x), mode)


def f32_to_f64(x: int) -> int:
    """Convert to f64; a NaN becomes quiet and keeps its sign and its other bits."""
    if not is_nan(F32, x):
        return to_format(F32, F64, x)
    return (F64.sign if x & F32.sign else 0) | F64.infinity | 1 << 51 | (x & 0x7FFFFF) << 29


def from_integer(f: Format, value: int, mode: int = RN) -> int:
    """Convert a whole number."""
    return join(f, int(value < 0), abs(value), 0, mode)


def round_whole(f: Format, x: int, mode: int) -> int:
    """Round to a whole number in the same format; zeros keep the sign."""
    if is_nan(f, x):
        return f.nan
    if is_infinite(f, x):
        return x
    value = to_integer(f, x, mode)
    return from_integer(f, value) if value else x & f.sign


def to_integer(f: Format, x: int, mode: int) -> int:
    """Return the whole number that a finite number rounds to, of any size."""
    sign, m, e = split(f, x)
    if e >= 0:
        value = m << e
    else:
        value, rest = m >> -e, m & ((1 << -e) - 1)
        half = 1 << (-e - 1)
        if mode == RN:
            value += rest > half or (rest == half and value & 1)
        elif (mode == RP and not sign) or (mode == RM and sign):
            value += rest != 0
    return -value if sign else value


def to_float(f: Format, x: int) -> float:
    """Return a pattern as a Python float (exact for every format)."""
    if is_nan(f, x):
        return math.nan
    if is_infinite(f, x):
        return -math.inf if x & f.sign else math.inf
    sign, m, e = split(f, x)
    size = math.ldexp(m, e)
    return -size if sign else size


def from_float(f: Format, value: float) -> int:
    """Round a Python float to the nearest pattern."""
    if math.isnan(value):
        return f.nan
    if math.isinf(value):
        return (f.sign if value < 0 else 0) | f.infinity
    if value == 0:
        return f.sign if math.copysign(1.0, value) < 0 else 0
    numerator, denominator = abs(value).as_integer_ratio()
    return join(f, int(value < 0), numerator, 1 - denominator.bit_length())
