"""The special function unit of one lane: approximate reciprocal, roots, powers, logarithm, sine and cosine.

Computed in f64 with + - * / fma and square root only, then rounded once to f32: the same bits on every machine, within
a fraction of an ulp of the true value (PTX allows 1 to 4 ulp), exact where the true result is a power of two. Sines, cosines
and divisions have a second step, as in ptxas's code. Special values follow the tables of the PTX manual.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.isa import (FLAG_FTZ, SFU_BF16, SFU_COS, SFU_COS_TURNS, SFU_DIV, SFU_DIV_FULL, SFU_EX2, SFU_HALF2,
                               SFU_LG2, SFU_RCP, SFU_RCP64, SFU_RSQRT, SFU_RSQRT64, SFU_SIN_TURNS, SFU_SQRT, SFU_TANH)
from rfview.engine.values.arithmetic import (F64, I64, M32, SIGN64, U32, U64, Z64, bits_f32, bits_f64, f64_bits, fma64,
                                             sqrt64)
from rfview.engine.compile.device import device
from rfview.engine.values.rounding import (INFINITY64, NAN64, ONE, RN, RZ, ZERO, exponent_of, finish32, flush32, flush_half,
                                           half_to_float, has, is_finite, load32, power_of_two, round_f32, round_half,
                                           round_integral, scale)


LN2 = F64(0.6931471805599453)
TWO_LOG2E = F64(2.8853900817779268)      # 2 / ln 2
TWO_PI = F64(6.283185307179586)
TURN = F64(np.float32(0.15915494309189535))     # 1 / 2 pi, as f32
NAN = F64(np.nan)
INFINITY = F64(np.inf)

C = tuple(F64(c) for c in (
    1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600,
    1 / 6227020800, 1 / 87178291200))
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14 = C
L3, L5, L7, L9, L11, L13, L15, L17 = (F64(1 / k) for k in (3, 5, 7, 9, 11, 13, 15, 17))


@device
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


@device
def ex2(x):
    """ex2.approx."""
    if x != x:
        return x
    return exp2_f64(max(min(x, F64(1000.0)), F64(-1000.0)))


@device
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


@device
def sine(r):
    """sin r for |r| <= 0.8."""
    q = r * r
    p = C13 * q - C11
    p = p * q + C9
    p = p * q - C7
    p = p * q + C5
    p = p * q - C3
    return r + r * (p * q)


@device
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


@device
def sin_cos_turns(x, want_cos):
    """The sine or cosine of 2 pi x, as MUFU computes it: exact at quarter turns; a zero keeps its sign."""
    if not is_finite(x):
        return NAN
    if x == ZERO and not want_cos:
        return x
    part = x - round_integral(x, RN)
    quarters = round_integral(part * F64(4.0), RN)
    r = (part - quarters * F64(0.25)) * TWO_PI
    quadrant = (I64(quarters) + (I64(1) if want_cos else I64(0))) & I64(3)
    value = cosine(r) if quadrant & I64(1) else sine(r)
    return -value if quadrant & I64(2) else value


@device
def sin_cos(x, want_cos):
    """sin.approx and cos.approx, in two steps as on GPUs: the angle in turns, as f32 rounded towards zero; its function.

    The manual's error bounds are those of the first step: 2**-20.5 within a turn of zero, 2**-14.7 within fifty.
    """
    turns = flush32(round_f32(x * TURN, RZ))
    return sin_cos_turns(F64(bits_f32(U32(turns))), want_cos)


@device
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


@device
def rsqrt(x):
    """rsqrt.approx: -0 gives -infinity, negative numbers NaN."""
    if x == ZERO:
        return ONE / x
    return ONE / sqrt64(x)


@device
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


@device
def single(x, flags):
    """An f64 rounded to f32, subnormal numbers being zeros with FLAG_FTZ."""
    pattern = round_f32(x, RN)
    return F64(bits_f32(U32(flush32(pattern) if has(flags, FLAG_FTZ) else pattern)))


@device
def divide(sub, flags, x, y):
    """div.approx and div.full as on GPUs: x times the rounded 1 / y, which is 0 where it is subnormal.

    div.full scales divisors above 2**126, and both subnormal ones unless they are zeros, so that no bit of 1 / y is lost.
    """
    if sub == SFU_DIV_FULL and abs(y) > power_of_two(I64(126)):
        x, y = single(x * F64(0.25), flags), y * F64(0.25)
    if not has(flags, FLAG_FTZ) and abs(y) < power_of_two(I64(-126)):
        x, y = single(x * F64(16777216.0), flags), y * F64(16777216.0)
    return x * single(ONE / y, FLAG_FTZ)


@device
def upper_word(x):
    """A positive f64 rounded to the 20 bits of the fraction that are in its upper word."""
    return bits_f64(f64_bits(x) + U64(0x80000000) & ~M32)


@device
def rsqrt_double(x):
    """rsqrt.approx.f64 as in ptxas's code: the root of the upper word, and a step of refinement."""
    if not x > ZERO or not is_finite(x):
        return rsqrt(x)
    if x < power_of_two(I64(-1022)):
        return rsqrt_double_of_normal(x * power_of_two(I64(54))) * power_of_two(I64(27))
    return rsqrt_double_of_normal(x)


@device
def rsqrt_double_of_normal(x):
    """rsqrt.approx.f64 of a positive normal number."""
    root = upper_word(rsqrt(bits_f64(f64_bits(x) & ~M32)))
    rest = fma64(x, -(root * root), ONE)
    return fma64(fma64(rest, F64(0.375), F64(0.5)), root * rest, root)


@device
def double_function(sub, flags, value):
    """rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (upper word of the result only), and rsqrt.approx.f64, on f64 bits."""
    if has(flags, FLAG_FTZ):
        value = value & ~M32
        if value & INFINITY64 == Z64:
            value = value & SIGN64
    x = bits_f64(value)
    result = ONE / x if sub == SFU_RCP64 else rsqrt(x) if has(flags, FLAG_FTZ) else rsqrt_double(x)
    if result != result:
        return NAN64
    pattern = f64_bits(result)
    if has(flags, FLAG_FTZ):
        pattern = pattern + U64(0x80000000) & ~M32 if is_finite(result) else pattern
        if pattern & INFINITY64 == Z64:
            pattern = pattern & SIGN64
    return pattern


@device
def half_function(sub, flags, pattern, brain):
    """ex2 and tanh of a half."""
    pattern = pattern & U64(0xFFFF)
    if has(flags, FLAG_FTZ):
        pattern = flush_half(pattern, brain)
    result = round_half(function_value(sub, half_to_float(pattern, brain)), RN, brain)
    return flush_half(result, brain) if has(flags, FLAG_FTZ) else result


@device
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
    if sub == SFU_DIV or sub == SFU_DIV_FULL:
        return finish32(divide(sub, flags, x, load32(b & M32, flags)), flags)
    return finish32(function_value(sub, x), flags)
