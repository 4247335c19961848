"""Forms of integer and float arithmetic: add to sad, multiply-add, division, minimum and absolute value."""

from __future__ import annotations

from rfview.engine.isa import (CARRY_ADD, CARRY_MAD_HI, CARRY_MAD_LO, CARRY_SUB, FLAG_CC_IN, FLAG_CC_OUT, FLAG_FTZ,
                               FLAG_NAN, FLAG_RELU, FLAG_ROUND_MASK, FLAG_SAT, FP_ABS, FP_ADD, FP_DIV, FP_FMA,
                               FP_MAX, FP_MIN, FP_MUL, FP_NEG, FP_RCP, FP_SQRT, FP_SUB, INT_ABS, INT_ADD, INT_DIV,
                               INT_MAD24_HI, INT_MAD24_LO, INT_MAD_HI, INT_MAD_LO, INT_MAD_WIDE, INT_MAX, INT_MIN,
                               INT_MUL24_HI, INT_MUL24_LO, INT_MUL_HI, INT_MUL_LO, INT_MUL_WIDE, INT_NEG, INT_REM,
                               INT_SAD, INT_SUB, OP_ABS32, OP_ADD32, OP_ADD64, OP_CARRY, OP_DABS, OP_DADD, OP_DDIV,
                               OP_DFMA, OP_DMUL, OP_DNEG, OP_DOUBLE, OP_DRCP, OP_DSQRT, OP_DSUB, OP_FABS, OP_FADD,
                               OP_FADD_FTZ, OP_FDIV, OP_FFMA, OP_FFMA_FTZ, OP_FLOAT, OP_FMAX, OP_FMIN, OP_FMUL,
                               OP_FMUL_FTZ, OP_FNEG, OP_FRCP, OP_FSQRT, OP_FSUB, OP_FSUB_FTZ, OP_HALF, OP_MAD_LO32,
                               OP_MAD_WIDE_S32, OP_MAD_WIDE_U32, OP_MAX_S32, OP_MAX_U32, OP_MIN_S32, OP_MIN_U32,
                               OP_MUL_HI_S32, OP_MUL_HI_U32, OP_MUL_LO32, OP_MUL_LO64, OP_MUL_WIDE_S32,
                               OP_MUL_WIDE_U32, OP_NEG32, OP_NEG64, OP_SFU, OP_SUB32, OP_SUB64, SFU_DIV,
                               SFU_DIV_FULL, TYPE_BITS, TYPE_CODES)
from rfview.engine.program import (LAT_DP_ADD, LAT_DP_DIV, LAT_DP_MAD, LAT_DP_MAX, LAT_DP_MUL, LAT_DP_ROOT, LAT_FP_ADD,
                                   LAT_FP_DIV, LAT_FP_DIV_APPROX, LAT_FP_MAD, LAT_FP_MAX, LAT_FP_MUL, LAT_FP_ROOT,
                                   LAT_INT_ADD, LAT_INT_DIV, LAT_INT_MAD, LAT_INT_MAX, LAT_INT_MUL, LAT_OTHER, UNIT_SFU,
                                   UNIT_SP)
from rfview.engine.ptx.forms.form import (FLOATS, INTS, ROUNDS, Form, OpInfo, Refused, float_flags, general_int, is_signed,
                                          op_info, widened)

