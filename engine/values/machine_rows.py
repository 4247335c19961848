"""Opcodes that only machine code has: sums with carries, shifted sums, funnel shifts, minima of three, checks of divisions.

Operands a, b and c are in the rows src, src + 2 and src + 4, their high words behind them. A function that gives
predicates packs both lane masks in one u8, as execute.py says.
"""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import (ADD3_WIDE, CMP_EQ, CMP_LE, CMP_LT, CMP_NE, FP_MAX, FP_MIN, FUNNEL_HIGH, FUNNEL_LEFT,
                               FUNNEL_SIGNED, FUNNEL_WIDE, FUNNEL_WRAP, I2IP_SIGNED, LEA_COMPLEMENT, LEA_HIGH,
                               LEA_PLUS_ONE, LEA_SIGN_EXTEND, LOP3_AND, LOP3_SIGN, MAD_SIGNED, MAD_UPPER, MINMAX3_ADD,
                               MINMAX3_FLOAT, MINMAX3_MAX, MINMAX3_SIGNED, OP_LOP3, SETP_EX_SIGNED, T_F32, T_U8,
                               VOTE_BALLOT)
from rfview.engine.values.arithmetic import (I64, M32, ONE64, S32, U32, U64, Z64, bits_f64, ctz, extend, f64_bits, less,
                                             shift_left, shift_right)
from rfview.engine.values.between_lanes import vote_rows
from rfview.engine.values.lane_by_lane import pair, put
from rfview.engine.values.lanes import run
from rfview.engine.values.predicates import combine
from rfview.engine.values.rounding import choose, convert, float32, has
from rfview.engine.values.words import load, store


@device
def bit(mask, lane):
    """Bit `lane` of a lane mask, as u8."""
    return (U64(mask) >> U64(lane)) & ONE64


@device
def add3_rows(rows, src, dst, mask, aux, p0, p1):
    """OP_ADD3_CC: a + b + c + ones + both carries in; gives the masks of carries out above 0 and above 1."""
    ones, wide = U64(aux) & U64(3), has(aux, ADD3_WIDE)
    first = second = Z64
    for lane in range(32):
        if bit(mask, lane) == Z64:
            continue
        rest = ones + bit(p0, lane) + bit(p1, lane)
        if wide:
            a, b = pair(rows, src, lane), pair(rows, src + 2, lane)
            ab = a + b
            abc = ab + pair(rows, src + 4, lane)
            total = abc + rest
            carries = U64(ab < a) + U64(abc < ab) + U64(total < abc)
        else:
            total = U64(load(rows, src, lane)) + U64(load(rows, src + 2, lane)) + U64(load(rows, src + 4, lane)) + rest
            carries = total >> S32
        put(rows, dst, lane, total, wide)
        first |= U64(carries > Z64) << U64(lane)
        second |= U64(carries > ONE64) << U64(lane)
    return first | (second << S32)


@device
def mad_rows(rows, src, dst, mask, p0):
    """OP_MAD_CC: the low word of a * b, plus c, plus the carry in; gives the carries out of the sum."""
    carries = Z64
    for lane in range(32):
        product = (U64(load(rows, src, lane)) * U64(load(rows, src + 2, lane))) & M32
        total = product + U64(load(rows, src + 4, lane)) + bit(p0, lane)
        store(rows, dst, lane, U32(total & M32))
        carries |= (total >> S32) << U64(lane)
    return carries


@device
def mad_wide_rows(rows, src, dst, aux, p0):
    """OP_MAD_WIDE_CC: a * b of 64 bits, plus the pair c and the carry in, or its high word; gives the carries out."""
    signed, upper = has(aux, MAD_SIGNED), has(aux, MAD_UPPER)
    carries = Z64
    for lane in range(32):
        product = extend(U64(load(rows, src, lane)), S32, signed) * extend(U64(load(rows, src + 2, lane)), S32, signed)
        partial = product + pair(rows, src + 4, lane)
        total = partial + bit(p0, lane)
        put(rows, dst, lane, total >> S32 if upper else total, not upper)
        carries |= U64(partial < product or total < partial) << U64(lane)
    return carries


