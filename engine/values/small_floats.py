"""Pairs of floats of 8 bits (E4M3, E5M2): from two f32 or halves, to the nearest within their range, and to halves.

Ties go to the even one. 0x7F is a NaN of both; E4M3 has no infinities.
"""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import FLAG_RELU, SMALL_E5M2, SMALL_HALVES, SMALL_WIDEN
from rfview.engine.values.arithmetic import F32, I64, ONE64, U32, U64, Z64, f32_bits
from rfview.engine.values.rounding import half_to_float, has
from rfview.engine.values.words import load, store

LARGEST_E4M3, LARGEST_E5M2 = U64(0x43E00000), U64(0x47600000)       # 448 and 57344, as f32
NAN8, NAN16 = U64(0x7F), U64(0x7FFF)


@device
def small_of(pattern, wide_exponent, relu):
    """The code of the f32 `pattern`, as E5M2 (wide_exponent) or E4M3; with relu, 0 for a negative number."""
    size, sign = pattern & U64(0x7FFFFFFF), (pattern >> U64(24)) & U64(0x80)
    if size > U64(0x7F800000):
        return NAN8
    if relu and sign != Z64:
        return Z64
    size = min(size, LARGEST_E5M2 if wide_exponent else LARGEST_E4M3)
    digits, least = I64(2 if wide_exponent else 3), I64(127 - 14 if wide_exponent else 127 - 6)
    exponent = I64(size >> U64(23))
    number = size & U64(0x7FFFFF)
    if exponent > I64(0):
        number |= U64(0x800000)
    place = max(exponent, least)        # below the least normal number, all have its last digit
    dropped = U64(min(I64(23) - digits + place - exponent, I64(30)))
    kept = number >> dropped
    rest, half = number & ((ONE64 << dropped) - ONE64), ONE64 << (dropped - ONE64)
    if rest > half or (rest == half and kept & ONE64 != Z64):
        kept += ONE64
    return sign | (kept + (U64(place - least) << U64(digits)))


@device
def half_of(code, wide_exponent, relu):
    """The half that a code is."""
    size, sign = code & U64(0x7F), (code & U64(0x80)) << U64(8)
    if size > (U64(0x7C) if wide_exponent else U64(0x7E)):
        return NAN16
    if relu and sign != Z64:
        return Z64
    if wide_exponent:
        return sign | size << U64(8)
    if size >= U64(8):
        return sign | ((size << U64(7)) + U64(8 << 10))
    if size == Z64:
        return sign
    exponent = U64(9)                   # below the least normal number; all of them are normal halves
    while size < U64(8):
        size, exponent = size << ONE64, exponent - ONE64
    return sign | (exponent << U64(10)) | (size & U64(7)) << U64(7)


@device
def f32_of_half(pattern):
    """The f32 bits of a half."""
    return U64(f32_bits(F32(half_to_float(pattern & U64(0xFFFF), False))))


@device
def small_float_rows(rows, src, dst, aux, flags):
    """OP_SMALL_FLOATS: below the lower half of c, a and b as two bytes, a above b, or both halves of a; or a to halves."""
    wide_exponent, relu = has(aux, SMALL_E5M2), has(flags, FLAG_RELU)
    for lane in range(32):
        a = U64(load(rows, src, lane))
        if has(aux, SMALL_WIDEN):
            low, high = half_of(a, wide_exponent, relu), half_of(a >> U64(8), wide_exponent, relu)
            store(rows, dst, lane, U32(low | high << U64(16)))
            continue
        if has(aux, SMALL_HALVES):
            upper, lower = f32_of_half(a >> U64(16)), f32_of_half(a)
        else:
            upper, lower = a, U64(load(rows, src + 2, lane))
        both = small_of(lower, wide_exponent, relu) | small_of(upper, wide_exponent, relu) << U64(8)
        store(rows, dst, lane, U32(both) | load(rows, src + 4, lane) << U32(16))