_FLOAT_FAST = {
    FP_ADD: (OP_FADD, OP_FADD_FTZ, OP_DADD), FP_SUB: (OP_FSUB, OP_FSUB_FTZ, OP_DSUB),
    FP_MUL: (OP_FMUL, OP_FMUL_FTZ, OP_DMUL), FP_FMA: (OP_FFMA, OP_FFMA_FTZ, OP_DFMA),
    FP_DIV: (OP_FDIV, None, OP_DDIV), FP_RCP: (OP_FRCP, None, OP_DRCP), FP_SQRT: (OP_FSQRT, None, OP_DSQRT),
    FP_NEG: (OP_FNEG, None, OP_DNEG), FP_ABS: (OP_FABS, None, OP_DABS), FP_MIN: (OP_FMIN, None, None),
    FP_MAX: (OP_FMAX, None, None),
}
_FLOAT_LATENCY = {
    FP_ADD: (LAT_FP_ADD, LAT_DP_ADD), FP_SUB: (LAT_FP_ADD, LAT_DP_ADD), FP_MUL: (LAT_FP_MUL, LAT_DP_MUL),
    FP_FMA: (LAT_FP_MAD, LAT_DP_MAD), FP_DIV: (LAT_FP_DIV, LAT_DP_DIV), FP_RCP: (LAT_FP_ROOT, LAT_DP_ROOT),
    FP_SQRT: (LAT_FP_ROOT, LAT_DP_ROOT), FP_MIN: (LAT_FP_MAX, LAT_DP_MAX), FP_MAX: (LAT_FP_MAX, LAT_DP_MAX),
    FP_NEG: (LAT_OTHER, LAT_DP_ADD), FP_ABS: (LAT_OTHER, LAT_DP_ADD),
}
_NEVER_SATURATED = {FP_DIV, FP_RCP, FP_SQRT}

# the part of a product that an instruction keeps
_LOW, _HIGH, _WIDE = range(3)
_PARTS = {"lo": _LOW, "hi": _HIGH, "wide": _WIDE}


def float_op(sub: int, kind: str, count: int, flags: int) -> OpInfo:
    """Make a float operation: one of the fast opcodes if the flags allow it, else OP_FLOAT, OP_DOUBLE or OP_HALF."""
    src = (kind,) * count
    if flags & FLAG_SAT and (sub in _NEVER_SATURATED or flags & FLAG_RELU) \
            or kind in ("bf16", "bf16x2") and flags & (FLAG_FTZ | FLAG_SAT):
        raise Refused
    if kind == "f64":
        if flags & (FLAG_FTZ | FLAG_SAT):
            raise Refused
        fast = _FLOAT_FAST[sub][2]
        op, aux = (fast, 0) if fast is not None and flags == 0 else (OP_DOUBLE, sub)
        return op_info(op, src, kind, _FLOAT_LATENCY[sub][1], UNIT_SFU, flags, aux, is_float=True)
    latency = _FLOAT_LATENCY[sub][0]
    if kind != "f32":
        if flags & FLAG_ROUND_MASK:
            raise Refused
        return op_info(OP_HALF, src, kind, latency, UNIT_SP, flags, sub | TYPE_CODES[kind] << 8)
    unit = UNIT_SFU if latency in (LAT_FP_DIV, LAT_FP_ROOT) else UNIT_SP
    plain, flushed, _ = _FLOAT_FAST[sub]
    if flags == 0:
        return op_info(plain, src, kind, latency, unit, is_float=True)
    if flags == FLAG_FTZ and flushed is not None:
        return op_info(flushed, src, kind, latency, unit, flags, is_float=True)
    return op_info(OP_FLOAT, src, kind, latency, unit, flags, sub, is_float=True)


def add_sub(form: Form) -> OpInfo:
    is_add = form.base == "add"
    if form.take("cc"):
        return _carry(form, CARRY_ADD if is_add else CARRY_SUB, False, True, 2)
    kind = form.type(f"{INTS} {FLOATS}")
    if kind in FLOATS.split():
        info = float_op(FP_ADD if is_add else FP_SUB, kind, 2, float_flags(form, True))
        form.done()
        return info
    saturated = form.take("sat")
    form.done()
    if saturated and kind != "s32":
        raise Refused
    if TYPE_BITS[kind] == 16 or saturated:
        return general_int(INT_ADD if is_add else INT_SUB, kind, (kind, kind), kind, LAT_INT_ADD, FLAG_SAT * saturated)
    ops = (OP_ADD32, OP_ADD64) if is_add else (OP_SUB32, OP_SUB64)
    return op_info(ops[TYPE_BITS[kind] == 64], (kind, kind), kind, LAT_INT_ADD)


