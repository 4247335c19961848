"""What an instruction computes: all 32 lanes of one warp instruction, from source rows to destination rows.

`execute`, at the end, is one flat chain over the opcode: LLVM turns a chain of comparisons with constants into a jump
table, and each `run`, which needs its opcode as a constant, is compiled for that one alone. So an instruction costs one
jump, and no body is compiled twice; a nested chain or a table of functions would lose that. In the order of isa.py's list:

    common opcodes     one vector body each, `run(.., OP_X)`: the body stands in engine/values/lanes.py
    `rare`             the opcodes from SETP_HALF on: a function here, lane by lane over the active lanes, that calls the
                       scalar functions of arithmetic.py (integers), rounding.py (floats, conversions), sfu.py
    from OP_LD on      memory, control and special registers: nothing here, the stages act on them

A new opcode: its name in isa.py, its PTX forms in engine/ptx/forms, and a body in lanes.py with a branch in `execute`, or
a branch in `rare`. The functions before `rare` are grouped as it asks for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.values.arithmetic import (I64, M32, ONE64, S32, SIGN64, U32, U64, Z64, bits_f32, carry_out,
                                             carry_value, ctz, dot_product, extend, f64_bits, integer,
                                             permute_bytes)  # fmt: skip
from rfview.engine.compile.device import device
from rfview.engine.isa import *  # noqa: F403  (opcode constants must be globals of this module for the compiler)
from rfview.engine.compile.jit import jit
from rfview.engine.values.lanes import run
from rfview.engine.values.rounding import (F64, convert, convert_pair, flush32, flush_half, float32, float64,
                                           half_lane, half_to_float, has, test_property)  # fmt: skip
from rfview.engine.values.sfu import special
from rfview.engine.values.words import handle, load, store

# truth table over (less, equal, greater, unordered) of each CMP_* code, four bits each
COMPARE_TABLE = U64(0x87_EC_B9_DA_64_31_52)
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, WINDOW_BYTES = (
    U64(0x0100_0000_0000), U64(0x0200_0000_0000), U64(0x0300_0000_0000), U64(1 << 24))
ALL_LANES = U32(0xFFFFFFFF)


# --- comparison, selection and predicates ----------------------------------------------------------------------------
@jit
def pair(rows, row, lane):
    """The 64-bit word of rows `row` (low) and `row + 1` (high)."""
    return U64(load(rows, row, lane)) | (U64(load(rows, row + 1, lane)) << S32)


@jit
def truth_table(aux):
    """The comparison table of the CMP_* code in the low byte of aux."""
    return U32((COMPARE_TABLE >> ((U64(aux) & U64(255)) * U64(4))) & U64(15))


@jit
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


@jit
def both(flags, result, other):
    """Both predicate results of a plain setp."""
    return combine(flags, result, ~U32(result), other)


@jit
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


@jit
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


@jit
def set_rows(rows, src, dst, aux, flags, other):
    """set: all ones or 1.0 where the comparison holds; packed halves give a 16-bit answer each."""
    kind, target = (I64(aux) >> I64(8)) & I64(255), I64(aux) >> I64(16)
    yes, high = ALL_LANES, U32(0)
    if kind == T_F16 or kind == T_BF16 or kind == T_F16X2 or kind == T_BF16X2:
        masks = compare_halves(rows, src, aux, flags)
        result = U32(masks & M32)
        if kind == T_F16X2 or kind == T_BF16X2:
            high = U32(masks >> S32)
            high = U32(combine(flags, high, ~high, other) & M32)
            yes = U32(0xFFFF)
    else:
        result = compare_mask(rows, src, dst, aux, flags)
    result = U32(combine(flags, result, ~U32(result), other) & M32)
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


@jit
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


@jit
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


# --- integers and floats, lane by lane -------------------------------------------------------------------------------
@jit
def put(rows, dst, lane, value, wide):
    """Write one lane of a result of one or two rows."""
    store(rows, dst, lane, U32(value & M32))
    if wide:
        store(rows, dst + 1, lane, U32(value >> S32))


@jit
def integer_rows(rows, src, dst, mask, aux, flags):
    """OP_INT, lane by lane."""
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


@jit
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
                store(rows, dst, lane, a if is_rem else ALL_LANES)
                continue
            top, bottom = U32(abs(x)), U32(abs(y))
            if is_rem:
                rest = I64(top % bottom)
                value = -rest if x < I64(0) else rest
            else:
                quotient = I64(top // bottom)
                value = -quotient if (x < I64(0)) != (y < I64(0)) else quotient
            store(rows, dst, lane, U32(value & I64(0xFFFFFFFF)))


@jit
def carry_rows(rows, src, dst, mask, aux, flags, carries):
    """OP_CARRY: extended-precision add, subtract, multiply-add; gives the mask of carries out.

    A subtraction adds the complement, as GPUs do: its carry is set where nothing was borrowed. nvcc's own 128-bit
    division reads it so, by addc after sub.cc.
    """
    sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
    inverted = ONE64 if sub == CARRY_SUB else Z64
    result = Z64
    for lane in range(32):
        if (mask >> U32(lane)) & U32(1):
            a, b, c = pair(rows, src, lane), pair(rows, src + 2, lane), pair(rows, src + 4, lane)
            carry = ((U64(carries) >> U64(lane)) & ONE64) ^ inverted if has(flags, FLAG_CC_IN) else Z64
            put(rows, dst, lane, carry_value(sub, kind, a, b, c, carry), kind >= T_U64)
            if carry_out(sub, kind, a, b, c, carry) != (sub == CARRY_SUB):
                result |= ONE64 << U64(lane)
    return result


@jit
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


# --- bytes, addresses, tests and packing -----------------------------------------------------------------------------
@jit
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


@jit
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


@jit
def test_rows(op, rows, src, aux):
    """OP_TESTP and OP_ISSPACEP: a predicate mask from one operand."""
    kind = I64(aux)
    result = Z64
    for lane in range(32):
        a = pair(rows, src, lane)
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


@jit
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


# --- between lanes ---------------------------------------------------------------------------------------------------
@jit
def shuffle_rows(rows, src, dst, mask, mode):
    """shfl: gives the mask of lanes whose source lane is in range; a lane that is out of range keeps its own value.

    Source lanes outside `mask` have no value of this instruction: the row element is read as it stands.
    """
    in_range = Z64
    for lane in range(32):
        b, c = U64(load(rows, src + 2, lane)) & U64(31), U64(load(rows, src + 4, lane))
        segment = (c >> U64(8)) & U64(31)
        place = U64(lane)
        bound = (place & segment) | (c & U64(31) & ~segment)
        first = place & segment
        if mode == SHFL_UP:
            source = I64(place) - I64(b)
            fits = source >= I64(bound)
        elif mode == SHFL_DOWN:
            source = I64(place + b)
            fits = source <= I64(bound)
        elif mode == SHFL_BFLY:
            source = I64(place ^ b)
            fits = source <= I64(bound)
        else:
            source = I64(first | (b & ~segment))
            fits = source <= I64(bound)
        if fits:
            in_range |= ONE64 << place
        store(rows, dst, lane, load(rows, src, source) if fits else load(rows, src, lane))
    return in_range


@jit
def vote_rows(rows, src, dst, group, members, mode, predicate):
    """vote over the member lanes; ballot writes the group's elements of a row, the others give the lanes that hold."""
    votes = U32(predicate) & members
    if mode == VOTE_BALLOT:
        for lane in range(32):
            if (group >> U32(lane)) & U32(1):
                store(rows, dst, lane, votes)
        return Z64
    holds = votes == members
    if mode == VOTE_ANY:
        holds = votes != U32(0)
    elif mode == VOTE_UNI:
        holds = votes == members or votes == U32(0)
    return U64(group) if holds else Z64


