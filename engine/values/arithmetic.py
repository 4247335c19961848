"""Scalar arithmetic of one lane: bit casts, fused multiply-add, bit counts and the integer operations.

Everything here gives the same bits with and without JIT. Integers, constants included, are uint64 / int64 throughout: numba
turns a mixture of the two into float64. The LLVM intrinsics have plain Python twins, chosen by OFF.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from rfview.engine.isa import (CARRY_ADD, CARRY_MAD_HI, CARRY_SUB, FLAG_SAT, INT_ABS, INT_ADD, INT_BFE,
                               INT_BFI, INT_BFIND, INT_BFIND_SHIFT, INT_BMSK_CLAMP, INT_BMSK_WRAP, INT_BREV, INT_CLZ,
                               INT_CNOT, INT_DIV, INT_FNS, INT_MAD24_HI, INT_MAD_HI, INT_MAD_LO,
                               INT_MAD_WIDE, INT_MAX, INT_MIN, INT_MUL24_HI, INT_MUL24_LO, INT_MUL_HI, INT_MUL_LO,
                               INT_MUL_WIDE, INT_NEG, INT_NOT, INT_POPC, INT_REM, INT_SAD, INT_SHL, INT_SHR, INT_SUB,
                               INT_SZEXT_WRAP)
from rfview.engine.compile.device import device
from rfview.engine.compile.jit import OFF

U32, U64, I64, F32, F64 = np.uint32, np.uint64, np.int64, np.float32, np.float64


Z64, ONE64, M32, SIGN64 = U64(0), U64(1), U64(0xFFFFFFFF), U64(1 << 63)
S32 = U64(32)


# --- LLVM intrinsics and their Python twins ------------------------------------------------------------------------
def _bitcast_intrinsic(source: Any, target: Any) -> Any:
    @intrinsic
    def cast(typing_context: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), code

    return cast


@intrinsic
def _fma32_llvm(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float32(types.float32, types.float32, types.float32), code


@intrinsic
def _fma64_llvm(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), code


@intrinsic
def _sqrt64_llvm(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), "llvm.sqrt.f64")
        return builder.call(function, args)

    return types.float64(types.float64), code


@intrinsic
def _popcount_llvm(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), code


@intrinsic
def _clz_llvm(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), code


@intrinsic
def _ctz_llvm(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), code


def _exact_fma(a: float, b: float, c: float, significand: int, least: int, most: int) -> float:
    """a * b + c rounded once to nearest even; significand bits, exponents of the least and above the most value."""
    if not (abs(a) < np.inf and abs(b) < np.inf):
        return a * b + c
    if not abs(c) < np.inf:
        return c
    (na, da), (nb, db), (nc, dc) = (float(x).as_integer_ratio() for x in (a, b, c))
    numerator, denominator = na * nb * dc + nc * da * db, da * db * dc      # the denominator is a power of two
    if numerator == 0:
        return a * b + c if na * nb == 0 or nc == 0 else 0.0
    magnitude, scale = abs(numerator), denominator.bit_length() - 1
    quantum = max(magnitude.bit_length() - scale - significand, least)      # exponent of the last place kept
    shift = quantum + scale
    if shift > 0:
        kept, rest, half = magnitude >> shift, magnitude & ((1 << shift) - 1), 1 << (shift - 1)
        kept += rest > half or (rest == half and kept & 1)
    else:
        kept = magnitude << -shift
    sign = -1.0 if numerator < 0 else 1.0
    if kept.bit_length() + quantum > most:
        return sign * np.inf
    if kept == 0:
        return sign * 0.0
    return sign * (kept * 2.0**quantum if quantum >= -1022 else kept * 2.0**(quantum + 200) * 2.0**-200)


def _fma32_python(a: Any, b: Any, c: Any) -> Any:
    return F32(_exact_fma(float(a), float(b), float(c), 24, -149, 128))


def _fma64_python(a: Any, b: Any, c: Any) -> Any:
    return F64(_exact_fma(float(a), float(b), float(c), 53, -1074, 1024))


def _popcount_python(x: Any) -> Any:
    return U64(int(x).bit_count())


def _clz_python(x: Any) -> Any:
    return U64(64 - int(x).bit_length())


def _ctz_python(x: Any) -> Any:
    return U64((int(x) & -int(x)).bit_length() - 1 if x else 64)


def _f32_bits_python(x: Any) -> Any:
    return F32(x).view(np.uint32)


def _bits_f32_python(x: Any) -> Any:
    return U32(x).view(np.float32)


def _f64_bits_python(x: Any) -> Any:
    return U64(struct.unpack("<Q", struct.pack("<d", x))[0])


def _bits_f64_python(x: Any) -> Any:
    return U64(x).view(np.float64)


def _sqrt64_python(x: Any) -> Any:
    return np.sqrt(F64(x))


f32_bits: Any
bits_f32: Any
f64_bits: Any
bits_f64: Any
fma32: Any
fma64: Any
sqrt64: Any
popcount: Any
clz: Any
ctz: Any
if OFF:
    f32_bits, bits_f32, f64_bits, bits_f64 = _f32_bits_python, _bits_f32_python, _f64_bits_python, _bits_f64_python
    fma32, fma64, sqrt64 = _fma32_python, _fma64_python, _sqrt64_python
    popcount, clz, ctz = _popcount_python, _clz_python, _ctz_python
else:
    f32_bits = _bitcast_intrinsic(types.float32, types.uint32)
    bits_f32 = _bitcast_intrinsic(types.uint32, types.float32)
    f64_bits = _bitcast_intrinsic(types.float64, types.uint64)
    bits_f64 = _bitcast_intrinsic(types.uint64, types.float64)
    fma32, fma64, sqrt64 = _fma32_llvm, _fma64_llvm, _sqrt64_llvm
    popcount, clz, ctz = _popcount_llvm, _clz_llvm, _ctz_llvm


# --- integers ------------------------------------------------------------------------------------------------------
@device
def type_bits(kind):
    """Width of an integer type code (T_U8 .. T_S64)."""
    return U64(8) << (U64(kind) >> ONE64)


@device
def is_signed(kind):
    """True for the signed integer type codes."""
    return (U64(kind) & ONE64) == ONE64


@device
def low_bits(value, width):
    """The `width` low bits of a 64-bit word; width 1..64."""
    return value & (~Z64 >> (U64(64) - width))


@device
def extend(value, width, signed):
    """Value of the low `width` bits as 64 bits, sign- or zero-extended."""
    cut = low_bits(value, width)
    if signed and (cut >> (width - ONE64)) & ONE64 != Z64:
        return cut | ~(~Z64 >> (U64(64) - width))
    return cut


@device
def is_negative(value):
    """Sign bit of a 64-bit word."""
    return value >= SIGN64


@device
def shift_left(value, amount):
    """value << amount, 0 from 64 on."""
    if amount > U64(63):
        return Z64
    return value << amount


@device
def shift_right(value, amount, signed):
    """value >> amount, filled with the sign if signed; clamped from 64 on."""
    negative = signed and is_negative(value)
    if amount > U64(63):
        return ~Z64 if negative else Z64
    if negative:
        return ~(~value >> amount)
    return value >> amount


@device
def less(a, b, signed):
    """a < b for 64-bit words."""
    if signed:
        return (a ^ SIGN64) < (b ^ SIGN64)
    return a < b


@device
def multiply_high(a, b, signed):
    """Upper 64 bits of the 128-bit product."""
    a0, a1, b0, b1 = a & M32, a >> S32, b & M32, b >> S32
    low = a0 * b0
    middle = a1 * b0 + (low >> S32)
    other = a0 * b1 + (middle & M32)
    high = a1 * b1 + (middle >> S32) + (other >> S32)
    if signed:
        if is_negative(a):
            high = high - b
        if is_negative(b):
            high = high - a
    return high


@device
def high_product(a, b, width, signed):
    """Upper half of the product of two `width`-bit numbers that are extended to 64 bits."""
    if width == U64(64):
        return multiply_high(a, b, signed)
    return shift_right(a * b, width, signed)


@device
def clamp(value, width):
    """Clamp a signed 64-bit value to the range of a signed `width`-bit integer."""
    top = (ONE64 << (width - ONE64)) - ONE64
    if less(top, value, True):
        return top
    if less(value, ~top, True):
        return ~top
    return value


@device
def divide(a, b, signed):
    """Quotient towards zero; all ones when b is 0; INT_MIN / -1 wraps."""
    if b == Z64:
        return ~Z64
    negative_a, negative_b = signed and is_negative(a), signed and is_negative(b)
    quotient = (Z64 - a if negative_a else a) // (Z64 - b if negative_b else b)
    return Z64 - quotient if negative_a != negative_b else quotient


@device
def remainder(a, b, signed):
    """Remainder with the sign of a; all ones when b is 0, as in ptxas's code."""
    if b == Z64:
        return ~Z64
    negative = signed and is_negative(a)
    rest = (Z64 - a if negative else a) % (Z64 - b if signed and is_negative(b) else b)
    return Z64 - rest if negative else rest


