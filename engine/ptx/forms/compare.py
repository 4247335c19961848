"""Forms of comparison and selection: setp, set, selp, slct."""

from __future__ import annotations

from rfview.engine.isa import (CMP_EQU, CMP_NE, COMPARISONS, FLAG_BOOL_AND, FLAG_BOOL_MASK, FLAG_BOOL_OR,
                               FLAG_BOOL_XOR, FLAG_FTZ, OP_SELP32, OP_SELP64, OP_SET, OP_SETP_F32, OP_SETP_F32_FTZ,
                               OP_SETP_F64, OP_SETP_HALF, OP_SETP_S16, OP_SETP_S32, OP_SETP_S64, OP_SETP_U32,
                               OP_SETP_U64, OP_SLCT, T_U32, TYPE_BITS, TYPE_CODES)
from rfview.engine.program import LAT_DP_ADD, LAT_OTHER, UNIT_SFU, UNIT_SP
from rfview.engine.ptx.forms.form import BITS, INTS, Form, OpInfo, Refused, op_info

_BOOLS = {"and": FLAG_BOOL_AND, "or": FLAG_BOOL_OR, "xor": FLAG_BOOL_XOR}
_SETP_OPS = {"s32": OP_SETP_S32, "u32": OP_SETP_U32, "b32": OP_SETP_U32, "s64": OP_SETP_S64, "u64": OP_SETP_U64,
             "b64": OP_SETP_U64, "u16": OP_SETP_U32, "b16": OP_SETP_U32, "s16": OP_SETP_S16, "f32": OP_SETP_F32,
             "f64": OP_SETP_F64}
_UNSIGNED = {"lo", "ls", "hi", "hs"}
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_SELECTED = f"{INTS} {BITS} f32 f64".split()
_SET_TYPES = TYPE_CODES | {"b16": T_U32, "u16": T_U32}


def _compare(form: Form, kind: str) -> tuple[int, int]:
    """Return comparison code and flags, checked against the type compared."""
    boolean = 0
    if len(form.left) > 1:
        boolean = form.one_of(_BOOLS, 0)
    if kind[0] != "u" and not _UNSIGNED.isdisjoint(form.left):
        raise Refused
    compare = form.one_of(COMPARISONS)
    is_float = "f" in kind
    if "ftz" in form.left and (kind not in ("f32", "f16", "f16x2") or form.types[0].startswith("bf16")):
        raise Refused
    if compare >= CMP_EQU and not is_float or kind[0] == "b" and not is_float and compare > CMP_NE:
        raise Refused
    return compare, boolean | FLAG_FTZ * form.take("ftz")


def setp(form: Form) -> OpInfo:
    kind = form.type(" ".join([*_SETP_OPS, *_HALVES]))
    compare, flags = _compare(form, kind)
    form.done()
    psrc = int(bool(flags & FLAG_BOOL_MASK))
    if kind in _HALVES:
        return op_info(OP_SETP_HALF, (kind, kind), "pred", flags=flags, aux=compare | TYPE_CODES[kind] << 8,
                       pdst=2 if "x2" in kind else 1, psrc=psrc)
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_OTHER, UNIT_SP)
    op = OP_SETP_F32_FTZ if kind == "f32" and flags & FLAG_FTZ else _SETP_OPS[kind]
    return op_info(op, (kind, kind), "pred", latency, unit, flags, compare, pdst=2, psrc=psrc,
                   is_float=kind in ("f32", "f64"))


def set_(form: Form) -> OpInfo:
    if len(form.types) != 2:
        raise Refused
    dst, kind = form.types
    answers: tuple[str, ...]
    if kind in _HALVES:  # comparing halves yields a half or an integer, comparing pairs a pair or a 32-bit integer
        answers = (kind, "u32", "s32") if "x2" in kind else (kind, "bf16", "u16", "s16", "u32", "s32")
    else:
        answers = ("u32", "s32", "f32", "f16", "bf16") if kind in _SETP_OPS else ()
    if dst not in answers:
        raise Refused
    compare, flags = _compare(form, kind)
    form.done()
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_OTHER, UNIT_SP)
    return op_info(OP_SET, (kind, kind), dst, latency, unit, flags,
                   compare | _SET_TYPES[kind] << 8 | TYPE_CODES[dst] << 16, psrc=int(bool(flags & FLAG_BOOL_MASK)),
                   is_float=kind in ("f32", "f64"))


def selp(form: Form) -> OpInfo:
    kind = form.type(" ".join(_SELECTED))
    form.done()
    return op_info(OP_SELP64 if TYPE_BITS[kind] == 64 else OP_SELP32, (kind, kind), kind, psrc=1)


def slct(form: Form) -> OpInfo:
    if len(form.types) != 2 or form.types[1] not in ("s32", "f32") or form.types[0] not in _SELECTED:
        raise Refused
    kind, selector = form.types
    flags = FLAG_FTZ * (selector == "f32" and form.take("ftz"))
    form.done()
    return op_info(OP_SLCT, (kind, kind, selector), kind, flags=flags,
                   aux=TYPE_CODES[selector] << 8 | TYPE_CODES[kind] << 16,
                   is_float=kind in ("f32", "f64") or selector == "f32")
