"""Opcodes computed lane by lane, only over active lanes where that saves time: integers, floats, bytes, tests, packing.

The scalar functions are in arithmetic.py (integers), rounding.py (floats, conversions) and sfu.py.
"""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import (CARRY_SUB, CVTA_FROM_LOCAL, CVTA_FROM_PARAM, CVTA_FROM_SHARED, CVTA_TO_LOCAL,
                               CVTA_TO_PARAM, CVTA_TO_SHARED, CVT_PAIR, FLAG_CC_IN, INT_BFE, INT_BFIND,
                               INT_BFIND_SHIFT, INT_CLZ, INT_DIV, INT_MAD_WIDE, INT_MUL_WIDE, INT_POPC, INT_REM,
                               INT_SZEXT_WRAP, OP_COPYSIGN32, OP_COPYSIGN64, OP_CVT, OP_DOUBLE, OP_DP2A, OP_DP4A,
                               OP_FLOAT, OP_HALF, OP_PACK16, OP_PACK16X4, OP_PACK8X4, OP_PRMT, OP_SFU, OP_TESTP,
                               OP_UNPACK16, OP_UNPACK16X4, SFU_RCP64, SFU_RSQRT64, TESTP_F64, T_F64, T_S16, T_S32,
                               T_S64, T_U32, T_U64)
from rfview.engine.values.arithmetic import (I64, M32, ONE64, S32, SIGN64, U32, U64, Z64, bits_f32, carry_out,
                                             carry_value, dot_product, extend, f64_bits, integer, permute_bytes)
from rfview.engine.values.rounding import F64, convert, convert_pair, float32, float64, half_lane, has, test_property
from rfview.engine.values.sfu import special
from rfview.engine.values.words import load, store

SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BYTES = (
    U64(0x0100_0000_0000), U64(0x0200_0000_0000), U64(0x0300_0000_0000), U64(1 << 24))
ALL_LANES = U32(0xFFFFFFFF)


@device
def pair(rows, row, lane):
    """The 64-bit word of rows `row` (low) and `row + 1` (high)."""
    return U64(load(rows, row, lane)) | (U64(load(rows, row + 1, lane)) << S32)


@device
def put(rows, dst, lane, value, wide):
    """Write one lane of a result of one or two rows."""
    store(rows, dst, lane, U32(value & M32))
    if wide:
        store(rows, dst + 1, lane, U32(value >> S32))


@device
def whole_rows(rows, src, dst, mask, aux, flags):
    """OP_INT, with a fast path for 32-bit division and remainder."""
    sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
    if (sub == INT_DIV or sub == INT_REM) and (kind == T_U32 or kind == T_S32):
        divide_rows(rows, src, dst, mask, aux)
    else:
        integer_rows(rows, src, dst, mask, aux, flags)


@device
def integer_rows(rows, src, dst, mask, aux, flags):
    """OP_INT, whatever the operation and the type."""
    sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
    narrow = kind <= T_S16 and sub != INT_MUL_WIDE and sub != INT_MAD_WIDE
    wide = kind >= T_U64 and not (INT_BFIND <= sub <= INT_BFIND_SHIFT or INT_CLZ <= sub <= INT_POPC)
    bit_field = INT_BFE <= sub <= INT_SZEXT_WRAP
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1):
            a, b, c = pair(rows, src, lane), pair(rows, src + 2, lane), U64(load(rows, src + 4, lane))
            d = U64(load(rows, src + 5, lane))
            if not bit_field:
                c = c | (d << S32)
            value = integer(sub, kind, flags, a, b, c, d)
            put(rows, dst, lane, value & U64(0xFFFF) if narrow else value, wide)


@device
def divide_rows(rows, src, dst, mask, aux):
    """Integer division and remainder of 32-bit operands, the common case of OP_INT's."""
    is_rem, signed = (I64(aux) & I64(255)) == INT_REM, (I64(aux) >> I64(8)) == T_S32
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1):
            a, b = load(rows, src, lane), load(rows, src + 2, lane)
            x, y = I64(a), I64(b)
            if signed:
                x, y = I64(extend(U64(a), S32, True)), I64(extend(U64(b), S32, True))
            if y == I64(0):
                store(rows, dst, lane, ALL_LANES)
                continue
            top, bottom = U32(abs(x)), U32(abs(y))
            if is_rem:
                rest = I64(top % bottom)
                value = -rest if x < I64(0) else rest
            else:
                quotient = I64(top // bottom)
                value = -quotient if (x < I64(0)) != (y < I64(0)) else quotient
            store(rows, dst, lane, U32(value & I64(0xFFFFFFFF)))


@device
def carry_rows(rows, src, dst, mask, aux, flags, p0):
    """OP_CARRY: extended-precision add, subtract, multiply-add; returns the mask of carries out.

    p0: the carries in.

    A subtraction adds the complement, as GPUs do: its carry is set if nothing was borrowed. nvcc's own 128-bit
    division relies on it, with addc after sub.cc.
    """
    sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
    inverted = ONE64 if sub == CARRY_SUB else Z64
    result = Z64
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1):
            a, b, c = pair(rows, src, lane), pair(rows, src + 2, lane), pair(rows, src + 4, lane)
            carry = ((U64(p0) >> U64(lane)) & ONE64) ^ inverted if has(flags, FLAG_CC_IN) else Z64
            put(rows, dst, lane, carry_value(sub, kind, a, b, c, carry), kind >= T_U64)
            if carry_out(sub, kind, a, b, c, carry) != (sub == CARRY_SUB):
                result |= ONE64 << U64(lane)
    return result


