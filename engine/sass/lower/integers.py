"""Integer arithmetic. With a carry, -x is the complement and one more, so that the carry out is right even of -0."""

from __future__ import annotations

from dataclasses import replace

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.moves import move_of, no_predicates
from rfview.engine.sass.operands import Operand

SIGNED = {"U32": 0, "S32": 1}
WIDE = {"U64": isa.T_U64, "S64": isa.T_S64}
# bits of packed numbers, and whether they are signed
ELEMENTS = {"U8x4": (8, 0), "S8x4": (8, 1), "U8": (8, 0), "S8": (8, 1), "U16x2": (16, 0), "S16x2": (16, 1), "16x2": (16, 0)}


def is_zero(operand: Operand) -> bool:
    """Return whether an operand is RZ or URZ, or the number 0."""
    return operand.kind in ("R", "UR") and operand.number is None or operand.kind == "n" and operand.number == 0


def writes_carry(form: Form) -> bool:
    """Return whether a predicate is written."""
    return any(predicate.number is not None for predicate in form.all("q"))


def add(form: Form, draft: Draft) -> None:
    """IADD3, IADD, VIADD, with .64, and with .X carries in; .S32.ISAT is limited to 32 bits."""
    terms = [form.a, form.b, *form.all("c")]
    if form.has("ISAT"):
        return limited_sum(form, draft)
    if form.has(*ELEMENTS):
        return packed_sum(form, draft)
    if form.has("X") or form.has("64") or writes_carry(form):
        return add_carry(form, draft, terms)
    terms = [term for term in terms if not is_zero(term) or term.sign == "~"] or terms[:1]
    if len(terms) == 3:
        draft.be(isa.OP_ADD3)
        for k, term in enumerate(terms):
            draft.source(k, term)
        return draft.result(form.d)
    if len(terms) == 1:
        return move_of(form, draft, terms[0])
    add_two(form, draft, *terms)
    return None


def limited_sum(form: Form, draft: Draft) -> None:
    """VIADD.S32.ISAT."""
    first, second = (form.b, form.a) if form.a.sign == "-" else (form.a, form.b)
    if not form.has("S32") or first.sign or writes_carry(form):
        raise NotExecuted("but as .S32.ISAT with one negated operand")
    is_difference = second.sign == "-" and second.kind != "n"
    draft.be(isa.OP_INT, (isa.INT_SUB if is_difference else isa.INT_ADD) | isa.T_S32 << 8, isa.FLAG_SAT)
    draft.source(0, first)
    draft.source(1, replace(second, sign="") if is_difference else second)
    draft.result(form.d)


def packed_sum(form: Form, draft: Draft) -> None:
    """VIADD.16x2, .U8x4: sums, or differences if an operand is negated."""
    first, second = form.a, form.b
    if first.sign == "-":
        first, second = second, first
    is_difference = second.sign == "-" and second.kind != "n"
    form.operands |= {"a": [first], "b": [replace(second, sign="") if is_difference else second]}
    packed(form, draft, isa.PACKED_SUB if is_difference else isa.PACKED_ADD)


def add_two(form: Form, draft: Draft, first: Operand, second: Operand) -> None:
    """Add two operands, or subtract one that is negated."""
    op = isa.OP_ADD32
    if second.sign == "-" and second.kind != "n":
        op, second = isa.OP_SUB32, replace(second, sign="")
    elif first.sign == "-" and first.kind != "n":
        op, first, second = isa.OP_SUB32, second, replace(first, sign="")
    draft.be(op)
    draft.source(0, first)
    draft.source(1, second)
    draft.result(form.d)


def add_carry(form: Form, draft: Draft, terms: list[Operand]) -> None:
    """Add with carries."""
    is_wide, ones = form.has("64"), 0
    for k, term in enumerate(terms):
        if term.sign == "-" and term.kind != "n":
            term, ones = replace(term, sign="~"), ones + 1
        draft.source(k, term, "i64" if is_wide else "i32")
    for k in range(len(terms), 3):
        draft.number(2 * k, 0)
        draft.number(2 * k + 1, 0)
    draft.be(isa.OP_ADD3_CC, ones | isa.ADD3_WIDE * is_wide)
    carries_in(form, draft, 2)
    carries_out(form, draft)
    draft.result(form.d, 1 + is_wide)


