"""The special function unit of one lane: approximate reciprocal, roots, powers, logarithm, sine and cosine.

Computed in f64 with + - * / fma and square root only, then rounded once to f32: the same bits on every machine, within
a fraction of an ulp of the true value (PTX allows 1 to 4 ulp), exact where the true result is a power of two. Special
values follow the tables of the PTX manual.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.isa import (FLAG_FTZ, SFU_BF16, SFU_COS, SFU_COS_TURNS, SFU_DIV, SFU_DIV_FULL, SFU_EX2, SFU_HALF2,
                               SFU_LG2, SFU_RCP, SFU_RCP64, SFU_RSQRT, SFU_RSQRT64, SFU_SIN_TURNS, SFU_SQRT, SFU_TANH)
from rfview.engine.values.arithmetic import F64, I64, M32, SIGN64, U64, Z64, bits_f64, f64_bits, fma64, sqrt64
from rfview.engine.compile.jit import jit
from rfview.engine.values.rounding import (INFINITY64, NAN64, ONE, RN, ZERO, exponent_of, finish32, flush_half,
                                           half_to_float, has, is_finite, load32, power_of_two, round_half,
                                           round_integral, scale, sign_of)


LN2 = F64(0.6931471805599453)
TWO_LOG2E = F64(2.8853900817779268)      # 2 / ln 2
TWO_OVER_PI = F64(0.6366197723675814)
TWO_PI = F64(6.283185307179586)
NAN = F64(np.nan)
INFINITY = F64(np.inf)

PI_BITS = 320


def _pi_scaled(bits: int) -> int:
    """Floor of pi * 2**bits, by Machin's formula in integers."""
    guard = bits + 32

    def arctan_inverse(n: int) -> int:
        power = (1 << guard) // n
        total, k, sign = 0, 1, 1
        while power:
            total += sign * (power // k)
            power //= n * n
            k, sign = k + 2, -sign
        return total

    return (4 * (4 * arctan_inverse(5) - arctan_inverse(239))) >> 32


def _reduction_table() -> tuple[np.ndarray, np.ndarray]:
    """For e = 0..127: 2**e modulo pi / 2 as (e, 2) f64 high and low parts, and the quadrant (whole count modulo 4)."""
    half_pi = _pi_scaled(PI_BITS) >> 1
    parts, quadrants = np.zeros((128, 2)), np.zeros(128, np.int64)
    for e in range(128):
        whole, rest = divmod((1 << e) << PI_BITS, half_pi)
        high = rest >> (max(rest.bit_length() - 53, 0)) << (max(rest.bit_length() - 53, 0))
        low = rest - high
        low = low >> (max(low.bit_length() - 53, 0)) << (max(low.bit_length() - 53, 0))
        parts[e] = high / 2**PI_BITS, low / 2**PI_BITS
        quadrants[e] = whole % 4
    return parts, quadrants


REDUCED, QUADRANTS = _reduction_table()


def _split_half_pi() -> tuple[float, float, float]:
    """pi / 2 as three f64 parts; the first two have 33 bits, so that a 20-bit count times each is exact."""
    rest, parts = _pi_scaled(PI_BITS) >> 1, []
    for width in (33, 33, 53):
        shift = rest.bit_length() - width
        parts.append((rest >> shift << shift) / 2**PI_BITS)
        rest -= rest >> shift << shift
    return parts[0], parts[1], parts[2]


HALF_PI_1, HALF_PI_2, HALF_PI_3 = (F64(part) for part in _split_half_pi())
C = tuple(F64(c) for c in (
    1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600,
    1 / 6227020800, 1 / 87178291200))
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14 = C
L3, L5, L7, L9, L11, L13, L15, L17 = (F64(1 / k) for k in (3, 5, 7, 9, 11, 13, 15, 17))


@jit
def exp2_f64(x):
    """2 ** x for |x| <= 1100; exact for whole x."""
    whole = round_integral(x, RN)
    t = (x - whole) * LN2
    p = C12 * t + C11
    p = p * t + C10
    p = p * t + C9
    p = p * t + C8
    p = p * t + C7
    p = p * t + C6
    p = p * t + C5
    p = p * t + C4
    p = p * t + C3
    p = p * t + C2
    p = p * t + ONE
    p = p * t + ONE
    return scale(p, I64(whole))


@jit
def ex2(x):
    """ex2.approx."""
    if x != x:
        return x
    return exp2_f64(max(min(x, F64(1000.0)), F64(-1000.0)))


@jit
def lg2(x):
    """lg2.approx."""
    if x != x or x < ZERO:
        return NAN
    if x == ZERO:
        return -INFINITY
    if not is_finite(x):
        return x
    exponent = exponent_of(x)
    m = scale(x, -exponent)
    if m > F64(1.4142135623730951):
        m = m * F64(0.5)
        exponent = exponent + I64(1)
    s = (m - ONE) / (m + ONE)
    q = s * s
    p = L17 * q + L15
    p = p * q + L13
    p = p * q + L11
    p = p * q + L9
    p = p * q + L7
    p = p * q + L5
    p = p * q + L3
    p = p * q + ONE
    return F64(exponent) + (p * s) * TWO_LOG2E


@jit
def reduced_angle(x):
    """x modulo pi / 2, in about [-pi/4, pi/4], and the quadrant, for a finite f32 value x."""
    if abs(x) < F64(1048576.0):
        count = round_integral(x * TWO_OVER_PI, RN)
        r = ((x - count * HALF_PI_1) - count * HALF_PI_2) - count * HALF_PI_3
        return r, I64(count)
    exponent = exponent_of(x) - I64(23)                # x = m * 2**exponent with a 24-bit whole m
    m = scale(x, -exponent)
    at = max(exponent, I64(0))
    m = scale(m, exponent - at)
    product = m * REDUCED[at, 0]
    error = fma64(m, REDUCED[at, 0], -product) + m * REDUCED[at, 1]
    count = round_integral(product * TWO_OVER_PI, RN)
    r = ((product - count * HALF_PI_1) - count * HALF_PI_2) + (error - count * HALF_PI_3)
    return r, I64(count) + I64(m) * QUADRANTS[at]


@jit
def sine(r):
    """sin r for |r| <= 0.8."""
    q = r * r
    p = C13 * q - C11
    p = p * q + C9
    p = p * q - C7
    p = p * q + C5
    p = p * q - C3
    return r + r * (p * q)


@jit
def cosine(r):
    """cos r for |r| <= 0.8."""
    q = r * r
    p = C12 - C14 * q
    p = p * q - C10
    p = p * q + C8
    p = p * q - C6
    p = p * q + C4
    p = p * q - C2
    return p * q + ONE


@jit
def sin_cos(x, want_cos):
    """sin.approx and cos.approx."""
    if not is_finite(x):
        return NAN
    if x == ZERO:
        return ONE if want_cos else x
    r, count = reduced_angle(x)
    quadrant = (count + (I64(1) if want_cos else I64(0))) & I64(3)
    value = cosine(r) if quadrant & I64(1) else sine(r)
    return -value if quadrant & I64(2) else value


@jit
def sin_cos_turns(x, want_cos):
    """The sine or cosine of 2 pi x, as MUFU computes it: exact at quarter turns."""
    if not is_finite(x):
        return NAN
    part = x - round_integral(x, RN)
    quarters = round_integral(part * F64(4.0), RN)
    r = (part - quarters * F64(0.25)) * TWO_PI
    quadrant = (I64(quarters) + (I64(1) if want_cos else I64(0))) & I64(3)
    value = cosine(r) if quadrant & I64(1) else sine(r)
    return -value if quadrant & I64(2) else value


@jit
def tanh(x):
    """tanh.approx."""
    if x != x:
        return x
    if abs(x) < F64(0.0001):
        return x * (ONE - x * x * C3 * F64(2.0))
    if abs(x) > F64(40.0):
        return ONE if x > ZERO else -ONE
    power = exp2_f64(x * TWO_LOG2E)
    return (power - ONE) / (power + ONE)


@jit
def rsqrt(x):
    """rsqrt.approx: -0 gives -infinity, negative numbers NaN."""
    if x == ZERO:
        return ONE / x
    return ONE / sqrt64(x)


@jit
def function_value(sub, x):
    """The f64 value of one function of one argument."""
    if sub == SFU_RCP:
        return ONE / x
    if sub == SFU_SQRT:
        return sqrt64(x)
    if sub == SFU_RSQRT:
        return rsqrt(x)
    if sub == SFU_EX2:
        return ex2(x)
    if sub == SFU_LG2:
        return lg2(x)
    if sub == SFU_TANH:
        return tanh(x)
    if sub == SFU_SIN_TURNS or sub == SFU_COS_TURNS:
        return sin_cos_turns(x, sub == SFU_COS_TURNS)
    return sin_cos(x, sub == SFU_COS)


@jit
def divide_approx(x, y):
    """div.approx: 0 for a divisor above 2**126 (NaN if x is infinite)."""
    magnitude = abs(y)
    if magnitude > power_of_two(I64(126)) and is_finite(y):
        if not is_finite(x):
            return NAN
        return -ZERO if sign_of(x) != sign_of(y) else ZERO
    return x / y


@jit
def double_function(sub, flags, value):
    """rcp.approx.ftz.f64 (upper word of the result only) and rsqrt.approx.f64, on f64 bits."""
    if has(flags, FLAG_FTZ):
        value = value & ~M32
        if value & INFINITY64 == Z64:
            value = value & SIGN64
    x = bits_f64(value)
    result = ONE / x if sub == SFU_RCP64 else rsqrt(x)
    if result != result:
        return NAN64
    pattern = f64_bits(result)
    if has(flags, FLAG_FTZ):
        pattern = pattern + U64(0x80000000) & ~M32 if is_finite(result) else pattern
        if pattern & INFINITY64 == Z64:
            pattern = pattern & SIGN64
    return pattern


@jit
def half_function(sub, flags, pattern, brain):
    """ex2 and tanh of a half."""
    pattern = pattern & U64(0xFFFF)
    if has(flags, FLAG_FTZ):
        pattern = flush_half(pattern, brain)
    result = round_half(function_value(sub, half_to_float(pattern, brain)), RN, brain)
    return flush_half(result, brain) if has(flags, FLAG_FTZ) else result


@jit
def special(aux, flags, a, b):
    """One OP_SFU operation on raw slot pairs."""
    sub = I64(aux) & I64(255)
    if I64(aux) > I64(255):
        brain = I64(aux) & I64(SFU_BF16) != I64(0)
        low = half_function(sub, flags, a, brain)
        if I64(aux) & I64(SFU_HALF2) != I64(0):
            return low | (half_function(sub, flags, a >> U64(16), brain) << U64(16))
        return low
    if sub == SFU_RCP64 or sub == SFU_RSQRT64:
        return double_function(sub, flags, a)
    x = load32(a & M32, flags)
    if sub == SFU_DIV:
        return finish32(divide_approx(x, load32(b & M32, flags)), flags)
    if sub == SFU_DIV_FULL:
        return finish32(x / load32(b & M32, flags), flags)
    return finish32(function_value(sub, x), flags)
