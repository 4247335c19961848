"""Comparisons, and logic of predicates."""

from __future__ import annotations

from dataclasses import replace

from rfview.engine import isa
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.floats import halves_of
from rfview.engine.sass.operands import Operand

COMPARISONS = {name.upper(): code for name, code in isa.COMPARISONS.items() if name not in ("lo", "ls", "hi", "hs")}
JOINS = {"AND": isa.FLAG_BOOL_AND, "OR": isa.FLAG_BOOL_OR, "XOR": isa.FLAG_BOOL_XOR}
CONSTANT = ("T", "F")       # comparisons that are always or never true
# tables of PLOP3 of the first operand: itself, its negation, false, true
SAME, OPPOSITE, NEVER, ALWAYS = 0xF0, 0x0F, 0x00, 0xFF


def results(form: Form, draft: Draft) -> None:
    """Write the two predicates."""
    for k, predicate in enumerate(form.all("q")):
        draft.truth(k, predicate)


def joined(form: Form, draft: Draft) -> int:
    """Read the predicate with which a comparison is joined; return the flag of how. AND with PT is left out."""
    predicate = form.one("p")
    if form.has("AND") and (predicate is None or predicate.number is None and predicate.sign == ""):
        return 0
    draft.condition(0, predicate)
    return form.pick(JOINS)


def compare(form: Form, draft: Draft, op: int, kind: str, flags: int = 0, aux: int = 0) -> None:
    """Compare a and b: (a ? b) joined with p, and its complement joined with p."""
    if form.has(*CONSTANT):
        return compare_constant(form, draft)
    draft.be(op, form.pick(COMPARISONS) | aux, flags | joined(form, draft))
    draft.source(0, form.a, kind)
    draft.source(1, form.b, kind)
    results(form, draft)
    return None


def compare_constant(form: Form, draft: Draft) -> None:
    """Compare by .T or .F, which is a function of the joined predicate alone."""
    with_true = {"AND": SAME, "OR": ALWAYS, "XOR": OPPOSITE}
    with_false = {"AND": NEVER, "OR": SAME, "XOR": SAME}
    first, second = (with_true, with_false) if form.has("T") else (with_false, with_true)
    draft.be(isa.OP_PLOP3, form.pick(first) | form.pick(second) << 8)
    draft.condition(0, form.one("p"))
    results(form, draft)


def compare_integers(form: Form, draft: Draft) -> None:
    """ISETP; .EX compares the upper words, and where these are equal asks for the lower words' result."""
    is_signed, is_wide = not form.has("U32", "U64"), form.has("64", "U64", "S64")
    if form.has("EX"):
        first, lower = form.all("p")
        draft.be(isa.OP_SETP_EX, form.pick(COMPARISONS) | isa.SETP_EX_SIGNED * is_signed, form.pick(JOINS))
        draft.condition(0, first)
        draft.condition(1, lower)
        draft.source(0, form.a)
        draft.source(1, form.b)
        return results(form, draft)
    ops = ((isa.OP_SETP_U32, isa.OP_SETP_S32), (isa.OP_SETP_U64, isa.OP_SETP_S64))
    return compare(form, draft, ops[is_wide][is_signed], "i64" if is_wide else "i32")


def compare_floats(form: Form, draft: Draft) -> None:
    """FSETP."""
    compare(form, draft, isa.OP_SETP_F32_FTZ if form.has("FTZ") else isa.OP_SETP_F32, "f32")


def compare_doubles(form: Form, draft: Draft) -> None:
    """DSETP; .MIN and .MAX: whether a is the result, and whether b is a NaN whose quiet bit has to be set."""
    if not form.has("MIN", "MAX"):
        return compare(form, draft, isa.OP_SETP_F64, "f64")
    if any(predicate.number is not None or predicate.sign for predicate in form.all("p")):
        raise NotExecuted("with a joined predicate")
    draft.be(isa.OP_DMINMAX, int(form.has("MAX")))
    draft.source(0, form.a, "f64")
    draft.source(1, form.b, "f64")
    return results(form, draft)


