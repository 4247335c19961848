"""Opcodes of integer, float and extended-precision arithmetic, of logic, shifts and bit fields, and of mov and selp."""

from __future__ import annotations

from rfview.engine.isa import (CARRY_ADD, CARRY_MAD_HI, CARRY_MAD_LO, CARRY_SUB, FLAG_CC_IN, FLAG_CC_OUT, FLAG_FTZ,
                               FP_ABS, FP_ADD, FP_DIV, FP_FMA, FP_MAX, FP_MIN, FP_MUL, FP_NEG, FP_RCP, FP_SQRT,
                               FP_SUB, INT_ABS, INT_ADD, INT_BFE, INT_BFI, INT_BFIND, INT_BFIND_SHIFT, INT_BMSK_CLAMP,
                               INT_BMSK_WRAP, INT_BREV, INT_CLZ, INT_CNOT, INT_DIV, INT_FNS, INT_MAD24_HI,
                               INT_MAD24_LO, INT_MAD_HI, INT_MAD_LO, INT_MAD_WIDE, INT_MAX, INT_MIN, INT_MUL24_HI,
                               INT_MUL24_LO, INT_MUL_HI, INT_MUL_LO, INT_MUL_WIDE, INT_NEG, INT_NOT, INT_POPC,
                               INT_REM, INT_SAD, INT_SHL, INT_SHR, INT_SUB, INT_SZEXT_CLAMP, INT_SZEXT_WRAP, OP_ABS32,
                               OP_ADD32, OP_ADD64, OP_AND32, OP_AND64, OP_CARRY, OP_DABS, OP_DADD, OP_DDIV, OP_DFMA,
                               OP_DMUL, OP_DNEG, OP_DOUBLE, OP_DRCP, OP_DSQRT, OP_DSUB, OP_FABS, OP_FADD, OP_FADD_FTZ,
                               OP_FDIV, OP_FFMA, OP_FFMA_FTZ, OP_FLOAT, OP_FMAX, OP_FMIN, OP_FMUL, OP_FMUL_FTZ,
                               OP_FNEG, OP_FRCP, OP_FSQRT, OP_FSUB, OP_FSUB_FTZ, OP_HALF, OP_INT, OP_MAD_LO32,
                               OP_MAD_WIDE_S32, OP_MAD_WIDE_U32, OP_MAX_S32, OP_MAX_U32, OP_MIN_S32, OP_MIN_U32,
                               OP_MOV32, OP_MOV64, OP_MUL_HI_S32, OP_MUL_HI_U32, OP_MUL_LO32, OP_MUL_LO64,
                               OP_MUL_WIDE_S32, OP_MUL_WIDE_U32, OP_NEG32, OP_NEG64, OP_NOT32, OP_NOT64, OP_OR32,
                               OP_OR64, OP_PRED, OP_SELP32, OP_SELP64, OP_SHL32, OP_SHL64, OP_SHR_S32, OP_SHR_S64,
                               OP_SHR_U32, OP_SHR_U64, OP_SUB32, OP_SUB64, OP_XOR32, OP_XOR64, PRED_AND, PRED_MOV,
                               PRED_NOT, PRED_OR, PRED_XOR, TYPE_BITS, TYPE_CODES)
from rfview.engine.program import (LAT_DP_ADD, LAT_DP_DIV, LAT_DP_MAD, LAT_DP_MAX, LAT_DP_MUL, LAT_DP_ROOT, LAT_FP_ADD,
                                   LAT_FP_DIV, LAT_FP_MAD, LAT_FP_MAX, LAT_FP_MUL, LAT_FP_ROOT, LAT_INT_ADD,
                                   LAT_INT_DIV, LAT_INT_MAD, LAT_INT_MAX, LAT_INT_MUL, LAT_OTHER, UNIT_SFU, UNIT_SP)
from rfview.engine.ptx.forms.form import FLOATS, Chosen, Spelling