@device
def extract_field(a, position, length, width, signed):
    """bfe: the field of `length` bits from `position` on."""
    position, length = position & U64(255), length & U64(255)
    if length == Z64:
        return Z64
    top = width - ONE64
    last = position + length - ONE64
    cut = low_bits(a, width)
    field = shift_right(cut, position, False)
    if length < U64(64):
        field = field & ((ONE64 << length) - ONE64)
    if not signed or (cut >> min(last, top)) & ONE64 == Z64:
        return field
    kept = top - position + ONE64 if position <= top else Z64      # bits of a that reach the result
    kept = min(kept, length)
    return field if kept >= U64(64) else field | (~Z64 << kept)


@device
def insert_field(a, b, position, length, width):
    """bfi: the low `length` bits of a replace those of b from `position` on."""
    position, length = position & U64(255), length & U64(255)
    if length == Z64 or position >= width:
        return b
    field = ~Z64 if length > U64(63) else (ONE64 << length) - ONE64
    field = field << position
    return (b & ~field) | ((a << position) & field)


@device
def find_leading(a, width, signed, as_shift):
    """bfind: position of the top bit that differs from the sign, or the shift that brings it to the top."""
    if signed and is_negative(a):
        a = ~a
    a = low_bits(a, width)
    if a == Z64:
        return M32
    position = U64(63) - clz(a)
    return width - ONE64 - position if as_shift else position