@device
def float_rows(op, rows, src, dst, mask, aux, flags):
    """OP_FLOAT, OP_DOUBLE, OP_HALF, OP_SFU, OP_CVT: lane by lane."""
    sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
    wide = op == OP_DOUBLE or (op == OP_SFU and SFU_RCP64 <= I64(aux) <= SFU_RSQRT64)
    if op == OP_CVT:
        wide = sub == T_F64 or sub == T_U64 or sub == T_S64
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1):
            a, b, c = pair(rows, src, lane), pair(rows, src + 2, lane), pair(rows, src + 4, lane)
            if op == OP_FLOAT:
                value = float32(sub, flags, a & M32, b & M32, c & M32)
            elif op == OP_DOUBLE:
                value = float64(sub, flags, a, b, c)
            elif op == OP_HALF:
                value = half_lane(sub, kind, flags, a & M32, b & M32, c & M32)
            elif op == OP_SFU:
                value = special(aux, flags, a, b)
            elif has(aux, CVT_PAIR):
                value = convert_pair(aux, flags, a, b)
            else:
                value = convert(aux, flags, a)
            put(rows, dst, lane, value, wide)


@device
def bit_rows(op, rows, src, dst, aux):
    """OP_PRMT, OP_DP4A, OP_DP2A, OP_COPYSIGN*, OP_CVTA: lane by lane."""
    mode = I64(aux)
    for lane in range(32):
        a, b, c = pair(rows, src, lane), pair(rows, src + 2, lane), U64(load(rows, src + 4, lane))
        value, wide = Z64, False
        if op == OP_PRMT:
            value = permute_bytes(a, b, c, mode)
        elif op == OP_DP4A:
            value = dot_product(a, b, c, aux, False)
        elif op == OP_DP2A:
            value = dot_product(a, b, c, aux, True)
        elif op == OP_COPYSIGN32:
            value = (b & U64(0x7FFFFFFF)) | (a & U64(0x80000000))
        elif op == OP_COPYSIGN64:
            value, wide = (b & ~SIGN64) | (a & SIGN64), True
        else:
            value, wide = converted_address(a, mode), True
        put(rows, dst, lane, value, wide)


@device
def converted_address(address, mode):
    """cvta: to or from the generic window of a space."""
    if mode == CVTA_FROM_SHARED:
        return address + SHARED_WINDOW
    if mode == CVTA_FROM_LOCAL:
        return address + LOCAL_WINDOW
    if mode == CVTA_FROM_PARAM:
        return address + PARAM_WINDOW
    if mode == CVTA_TO_SHARED:
        return address - SHARED_WINDOW
    if mode == CVTA_TO_LOCAL:
        return address - LOCAL_WINDOW
    if mode == CVTA_TO_PARAM:
        return address - PARAM_WINDOW
    return address


@device
def test_rows(op, rows, src, aux):
    """OP_TESTP and OP_ISSPACEP: a predicate mask from one operand."""
    kind = I64(aux) & I64(255)
    offset = U64((I64(aux) >> I64(8) ^ I64(0x800000)) - I64(0x800000))
    result = Z64
    for lane in range(32):
        a = pair(rows, src, lane) + offset
        if op == OP_TESTP:
            if kind < TESTP_F64:
                narrow = a & M32
                a = f64_bits(F64(bits_f32(U32(narrow))))
                if narrow & U64(0x7F800000) == Z64 and narrow & U64(0x7FFFFFFF) != Z64:
                    a = ONE64
            holds = test_property(kind & I64(7), a)
        else:
            in_shared, in_local = a - SHARED_WINDOW < WINDOW_BYTES, a - LOCAL_WINDOW < WINDOW_BYTES
            in_param = a - PARAM_WINDOW < WINDOW_BYTES
            if kind == 1:
                holds = in_shared
            elif kind == 2:
                holds = in_local
            elif kind == 4:
                holds = in_param
            else:
                holds = kind == 0 and not (in_shared or in_local or in_param)
        if holds:
            result |= ONE64 << U64(lane)
    return result


@device
def pack_rows(op, rows, src, dst):
    """Vectors of 8- and 16-bit registers to and from 32- and 64-bit ones (mov)."""
    for lane in range(32):
        if op == OP_PACK16:
            store(rows, dst, lane, (load(rows, src, lane) & U32(0xFFFF)) | (load(rows, src + 2, lane) << U32(16)))
        elif op == OP_UNPACK16:
            value = load(rows, src, lane)
            store(rows, dst, lane, value & U32(0xFFFF))
            store(rows, dst + 1, lane, value >> U32(16))
        elif op == OP_PACK16X4:
            store(rows, dst, lane, (load(rows, src, lane) & U32(0xFFFF)) | (load(rows, src + 2, lane) << U32(16)))
            low, high = load(rows, src + 4, lane), load(rows, src + 5, lane)
            store(rows, dst + 1, lane, (low & U32(0xFFFF)) | (high << U32(16)))
        elif op == OP_UNPACK16X4:
            low, high = load(rows, src, lane), load(rows, src + 1, lane)
            store(rows, dst, lane, low & U32(0xFFFF))
            store(rows, dst + 1, lane, low >> U32(16))
            store(rows, dst + 2, lane, high & U32(0xFFFF))
            store(rows, dst + 3, lane, high >> U32(16))
        elif op == OP_PACK8X4:
            low = (load(rows, src, lane) & U32(255)) | ((load(rows, src + 2, lane) & U32(255)) << U32(8))
            low = low | ((load(rows, src + 4, lane) & U32(255)) << U32(16))
            store(rows, dst, lane, low | (load(rows, src + 5, lane) << U32(24)))
        else:
            value = load(rows, src, lane)
            store(rows, dst, lane, value & U32(255))
            store(rows, dst + 1, lane, (value >> U32(8)) & U32(255))
            store(rows, dst + 2, lane, (value >> U32(16)) & U32(255))
            store(rows, dst + 3, lane, value >> U32(24))
