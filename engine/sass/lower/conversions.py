"""Conversions between integers, floats and halves."""

from __future__ import annotations

from dataclasses import replace

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.floats import ROUNDING, flags_of, slow
from rfview.engine.sass.lower.integers import is_zero

INTEGERS = {name.upper(): isa.TYPE_CODES[name] for name in "u8 s8 u16 s16 u32 s32 u64 s64".split()}
FLOATS = {"F16": isa.T_F16, "BF16": isa.T_BF16, "F32": isa.T_F32, "F64": isa.T_F64}
TO_INTEGER = {"TRUNC": isa.FLAG_RZ, "FLOOR": isa.FLAG_RM, "CEIL": isa.FLAG_RP}
WIDE = (isa.T_U64, isa.T_S64, isa.T_F64)
KIND = {isa.T_F64: "f64", isa.T_F32: "f32", isa.T_F16: "h2", isa.T_BF16: "h2", isa.T_U64: "i64", isa.T_S64: "i64"}
# conversions to the nearest, or toward zero, with an opcode of their own
OWN = {(isa.T_F32, isa.T_S32, 0): isa.OP_CVT_F32_S32, (isa.T_F32, isa.T_U32, 0): isa.OP_CVT_F32_U32,
       (isa.T_F64, isa.T_S32, 0): isa.OP_CVT_F64_S32, (isa.T_F64, isa.T_U32, 0): isa.OP_CVT_F64_U32,
       (isa.T_F64, isa.T_F32, 0): isa.OP_CVT_F64_F32, (isa.T_F32, isa.T_F64, 0): isa.OP_CVT_F32_F64,
       (isa.T_S32, isa.T_F32, isa.FLAG_INT_ROUND | isa.FLAG_RZ): isa.OP_CVT_S32_F32,
       (isa.T_U32, isa.T_F32, isa.FLAG_INT_ROUND | isa.FLAG_RZ): isa.OP_CVT_U32_F32}


def convert(form: Form, draft: Draft, to: int, source: int, flags: int) -> None:
    """Convert operand a."""
    own = OWN.get((to, source, flags))
    if own is not None:
        draft.be(own)
    else:
        draft.be(isa.OP_CVT, to | source << 8, flags | isa.FLAG_WIDE_DST * (to <= isa.T_S16))
    draft.source(0, form.a, KIND.get(source, "i32"))
    draft.result(form.d, 1 + (to in WIDE))
    if form.base not in ("I2FP", "F2FP"):
        slow(draft)


def integer_to_float(form: Form, draft: Draft) -> None:
    """I2F, I2FP."""
    if form.a.sign or form.a.absolute:
        raise NotExecuted(f"with operand {form.a.text}")
    convert(form, draft, form.pick(FLOATS, isa.T_F32), form.pick(INTEGERS, isa.T_S32), form.pick(ROUNDING, 0))


def float_to_integer(form: Form, draft: Draft) -> None:
    """F2I: to the nearest, .TRUNC, .FLOOR or .CEIL; what is out of range becomes the nearest integer."""
    flags = isa.FLAG_INT_ROUND | form.pick(TO_INTEGER, 0) | isa.FLAG_FTZ * form.has("FTZ")
    convert(form, draft, form.pick(INTEGERS, isa.T_S32), form.pick(FLOATS, isa.T_F32), flags)


def float_to_float(form: Form, draft: Draft) -> None:
    """F2F: the first type is the result's."""
    types = [FLOATS[word] for word in form.modifiers if word in FLOATS]
    if len(types) != 2:
        raise NotExecuted("without two types")
    convert(form, draft, types[0], types[1], flags_of(form))


def round_to_integer(form: Form, draft: Draft) -> None:
    """FRND: to an integral float."""
    kind = form.pick(FLOATS, isa.T_F32)
    convert(form, draft, kind, kind, isa.FLAG_INT_ROUND | form.pick(TO_INTEGER, 0) | isa.FLAG_FTZ * form.has("FTZ"))


def integer_to_integer(form: Form, draft: Draft) -> None:
    """I2I: between widths, with .SAT into the result's range."""
    types = [INTEGERS[word] for word in form.modifiers if word in INTEGERS]
    convert(form, draft, types[0], types[1] if len(types) > 1 else isa.T_S32, isa.FLAG_SAT * form.has("SAT"))


def pack_floats(form: Form, draft: Draft) -> None:
    """F2FP: .PACK_AB: two floats to halves, a in the upper one; .MERGE_C: one, below a zero; floats of 8 bits."""
    if form.has("E4M3", "E5M2"):
        return pack_small_floats(form, draft)
    kind = isa.T_BF16X2 if form.has("BF16") else isa.T_F16X2
    upper, lower = (form.b, form.a) if form.has("MERGE_C") else (form.a, form.b)
    if form.has("MERGE_C") and not is_zero(upper):
        raise NotExecuted(f"with operand {upper.text}")
    draft.be(isa.OP_CVT, kind | isa.T_F32 << 8 | isa.CVT_PAIR | isa.CVT_FINITE * form.has("SATFINITE"), flags_of(form))
    draft.source(0, upper, "f32")
    draft.source(1, lower, "f32")
    return draft.result(form.d)


def pack_small_floats(form: Form, draft: Draft) -> None:
    """F2FP with .E4M3 or .E5M2: .UNPACK_B: two to halves; .PACK_AB_MERGE_C: two f32, .UNPACK_B_MERGE_C: two halves to them.

    Above the two that these make is the lower half of the last operand.
    """
    aux = isa.SMALL_E5M2 * form.has("E5M2") | isa.SMALL_HALVES * form.has("F16")
    if form.has("UNPACK_B"):
        draft.be(isa.OP_SMALL_FLOATS, aux | isa.SMALL_WIDEN, flags_of(form))
        draft.source(0, form.a)
        return draft.result(form.d)
    floats, above = ([form.a], form.b) if form.has("UNPACK_B_MERGE_C") else ([form.a, form.b], form.c)
    if not form.has("SATFINITE") or form.has("F16") == form.has("F32"):
        raise NotExecuted("but with .SATFINITE, of .F32 or .F16")
    draft.be(isa.OP_SMALL_FLOATS, aux, flags_of(form))
    for k, operand in enumerate(floats):
        draft.source(k, operand, "h2" if form.has("F16") else "f32")
    draft.source(2, above)
    return draft.result(form.d)


def pack_integers(form: Form, draft: Draft) -> None:
    """I2IP.S8.S32.SAT: b, limited to a narrow type, to the low bits, a above it, and c above them."""
    kind = form.modifiers[0]
    if form.modifiers[1:] != ("S32", "SAT") or set(form.c.parts) - {str(32 - 2 * int(kind[1:]))}:
        raise NotExecuted("but of S32 with .SAT")
    draft.be(isa.OP_I2IP, int(kind[1:]) | isa.I2IP_SIGNED * (kind[0] == "S"))
    for k, operand in enumerate((form.a, form.b, replace(form.c, parts=()))):
        draft.source(k, operand)
    draft.result(form.d)


def pack_bytes(form: Form, draft: Draft) -> None:
    """F2IP.U8.F32: b to the low byte, a to the next one, c above them."""
    if not form.has("U8"):
        raise NotExecuted("but as .U8")
    draft.be(isa.OP_F2IP, 0, form.pick(TO_INTEGER, 0))
    for k, operand in enumerate((form.a, form.b)):
        draft.source(k, operand, "f32")
    draft.source(2, form.c)
    draft.result(form.d)