@device
def lea_rows(rows, src, dst, aux, p0):
    """OP_LEA: (a << shift) + b, or of the high word of (c : a) << shift; gives the carries out."""
    shift, high, extended = U64(aux) & U64(63), has(aux, LEA_HIGH), has(aux, LEA_SIGN_EXTEND)
    ones = U64(has(aux, LEA_PLUS_ONE))
    carries = Z64
    for lane in range(32):
        a = U64(load(rows, src, lane))
        if extended:
            a = extend(a, S32, True)
        elif high:
            a |= U64(load(rows, src + 4, lane)) << S32
        a = shift_left(a, shift)
        a = a >> S32 if high else a & M32
        if has(aux, LEA_COMPLEMENT):
            a = ~a & M32
        total = a + U64(load(rows, src + 2, lane)) + ones + bit(p0, lane)
        store(rows, dst, lane, U32(total & M32))
        carries |= U64(total > M32) << U64(lane)
    return carries


@device
def logic_rows(rows, src, dst, aux, p0):
    """OP_LOP3_P: a function of three words by its table; gives whether it is not 0, or (LOP3_AND: and) the predicate."""
    run(rows, src, dst, U32(p0), U32(aux), OP_LOP3)
    counts = U32(0x80000000) if has(aux, LOP3_SIGN) else U32(M32)
    nonzero = U32(0)
    for lane in range(32):
        nonzero |= U32(load(rows, dst, lane) & counts != U32(0)) << U32(lane)
    return U64(nonzero & U32(p0)) if has(aux, LOP3_AND) else U64(nonzero | U32(p0))


@device
def funnel_rows(rows, src, dst, aux):
    """OP_FUNNEL: (c : a) shifted by b, the low or high word of it; the amount wraps or is limited to 32 or 64."""
    left, high, signed = has(aux, FUNNEL_LEFT), has(aux, FUNNEL_HIGH), has(aux, FUNNEL_SIGNED)
    width = U64(64) if has(aux, FUNNEL_WIDE) else S32
    for lane in range(32):
        value = U64(load(rows, src, lane)) | U64(load(rows, src + 4, lane)) << S32
        amount = U64(load(rows, src + 2, lane))
        amount = amount & (width - ONE64) if has(aux, FUNNEL_WRAP) else min(amount, width)
        value = shift_left(value, amount) if left else shift_right(value, amount, signed)
        store(rows, dst, lane, U32(value >> S32 if high else value & M32))


@device
def compare_high_rows(rows, src, aux, flags, p0, p1):
    """OP_SETP_EX: compare a and b as the high words of numbers whose low words compare as p1 says."""
    kind, signed = I64(aux) & I64(255), has(aux, SETP_EX_SIGNED)
    result = Z64
    for lane in range(32):
        a = extend(U64(load(rows, src, lane)), S32, signed)
        b = extend(U64(load(rows, src + 2, lane)), S32, signed)
        low = bit(p1, lane) != Z64
        if kind == CMP_EQ:
            holds = a == b and low
        elif kind == CMP_NE:
            holds = a != b or low
        elif kind == CMP_LT or kind == CMP_LE:
            holds = low if a == b else less(a, b, signed)
        else:
            holds = low if a == b else less(b, a, signed)
        result |= U64(holds) << U64(lane)
    return combine(flags, U32(result), ~U32(result), p0)


@device
def extreme_rows(rows, src, dst, aux, flags):
    """OP_MINMAX3: the least or greatest of a, b and c, or of a + b and c."""
    signed, largest = has(aux, MINMAX3_SIGNED), has(aux, MINMAX3_MAX)
    operation = FP_MAX if largest else FP_MIN
    for lane in range(32):
        a, b, c = U64(load(rows, src, lane)), U64(load(rows, src + 2, lane)), U64(load(rows, src + 4, lane))
        if has(aux, MINMAX3_FLOAT):
            value = float32(operation, flags, float32(operation, flags, a, b, Z64), c, Z64)
        else:
            a, b, c = extend(a, S32, signed), extend(b, S32, signed), extend(c, S32, signed)
            if has(aux, MINMAX3_ADD):
                value = extend(a + b, S32, signed)
            else:
                value = a if less(a, b, signed) != largest else b
            value = value if less(value, c, signed) != largest else c
        store(rows, dst, lane, U32(value & M32))


