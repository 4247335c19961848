"""Comparison, selection and predicates: masks of 32 lanes, and results chosen by a predicate or comparison.

A comparison gives the mask of lanes in which it holds; `combine` makes the two predicates of a setp of it, packed in one u8.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.device import device
from rfview.engine.isa import (FLAG_BOOL_AND, FLAG_BOOL_MASK, FLAG_BOOL_OR, FLAG_BOOL_XOR, FLAG_FTZ, OP_SETP_F32,
                               OP_SETP_F32_FTZ, OP_SETP_F64, OP_SETP_S16, OP_SETP_S32, OP_SETP_S64, OP_SETP_U32,
                               OP_SETP_U64, T_BF16, T_BF16X2, T_F16, T_F16X2, T_F32, T_F64, T_S16, T_S32, T_S64,
                               T_U16, T_U64)
from rfview.engine.values.arithmetic import I64, M32, ONE64, S32, U32, U64, Z64, bits_f32
from rfview.engine.values.lanes import run
from rfview.engine.values.rounding import flush32, flush_half, half_to_float, has
from rfview.engine.values.words import load, store

# truth table over (less, equal, greater, unordered) of each CMP_* code, four bits each
COMPARE_TABLE = U64(0x87_EC_B9_DA_64_31_52)
ALL_LANES = U32(0xFFFFFFFF)


@device
def truth_table(aux):
    """The comparison table of the CMP_* code in the low byte of aux."""
    return U32((COMPARE_TABLE >> ((U64(aux) & U64(255)) * U64(4))) & U64(15))


@device
def combine(flags, result, inverse, other):
    """setp: combine a comparison and its complement with the predicate source; packs both."""
    p, q = U64(result), U64(inverse)
    how = U64(flags) & U64(FLAG_BOOL_MASK)
    if how == U64(FLAG_BOOL_AND):
        p, q = p & U64(other), q & U64(other)
    elif how == U64(FLAG_BOOL_OR):
        p, q = p | U64(other), q | U64(other)
    elif how == U64(FLAG_BOOL_XOR):
        p, q = p ^ U64(other), q ^ U64(other)
    return p | (q << S32)


@device
def both(flags, result, other):
    """Both predicate results of a plain setp."""
    return combine(flags, result, ~U32(result), other)


@device
def compare_halves(rows, src, aux, flags):
    """Comparison masks of the low and of the high half, packed."""
    kind = (I64(aux) >> I64(8)) & I64(255)
    brain = kind == T_BF16 or kind == T_BF16X2
    table = U64(truth_table(aux))
    masks = Z64
    for half in range(2):
        for lane in range(32):
            a = (U64(load(rows, src, lane)) >> U64(16 * half)) & U64(0xFFFF)
            b = (U64(load(rows, src + 2, lane)) >> U64(16 * half)) & U64(0xFFFF)
            if has(flags, FLAG_FTZ):
                a, b = flush_half(a, brain), flush_half(b, brain)
            x, y = half_to_float(a, brain), half_to_float(b, brain)
            bit = U64(3)
            if x < y:
                bit = U64(0)
            elif x == y:
                bit = U64(1)
            elif x > y:
                bit = U64(2)
            masks |= ((table >> bit) & ONE64) << U64(32 * half + lane)
    return masks


@device
def compare_half_rows(rows, src, aux, flags, p0):
    """setp of halves: one comparison and its complement, or of packed ones both."""
    masks = compare_halves(rows, src, aux, flags)
    kind = (I64(aux) >> I64(8)) & I64(255)
    if kind == T_F16X2 or kind == T_BF16X2:
        return combine(flags, U32(masks & M32), U32(masks >> S32), p0)
    return both(flags, U32(masks & M32), p0)


@device
def compare_mask(rows, src, dst, aux, flags):
    """The comparison of `set`, by its source type."""
    kind = (I64(aux) >> I64(8)) & I64(255)
    table = truth_table(aux)
    zero = U32(0)
    if kind == T_F32:
        if has(flags, FLAG_FTZ):
            return run(rows, src, dst, zero, table, OP_SETP_F32_FTZ)
        return run(rows, src, dst, zero, table, OP_SETP_F32)
    if kind == T_F64:
        return run(rows, src, dst, zero, table, OP_SETP_F64)
    if kind == T_U64:
        return run(rows, src, dst, zero, table, OP_SETP_U64)
    if kind == T_S64:
        return run(rows, src, dst, zero, table, OP_SETP_S64)
    if kind == T_S32:
        return run(rows, src, dst, zero, table, OP_SETP_S32)
    if kind == T_S16:
        return run(rows, src, dst, zero, table, OP_SETP_S16)
    return run(rows, src, dst, zero, table, OP_SETP_U32)


@device
def set_rows(rows, src, dst, aux, flags, p0):
    """set: all ones or 1.0 where the comparison holds; packed halves give a 16-bit answer each."""
    kind, target = (I64(aux) >> I64(8)) & I64(255), I64(aux) >> I64(16)
    yes, high = ALL_LANES, U32(0)
    if kind == T_F16 or kind == T_BF16 or kind == T_F16X2 or kind == T_BF16X2:
        masks = compare_halves(rows, src, aux, flags)
        result = U32(masks & M32)
        if kind == T_F16X2 or kind == T_BF16X2:
            high = U32(masks >> S32)
            high = U32(combine(flags, high, ~high, p0) & M32)
            yes = U32(0xFFFF)
    else:
        result = compare_mask(rows, src, dst, aux, flags)
    result = U32(combine(flags, result, ~U32(result), p0) & M32)
    if target == T_F32:
        yes = U32(0x3F800000)
    elif target == T_F16 or target == T_F16X2:
        yes = U32(0x3C00)
    elif target == T_BF16 or target == T_BF16X2:
        yes = U32(0x3F80)
    elif target == T_U16 or target == T_S16:
        yes = U32(0xFFFF)
    for lane in range(32):
        low = yes if (result >> U32(lane)) & U32(1) else U32(0)
        store(rows, dst, lane, low | (yes << U32(16) if (high >> U32(lane)) & U32(1) else U32(0)))


@device
def choose_rows(rows, src, dst, aux, flags):
    """slct: a where c >= 0, else b (NaN chooses b; -0 counts as 0)."""
    is_float = ((I64(aux) >> I64(8)) & I64(255)) == T_F32
    kind = I64(aux) >> I64(16)
    wide = kind == T_U64 or kind == T_S64 or kind == T_F64
    for lane in range(32):
        c = U64(load(rows, src + 4, lane))
        if is_float:
            if has(flags, FLAG_FTZ):
                c = flush32(c)
            first = bits_f32(U32(c)) >= np.float32(0.0)
        else:
            first = c < U64(0x80000000)
        chosen = src if first else src + 2
        store(rows, dst, lane, load(rows, chosen, lane))
        if wide:
            store(rows, dst + 1, lane, load(rows, chosen + 1, lane))


@device
def predicate_logic(aux, p0, p1):
    """OP_PRED: any function of two predicate masks, by truth table."""
    result = Z64
    a, b, table = U64(p0), U64(p1), U64(aux)
    if table & ONE64 != Z64:
        result |= ~a & ~b
    if table & U64(2) != Z64:
        result |= a & ~b
    if table & U64(4) != Z64:
        result |= ~a & b
    if table & U64(8) != Z64:
        result |= a & b
    return result & M32