def carries_in(form: Form, draft: Draft, most: int) -> None:
    """Read the carries of an instruction with .X; others have none, which reads as false."""
    carries = form.all("p")
    if not form.has("X") and any(carry.number is not None or carry.sign != "!" for carry in carries):
        raise NotExecuted("with a carry, but without .X")
    for k, carry in enumerate(carries[:most]):
        draft.condition(k, carry)


def carries_out(form: Form, draft: Draft) -> None:
    """Write the carries."""
    for k, predicate in enumerate(form.all("q")):
        draft.truth(k, predicate)


def multiply(form: Form, draft: Draft) -> None:
    """IMAD in all forms; .MOV, .SHL and .IADD say what it is used for."""
    if form.has("WIDE", "HI"):
        return multiply_wide(form, draft)
    if form.has("X") or writes_carry(form):
        draft.be(isa.OP_MAD_CC)
        carries_in(form, draft, 1)
        carries_out(form, draft)
    elif is_zero(form.a) or is_zero(form.b):
        return move_of(form, draft, form.c)
    elif form.b.kind == "n" and form.b.number == 1:
        return add_two(form, draft, form.a, form.c)
    else:
        draft.be(isa.OP_MUL_LO32 if is_zero(form.c) else isa.OP_MAD_LO32)
    operands = (form.a, form.b) if draft.op == isa.OP_MUL_LO32 else (form.a, form.b, form.c)
    for k, operand in enumerate(operands):
        draft.source(k, operand)
    draft.result(form.d)
    return None


def multiply_wide(form: Form, draft: Draft) -> None:
    """IMAD.WIDE, and IMAD.HI, the upper word of it: the addend has 64 bits in both."""
    is_signed, is_upper = not form.has("U32"), form.has("HI")
    needs_carry = form.has("X") or writes_carry(form)
    without_addend = is_zero(form.c) and not needs_carry
    if needs_carry or is_upper and not without_addend:
        draft.be(isa.OP_MAD_WIDE_CC, isa.MAD_SIGNED * is_signed | isa.MAD_UPPER * is_upper)
        carries_in(form, draft, 1)
        carries_out(form, draft)
    elif is_upper:
        draft.be(isa.OP_MUL_HI_S32 if is_signed else isa.OP_MUL_HI_U32)
    elif without_addend:
        draft.be(isa.OP_MUL_WIDE_S32 if is_signed else isa.OP_MUL_WIDE_U32)
    else:
        draft.be(isa.OP_MAD_WIDE_S32 if is_signed else isa.OP_MAD_WIDE_U32)
    draft.source(0, form.a)
    draft.source(1, form.b)
    if not without_addend:
        draft.source(2, form.c, "i64")
    draft.result(form.d, 1 if is_upper else 2)


def scaled_add(form: Form, draft: Draft) -> None:
    """LEA: (a << n) + b; .HI: the upper word of (c:a) << n; .SX32: with a's sign as c."""
    a, is_high, is_extended = form.a, form.has("HI"), form.has("SX32")
    aux = form.n.number or 0
    if not 0 <= aux < 32:
        raise NotExecuted(f"with a shift of {aux}")
    aux |= isa.LEA_HIGH * is_high | isa.LEA_SIGN_EXTEND * is_extended
    if a.sign:
        plus_one = not form.has("X") if is_high else a.sign == "-"
        aux |= isa.LEA_COMPLEMENT | isa.LEA_PLUS_ONE * plus_one
    draft.be(isa.OP_LEA, aux)
    draft.source(0, replace(a, sign=""))
    draft.source(1, form.b)
    if is_high and not is_extended:
        draft.source(2, replace(form.c, sign=""))       # the sign of c:a as a whole
    carries_in(form, draft, 1)
    carries_out(form, draft)
    draft.result(form.d)


def extreme(form: Form, draft: Draft) -> None:
    """IMNMX, VIMNMX: the minimum if the predicate holds, else the maximum; of 64 bits on sm_120."""
    if is_packed(form):
        return packed_extreme(form, draft)
    no_predicates(form)
    if form.has(*WIDE):
        draft.be(isa.OP_INT, (isa.INT_MIN if is_minimum(form) else isa.INT_MAX) | form.pick(WIDE) << 8)
        draft.source(0, form.a, "i64")
        draft.source(1, form.b, "i64")
        return draft.result(form.d, 2)
    ops = ((isa.OP_MAX_U32, isa.OP_MIN_U32), (isa.OP_MAX_S32, isa.OP_MIN_S32))
    draft.be(ops[form.pick(SIGNED, 1)][is_minimum(form)])
    draft.source(0, form.a)
    draft.source(1, form.b)
    draft.result(form.d)
    return None


