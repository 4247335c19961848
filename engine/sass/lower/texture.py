"""Textures and surfaces: TEX, TLD, TLD4, TXD and TXQ become one fetch (values/texel.py), SULD and SUST an access.

A fetch has two vectors of registers. The first has the coordinates, a layer before them; the second what else there is: a
handle (.B) and the level. With .SCR the two are one list, of which each vector has half, the first the odd one. TXD has its
handle before the coordinates and its layer behind them, then gradients. All this was read off ptxas's code for one
kernel per geometry. Textures have one level, so that levels and gradients are read without effect. A register has a
handle's low word only, which is enough: headers are in global memory. Of four wanted components, the first two go to the
second destination.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import GLOBAL_BASE, MEM_LOAD, MEM_STORE, SPACE_GLOBAL, UNIT_LDST, WAIT_LONG
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.lower.memory import shape
from rfview.engine.sass.operands import Operand

# (what an instruction's aux says, coordinates without a layer)
GEOMETRIES = {"1D": (1, 1), "2D": (2, 2), "3D": (3, 3), "CUBE": (2 | isa.TEX_CUBE, 3)}
GEOMETRIES |= {f"ARRAY_{name}": (GEOMETRIES[name][0] | isa.TEX_LAYERED, GEOMETRIES[name][1] + 1)
               for name in ("1D", "2D", "CUBE")}
GRADIENTS = 4
COMPONENTS = "RGBA"
ALL_COMPONENTS = 15
FIRST_COORDINATE = 2        # row slots before are the handle's
# of surfaces: coordinates, a layer included; and where the handle is
SURFACES = {"1D": (1, 1), "2D": (2, 2), "3D": (3, 3),
            "1D_ARRAY": (1 | isa.TEX_LAYERED, 2), "2D_ARRAY": (2 | isa.TEX_LAYERED, 3)}
SURFACE_SLOTS = (0, 1, 6)
HANDLE_SLOT = 7
MODES = {"TRAP": isa.SURFACE_TRAP, "IGN": isa.SURFACE_ZERO}

Register = tuple[str, int | None]       # kind and number
Vectors = tuple[list[Register], list[Register], list[Register]]     # coordinates, handle, and what has no effect


def fetch(form: Form, draft: Draft) -> None:
    """TEX: ptxas fetches from a 1D texture at y = 0."""
    aux, count = geometry(form)
    flat = isa.TEX_FLAT * (aux == 2)
    sampled(form, draft, aux | flat, vectors(form, count, form.has("B"), form.has("LL")), count)


def texel(form: Form, draft: Draft) -> None:
    """TLD: at integer coordinates."""
    aux, count = geometry(form)
    sampled(form, draft, aux | isa.TEX_INTEGER, vectors(form, count, form.has("B"), form.has("LL")), count)


def gather(form: Form, draft: Draft) -> None:
    """TLD4: one component of four texels; of two .B the first is the component."""
    names = [modifier for modifier in form.modifiers if modifier != "SCR"]
    aux, count = geometry(form)
    if aux != 2 or not names or names[1:] not in ([], ["B"]):
        raise NotExecuted("but as .R, .G, .B or .A of 2D")
    aux |= COMPONENTS.index(names[0]) + 1 << isa.TEX_GATHER_SHIFT
    sampled(form, draft, aux, vectors(form, count, len(names) > 1, False), count)


def with_gradient(form: Form, draft: Draft) -> None:
    """TXD: as TEX."""
    aux, count = geometry(form)
    if aux & 3 > 2 or aux & isa.TEX_CUBE:
        raise NotExecuted("but of 1D and 2D")
    held = words(form.a, form.has("B") + count)
    given = held[form.has("B"):]
    layer = [given.pop()] if aux & isa.TEX_LAYERED else []
    handle = held[:1] if form.has("B") else []
    flat = isa.TEX_FLAT * (aux == 2)
    sampled(form, draft, aux | flat, (layer + given, handle, words(form.r, GRADIENTS)), count)


def query(form: Form, draft: Draft) -> None:
    """TXQ: the extents and the number of levels, which is 1."""
    if form.w.text != "TEX_HEADER_DIMENSION":
        raise NotExecuted(f"of {form.w.text}")
    held = words(form.a, 1 + form.has("B"))
    sampled(form, draft, isa.TEX_HEADER, (held[-1:], held[:-1], []), 1)


def geometry(form: Form) -> tuple[int, int]:
    """Return (aux, coordinates) of a fetch, a layer included."""
    if form.w.text not in GEOMETRIES:
        raise NotExecuted(f"of {form.w.text}")
    return GEOMETRIES[form.w.text]


def words(operand: Operand, count: int) -> list[Register]:
    """Return an operand's registers."""
    if operand.kind != "R" or operand.sign or operand.absolute or operand.parts:
        raise NotExecuted(f"with operand {operand.text}")
    return [(operand.kind, None if operand.number is None else operand.number + place) for place in range(count)]