def _carry(form: Form, sub: int, reads: bool, writes: bool, count: int) -> OpInfo:
    kind = form.type("u32 s32 u64 s64")
    form.done()
    flags = (FLAG_CC_IN if reads else 0) | (FLAG_CC_OUT if writes else 0)
    latency = LAT_INT_ADD if sub in (CARRY_ADD, CARRY_SUB) else LAT_INT_MAD
    return op_info(OP_CARRY, (kind,) * count, kind, latency, flags=flags, aux=sub | TYPE_CODES[kind] << 8,
                   pdst=int(writes), psrc=int(reads))


def add_sub_carry(form: Form) -> OpInfo:
    writes = form.take("cc")
    return _carry(form, CARRY_ADD if form.base == "addc" else CARRY_SUB, True, writes, 2)


def mul(form: Form) -> OpInfo:
    kind = form.type(f"{INTS} {FLOATS}")
    if kind in FLOATS.split():
        info = float_op(FP_MUL, kind, 2, float_flags(form, True))
        form.done()
        return info
    part = form.one_of(_PARTS, -1 if form.left else None)
    form.done()
    bits = TYPE_BITS[kind]
    if part == _WIDE:
        if bits == 64:
            raise Refused
        if bits == 16:
            return general_int(INT_MUL_WIDE, kind, (kind, kind), widened(kind), LAT_INT_MUL)
        return op_info(OP_MUL_WIDE_S32 if is_signed(kind) else OP_MUL_WIDE_U32, (kind, kind), widened(kind), LAT_INT_MUL)
    if part == _LOW and bits != 16:
        return op_info(OP_MUL_LO32 if bits == 32 else OP_MUL_LO64, (kind, kind), kind, LAT_INT_MUL)
    if part < 0:
        raise Refused
    if part == _HIGH and bits == 32:
        return op_info(OP_MUL_HI_S32 if is_signed(kind) else OP_MUL_HI_U32, (kind, kind), kind, LAT_INT_MUL)
    return general_int(INT_MUL_HI if part == _HIGH else INT_MUL_LO, kind, (kind, kind), kind, LAT_INT_MUL)


def mad(form: Form) -> OpInfo:
    kind = form.type(f"{INTS} f32 f64")
    if kind in ("f32", "f64"):
        info = float_op(FP_FMA, kind, 3, float_flags(form, True))
        form.done()
        return info
    part = form.one_of(_PARTS)
    if form.take("cc"):
        if part == _WIDE:
            raise Refused
        return _carry(form, CARRY_MAD_HI if part == _HIGH else CARRY_MAD_LO, False, True, 3)
    saturated = form.take("sat")
    form.done()
    if saturated and (kind != "s32" or part != _HIGH):
        raise Refused
    bits = TYPE_BITS[kind]
    if part == _WIDE:
        if bits == 64:
            raise Refused
        src = (kind, kind, widened(kind))
        if bits == 16:
            return general_int(INT_MAD_WIDE, kind, src, widened(kind), LAT_INT_MAD)
        return op_info(OP_MAD_WIDE_S32 if is_signed(kind) else OP_MAD_WIDE_U32, src, widened(kind), LAT_INT_MAD)
    if part == _LOW and bits == 32:
        return op_info(OP_MAD_LO32, (kind,) * 3, kind, LAT_INT_MAD)
    op = INT_MAD_HI if part == _HIGH else INT_MAD_LO
    return general_int(op, kind, (kind,) * 3, kind, LAT_INT_MAD, FLAG_SAT * saturated)


def mad_carry(form: Form) -> OpInfo:
    op = form.one_of({"lo": CARRY_MAD_LO, "hi": CARRY_MAD_HI})
    return _carry(form, op, True, form.take("cc"), 3)


