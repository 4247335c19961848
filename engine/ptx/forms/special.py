"""Opcodes of approximations by the special-function unit, of testp, copysign, dot products and permutations."""

from __future__ import annotations

from rfview.engine.isa import (FLAG_FTZ, OP_COPYSIGN32, OP_COPYSIGN64, OP_DP2A, OP_DP4A, OP_LOP3, OP_PRMT, OP_SFU,
                               OP_SHF, OP_TESTP, PRMT_MODES, SFU_BF16, SFU_COS, SFU_DIV, SFU_DIV_FULL, SFU_EX2,
                               SFU_HALF, SFU_HALF2, SFU_LG2, SFU_RCP, SFU_RCP64, SFU_RSQRT, SFU_RSQRT64, SFU_SIN,
                               SFU_SQRT, SFU_TANH, TESTP_F64, TESTP_KINDS)
from rfview.engine.program import (LAT_DP_ADD, LAT_FP_ADD, LAT_FP_DIV_APPROX, LAT_INT_MAD, LAT_OTHER, LAT_SFU, UNIT_SFU,
                                   UNIT_SP)
from rfview.engine.ptx.forms.arithmetic import arithmetic
from rfview.engine.ptx.forms.form import Chosen, Spelling

_FUNCTIONS = {"rcp": SFU_RCP, "sqrt": SFU_SQRT, "rsqrt": SFU_RSQRT, "ex2": SFU_EX2, "lg2": SFU_LG2, "sin": SFU_SIN,
              "cos": SFU_COS, "tanh": SFU_TANH, "div": SFU_DIV, "div.full": SFU_DIV_FULL}
_DOUBLES = {"rcp": SFU_RCP64, "rsqrt": SFU_RSQRT64}
_HALVES = {"f16": SFU_HALF, "f16x2": SFU_HALF2, "bf16": SFU_HALF | SFU_BF16, "bf16x2": SFU_HALF2 | SFU_BF16}


def function(form: Spelling) -> Chosen:
    """Choose an approximation, or the exact operation for a rounding mode; a bare f32 form is PTX 1.3's .approx.ftz."""
    kind, is_bare = form.type, form.type == "f32" and not form.words and form.name != "div.full"
    is_approximate = is_bare or "approx" in form.words or form.name in ("div.full", "rsqrt")
    if not is_approximate:
        return arithmetic(form)
    number = _DOUBLES[form.base] if kind == "f64" else _FUNCTIONS[form.name] | _HALVES.get(kind, 0)
    return Chosen(OP_SFU, LAT_FP_DIV_APPROX if form.base == "div" else LAT_SFU, UNIT_SFU, form.flags | FLAG_FTZ * is_bare,
                  number, is_float=kind not in _HALVES)


def testp(form: Spelling) -> Chosen:
    aux = form.value(TESTP_KINDS, 0)
    if form.type == "f64":
        return Chosen(OP_TESTP, LAT_DP_ADD, UNIT_SFU, aux=aux + TESTP_F64, is_float=True)
    return Chosen(OP_TESTP, LAT_OTHER, UNIT_SP, aux=aux, is_float=True)


def copysign(form: Spelling) -> Chosen:
    if form.type == "f64":
        return Chosen(OP_COPYSIGN64, LAT_DP_ADD, UNIT_SFU, is_float=True)
    return Chosen(OP_COPYSIGN32, LAT_FP_ADD, is_float=True)


def bits(form: Spelling) -> Chosen:
    """shf, lop3, whose table of truth is an operand, and prmt."""
    if form.base == "shf":
        return Chosen(OP_SHF, aux=2 * (form.name == "shf.r") + ("wrap" in form.words))
    return Chosen(OP_LOP3) if form.base == "lop3" else Chosen(OP_PRMT, aux=form.value(PRMT_MODES, 0))


def dot(form: Spelling) -> Chosen:
    """dp4a and dp2a."""
    signs = sum((kind == "s32") << place for place, kind in enumerate(form.types))
    return Chosen(OP_DP4A if form.base == "dp4a" else OP_DP2A, LAT_INT_MAD, aux=signs | 4 * (form.name == "dp2a.hi"))