# integer forms with an opcode of their own
_OWN = {form: op for names, op in {
    "add.u32 add.s32": OP_ADD32, "add.u64 add.s64": OP_ADD64, "sub.u32 sub.s32": OP_SUB32, "sub.u64 sub.s64": OP_SUB64,
    "mul.lo.u32 mul.lo.s32": OP_MUL_LO32, "mul.lo.u64 mul.lo.s64": OP_MUL_LO64,
    "mul.hi.u32": OP_MUL_HI_U32, "mul.hi.s32": OP_MUL_HI_S32,
    "mul.wide.u32": OP_MUL_WIDE_U32, "mul.wide.s32": OP_MUL_WIDE_S32, "mad.lo.u32 mad.lo.s32": OP_MAD_LO32,
    "mad.wide.u32": OP_MAD_WIDE_U32, "mad.wide.s32": OP_MAD_WIDE_S32, "abs.s32": OP_ABS32, "neg.s32": OP_NEG32,
    "neg.s64": OP_NEG64, "min.u32": OP_MIN_U32, "max.u32": OP_MAX_U32, "min.s32": OP_MIN_S32, "max.s32": OP_MAX_S32,
    "and.b16 and.b32": OP_AND32, "and.b64": OP_AND64, "or.b16 or.b32": OP_OR32, "or.b64": OP_OR64,
    "xor.b16 xor.b32": OP_XOR32, "xor.b64": OP_XOR64, "not.b32": OP_NOT32, "not.b64": OP_NOT64,
    "shl.b32": OP_SHL32, "shl.b64": OP_SHL64, "shr.u32 shr.b32": OP_SHR_U32, "shr.s32": OP_SHR_S32,
    "shr.u64 shr.b64": OP_SHR_U64, "shr.s64": OP_SHR_S64,
}.items() for form in names.split()}
# all others, which OP_INT computes
_GENERAL = {
    "add": INT_ADD, "sub": INT_SUB, "mul.lo": INT_MUL_LO, "mul.hi": INT_MUL_HI, "mul.wide": INT_MUL_WIDE,
    "mad.lo": INT_MAD_LO, "mad.hi": INT_MAD_HI, "mad.wide": INT_MAD_WIDE, "mul24.lo": INT_MUL24_LO,
    "mul24.hi": INT_MUL24_HI, "mad24.lo": INT_MAD24_LO, "mad24.hi": INT_MAD24_HI, "sad": INT_SAD, "div": INT_DIV,
    "rem": INT_REM, "abs": INT_ABS, "neg": INT_NEG, "min": INT_MIN, "max": INT_MAX, "not": INT_NOT, "cnot": INT_CNOT,
    "shl": INT_SHL, "shr": INT_SHR, "bfe": INT_BFE, "bfi": INT_BFI, "brev": INT_BREV, "clz": INT_CLZ, "popc": INT_POPC,
    "fns": INT_FNS, "bfind": INT_BFIND, "bfind.shiftamt": INT_BFIND_SHIFT, "bmsk.clamp": INT_BMSK_CLAMP,
    "bmsk.wrap": INT_BMSK_WRAP, "szext.clamp": INT_SZEXT_CLAMP, "szext.wrap": INT_SZEXT_WRAP,
}
_LATENCIES = {
    "add": LAT_INT_ADD, "sub": LAT_INT_ADD, "addc": LAT_INT_ADD, "subc": LAT_INT_ADD, "mul": LAT_INT_MUL,
    "mul24": LAT_INT_MUL, "mad": LAT_INT_MAD, "madc": LAT_INT_MAD, "mad24": LAT_INT_MAD, "sad": LAT_INT_MAX,
    "min": LAT_INT_MAX, "max": LAT_INT_MAX, "div": LAT_INT_DIV, "rem": LAT_INT_DIV,
}
# float operation: its number, the opcodes of f32, of f32 with .ftz and of f64 alone, and both latencies
_FLOATS = {
    "add": (FP_ADD, OP_FADD, OP_FADD_FTZ, OP_DADD, LAT_FP_ADD, LAT_DP_ADD),
    "sub": (FP_SUB, OP_FSUB, OP_FSUB_FTZ, OP_DSUB, LAT_FP_ADD, LAT_DP_ADD),
    "mul": (FP_MUL, OP_FMUL, OP_FMUL_FTZ, OP_DMUL, LAT_FP_MUL, LAT_DP_MUL),
    "fma": (FP_FMA, OP_FFMA, OP_FFMA_FTZ, OP_DFMA, LAT_FP_MAD, LAT_DP_MAD),
    "mad": (FP_FMA, OP_FFMA, OP_FFMA_FTZ, OP_DFMA, LAT_FP_MAD, LAT_DP_MAD),
    "div": (FP_DIV, OP_FDIV, None, OP_DDIV, LAT_FP_DIV, LAT_DP_DIV),
    "rcp": (FP_RCP, OP_FRCP, None, OP_DRCP, LAT_FP_ROOT, LAT_DP_ROOT),
    "sqrt": (FP_SQRT, OP_FSQRT, None, OP_DSQRT, LAT_FP_ROOT, LAT_DP_ROOT),
    "neg": (FP_NEG, OP_FNEG, None, OP_DNEG, LAT_OTHER, LAT_DP_ADD),
    "abs": (FP_ABS, OP_FABS, None, OP_DABS, LAT_OTHER, LAT_DP_ADD),
    "min": (FP_MIN, OP_FMIN, None, None, LAT_FP_MAX, LAT_DP_MAX),
    "max": (FP_MAX, OP_FMAX, None, None, LAT_FP_MAX, LAT_DP_MAX),
}
_CARRIES = {"add": CARRY_ADD, "addc": CARRY_ADD, "sub": CARRY_SUB, "subc": CARRY_SUB, "mad.lo": CARRY_MAD_LO,
            "madc.lo": CARRY_MAD_LO, "mad.hi": CARRY_MAD_HI, "madc.hi": CARRY_MAD_HI}
