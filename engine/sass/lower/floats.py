"""Floats of 32 and 64 bits, halves, and the special function unit."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.integers import is_minimum, is_zero
from rfview.engine.sass.lower.moves import move_of, no_predicates
from rfview.engine.program import LAT_SFU, NO_REG, UNIT_SFU, WAIT_SHORT

ROUNDING = {"RN": 0, "RZ": isa.FLAG_RZ, "RM": isa.FLAG_RM, "RP": isa.FLAG_RP}
OPERATIONS = {"ADD": (isa.FP_ADD, isa.OP_FADD, isa.OP_FADD_FTZ, isa.OP_DADD),
              "MUL": (isa.FP_MUL, isa.OP_FMUL, isa.OP_FMUL_FTZ, isa.OP_DMUL),
              "FMA": (isa.FP_FMA, isa.OP_FFMA, isa.OP_FFMA_FTZ, isa.OP_DFMA)}


def flags_of(form: Form) -> int:
    """Return the flags of the rounding mode, .FTZ, .SAT and .RELU."""
    return (form.pick(ROUNDING, 0) | isa.FLAG_FTZ * form.has("FTZ") | isa.FLAG_SAT * form.has("SAT")
            | isa.FLAG_RELU * form.has("RELU"))


def sources(form: Form, draft: Draft, kind: str) -> None:
    """Fill two or three operands."""
    for k, operand in enumerate([form.a, form.b, *form.all("c")]):
        draft.source(k, operand, kind)


def single(form: Form, draft: Draft) -> None:
    """FADD, FMUL, FFMA."""
    number, op, flushing, _ = OPERATIONS[form.base.removeprefix("F").removesuffix("32I")[-3:]]
    flags = flags_of(form)
    if flags & ~isa.FLAG_FTZ:
        draft.be(isa.OP_FLOAT, number, flags)
    else:
        draft.be(flushing if flags else op)
    draft.is_float = 1
    sources(form, draft, "f32")
    draft.result(form.d)


def double(form: Form, draft: Draft) -> None:
    """DADD, DMUL, DFMA."""
    number, _, _, op = OPERATIONS[form.base[1:]]
    flags = flags_of(form)
    if flags:
        draft.be(isa.OP_DOUBLE, number, flags)
    else:
        draft.be(op)
    draft.is_float = 1
    sources(form, draft, "f64")
    draft.result(form.d, 2)


def pair(form: Form, draft: Draft) -> None:
    """FADD2, FMUL2, FFMA2: two floats in a pair of registers."""
    for operand in (form.a, form.b, *form.all("c")):
        if operand.kind in ("f", "n") or operand.absolute:
            raise NotExecuted(f"with operand {operand.text}")
    draft.be(isa.OP_FLOAT_PAIR, OPERATIONS[form.base[1:4]][0], flags_of(form))
    for k, operand in enumerate([form.a, form.b, *form.all("c")]):
        draft.rows(2 * k, operand, 2, "f32")
        if operand.kind in ("R", "UR") and operand.number is None:
            draft.number(2 * k + 1, draft.imm[2 * k])
        elif operand.sign:
            draft.modify[k] = isa.MODIFY_FNEG
    draft.result(form.d, 2)


def extreme(form: Form, draft: Draft) -> None:
    """FMNMX: the minimum if the predicate holds, else the maximum; -0 is below +0."""
    no_predicates(form)
    flags = isa.FLAG_FTZ * form.has("FTZ") | isa.FLAG_NAN * form.has("NAN")
    if flags:
        draft.be(isa.OP_FLOAT, isa.FP_MIN if is_minimum(form) else isa.FP_MAX, flags)
    else:
        draft.be(isa.OP_FMIN if is_minimum(form) else isa.OP_FMAX)
    sources(form, draft, "f32")
    draft.result(form.d)


def extreme_of_three(form: Form, draft: Draft) -> None:
    """FMNMX3."""
    no_predicates(form)
    draft.be(isa.OP_MINMAX3, isa.MINMAX3_FLOAT | (0 if is_minimum(form) else isa.MINMAX3_MAX),
             isa.FLAG_FTZ * form.has("FTZ") | isa.FLAG_NAN * form.has("NAN"))
    sources(form, draft, "f32")
    draft.result(form.d)


def check(form: Form, draft: Draft) -> None:
    """FCHK.DIVIDE: whether a / b is out of the range of the short division."""
    draft.be(isa.OP_FCHK)
    sources(form, draft, "f32")
    draft.truth(0, form.q)
    slow(draft)


def slow(draft: Draft) -> None:
    """Make it an instruction of the special function unit, whose latency the compiler does not know."""
    draft.unit, draft.latency_class, draft.wait_class = UNIT_SFU, LAT_SFU, WAIT_SHORT


FUNCTIONS = {"RCP": isa.SFU_RCP, "RSQ": isa.SFU_RSQRT, "SQRT": isa.SFU_SQRT, "EX2": isa.SFU_EX2, "LG2": isa.SFU_LG2,
             "TANH": isa.SFU_TANH, "SIN": isa.SFU_SIN_TURNS, "COS": isa.SFU_COS_TURNS}
UPPER = {"RCP64H": isa.SFU_RCP64, "RSQ64H": isa.SFU_RSQRT64}


def function(form: Form, draft: Draft) -> None:
    """MUFU: subnormal operands and results are zeros; .RCP64H and .RSQ64H take and give the upper word of a double.

    Not so of TANH and of EX2.F16: ptxas leaves to them what the PTX manual says of subnormal numbers.
    """
    slow(draft)
    draft.is_float = 1
    if form.has(*UPPER):
        draft.be(isa.OP_SFU, form.pick(UPPER), isa.FLAG_FTZ)
        draft.number(0, 0)
        draft.rows(1, form.a, 1, "f32")
        if not draft.imm_mask & 2:
            draft.modify[0] = draft.sign_of(form.a, "f64")
        draft.result(form.d)
        draft.dst = [NO_REG, *draft.dst]
        return None
    if form.has("F16", "BF16"):
        if not form.has("EX2", "TANH"):
            raise NotExecuted("of halves but for EX2 and TANH")
        brain = form.has("BF16")
        draft.be(isa.OP_SFU, form.pick(FUNCTIONS) | isa.SFU_HALF | isa.SFU_BF16 * brain,
                 isa.FLAG_FTZ * (brain and form.has("EX2")))
        draft.source(0, form.a, "h2")
        return draft.result(form.d)
    draft.be(isa.OP_SFU, form.pick(FUNCTIONS), isa.FLAG_FTZ * (not form.has("TANH")))
    draft.source(0, form.a, "f32")
    draft.result(form.d)
    return None


def half(form: Form, draft: Draft) -> None:
    """HADD2, HMUL2, HFMA2 (.MMA is another pipe); -0 * 0 + number is a move of a constant."""
    operands = [form.a, form.b, *form.all("c")]
    if len(operands) == 3 and is_zero(operands[0]) and is_zero(operands[1]) and operands[2].kind in ("f", "n"):
        return move_of(form, draft, operands[2])
    number = OPERATIONS[form.base[1:4]][0]
    if form.has("F32"):
        return half_to_float(form, draft)
    draft.be(isa.OP_HALF, number | halves_of(form) << 8, flags_of(form))
    sources(form, draft, "h2")
    draft.result(form.d)
    return None


def halves_of(form: Form) -> int:
    """Return the type of a pair of halves."""
    return isa.T_BF16X2 if form.has("BF16_V2") else isa.T_F16X2


def half_extreme(form: Form, draft: Draft) -> None:
    """HMNMX2: of both halves the minimum if the predicate holds, else the maximum."""
    number = isa.FP_MIN if is_minimum(form) else isa.FP_MAX
    draft.be(isa.OP_HALF, number | halves_of(form) << 8, isa.FLAG_NAN * form.has("NAN") | isa.FLAG_FTZ * form.has("FTZ"))
    sources(form, draft, "h2")
    draft.result(form.d)


def half_to_float(form: Form, draft: Draft) -> None:
    """HADD2.F32 d, -RZ, x, or d, x, -RZ: a half as a float."""
    zeros = [operand for operand in (form.a, form.b) if is_zero(operand) and operand.sign == "-"]
    if form.base != "HADD2" or not zeros:
        raise NotExecuted("but as HADD2.F32 with -RZ")
    draft.be(isa.OP_CVT, isa.T_F32 | isa.T_F16 << 8, flags_of(form))
    draft.source(0, form.b if zeros[0] is form.a else form.a, "h2")
    draft.result(form.d)
