"""Loads, stores, atomics and reductions, constants."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import (MEM_ATOMIC, MEM_LOAD, MEM_REDUCTION, MEM_STORE, SPACE_GENERIC, SPACE_GLOBAL,
                                   SPACE_LOCAL, SPACE_PARAM, SPACE_SHARED, UNIT_LDST, WAIT_LONG, WAIT_SHORT)
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.operands import Operand

SPACES = {"G": SPACE_GLOBAL, "S": SPACE_SHARED, "L": SPACE_LOCAL, "": SPACE_GENERIC}
WIDTHS = {"U8": (1, 0), "S8": (1, 1), "U16": (2, 0), "S16": (2, 1)}        # bytes, sign-extended
WORDS = {"64": 2, "128": 4}
SCALES = {"X4": 2, "X8": 3, "X16": 4}
ATOMICS = {"ADD": isa.ATOM_ADD, "MIN": isa.ATOM_MIN, "MAX": isa.ATOM_MAX, "INC": isa.ATOM_INC, "DEC": isa.ATOM_DEC,
           "AND": isa.ATOM_AND, "OR": isa.ATOM_OR, "XOR": isa.ATOM_XOR, "EXCH": isa.ATOM_EXCH, "CAS": isa.ATOM_CAS,
           "CAST": isa.ATOM_CAS, "ARRIVE": isa.ATOM_ARRIVE}
TYPES = {"S32": isa.T_S32, "64": isa.T_U64, "U64": isa.T_U64, "S64": isa.T_S64, "F32": isa.T_F32, "F64": isa.T_F64,
         "F16x2": isa.T_F16X2, "BF16x2": isa.T_BF16X2}
# elements next to each other, each updated on its own: what a word holds, and words
VECTORS = {"F32x2": (isa.T_F32, 2), "F32x4": (isa.T_F32, 4), "F16x4": (isa.T_F16X2, 2), "F16x8": (isa.T_F16X2, 4),
           "BF16x4": (isa.T_BF16X2, 2), "BF16x8": (isa.T_BF16X2, 4)}


def space_of(form: Form, name: str) -> int:
    """Return the space in an opcode behind `name`: LDG is LD in global memory."""
    return SPACES[form.base.removeprefix(name)[:1]]


def accessed(form: Form, draft: Draft, op: int, space: int, kind: int) -> None:
    """Make it an access to memory at operand m."""
    strong = form.has("STRONG")
    flags = (isa.FLAG_ORDERED | isa.FLAG_PAST_L1 * form.has("GPU", "SYS")) if strong and kind == MEM_LOAD else 0
    draft.be(op, draft.aux, draft.flags | flags)
    draft.unit, draft.space, draft.memory_kind = UNIT_LDST, space, kind
    draft.wait_class = WAIT_SHORT if space in (SPACE_SHARED, SPACE_PARAM) else WAIT_LONG
    draft.polls = int(kind == MEM_ATOMIC or bool(flags))
    is_wide = space in (SPACE_GLOBAL, SPACE_GENERIC) and (
        form.has("E") or kind in (MEM_ATOMIC, MEM_REDUCTION) or any("64" in term[2] for term in form.m.terms))
    address(draft, form.m, is_wide)


def address(draft: Draft, operand: Operand, is_wide: bool) -> None:
    """Fill the address: a register in slots 0 and 1, scaled, a uniform one in slots 6 and 7, and the offset."""
    draft.offset += operand.offset
    slots = {"R": 0, "UR": 6}
    for kind, number, suffixes in operand.terms:
        if number is None:
            continue
        slot = slots.pop(kind, None)
        known = {"64", "U32", "32"} | (SCALES.keys() if kind == "R" else set())
        if slot is None or not known.issuperset(suffixes):
            raise NotExecuted(f"with operand {operand.text}")
        is_pair = is_wide and not {"U32", "32"} & set(suffixes)
        for word in range(1 + is_pair):
            if kind == "R":
                draft.src[word] = number + word
                draft.src_mask |= 1 << word
                draft.scale = next((SCALES[name] for name in suffixes if name in SCALES), 0)
            else:
                draft.imm[slot + word] = number + word
                draft.uniform_mask |= 1 << slot + word
        if not is_pair:
            draft.number(slot + 1, 0)
    if "R" in slots:
        draft.number(0, 0)
        draft.number(1, 0)


def shape(form: Form, draft: Draft) -> int:
    """Set the width of an access; return the number of its registers."""
    draft.width, draft.signed = next((WIDTHS[word] for word in form.modifiers if word in WIDTHS), (4, 0))
    draft.count, draft.reg_bits = form.pick(WORDS, 1), 32
    return draft.count


def load(form: Form, draft: Draft) -> None:
    """LDG, LDS, LDL, LD."""
    if any(predicate.number is not None or predicate.sign for predicate in form.all("p")):
        raise NotExecuted("with a predicate as an operand")
    accessed(form, draft, isa.OP_LD, space_of(form, "LD"), MEM_LOAD)
    draft.result(form.d, shape(form, draft))


def async_copy(form: Form, draft: Draft) -> None:
    """LDGSTS: from global to shared memory; zeros where the predicate does not hold, and the last bytes with .ZFILL."""
    shared, source = form.all("m")
    draft.aux = isa.LDGSTS_ZFILL * form.has("ZFILL")
    draft.flags = isa.FLAG_PAST_L1 * form.has("BYPASS")
    draft.number(3, shared.offset)
    for slot, kind in ((2, "R"), (4, "UR")):
        terms = [term for term in shared.terms if term[0] == kind and term[1] is not None]
        number, suffixes = terms[0][1:] if terms else (None, ())
        if len(terms) > 1 or not SCALES.keys() >= set(suffixes) or suffixes and kind == "UR":
            raise NotExecuted(f"with operand {shared.text}")
        draft.rows(slot, Operand(shared.text, kind, number), 1)
        draft.aux |= next((SCALES[name] for name in suffixes), 0)
    form.operands["m"] = [source]
    accessed(form, draft, isa.OP_LDGSTS, SPACE_GLOBAL, MEM_LOAD)
    shape(form, draft)
    draft.condition(0, form.one("p"))


def end_of_group(form: Form, draft: Draft) -> None:
    """LDGDEPBAR: its counter falls when the copies before it have ended."""
    draft.be(isa.OP_LDGDEPBAR)
    draft.wait_class = WAIT_LONG


def store(form: Form, draft: Draft) -> None:
    """STG, STS, STL, ST."""
    accessed(form, draft, isa.OP_ST, space_of(form, "ST"), MEM_STORE)
    draft.rows(2, form.a, shape(form, draft))
    if form.a.kind in ("R", "UR") and (form.a.sign or form.a.parts):
        raise NotExecuted(f"with operand {form.a.text}")


def atomic(form: Form, draft: Draft) -> None:
    """ATOM, ATOMG, ATOMS; .CAST.SPIN gives whether it swapped, .POPC.INC adds one for each lane, .ARRIVE is mbarrier.arrive.

    Otherwise a predicate says in which lanes an ATOM was done: code for shared memory follows for the others.
    """
    predicate = form.one("q")
    swaps, space = form.has("CAST"), space_of(form, "ATOM")
    says_where = predicate is not None and predicate.number is not None and not swaps
    if says_where and space != SPACE_GENERIC:
        raise NotExecuted("with a predicate as a result")
    update(form, draft, isa.OP_ATOM, space, MEM_ATOMIC)
    draft.polls = int(not swaps)        # ptxas's own loops with .CAST wait for nobody: some lane always swaps
    draft.flags |= isa.FLAG_ATOM_SUCCESS * swaps | isa.FLAG_ATOM_GLOBAL * says_where
    draft.truth(0, predicate)
    if form.one("d") is not None:
        draft.result(form.d, draft.count * draft.reg_bits // 32)


def reduction(form: Form, draft: Draft) -> None:
    """RED, REDG, REDS."""
    update(form, draft, isa.OP_RED, space_of(form, "RED"), MEM_REDUCTION)


def update(form: Form, draft: Draft, op: int, space: int, kind: int) -> None:
    """Fill what atomics and reductions have in common."""
    type_, count = next((VECTORS[word] for word in form.modifiers if word in VECTORS), (form.pick(TYPES, isa.T_U32), 1))
    words = 2 if type_ in (isa.T_U64, isa.T_S64, isa.T_F64) else 1
    accessed(form, draft, op, space, kind)
    draft.width, draft.count, draft.reg_bits = 4 * words, count, 32 * words
    draft.flags |= isa.FLAG_FTZ * (type_ == isa.T_F32 and (form.has("FTZ") or space == SPACE_GLOBAL))
    draft.is_float = int(type_ in (isa.T_F32, isa.T_F64))
    if form.has("POPC"):
        draft.aux = isa.ATOM_ADD | isa.T_U32 << 8
        return draft.number(2, 1)
    if form.has("ARRIVE"):
        draft.aux = isa.ATOM_ARRIVE | isa.T_U64 << 8
        draft.number(2, 0)
        return draft.number(3, 0)
    draft.aux = form.pick(ATOMICS) | type_ << 8
    values = [form.a, *form.all("b")]
    if (len(values) == 2) != (draft.aux & 0xFF == isa.ATOM_CAS):
        raise NotExecuted("with so many operands")
    for slot, value in zip((2, 4), values):
        draft.rows(slot, value, words * count)
    return None


def load_constant(form: Form, draft: Draft) -> None:
    """LDC, ULDC, LDCU: from a constant bank, at a register's value or at a fixed place, which is a move."""
    operand = form.m
    if operand.kind != "c" or operand.number is None or operand.sign or operand.absolute:
        raise NotExecuted(f"with operand {operand.text}")
    registers = [term for term in operand.terms if term[1] is not None]
    narrow = form.has(*WIDTHS)
    if not registers and not narrow and not form.has("128"):
        is_wide = form.has("64")
        draft.be(isa.OP_MOV64 if is_wide else isa.OP_MOV32)
        for word in range(1 + is_wide):
            draft.imm[word] = draft.constant(operand.number, operand.offset) + 4 * word
            draft.const_mask |= 1 << word
        return draft.result(form.d, 1 + is_wide)
    draft.offset = draft.constant(operand.number, 0)
    accessed(form, draft, isa.OP_LD, SPACE_PARAM, MEM_LOAD)
    return draft.result(form.d, shape(form, draft))