@jit
def match_rows(rows, src, dst, group, members, mode):
    """match.any / match.all over the member lanes; gives the predicate of match.all."""
    wide, every = mode >= MATCH_ANY64, mode == MATCH_ALL32 or mode == MATCH_ALL64
    first = I64(ctz(U64(members))) & I64(31)
    all_same = True
    for lane in range(32):
        if not (group >> U32(lane)) & U32(1):
            continue
        same = U32(0)
        for other in range(32):
            equal = load(rows, src, lane) == load(rows, src, other)
            if wide:
                equal = equal and load(rows, src + 1, lane) == load(rows, src + 1, other)
            if equal:
                same |= U32(1) << U32(other)
        same &= members
        store(rows, dst, lane, same)
        if lane == first:
            all_same = same == members
    if not every:
        return Z64
    for lane in range(32):
        if (group >> U32(lane)) & U32(1):
            store(rows, dst, lane, members if all_same else U32(0))
    return U64(group) if all_same else Z64


@jit
def reduce_rows(rows, src, dst, group, members, mode):
    """redux: combine the member lanes' values."""
    total, seen = Z64, False
    for lane in range(32):
        if not (members >> U32(lane)) & U32(1):
            continue
        value = U64(load(rows, src, lane))
        if mode == REDUX_MIN_S or mode == REDUX_MAX_S:
            value = value ^ U64(0x80000000)
        if not seen:
            total, seen = value, True
        elif mode == REDUX_ADD:
            total = total + value
        elif mode == REDUX_AND:
            total = total & value
        elif mode == REDUX_OR:
            total = total | value
        elif mode == REDUX_XOR:
            total = total ^ value
        elif mode == REDUX_MIN_U or mode == REDUX_MIN_S:
            total = min(total, value)
        else:
            total = max(total, value)
    if mode == REDUX_MIN_S or mode == REDUX_MAX_S:
        total = total ^ U64(0x80000000)
    for lane in range(32):
        if (group >> U32(lane)) & U32(1):
            store(rows, dst, lane, U32(total & M32))


