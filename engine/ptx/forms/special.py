"""Forms of roots, reciprocals and transcendentals, and of operations on a float's parts (testp, copysign)."""

from __future__ import annotations

from rfview.engine.isa import (FLAG_FTZ, FP_RCP, FP_SQRT, OP_COPYSIGN32, OP_COPYSIGN64, OP_SFU, OP_TESTP, SFU_BF16,
                               SFU_COS, SFU_EX2, SFU_HALF, SFU_HALF2, SFU_LG2, SFU_RCP, SFU_RCP64, SFU_RSQRT,
                               SFU_RSQRT64, SFU_SIN, SFU_SQRT, SFU_TANH, TESTP_F64, TESTP_KINDS)
from rfview.engine.program import LAT_DP_ADD, LAT_FP_ADD, LAT_OTHER, LAT_SFU, UNIT_SFU, UNIT_SP
from rfview.engine.ptx.forms.form import ROUNDS, Form, OpInfo, Refused, float_flags, op_info
from rfview.engine.ptx.forms.arithmetic import float_op


def _sfu(form: Form, sub: int) -> OpInfo:
    kind = form.type("f32")
    flags = FLAG_FTZ * form.take("ftz")
    form.done()
    if flags and sub == SFU_TANH:
        raise Refused
    return op_info(OP_SFU, (kind,), kind, LAT_SFU, UNIT_SFU, flags, sub, is_float=True)


def root(form: Form) -> OpInfo:
    """rcp, sqrt, rsqrt: approximate or correctly rounded; a bare f32 form is PTX 1.3's .approx.ftz, as for div.f32."""
    fill_in_defaults(form)
    approx = form.take("approx")
    is_f64 = form.types == ["f64"]
    if form.base == "rsqrt" and not approx:
        raise Refused
    if approx and is_f64:
        if form.base == "sqrt":
            raise Refused
        flushed = form.take("ftz")
        form.done()
        if form.base == "rcp" and not flushed:
            raise Refused
        return op_info(OP_SFU, ("f64",), "f64", LAT_SFU, UNIT_SFU, FLAG_FTZ * flushed,
                       SFU_RCP64 if form.base == "rcp" else SFU_RSQRT64, is_float=True)
    if approx:
        return _sfu(form, {"rcp": SFU_RCP, "sqrt": SFU_SQRT, "rsqrt": SFU_RSQRT}[form.base])
    kind = form.type("f32 f64")
    if form.left and ROUNDS.keys().isdisjoint(form.left):
        raise Refused
    info = float_op(FP_RCP if form.base == "rcp" else FP_SQRT, kind, 1, float_flags(form, True))
    form.done()
    return info


def fill_in_defaults(form: Form) -> None:
    """Give a bare f32 form the modifiers implied in PTX 1.0 to 1.3; later versions require them."""
    if form.types == ["f32"] and not form.left:
        form.left = ["approx", "ftz"]


def transcendental(form: Form) -> OpInfo:
    """ex2, lg2, sin, cos, tanh; ex2 and tanh also for halves."""
    fill_in_defaults(form)
    if not form.take("approx"):
        raise Refused
    sub = {"ex2": SFU_EX2, "lg2": SFU_LG2, "sin": SFU_SIN, "cos": SFU_COS, "tanh": SFU_TANH}[form.base]
    if sub in (SFU_EX2, SFU_TANH) and form.types[:1] in (["f16"], ["f16x2"], ["bf16"], ["bf16x2"]):
        kind = form.type()
        flags = FLAG_FTZ * form.take("ftz")
        form.done()
        if bool(flags) != (sub == SFU_EX2 and kind[0] == "b"):      # ex2 of a bf16 always flushes, nothing else does
            raise Refused
        sub |= (SFU_HALF2 if "x2" in kind else SFU_HALF) | (SFU_BF16 if kind[0] == "b" else 0)
        return op_info(OP_SFU, (kind,), kind, LAT_SFU, UNIT_SFU, flags, sub)
    return _sfu(form, sub)


def testp(form: Form) -> OpInfo:
    kind = form.type("f32 f64")
    test = form.one_of(TESTP_KINDS)
    form.done()
    latency, unit = (LAT_DP_ADD, UNIT_SFU) if kind == "f64" else (LAT_OTHER, UNIT_SP)
    aux = test + TESTP_F64 * (kind == "f64")
    return op_info(OP_TESTP, (kind,), "pred", latency, unit, aux=aux, pdst=1, is_float=True)


def copysign(form: Form) -> OpInfo:
    kind = form.type("f32 f64")
    form.done()
    if kind == "f64":
        return op_info(OP_COPYSIGN64, (kind, kind), kind, LAT_DP_ADD, UNIT_SFU, is_float=True)
    return op_info(OP_COPYSIGN32, (kind, kind), kind, LAT_FP_ADD, is_float=True)