def vectors(form: Form, count: int, has_handle: bool, has_level: bool) -> Vectors:
    """Return the registers of a fetch."""
    total = count + has_handle + has_level
    of_first = (total + 1) // 2 if form.has("SCR") else count
    if (total > of_first) != (form.one("r") is not None):
        raise NotExecuted(f"with operands {form.text.partition(' ')[2]}")
    held = words(form.a, of_first) + (words(form.r, total - of_first) if total > of_first else [])
    return held[:count], held[count : count + has_handle], held[count + has_handle:]


def sampled(form: Form, draft: Draft, aux: int, given: Vectors, count: int) -> None:
    """Fill a fetch: handle in slots 0 and 1, coordinates from 2 on, and behind them what else is read."""
    coordinates, handle, others = given
    mask = form.one("k")
    wanted = ALL_COMPONENTS if mask is None else (mask.number or 0) & ALL_COMPONENTS
    draft.be(isa.OP_TEX, aux | wanted << isa.TEX_MASK_SHIFT)
    draft.unit, draft.space, draft.memory_kind, draft.wait_class = UNIT_LDST, SPACE_GLOBAL, MEM_LOAD, WAIT_LONG
    draft.width, draft.count, draft.reg_bits = 4, count, 32
    if handle_at(form, draft, 0, handle):
        handle_at(form, draft, 1, handle, word=1)
    else:
        draft.number(1, GLOBAL_BASE >> 32)
    for slot, (kind, number) in enumerate(coordinates + others, FIRST_COORDINATE):
        draft.rows(slot, Operand(form.a.text, kind, number), 1)
    later, first = form.all("d")
    used = wanted.bit_count()
    draft.result(first, min(used, 2))
    if used > 2:
        draft.result(later, used - 2)


def handle_at(form: Form, draft: Draft, slot: int, handle: list[Register], word: int = 0) -> bool:
    """Fill in a word of a handle: a register, a uniform register, or a place in a constant bank, in words.

    Returns whether it is in a constant bank, which has both words.
    """
    numbers = [operand.number or 0 for operand in form.all("n")]
    uniform = form.one("u")
    if handle and uniform is None and not numbers:
        draft.rows(slot, Operand(form.text, *handle[0]), 1)
    elif uniform is not None and not handle and numbers in ([], [0]):
        draft.rows(slot, uniform, 1)
    elif not handle and uniform is None and len(numbers) == 2:
        draft.imm[slot] = draft.constant(numbers[0], 4 * (numbers[1] + word))
        draft.const_mask |= 1 << slot
        return True
    else:
        raise NotExecuted("without a handle")
    return False


def load(form: Form, draft: Draft) -> None:
    """SULD."""
    surface(form, draft, isa.OP_SULD, MEM_LOAD)
    draft.result(form.d, draft.count)


def store(form: Form, draft: Draft) -> None:
    """SUST."""
    surface(form, draft, isa.OP_SUST, MEM_STORE)
    if form.a.kind != "R" or form.a.sign or form.a.parts:
        raise NotExecuted(f"with operand {form.a.text}")
    draft.rows(2, form.a, draft.count)


def surface(form: Form, draft: Draft, op: int, kind: int) -> None:
    """Fill an access: coordinates, x in bytes and a layer last, in slots 0, 1 and 6, and the handle in slot 7."""
    if not form.has("D") or not form.has("BA"):
        raise NotExecuted("but as .D.BA")
    aux, count = next((SURFACES[name] for name in form.modifiers if name in SURFACES), (0, 0))
    draft.be(op, aux | form.pick(MODES, isa.SURFACE_CLAMP))
    draft.unit, draft.space, draft.memory_kind, draft.wait_class = UNIT_LDST, SPACE_GLOBAL, kind, WAIT_LONG
    shape(form, draft)
    terms = form.m.terms
    if not aux or len(terms) != 1 or terms[0][0] != "R" or terms[0][2] or form.m.offset or form.m.text[0] != "[":
        raise NotExecuted(f"with operand {form.m.text}")
    number = terms[0][1]
    for place, slot in enumerate(SURFACE_SLOTS):
        draft.rows(slot, Operand(form.m.text, "R", None if number is None or place >= count else number + place), 1)
    register = form.one("r")
    handle_at(form, draft, HANDLE_SLOT, words(register, 1) if register is not None else [])