@jit
def collective_rows(op, rows, src, dst, mask, mode, flags, predicate):
    """vote, match or redux, once for each group of active lanes that name the same member mask.

    Tiles smaller than a warp come together to one instruction, each with a mask of its own. Members that are not
    active take no part. Without .sync, the active lanes are the members.
    """
    slot = src if op == OP_VOTE else src + 2
    left, found = U32(mask), Z64
    while left != U32(0):
        group = members = left
        if not has(flags, FLAG_NO_SYNC):
            named = load(rows, slot, I64(ctz(U64(left))))
            group = U32(0)
            for lane in range(32):
                if (left >> U32(lane)) & U32(1) and load(rows, slot, lane) == named:
                    group |= U32(1) << U32(lane)
            members = group & named
        left &= ~group
        if op == OP_VOTE:
            found |= vote_rows(rows, src, dst, group, members, mode, predicate)
        elif op == OP_MATCH:
            found |= match_rows(rows, src, dst, group, members, mode)
        else:
            reduce_rows(rows, src, dst, group, members, mode)
    return found


# --- one instruction -------------------------------------------------------------------------------------------------
@jit
def rare(op, rows, src, dst, mask, p0, aux, flags):
    """The opcodes that go lane by lane; gives packed predicate masks as execute does."""
    if op == OP_INT:
        sub, kind = I64(aux) & I64(255), I64(aux) >> I64(8)
        if (sub == INT_DIV or sub == INT_REM) and (kind == T_U32 or kind == T_S32):
            divide_rows(rows, src, dst, mask, aux)
        else:
            integer_rows(rows, src, dst, mask, aux, flags)
    elif OP_FLOAT <= op <= OP_CVT:
        float_rows(op, rows, src, dst, mask, aux, flags)
    elif op == OP_SHFL:
        return shuffle_rows(rows, src, dst, mask, I64(aux))
    elif op == OP_VOTE or op == OP_MATCH or op == OP_REDUX:
        return collective_rows(op, rows, src, dst, mask, I64(aux), flags, p0)
    elif op == OP_ACTIVEMASK:
        for lane in range(32):
            store(rows, dst, lane, U32(mask))
    elif op == OP_CARRY:
        return carry_rows(rows, src, dst, mask, aux, flags, p0)
    elif op == OP_SET:
        set_rows(rows, src, dst, aux, flags, p0)
    elif op == OP_SLCT:
        choose_rows(rows, src, dst, aux, flags)
    elif op == OP_SETP_HALF:
        masks = compare_halves(rows, src, aux, flags)
        kind = (I64(aux) >> I64(8)) & I64(255)
        if kind == T_F16X2 or kind == T_BF16X2:
            return combine(flags, U32(masks & M32), U32(masks >> S32), p0)
        return both(flags, U32(masks & M32), p0)
    elif op == OP_TESTP or op == OP_ISSPACEP:
        return test_rows(op, rows, src, aux)
    elif OP_PACK16 <= op <= OP_UNPACK8X4:
        pack_rows(op, rows, src, dst)
    elif (OP_PRMT <= op <= OP_DP2A) or op == OP_COPYSIGN32 or op == OP_COPYSIGN64 or op == OP_CVTA:
        bit_rows(op, rows, src, dst, aux)
    return Z64