_PREDICATES = {"and": PRED_AND, "or": PRED_OR, "xor": PRED_XOR, "not": PRED_NOT, "mov": PRED_MOV}


def arithmetic(form: Spelling) -> Chosen:
    """Choose among the operations on predicates, floats and integers."""
    if form.type == "pred":
        return Chosen(OP_PRED, aux=_PREDICATES[form.base])
    if form.type in FLOATS:
        return floating(form)
    reads_carry = form.base in ("addc", "subc", "madc")
    if reads_carry or "cc" in form.words:
        flags = FLAG_CC_IN * reads_carry | FLAG_CC_OUT * ("cc" in form.words)
        return Chosen(OP_CARRY, _LATENCIES[form.base], flags=flags, aux=_CARRIES[form.name] | TYPE_CODES[form.type] << 8)
    latency, own = _LATENCIES.get(form.base, LAT_OTHER), _OWN.get(f"{form.name}.{form.type}")
    if own is not None and not form.words:
        return Chosen(own, latency)
    number = form.value({word: _GENERAL.get(f"{form.name}.{word}") for word in form.words}, None)
    number = _GENERAL[form.name] if number is None else number
    return Chosen(OP_INT, latency, UNIT_SFU if latency == LAT_INT_DIV else UNIT_SP, form.flags,
                  number | TYPE_CODES[form.type] << 8)


def floating(form: Spelling) -> Chosen:
    """Choose one of the fast opcodes if the flags allow it, else OP_FLOAT, OP_DOUBLE or OP_HALF."""
    number, plain, flushed, double, latency, double_latency = _FLOATS[form.base]
    kind, flags = form.type, form.flags
    if kind == "f64":
        op, aux = (OP_DOUBLE, number) if double is None or flags else (double, 0)
        return Chosen(op, double_latency, UNIT_SFU, flags, aux, is_float=True)
    if kind != "f32":
        return Chosen(OP_HALF, latency, UNIT_SP, flags, number | TYPE_CODES[kind] << 8)
    unit = UNIT_SFU if latency in (LAT_FP_DIV, LAT_FP_ROOT) else UNIT_SP
    fast = {0: plain, FLAG_FTZ: flushed}.get(flags)
    op, aux = (OP_FLOAT, number) if fast is None else (fast, 0)
    return Chosen(op, latency, unit, flags, aux, is_float=True)


def move(form: Spelling) -> Chosen:
    """mov and selp, of any type."""
    if form.type == "pred":
        return arithmetic(form)
    narrow, wide = (OP_MOV32, OP_MOV64) if form.base == "mov" else (OP_SELP32, OP_SELP64)
    return Chosen(wide if TYPE_BITS[form.type] == 64 else narrow)
