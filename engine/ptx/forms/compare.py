"""Opcodes of comparison and selection: setp, set, slct."""

from __future__ import annotations

from rfview.engine.isa import (COMPARISONS, FLAG_BOOL_AND, FLAG_BOOL_OR, FLAG_BOOL_XOR, FLAG_FTZ, OP_SET, OP_SETP_F32,
                               OP_SETP_F32_FTZ, OP_SETP_F64, OP_SETP_HALF, OP_SETP_S16, OP_SETP_S32, OP_SETP_S64,
                               OP_SETP_U32, OP_SETP_U64, OP_SLCT, T_U32, TYPE_CODES)
from rfview.engine.program import LAT_DP_ADD, LAT_OTHER, UNIT_SFU, UNIT_SP
from rfview.engine.ptx.forms.form import Chosen, Spelling

_BOOLS = {"and": FLAG_BOOL_AND, "or": FLAG_BOOL_OR, "xor": FLAG_BOOL_XOR}
_SETP_OPS = {"s32": OP_SETP_S32, "u32": OP_SETP_U32, "b32": OP_SETP_U32, "s64": OP_SETP_S64, "u64": OP_SETP_U64,
             "b64": OP_SETP_U64, "u16": OP_SETP_U32, "b16": OP_SETP_U32, "s16": OP_SETP_S16, "f32": OP_SETP_F32,
             "f64": OP_SETP_F64}
_SET_TYPES = TYPE_CODES | {"b16": T_U32, "u16": T_U32}


def comparison(form: Spelling) -> Chosen:
    """setp and set: the comparison is the first modifier; the last type is compared."""
    kind, compare = form.types[-1], COMPARISONS[form.words[0]]
    flags = form.flags | form.value(_BOOLS, 0)
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_OTHER, UNIT_SP)
    is_float = kind in ("f32", "f64")
    if form.base == "set":
        aux = compare | _SET_TYPES[kind] << 8 | TYPE_CODES[form.type] << 16
        return Chosen(OP_SET, latency, unit, flags, aux, is_float)
    if kind not in _SETP_OPS:
        return Chosen(OP_SETP_HALF, flags=flags, aux=compare | TYPE_CODES[kind] << 8)
    op = OP_SETP_F32_FTZ if kind == "f32" and flags & FLAG_FTZ else _SETP_OPS[kind]
    return Chosen(op, latency, unit, flags, compare, is_float)


def slct(form: Spelling) -> Chosen:
    kind, selector = form.types
    return Chosen(OP_SLCT, flags=form.flags, aux=TYPE_CODES[selector] << 8 | TYPE_CODES[kind] << 16,
                  is_float=kind in ("f32", "f64") or selector == "f32")