def compare_halves(form: Form, draft: Draft) -> None:
    """HSETP2: the first predicate is of the low halves, the second of the high ones."""
    compare(form, draft, isa.OP_SETP_HALF, "h2", isa.FLAG_FTZ * form.has("FTZ"), halves_of(form) << 8)


def set_float(form: Form, draft: Draft) -> None:
    """FSET: all ones, or with .BF 1.0, where the comparison holds."""
    target = isa.T_F32 if form.has("BF") else isa.T_U32
    aux = form.pick(COMPARISONS) | isa.T_F32 << 8 | target << 16
    draft.be(isa.OP_SET, aux, joined(form, draft) | isa.FLAG_FTZ * form.has("FTZ"))
    draft.source(0, form.a, "f32")
    draft.source(1, form.b, "f32")
    draft.result(form.d)


def set_halves(form: Form, draft: Draft) -> None:
    """HSET2: in both halves all ones, or with .BF 1.0, where the comparison holds."""
    kind = halves_of(form)
    target = kind if form.has("BF") else isa.T_U16
    flags = joined(form, draft) | isa.FLAG_FTZ * form.has("FTZ")
    draft.be(isa.OP_SET, form.pick(COMPARISONS) | kind << 8 | target << 16, flags)
    draft.source(0, form.a, "h2")
    draft.source(1, form.b, "h2")
    draft.result(form.d)


def logic(form: Form, draft: Draft) -> None:
    """PLOP3: two functions of three predicates by their tables, or one of the signs of three registers."""
    first, second = [*(operand.number or 0 for operand in form.all("n")), 0][:2]
    if not (0 <= first < 256 and 0 <= second < 256):
        raise NotExecuted(f"with tables {first:#x}, {second:#x}")
    if form.one("v") is not None:
        return logic_of_signs(form, draft, first)
    draft.be(isa.OP_PLOP3, first | second << 8)
    for k, predicate in enumerate(form.all("p")):
        draft.condition(k, predicate)
    return results(form, draft)


def logic_of_signs(form: Form, draft: Draft, table: int) -> None:
    """PLOP3 with R1.SIGN and the like: sums with saturation."""
    operands = form.all("v")
    if len(operands) != 3 or form.all("q")[1].number is not None or any(operand.parts != ("SIGN",) for operand in operands):
        raise NotExecuted("with these operands")
    draft.be(isa.OP_LOP3_P, table | isa.LOP3_SIGN)
    for k, operand in enumerate(operands):
        draft.source(k, replace(operand, parts=()))
    draft.psrc_negate[0] = 0
    draft.result(Operand("RZ", "R"))
    draft.truth(0, form.q)


BYTES = {f"B{k}": k for k in range(4)}


def to_register(form: Form, draft: Draft) -> None:
    """P2R: predicates as bits of a byte, where the mask c has ones; the other bits are those of a."""
    draft.be(isa.OP_P2R, form.pick(BYTES, 0) | isa.P2R_UNIFORM * is_uniform_file(form))
    draft.source(0, form.b)
    draft.source(1, form.a)
    draft.result(form.d)


def from_register(form: Form, draft: Draft) -> None:
    """R2P: bits of a byte of a as the predicates that the mask b names."""
    mask = form.b.number
    if form.b.kind != "n" or mask is None or not 0 <= mask < 128:
        raise NotExecuted(f"with mask {form.b.text}")
    draft.be(isa.OP_R2P, mask | form.pick(BYTES, 0) << isa.R2P_BYTE_SHIFT | isa.R2P_UNIFORM * is_uniform_file(form))
    draft.source(0, form.a)


def is_uniform_file(form: Form) -> bool:
    """Return whether all predicates mean the uniform ones (UPR), not those of the lanes (PR)."""
    if form.w.text not in ("PR", "UPR"):
        raise NotExecuted(f"with {form.w.text}")
    return form.w.text == "UPR"
