"""Opcodes of cvt, and of cvta and isspacep, which convert and test addresses."""

from __future__ import annotations

from rfview.engine.isa import (CVT_PAIR, CVTA_FROM_LOCAL, CVTA_FROM_PARAM, CVTA_FROM_SHARED, CVTA_IDENTITY,
                               CVTA_TO_LOCAL, CVTA_TO_PARAM, CVTA_TO_SHARED, FLAG_INT_ROUND, FLAG_RZ, ISSPACEP_KINDS,
                               OP_CVT, OP_CVT_F32_F64, OP_CVT_F32_S32, OP_CVT_F32_U32, OP_CVT_F64_F32, OP_CVT_F64_S32,
                               OP_CVT_F64_U32, OP_CVT_S32_F32, OP_CVT_U32_F32, OP_CVTA, OP_ISSPACEP, OP_MOV32,
                               OP_MOV64, OP_SEXT16, OP_SEXT64, OP_SEXT8, OP_ZEXT16, OP_ZEXT64, OP_ZEXT8, TYPE_BITS,
                               TYPE_CODES)
from rfview.engine.ptx.forms.form import Chosen, Spelling

# conversions with an opcode of their own: those that round to the nearest or need not round, and those towards zero
_TO_FLOAT = {
    ("f32", "s32"): OP_CVT_F32_S32, ("f32", "u32"): OP_CVT_F32_U32, ("f64", "f32"): OP_CVT_F64_F32,
    ("f32", "f64"): OP_CVT_F32_F64, ("f64", "s32"): OP_CVT_F64_S32, ("f64", "u32"): OP_CVT_F64_U32,
}
_TO_INT = {("s32", "f32"): OP_CVT_S32_F32, ("u32", "f32"): OP_CVT_U32_F32}
_EXTENSIONS = {"u8": OP_ZEXT8, "s8": OP_SEXT8, "u16": OP_ZEXT16, "s16": OP_SEXT16, "u32": OP_ZEXT64, "s32": OP_SEXT64}
_WINDOWS = {"shared": (CVTA_FROM_SHARED, CVTA_TO_SHARED), "local": (CVTA_FROM_LOCAL, CVTA_TO_LOCAL),
            "param": (CVTA_FROM_PARAM, CVTA_TO_PARAM)}


def _of_integers(to: str, source: str) -> int | None:
    """Return the move or extension equivalent to an integer conversion without saturation, or None."""
    bits, source_bits = TYPE_BITS[to], TYPE_BITS[source]
    if bits == 64 and source_bits >= 32:
        return OP_MOV64 if source_bits == 64 else _EXTENSIONS[source]
    if bits == 32:
        return OP_MOV32 if source_bits >= 32 else _EXTENSIONS[source]
    if to == "u16" and source != "s8":
        return OP_ZEXT16 if source_bits >= 16 else OP_ZEXT8
    return OP_ZEXT8 if to == "u8" else None


def cvt(form: Spelling) -> Chosen:
    to, source = form.types
    flags, aux = form.flags, TYPE_CODES[to] | TYPE_CODES[source] << 8
    if to in ("f16x2", "bf16x2"):
        return Chosen(OP_CVT, flags=flags, aux=aux | CVT_PAIR)
    if "f" not in to and "f" not in source:
        own = None if flags else _of_integers(to, source)
        return Chosen(OP_CVT if own is None else own, flags=flags, aux=aux)
    own = {0: _TO_FLOAT, FLAG_INT_ROUND | FLAG_RZ: _TO_INT}.get(flags, {}).get((to, source))
    return Chosen(OP_CVT, flags=flags, aux=aux) if own is None else Chosen(own)


def cvta(form: Spelling) -> Chosen:
    """Choose the direction; the windows of 32-bit modules, which are the spaces themselves, are lowered as moves."""
    pair = _WINDOWS.get(form.words[0].partition("::")[0], (CVTA_IDENTITY,) * 2)
    return Chosen(OP_CVTA, aux=pair[form.name == "cvta.to"])


def isspacep(form: Spelling) -> Chosen:
    return Chosen(OP_ISSPACEP, aux=ISSPACEP_KINDS[form.words[0].partition("::")[0]])
