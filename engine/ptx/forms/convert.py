"""Forms of cvt, and of cvta and isspacep, which convert and test addresses."""

from __future__ import annotations

from rfview.engine.isa import (CVT_PAIR, CVTA_FROM_LOCAL, CVTA_FROM_PARAM, CVTA_FROM_SHARED, CVTA_IDENTITY,
                               CVTA_TO_LOCAL, CVTA_TO_PARAM, CVTA_TO_SHARED, FLAG_FTZ, FLAG_INT_ROUND, FLAG_RELU,
                               FLAG_RZ, FLAG_SAT, ISSPACEP_KINDS, OP_CVT, OP_CVTA, OP_CVT_F32_F64, OP_CVT_F32_S32,
                               OP_CVT_F32_U32, OP_CVT_F64_F32, OP_CVT_F64_S32, OP_CVT_F64_U32, OP_CVT_S32_F32,
                               OP_CVT_U32_F32, OP_ISSPACEP, OP_MOV32, OP_MOV64, OP_SEXT16, OP_SEXT64, OP_SEXT8,
                               OP_ZEXT16, OP_ZEXT64, OP_ZEXT8, ROUND_RN, ROUND_RZ, ROUND_SHIFT, TYPE_BITS,
                               TYPE_CODES)
from rfview.engine.ptx.forms.form import INT_ROUNDS, ROUNDS, Form, OpInfo, Refused, is_signed, op_info

_CVT_FAST = {
    ("f32", "s32"): OP_CVT_F32_S32, ("f32", "u32"): OP_CVT_F32_U32, ("f64", "f32"): OP_CVT_F64_F32,
    ("f32", "f64"): OP_CVT_F32_F64, ("f64", "s32"): OP_CVT_F64_S32, ("f64", "u32"): OP_CVT_F64_U32,
}

_EXACT = {("f32", "f16"), ("f64", "f16"), ("f64", "f32")}       # conversions of floats without a rounding modifier


def _cvt_int(dst: str, src: str) -> int | None:
    """Return the move or extension equivalent to an integer conversion without saturation, or None."""
    dst_bits, src_bits = TYPE_BITS[dst], TYPE_BITS[src]
    if dst_bits == 64 and src_bits == 64:
        return OP_MOV64
    if dst_bits == 64 and src_bits == 32:
        return OP_SEXT64 if is_signed(src) else OP_ZEXT64
    if dst_bits == 32 and src_bits >= 32:
        return OP_MOV32
    if dst_bits == 32:
        return {("u", 16): OP_ZEXT16, ("s", 16): OP_SEXT16, ("u", 8): OP_ZEXT8, ("s", 8): OP_SEXT8}[src[0], src_bits]
    if dst_bits == 16 and (src_bits >= 16 or src == "u8") and dst == "u16":
        return OP_ZEXT16 if src_bits >= 16 else OP_ZEXT8
    if dst == "u8" and src_bits >= 8:
        return OP_ZEXT8
    return None


def _may_saturate(dst: str, src: str) -> bool:
    """Return whether a cvt may have .sat: none of bfloat16 may, nor one to integers that hold every source value."""
    if "f" in dst or "f" in src:
        return "bf16" not in (dst, src)
    return TYPE_BITS[dst] < TYPE_BITS[src] + (is_signed(dst) and not is_signed(src)) or is_signed(src) and not is_signed(dst)


def cvt(form: Form) -> OpInfo:
    if len(form.types) != 2:
        raise Refused
    dst, src = form.types
    allowed = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64".split()
    if dst in ("f16x2", "bf16x2"):
        rounding = form.one_of({"rn": ROUND_RN, "rz": ROUND_RZ})
        flags = rounding << ROUND_SHIFT | FLAG_RELU * form.take("relu")
        form.done()
        if src != "f32":
            raise Refused
        return op_info(OP_CVT, (src, src), dst, flags=flags, aux=TYPE_CODES[dst] | TYPE_CODES[src] << 8 | CVT_PAIR)
    if dst not in allowed or src not in allowed:
        raise Refused
    flags = FLAG_FTZ * form.take("ftz") | FLAG_SAT * form.take("sat") | FLAG_RELU * form.take("relu")
    dst_float, src_float = "f" in dst, "f" in src
    rounding = form.one_of(ROUNDS, -1)
    whole = form.one_of(INT_ROUNDS, -1)
    form.done()
    if flags & FLAG_FTZ and "f32" not in (dst, src) or flags & FLAG_SAT and not _may_saturate(dst, src):
        raise Refused
    if flags & FLAG_RELU and (flags != FLAG_RELU or src != "f32" or dst not in ("f16", "bf16") or rounding > ROUND_RZ):
        raise Refused
    if "bf16" in (dst, src) and {dst, src} & {"u8", "s8"} or src_float and dst_float and whole >= 0 and dst != src:
        raise Refused
    if rounding >= 0 and src_float and (dst == src or (dst, src) in _EXACT):
        raise Refused
    if src_float and not dst_float or src_float and dst_float and whole >= 0:
        if rounding >= 0 or whole < 0:
            raise Refused
        flags |= FLAG_INT_ROUND | whole << ROUND_SHIFT
    elif whole >= 0:
        raise Refused
    elif rounding < 0 and dst_float and dst != src and (not src_float or TYPE_BITS[dst] < TYPE_BITS[src]):
        raise Refused
    else:
        flags |= max(rounding, 0) << ROUND_SHIFT
    aux = TYPE_CODES[dst] | TYPE_CODES[src] << 8
    if not dst_float and not src_float:
        if rounding >= 0:
            raise Refused
        fast = None if flags else _cvt_int(dst, src)
        return op_info(OP_CVT if fast is None else fast, (src,), dst, flags=flags, aux=aux)
    if flags == 0 and (dst, src) in _CVT_FAST:
        return op_info(_CVT_FAST[dst, src], (src,), dst)
    if flags == FLAG_INT_ROUND | FLAG_RZ and src == "f32" and dst in ("s32", "u32"):
        return op_info(OP_CVT_S32_F32 if dst == "s32" else OP_CVT_U32_F32, (src,), dst)
    return op_info(OP_CVT, (src,), dst, flags=flags, aux=aux)


def cvta(form: Form) -> OpInfo:
    kind = form.type("u64 u32")
    to = form.take("to")
    windows = {"global": (CVTA_IDENTITY,) * 2, "const": (CVTA_IDENTITY,) * 2,
               "shared": (CVTA_FROM_SHARED, CVTA_TO_SHARED), "local": (CVTA_FROM_LOCAL, CVTA_TO_LOCAL),
               "param": (CVTA_FROM_PARAM, CVTA_TO_PARAM)}
    for name, pair in windows.items():
        if any(form.take(name + part) for part in ("", "::cta", "::cluster", "::entry")):
            form.done()
            if kind == "u32" and pair[to] != CVTA_IDENTITY:  # the windows' addresses need more than 32 bits
                raise Refused
            return op_info(OP_CVTA, (kind,), kind, aux=pair[to])
    raise Refused


def isspacep(form: Form) -> OpInfo:
    space = form.one_of(ISSPACEP_KINDS | {"shared::cta": 1, "shared::cluster": 1, "param::entry": 4})
    form.done()
    return op_info(OP_ISSPACEP, ("u64",), "pred", aux=space, pdst=1)