@device
def float_pair_rows(rows, src, dst, aux, flags):
    """OP_FLOAT_PAIR: an operation of OP_FLOAT on both words of 64-bit operands."""
    sub = I64(aux) & I64(255)
    for half in range(2):
        for lane in range(32):
            a, b = U64(load(rows, src + half, lane)), U64(load(rows, src + 2 + half, lane))
            value = float32(sub, flags, a, b, U64(load(rows, src + 4 + half, lane)))
            store(rows, dst + half, lane, U32(value & M32))


@device
def division_rows(rows, src):
    """OP_FCHK: whether a / b may need the long way, by exponents; true more often than in hardware, which is safe."""
    result = Z64
    for lane in range(32):
        x = I64((load(rows, src, lane) >> U32(23)) & U32(255))
        y = I64((load(rows, src + 2, lane) >> U32(23)) & U32(255))
        risky = y == 0 or y >= 253 or x == 255 or x < 25 or x - y >= 126 or x - y <= -125
        result |= U64(risky) << U64(lane)
    return result


@device
def double_choice_rows(rows, src, aux):
    """OP_DMINMAX: whether a is the minimum (maximum) of two f64; and whether it is b and a NaN, to be made quiet."""
    smallest = I64(aux) & I64(1) == I64(0)
    chosen = unquiet = Z64
    for lane in range(32):
        a, b = bits_f64(pair(rows, src, lane)), bits_f64(pair(rows, src + 2, lane))
        takes_a = a == a and f64_bits(choose(a, b, smallest, False)) == f64_bits(a)
        chosen |= U64(takes_a) << U64(lane)
        unquiet |= U64(b != b and not takes_a) << U64(lane)
    return chosen | (unquiet << S32)


@device
def byte_rows(rows, src, dst, flags):
    """OP_F2IP: two f32 to bytes, limited to 0..255: b lowest, a above it, then c."""
    aux = U32(T_U8 | T_F32 << 8)
    for lane in range(32):
        high = convert(aux, U32(flags), U64(load(rows, src, lane))) & U64(255)
        low = convert(aux, U32(flags), U64(load(rows, src + 2, lane))) & U64(255)
        store(rows, dst, lane, (load(rows, src + 4, lane) << U32(16)) | U32((high << U64(8)) | low))


@device
def narrow_rows(rows, src, dst, aux):
    """OP_I2IP: two integers with sign, limited to narrow ones: b lowest, a above it, then c."""
    bits = U64(aux) & U64(255)
    signed = has(aux, I2IP_SIGNED)
    most = (ONE64 << (bits - ONE64 if signed else bits)) - ONE64
    least = ~most if signed else Z64
    for lane in range(32):
        packed = U64(load(rows, src + 4, lane))
        for slot in range(2):
            value = extend(U64(load(rows, src + 2 * slot, lane)), S32, True)
            value = least if less(value, least, True) else most if less(most, value, True) else value
            packed = packed << bits | value & ((ONE64 << bits) - ONE64)
        store(rows, dst, lane, U32(packed & M32))


@device
def vote_both_rows(rows, dst, mask, aux, p0):
    """OP_VOTE_BOTH: the ballot of the executing lanes in a register, and a vote of theirs as a predicate."""
    vote_rows(rows, dst, U32(mask), U32(mask), VOTE_BALLOT, U32(p0))
    return vote_rows(rows, dst, U32(mask), U32(mask), I64(aux), U32(p0))


@device
def first_rows(rows, src, dst, mask, p0):
    """OP_R2UR: the value of the first executing lane; gives the lanes that have another one, or the predicate."""
    first = load(rows, src, I64(ctz(U64(mask))))
    others = U64(p0)
    for lane in range(32):
        others |= U64(load(rows, src, lane) != first) << U64(lane)
        store(rows, dst, lane, first)
    return others


@device
def elect_rows(rows, dst, mask, p0):
    """OP_ELECT: the number of the first executing lane for which the predicate holds; gives that lane."""
    able = U64(mask) & U64(p0)
    first = ctz(able) if able != Z64 else Z64
    for lane in range(32):
        store(rows, dst, lane, U32(first))
    return able & (~able + ONE64)