@device
def reverse_bits(a, width):
    """brev: the halves of a word change places, then the halves of each half, down to single bits."""
    low, size = ~Z64, U64(32)
    while size != Z64:
        low ^= low << size
        a = ((a >> size) & low) | ((a & low) << size)
        size >>= ONE64
    return a >> (U64(64) - width)


@device
def find_nth_set(mask, base, offset):
    """fns: position of the offset-th set bit from `base` on (offset: 32-bit signed), else all ones."""
    position, count = I64(low_bits(base, U64(32))), I64(extend(offset, U64(32), True))
    step = I64(1) if count >= I64(0) else I64(-1)
    left = max(abs(count) - I64(1), I64(0))
    while I64(0) <= position < I64(32):
        if (mask >> U64(position)) & ONE64 != Z64:
            if left == I64(0):
                return U64(position)
            left = left - I64(1)
        if count == I64(0):
            return M32
        position = position + step
    return M32


@device
def bit_mask(a, b, wrap):
    """bmsk: b ones from position a on."""
    too_far, too_wide = not wrap and a > U64(31), not wrap and b > U64(31)
    start, length = a & U64(31), b & U64(31)
    if too_far:
        return Z64
    if start + length > U64(31) or too_wide:
        return (M32 << start) & M32
    return (M32 << start) & ~(M32 << (start + length)) & M32


@device
def sign_or_zero_extend(a, b, signed, wrap):
    """szext: the low b bits of a, extended."""
    if not wrap and b > U64(31):
        return a
    width = b & U64(31)
    if width == Z64:
        return Z64
    return extend(a, width, signed)


@device
def integer(sub, kind, flags, a, b, c, d):
    """One OP_INT operation; operands a, b, c, d are raw 64-bit slot pairs, the result's low bits count.

    Shift amounts, bit positions and lengths are 32-bit operands whatever `kind` is.
    """
    width, signed = type_bits(kind), is_signed(kind)
    raw_b, raw_c = b & M32, c & M32
    a, b = extend(a, width, signed), extend(b, width, signed)
    if sub == INT_DIV:
        return divide(a, b, signed)
    if sub == INT_REM:
        return remainder(a, b, signed)
    if sub == INT_ADD or sub == INT_SUB:
        total = a + b if sub == INT_ADD else a - b
        return clamp(total, width) if U64(flags) & U64(FLAG_SAT) != Z64 else total
    if sub == INT_MUL_LO or sub == INT_MUL_WIDE:
        return a * b
    if sub == INT_MUL_HI:
        return high_product(a, b, width, signed)
    if sub == INT_MAD_LO:
        return a * b + c
    if sub == INT_MAD_WIDE:
        return a * b + c
    if sub == INT_MAD_HI:
        total = high_product(a, b, width, signed) + extend(c, width, signed)
        return clamp(total, width) if U64(flags) & U64(FLAG_SAT) != Z64 else total
    if INT_MUL24_LO <= sub <= INT_MAD24_HI:
        product = extend(a, U64(24), signed) * extend(b, U64(24), signed)
        if sub == INT_MUL24_HI or sub == INT_MAD24_HI:
            product = extend(product >> U64(16), U64(32), signed)
        if sub == INT_MUL24_LO or sub == INT_MUL24_HI:
            return product
        total = product + extend(c, width, signed)
        return clamp(total, width) if U64(flags) & U64(FLAG_SAT) != Z64 else total
    if sub == INT_MIN:
        return a if less(a, b, signed) else b
    if sub == INT_MAX:
        return b if less(a, b, signed) else a
    if sub == INT_ABS:
        return Z64 - a if is_negative(a) else a
    if sub == INT_NEG:
        return Z64 - a
    if sub == INT_SAD:
        return (b - a if less(a, b, signed) else a - b) + c
    if sub == INT_NOT:
        return ~a
    if sub == INT_CNOT:
        return ONE64 if a == Z64 else Z64
    if sub == INT_SHL:
        return shift_left(a, raw_b)
    if sub == INT_SHR:
        return shift_right(a, raw_b, signed)
    return bit_field(sub, kind, a, raw_b, b, raw_c, d & M32)


