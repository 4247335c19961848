"""Shifts, logic, and operations on the bits of one word."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.integers import is_zero
from rfview.engine.sass.lower.moves import no_predicates

# tables of LOP3 where c is zero, in the bits that count then -> opcode
OF_TWO, C_IS_ZERO = {0x40: isa.OP_AND32, 0x54: isa.OP_OR32, 0x14: isa.OP_XOR32}, 0x55


def shift(form: Form, draft: Draft) -> None:
    """SHF: c:a shifted by b; .L gives the low word and .R the low one, with .HI the high one."""
    is_left, is_wide = form.has("L"), form.has("U64", "S64")
    is_signed, wraps, is_high = form.has("S32", "S64"), form.has("W"), form.has("HI")
    if not wraps and not is_wide and is_left and not is_high:
        draft.be(isa.OP_SHL32)
        value = form.a
    elif not wraps and not is_wide and not is_left and is_high:
        draft.be(isa.OP_SHR_S32 if is_signed else isa.OP_SHR_U32)
        value = form.c
    else:
        draft.be(isa.OP_FUNNEL, isa.FUNNEL_LEFT * is_left | isa.FUNNEL_WRAP * wraps | isa.FUNNEL_HIGH * is_high
                 | isa.FUNNEL_WIDE * is_wide | isa.FUNNEL_SIGNED * is_signed)
        draft.source(2, form.c)
        value = form.a
    draft.source(0, value)
    draft.source(1, form.b)
    draft.result(form.d)


def shift_left(form: Form, draft: Draft) -> None:
    """SHL, USHL: by amounts below 32, else zero."""
    simple_shift(form, draft, isa.OP_SHL32)


def shift_right(form: Form, draft: Draft) -> None:
    """SHR."""
    simple_shift(form, draft, isa.OP_SHR_U32 if form.has("U32") else isa.OP_SHR_S32)


def simple_shift(form: Form, draft: Draft, op: int) -> None:
    draft.be(op)
    draft.source(0, form.a)
    draft.source(1, form.b)
    draft.result(form.d)


def logic(form: Form, draft: Draft) -> None:
    """LOP3: a function of three operands by its table; with a predicate, also whether the result is not zero."""
    table = form.n.number or 0
    if not 0 <= table < 256:
        raise NotExecuted(f"with table {table:#x}")
    predicate = form.one("q")
    if predicate is not None and predicate.number is not None:
        draft.be(isa.OP_LOP3_P, table | isa.LOP3_AND * form.has("PAND"))
        draft.condition(0, form.one("p"))
        if form.one("p") is None:
            draft.psrc_negate[0] = 0
        draft.truth(0, predicate)
    elif is_zero(form.c) and form.c.sign == "" and table & C_IS_ZERO in OF_TWO:
        draft.be(OF_TWO[table & C_IS_ZERO])
    else:
        draft.be(isa.OP_LOP3, table)
    for k, operand in enumerate((form.a, form.b) if draft.op in OF_TWO.values() else (form.a, form.b, form.c)):
        draft.source(k, operand)
    draft.result(form.d)


def bits_of_one(form: Form, draft: Draft) -> None:
    """POPC, BREV, FLO (the highest bit, or with .SH its distance from the top)."""
    no_predicates(form)
    number = {"POPC": isa.INT_POPC, "BREV": isa.INT_BREV, "FLO": isa.INT_BFIND_SHIFT if form.has("SH") else isa.INT_BFIND}
    is_signed = form.base == "FLO" and not form.has("U32")
    draft.be(isa.OP_INT, number[form.base] | (isa.T_S32 if is_signed else isa.T_U32) << 8)
    draft.source(0, form.a)
    draft.result(form.d)


def extend(form: Form, draft: Draft) -> None:
    """SGXT: the low b bits of a, extended; BMSK: b ones from bit a on."""
    wraps = form.has("W")
    if form.base == "BMSK":
        aux = isa.INT_BMSK_WRAP if wraps else isa.INT_BMSK_CLAMP
    else:
        aux = isa.INT_SZEXT_WRAP if wraps else isa.INT_SZEXT_CLAMP
    draft.be(isa.OP_INT, aux | (isa.T_U32 if form.has("U32") or form.base == "BMSK" else isa.T_S32) << 8)
    draft.source(0, form.a)
    draft.source(1, form.b)
    draft.result(form.d)
