"""Tensor cores, and the matrices in lanes that they multiply."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import LAT_SHFL, MEM_LOAD, MEM_STORE, SPACE_SHARED, WAIT_SHORT
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.memory import accessed
from rfview.engine.sass.operands import Operand

FLOATS = {"F16": isa.PRODUCT_F16, "BF16": isa.PRODUCT_BF16, "TF32": isa.PRODUCT_TF32}
INTEGERS = {"S8": isa.PRODUCT_INT8, "U8": isa.PRODUCT_INT8, "S4": isa.PRODUCT_INT4, "U4": isa.PRODUCT_INT4}
# shapes: depth of one register of A, by what it holds; rows of 8 columns come with the shape's name
DEPTHS = {isa.PRODUCT_F16: 8, isa.PRODUCT_BF16: 8, isa.PRODUCT_TF32: 4, isa.PRODUCT_F64: 4, isa.PRODUCT_INT8: 16,
          isa.PRODUCT_INT4: 32, isa.PRODUCT_BITS: 128}
SLOTS_OF_A, SLOTS_OF_B, SLOTS_OF_C = (0, 1, 6, 7), (2, 3), (4, 5, 8, 9)
MATRICES = {"2": 2, "4": 4}
LAYOUTS = ("ROW", "COL")


def product(form: Form, draft: Draft) -> None:
    """HMMA, IMMA, BMMA, DMMA."""
    shape = form.modifiers[0]
    form.modifiers = form.modifiers[1:]
    if form.base == "HMMA":
        result = form.pick({"F16": 1, "F32": 0})
        kind = next((FLOATS[name] for name in form.modifiers[1:] if name in FLOATS), isa.PRODUCT_F16)
        flags = isa.PRODUCT_HALVES * result
    elif form.base == "IMMA":
        types = [name for name in form.modifiers if name in INTEGERS]
        if len(types) != 2 or INTEGERS[types[0]] != INTEGERS[types[1]]:
            raise NotExecuted("with these types")
        kind = INTEGERS[types[0]]
        flags = (isa.PRODUCT_SIGNED_A * (types[0][0] == "S") | isa.PRODUCT_SIGNED_B * (types[1][0] == "S")
                 | isa.PRODUCT_SATURATES * form.has("SAT"))
    elif form.base == "BMMA":
        kind, flags = isa.PRODUCT_BITS, isa.PRODUCT_AND * form.pick({"AND": 1, "XOR": 0})
    else:
        kind, flags = isa.PRODUCT_F64, 0
    rows, depth = size_of(shape)
    registers = depth // DEPTHS[kind]
    if rows not in (8, 16) or registers not in (1, 2) or depth % DEPTHS[kind] or rows > 8 and kind == isa.PRODUCT_F64:
        raise NotExecuted(f"but in other shapes than {shape}")
    tall = rows // 8
    draft.be(isa.OP_PRODUCT, kind | flags | isa.PRODUCT_TALL * (tall > 1) | isa.PRODUCT_DEEP * (registers > 1))
    words = 2 if kind == isa.PRODUCT_F64 else 1
    sums = tall if flags & isa.PRODUCT_HALVES and kind == isa.PRODUCT_F16 else 2 * tall * words
    for operand, slots, count in ((form.a, SLOTS_OF_A, tall * registers * words), (form.b, SLOTS_OF_B, registers * words),
                                  (form.c, SLOTS_OF_C, sums)):
        registers_of(draft, operand, slots[:count])
    draft.is_float = int(form.base in ("HMMA", "DMMA"))
    draft.result(form.d, sums)


def size_of(shape: str) -> tuple[int, int]:
    """Return rows and depth of "16816" or "8x8x4"; the columns are 8."""
    if "x" in shape:
        rows, columns, depth = map(int, shape.split("x"))
    else:
        rows, columns, depth = (16, int(shape[2]), int(shape[3:])) if shape[:2] == "16" else (
            int(shape[0]), int(shape[1]), int(shape[2:]))
    if columns != 8:
        raise NotExecuted(f"in the shape {shape}")
    return rows, depth


def registers_of(draft: Draft, operand: Operand, slots: tuple[int, ...]) -> None:
    """Fill row slots with an operand's registers."""
    if operand.kind not in ("R", "UR") or operand.sign or operand.absolute or not set(operand.parts) <= set(LAYOUTS):
        raise NotExecuted(f"with operand {operand.text}")
    for word, slot in enumerate(slots):
        draft.rows(slot, operand, 1, word=word)


def matrices(form: Form) -> int:
    """Return aux of LDSM and STSM."""
    if not form.has("16") or not form.has("M88", "MT88"):
        raise NotExecuted("but as .16.M88 and .16.MT88")
    return form.pick(MATRICES, 1) | isa.MATRIX_TRANSPOSED * form.has("MT88")


def load(form: Form, draft: Draft) -> None:
    """LDSM."""
    draft.aux = matrices(form)
    accessed(form, draft, isa.OP_LDSM, SPACE_SHARED, MEM_LOAD)
    draft.width, draft.count, draft.reg_bits = 4, 4, 32        # a matrix's row
    draft.result(form.d, form.pick(MATRICES, 1))


def store(form: Form, draft: Draft) -> None:
    """STSM."""
    draft.aux = matrices(form)
    accessed(form, draft, isa.OP_STSM, SPACE_SHARED, MEM_STORE)
    draft.width, draft.count, draft.reg_bits = 4, 4, 32
    registers_of(draft, form.a, tuple(range(2, 2 + form.pick(MATRICES, 1))))


def transpose(form: Form, draft: Draft) -> None:
    """MOVM.16.MT88."""
    if not form.has("16") or not form.has("MT88"):
        raise NotExecuted("but as .16.MT88")
    draft.be(isa.OP_MOVM)
    draft.latency_class, draft.wait_class = LAT_SHFL, WAIT_SHORT
    draft.source(0, form.a)
    draft.result(form.d)