@device
def bit_field(sub, kind, a, raw_b, b, c, d):
    """The bit-field and bit-count operations of OP_INT."""
    width, signed = type_bits(kind), is_signed(kind)
    if sub == INT_BFE:
        return extract_field(a, raw_b, c, width, signed)
    if sub == INT_BFI:
        return insert_field(a, b, c, d, width)
    if sub == INT_BFIND or sub == INT_BFIND_SHIFT:
        return find_leading(a, width, signed, sub == INT_BFIND_SHIFT)
    if sub == INT_BREV:
        return reverse_bits(a, width)
    if sub == INT_CLZ:
        return clz(a) - (U64(64) - width)
    if sub == INT_POPC:
        return popcount(a)
    if sub == INT_FNS:
        return find_nth_set(a, raw_b, c)
    if sub == INT_BMSK_CLAMP or sub == INT_BMSK_WRAP:
        return bit_mask(a, raw_b, sub == INT_BMSK_WRAP)
    return sign_or_zero_extend(a, raw_b, signed, sub == INT_SZEXT_WRAP)


@device
def carry_value(sub, kind, a, b, c, carry):
    """Result of an OP_CARRY operation on raw slot pairs; carry: 0 or 1."""
    width, signed = type_bits(kind), is_signed(kind)
    if sub == CARRY_ADD:
        return a + b + carry
    if sub == CARRY_SUB:
        return a - b - carry
    if sub == CARRY_MAD_HI:
        return high_product(extend(a, width, signed), extend(b, width, signed), width, signed) + c + carry
    return a * b + c + carry


@device
def carry_out(sub, kind, a, b, c, carry):
    """Carry (borrow for subtraction) out of the same operation."""
    width, signed = type_bits(kind), is_signed(kind)
    if sub == CARRY_SUB:
        a, b = low_bits(a, width), low_bits(b, width)
        return a < b or (a == b and carry != Z64)
    if sub == CARRY_ADD:
        first, second = low_bits(a, width), low_bits(b, width)
    else:
        second = low_bits(c, width)
        if sub == CARRY_MAD_HI:
            a, b = extend(a, width, signed), extend(b, width, signed)
            first = low_bits(high_product(a, b, width, signed), width)
        else:
            first = low_bits(a * b, width)
    room = (~Z64 >> (U64(64) - width)) - second
    return first > room or (first == room and carry != Z64)


@device
def permute_bytes(a, b, selector, mode):
    """prmt: four bytes out of the eight of b:a, by selector and mode (0 = generic)."""
    pool = (a & M32) | ((b & M32) << S32)
    result = Z64
    step = selector & U64(3)
    for k in range(4):
        place = U64(k)
        if mode == 0:
            choice = (selector >> (place * U64(4))) & U64(15)
        elif mode == 1:
            choice = (step + place) & U64(7)
        elif mode == 2:
            choice = (step - place) & U64(7)
        elif mode == 3:
            choice = step
        elif mode == 4:
            choice = max(step, place)
        elif mode == 5:
            choice = min(step, place)
        else:
            choice = ((step & ONE64) << ONE64) + (place & ONE64)
        byte = (pool >> ((choice & U64(7)) * U64(8))) & U64(255)
        if mode == 0 and choice > U64(7):
            byte = U64(255) if byte > U64(127) else Z64
        result = result | (byte << (place * U64(8)))
    return result


@device
def dot_product(a, b, c, aux, pairs):
    """dp4a (pairs False) and dp2a: sum of byte (and 16-bit) products plus c."""
    kinds = U64(aux)
    signed_a, signed_b = kinds & ONE64 != Z64, kinds & U64(2) != Z64
    total = c
    if pairs:
        start = U64(2) if kinds & U64(4) != Z64 else Z64
        for k in range(2):
            left = extend(a >> (U64(16) * U64(k)), U64(16), signed_a)
            total = total + left * extend(b >> (U64(8) * (U64(k) + start)), U64(8), signed_b)
        return total
    for k in range(4):
        shift = U64(8) * U64(k)
        total = total + extend(a >> shift, U64(8), signed_a) * extend(b >> shift, U64(8), signed_b)
    return total