@device
def execute(key, inst, rows, src, dst, mask, p0, p1):
    """Compute one warp instruction; gives q0 | q1 << 32, the two predicate results.

    key: record whose type carries the source hash. inst: INST record. rows: (n,) ROW; source row slot k is
    rows[src + k], results go to rows[dst + j]; the two ranges must not overlap. mask: u4, active lanes: other lanes of
    the results and of the predicates are arbitrary. p0, p1: u4 lane masks of the predicate sources, negation applied.
    Opcodes from OP_LD on are the machine's: here they do nothing.
    """
    rows = handle(rows)
    op, aux, flags = I64(inst.op), U32(inst.aux), U32(inst["flags"])
    src, dst, mask, p0, p1 = I64(src), I64(dst), U32(mask), U32(p0), U32(p1)
    # moves and 32-bit integers
    if op == OP_MOV32:
        run(rows, src, dst, p0, aux, OP_MOV32)
    elif op == OP_MOV64:
        run(rows, src, dst, p0, aux, OP_MOV64)
    elif op == OP_ADD32:
        run(rows, src, dst, p0, aux, OP_ADD32)
    elif op == OP_SUB32:
        run(rows, src, dst, p0, aux, OP_SUB32)
    elif op == OP_MUL_LO32:
        run(rows, src, dst, p0, aux, OP_MUL_LO32)
    elif op == OP_MAD_LO32:
        run(rows, src, dst, p0, aux, OP_MAD_LO32)
    elif op == OP_AND32:
        run(rows, src, dst, p0, aux, OP_AND32)
    elif op == OP_OR32:
        run(rows, src, dst, p0, aux, OP_OR32)
    elif op == OP_XOR32:
        run(rows, src, dst, p0, aux, OP_XOR32)
    elif op == OP_NOT32:
        run(rows, src, dst, p0, aux, OP_NOT32)
    elif op == OP_SHL32:
        run(rows, src, dst, p0, aux, OP_SHL32)
    elif op == OP_SHR_U32:
        run(rows, src, dst, p0, aux, OP_SHR_U32)
    elif op == OP_SHR_S32:
        run(rows, src, dst, p0, aux, OP_SHR_S32)
    elif op == OP_MIN_S32:
        run(rows, src, dst, p0, aux, OP_MIN_S32)
    elif op == OP_MAX_S32:
        run(rows, src, dst, p0, aux, OP_MAX_S32)
    elif op == OP_MIN_U32:
        run(rows, src, dst, p0, aux, OP_MIN_U32)
    elif op == OP_MAX_U32:
        run(rows, src, dst, p0, aux, OP_MAX_U32)
    elif op == OP_NEG32:
        run(rows, src, dst, p0, aux, OP_NEG32)
    elif op == OP_ABS32:
        run(rows, src, dst, p0, aux, OP_ABS32)
    # 64-bit and widening integers
    elif op == OP_ADD64:
        run(rows, src, dst, p0, aux, OP_ADD64)
    elif op == OP_SUB64:
        run(rows, src, dst, p0, aux, OP_SUB64)
    elif op == OP_MUL_LO64:
        run(rows, src, dst, p0, aux, OP_MUL_LO64)
    elif op == OP_AND64:
        run(rows, src, dst, p0, aux, OP_AND64)
    elif op == OP_OR64:
        run(rows, src, dst, p0, aux, OP_OR64)
    elif op == OP_XOR64:
        run(rows, src, dst, p0, aux, OP_XOR64)
    elif op == OP_NOT64:
        run(rows, src, dst, p0, aux, OP_NOT64)
    elif op == OP_SHL64:
        run(rows, src, dst, p0, aux, OP_SHL64)
    elif op == OP_SHR_U64:
        run(rows, src, dst, p0, aux, OP_SHR_U64)
    elif op == OP_SHR_S64:
        run(rows, src, dst, p0, aux, OP_SHR_S64)
    elif op == OP_NEG64:
        run(rows, src, dst, p0, aux, OP_NEG64)
    elif op == OP_MUL_WIDE_U32:
        run(rows, src, dst, p0, aux, OP_MUL_WIDE_U32)
    elif op == OP_MUL_WIDE_S32:
        run(rows, src, dst, p0, aux, OP_MUL_WIDE_S32)
    elif op == OP_MAD_WIDE_U32:
        run(rows, src, dst, p0, aux, OP_MAD_WIDE_U32)
    elif op == OP_MAD_WIDE_S32:
        run(rows, src, dst, p0, aux, OP_MAD_WIDE_S32)
    # f32
    elif op == OP_FADD:
        run(rows, src, dst, p0, aux, OP_FADD)
    elif op == OP_FSUB:
        run(rows, src, dst, p0, aux, OP_FSUB)
    elif op == OP_FMUL:
        run(rows, src, dst, p0, aux, OP_FMUL)
    elif op == OP_FFMA:
        run(rows, src, dst, p0, aux, OP_FFMA)
    elif op == OP_FNEG:
        run(rows, src, dst, p0, aux, OP_FNEG)
    elif op == OP_FABS:
        run(rows, src, dst, p0, aux, OP_FABS)
    elif op == OP_FMIN:
        run(rows, src, dst, p0, aux, OP_FMIN)
    elif op == OP_FMAX:
        run(rows, src, dst, p0, aux, OP_FMAX)
    elif op == OP_FDIV:
        run(rows, src, dst, p0, aux, OP_FDIV)
    elif op == OP_FSQRT:
        run(rows, src, dst, p0, aux, OP_FSQRT)
    elif op == OP_FRCP:
        run(rows, src, dst, p0, aux, OP_FRCP)
    elif op == OP_FADD_FTZ:
        run(rows, src, dst, p0, aux, OP_FADD_FTZ)
    elif op == OP_FSUB_FTZ:
        run(rows, src, dst, p0, aux, OP_FSUB_FTZ)
    elif op == OP_FMUL_FTZ:
        run(rows, src, dst, p0, aux, OP_FMUL_FTZ)
    elif op == OP_FFMA_FTZ:
        run(rows, src, dst, p0, aux, OP_FFMA_FTZ)
    # f64
    elif op == OP_DADD:
        run(rows, src, dst, p0, aux, OP_DADD)
    elif op == OP_DSUB:
        run(rows, src, dst, p0, aux, OP_DSUB)
    elif op == OP_DMUL:
        run(rows, src, dst, p0, aux, OP_DMUL)
    elif op == OP_DFMA:
        run(rows, src, dst, p0, aux, OP_DFMA)
    elif op == OP_DNEG:
        run(rows, src, dst, p0, aux, OP_DNEG)
    elif op == OP_DABS:
        run(rows, src, dst, p0, aux, OP_DABS)
    elif op == OP_DDIV:
        run(rows, src, dst, p0, aux, OP_DDIV)
    elif op == OP_DSQRT:
        run(rows, src, dst, p0, aux, OP_DSQRT)
    elif op == OP_DRCP:
        run(rows, src, dst, p0, aux, OP_DRCP)
    # comparison, selection, predicates: setp gives both predicate results
    elif op == OP_SETP_S32:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_S32), p0)
    elif op == OP_SETP_U32:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_U32), p0)
    elif op == OP_SETP_F32:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_F32), p0)
    elif op == OP_SETP_F32_FTZ:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_F32_FTZ), p0)
    elif op == OP_SETP_S64:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_S64), p0)
    elif op == OP_SETP_U64:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_U64), p0)
    elif op == OP_SETP_F64:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_F64), p0)
    elif op == OP_SELP32:
        run(rows, src, dst, p0, aux, OP_SELP32)
    elif op == OP_SELP64:
        run(rows, src, dst, p0, aux, OP_SELP64)
    elif op == OP_PRED:
        return predicate_logic(aux, p0, p1)
    # extension and conversion
    elif op == OP_ZEXT8:
        run(rows, src, dst, p0, aux, OP_ZEXT8)
    elif op == OP_SEXT8:
        run(rows, src, dst, p0, aux, OP_SEXT8)
    elif op == OP_ZEXT16:
        run(rows, src, dst, p0, aux, OP_ZEXT16)
    elif op == OP_SEXT16:
        run(rows, src, dst, p0, aux, OP_SEXT16)
    elif op == OP_ZEXT64:
        run(rows, src, dst, p0, aux, OP_ZEXT64)
    elif op == OP_SEXT64:
        run(rows, src, dst, p0, aux, OP_SEXT64)
    elif op == OP_CVT_F32_S32:
        run(rows, src, dst, p0, aux, OP_CVT_F32_S32)
    elif op == OP_CVT_F32_U32:
        run(rows, src, dst, p0, aux, OP_CVT_F32_U32)
    elif op == OP_CVT_S32_F32:
        run(rows, src, dst, p0, aux, OP_CVT_S32_F32)
    elif op == OP_CVT_U32_F32:
        run(rows, src, dst, p0, aux, OP_CVT_U32_F32)
    elif op == OP_CVT_F64_F32:
        run(rows, src, dst, p0, aux, OP_CVT_F64_F32)
    elif op == OP_CVT_F32_F64:
        run(rows, src, dst, p0, aux, OP_CVT_F32_F64)
    elif op == OP_CVT_F64_S32:
        run(rows, src, dst, p0, aux, OP_CVT_F64_S32)
    elif op == OP_CVT_F64_U32:
        run(rows, src, dst, p0, aux, OP_CVT_F64_U32)
    # the rest of the common ones
    elif op == OP_LOP3:
        run(rows, src, dst, p0, aux, OP_LOP3)
    elif op == OP_SHF:
        run(rows, src, dst, p0, aux, OP_SHF)
    elif op == OP_MUL_HI_U32:
        run(rows, src, dst, p0, aux, OP_MUL_HI_U32)
    elif op == OP_MUL_HI_S32:
        run(rows, src, dst, p0, aux, OP_MUL_HI_S32)
    elif op == OP_SETP_S16:
        return both(flags, run(rows, src, dst, p0, truth_table(aux), OP_SETP_S16), p0)
    # all others that compute
    elif op < OP_LD and op != OP_NOP:
        return rare(op, rows, src, dst, mask, p0, aux, flags)
    return Z64


def unpack(result: Any) -> tuple[int, int]:
    """Both predicate masks out of execute's result."""
    return int(result) & 0xFFFFFFFF, int(result) >> 32