def mul24(form: Form) -> OpInfo:
    kind = form.type("u32 s32")
    high = form.one_of({"lo": 0, "hi": 1})
    saturated = form.take("sat")
    form.done()
    if form.base == "mul24" and not saturated:
        return general_int(INT_MUL24_HI if high else INT_MUL24_LO, kind, (kind, kind), kind, LAT_INT_MUL)
    if saturated and not (form.base == "mad24" and high and kind == "s32"):
        raise Refused
    return general_int(INT_MAD24_HI if high else INT_MAD24_LO, kind, (kind,) * 3, kind, LAT_INT_MAD, FLAG_SAT * saturated)


def fma(form: Form) -> OpInfo:
    kind = form.type(FLOATS)
    if ROUNDS.keys().isdisjoint(form.left):
        raise Refused
    flags = float_flags(form, True)
    if form.take("relu"):
        if kind in ("f32", "f64"):
            raise Refused
        flags |= FLAG_RELU
    form.done()
    return float_op(FP_FMA, kind, 3, flags)


def div(form: Form) -> OpInfo:
    kind = form.type(f"{INTS} f32 f64")
    if kind in ("f32", "f64"):
        bare = kind == "f32" and not form.left
        if kind == "f32" and (form.take("approx") or "full" in form.left or bare):
            full = form.take("full")
            flags = FLAG_FTZ * (form.take("ftz") or bare)
            form.done()
            return op_info(OP_SFU, (kind, kind), kind, LAT_FP_DIV_APPROX, UNIT_SFU, flags,
                           SFU_DIV_FULL if full else SFU_DIV, is_float=True)
        if form.left and ROUNDS.keys().isdisjoint(form.left):
            raise Refused
        info = float_op(FP_DIV, kind, 2, float_flags(form, True))
        form.done()
        return info
    form.done()
    return general_int(INT_DIV, kind, (kind, kind), kind, LAT_INT_DIV, unit=UNIT_SFU)


def rem(form: Form) -> OpInfo:
    kind = form.type(INTS)
    form.done()
    return general_int(INT_REM, kind, (kind, kind), kind, LAT_INT_DIV, unit=UNIT_SFU)


def abs_neg(form: Form) -> OpInfo:
    is_neg = form.base == "neg"
    kind = form.type(f"s16 s32 s64 {FLOATS}")
    if kind in FLOATS.split():
        info = float_op(FP_NEG if is_neg else FP_ABS, kind, 1, FLAG_FTZ * form.take("ftz"))
        form.done()
        return info
    form.done()
    if kind == "s32":
        return op_info(OP_NEG32 if is_neg else OP_ABS32, (kind,), kind)
    if kind == "s64" and is_neg:
        return op_info(OP_NEG64, (kind,), kind)
    return general_int(INT_NEG if is_neg else INT_ABS, kind, (kind,), kind, LAT_OTHER)


def min_max(form: Form) -> OpInfo:
    is_min = form.base == "min"
    kind = form.type(f"{INTS} {FLOATS}")
    if kind in FLOATS.split():
        flags = (FLAG_FTZ * form.take("ftz")) | (FLAG_NAN * form.take("NaN"))
        form.done()
        if kind == "f64" and flags:
            raise Refused
        return float_op(FP_MIN if is_min else FP_MAX, kind, 2, flags)
    form.done()
    if kind in ("u32", "s32"):
        ops = (OP_MIN_U32, OP_MAX_U32, OP_MIN_S32, OP_MAX_S32)
        return op_info(ops[2 * is_signed(kind) + (not is_min)], (kind, kind), kind, LAT_INT_MAX)
    return general_int(INT_MIN if is_min else INT_MAX, kind, (kind, kind), kind, LAT_INT_MAX)


def sad(form: Form) -> OpInfo:
    kind = form.type(INTS)
    form.done()
    return general_int(INT_SAD, kind, (kind,) * 3, kind, LAT_INT_MAX)