def is_packed(form: Form) -> bool:
    """Return whether an instruction is of several numbers in a word, limits its result from below, or gives predicates."""
    return form.has("RELU", *ELEMENTS) or writes_carry(form)


def packed_extreme(form: Form, draft: Draft) -> None:
    """VIMNMX, VIMNMX3 and VIADDMNMX of packed numbers, or with .RELU; the predicates say where the first one is chosen."""
    choice = isa.PACKED_MIN if is_minimum(form) else isa.PACKED_MAX
    first = isa.PACKED_ADD if form.base == "VIADDMNMX" else choice
    packed(form, draft, first, choice if form.one("c") is not None else isa.PACKED_FIRST)
    if form.one("c") is not None:
        no_predicates(form)
    chosen = form.all("q")
    draft.truth(0, chosen[0] if chosen else None)
    draft.truth(1, chosen[1] if len(chosen) > 1 else None)


def packed(form: Form, draft: Draft, first: int, second: int = isa.PACKED_FIRST, flags: int = 0) -> None:
    """Combine a and b, and that with c."""
    size, signed = next((ELEMENTS[name] for name in form.modifiers if name in ELEMENTS), (32, form.pick(SIGNED, 1)))
    draft.be(isa.OP_PACKED, size | first << isa.PACKED_SHIFT | second << isa.PACKED_SHIFT_C | flags
             | isa.PACKED_SIGNED * signed | isa.PACKED_RELU * form.has("RELU"))
    for k, operand in enumerate((form.a, form.b, *form.all("c"))):
        if operand.kind != "n" and operand.sign:
            raise NotExecuted(f"with operand {operand.text}")
        draft.source(k, operand)
    if form.one("c") is None:
        draft.number(4, 0)
    draft.result(form.d)


def is_minimum(form: Form) -> bool:
    """Return whether the predicate of a minimum or maximum is PT; raises NotExecuted for one that is computed."""
    if form.p.number is not None:
        raise NotExecuted("with a computed choice between minimum and maximum")
    return form.p.sign != "!"


def extreme_of_three(form: Form, draft: Draft) -> None:
    """VIMNMX3 and VIADDMNMX, the extreme of a + b and c."""
    if is_packed(form):
        return packed_extreme(form, draft)
    aux = form.pick(SIGNED, 1) * isa.MINMAX3_SIGNED | (0 if is_minimum(form) else isa.MINMAX3_MAX)
    draft.be(isa.OP_MINMAX3, aux | isa.MINMAX3_ADD * (form.base == "VIADDMNMX"))
    for k, operand in enumerate((form.a, form.b, form.c)):
        draft.source(k, operand)
    draft.result(form.d)
    return None


def absolute(form: Form, draft: Draft) -> None:
    """IABS."""
    draft.be(isa.OP_ABS32)
    draft.source(0, form.a)
    draft.result(form.d)


def absolute_difference(form: Form, draft: Draft) -> None:
    """VABSDIFF: |a - b| + c."""
    draft.be(isa.OP_INT, isa.INT_SAD | (isa.T_S32 if form.pick(SIGNED, 1) else isa.T_U32) << 8)
    for k, operand in enumerate((form.a, form.b, form.c)):
        draft.source(k, operand)
    draft.result(form.d)


def packed_distance(form: Form, draft: Draft) -> None:
    """VABSDIFF4: |a - b| of four bytes; .ACC: the sum of them and c, which has no effect otherwise (PTX manual)."""
    packed(form, draft, isa.PACKED_DISTANCE, flags=isa.PACKED_SUM * form.has("ACC"))


def dot(form: Form, draft: Draft) -> None:
    """IDP.4A: the sum of four products of bytes, and c; .2A: of two halves of a with the lower (.LO) or upper bytes of b."""
    kinds = [word for word in form.modifiers if word[0] in "US"]
    if not form.has("4A", "2A") or len(kinds) != 2:
        raise NotExecuted("but as .4A or .2A with two types")
    signs = sum((kind[0] == "S") << place for place, kind in enumerate(kinds))
    draft.be(isa.OP_DP4A if form.has("4A") else isa.OP_DP2A, signs | 4 * form.has("HI"))
    for k, operand in enumerate((form.a, form.b, form.c)):
        draft.source(k, operand)
    draft.result(form.d)
