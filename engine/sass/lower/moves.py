"""Moves, selections and permutations."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.sass.constants import LOCAL_WINDOW, SHARED_WINDOW
from rfview.engine.sass.draft import Draft
from rfview.engine.sass.form import Form, NotExecuted
from rfview.engine.sass.operands import Operand

ALL_BYTES = 0xF         # MOV's mask of bytes


def move(form: Form, draft: Draft) -> None:
    """MOV, UMOV, R2UR."""
    if any(mask.number != ALL_BYTES for mask in form.all("n")):
        raise NotExecuted("with a mask of bytes")
    no_predicates(form)
    move_of(form, draft, form.a, form.has("64"))


def to_uniform(form: Form, draft: Draft) -> None:
    """R2UR: the predicate says which lanes have another value than the first one, which is moved; .OR: or held before."""
    if all(predicate.number is None for predicate in form.all("q")):
        return move(form, draft)
    draft.be(isa.OP_R2UR)
    draft.source(0, form.a)
    draft.truth(0, form.q)
    if form.has("OR"):
        draft.condition(0, form.q)
    return draft.result(form.d)


def move_of(form: Form, draft: Draft, source: Operand, is_wide: bool = False) -> None:
    """Move one operand to the destination."""
    draft.be(isa.OP_MOV64 if is_wide else isa.OP_MOV32)
    draft.source(0, source, "i64" if is_wide else "i32")
    draft.result(form.d, 1 + is_wide)


def select(form: Form, draft: Draft) -> None:
    """SEL: a if the predicate holds, else b."""
    is_wide = form.has("64")
    draft.be(isa.OP_SELP64 if is_wide else isa.OP_SELP32)
    kind = "i64" if is_wide else "i32"
    draft.source(0, form.a, kind)
    draft.source(1, form.b, kind)
    draft.condition(0, form.p)
    draft.result(form.d, 1 + is_wide)


def select_float(form: Form, draft: Draft) -> None:
    """FSEL: as SEL, with the signs of floats; .FTZ turns subnormal operands into zeros."""
    draft.be(isa.OP_SELP32)
    for k, operand in enumerate((form.a, form.b)):
        draft.source(k, operand, "f32")
        if form.has("FTZ"):
            draft.modify[k] |= isa.PART_FTZ << isa.PART_SHIFT
    draft.condition(0, form.p)
    draft.result(form.d)


def permute(form: Form, draft: Draft) -> None:
    """PRMT: bytes of a and c chosen by b."""
    draft.be(isa.OP_PRMT, form.pick({mode.upper(): code for mode, code in isa.PRMT_MODES.items() if mode}, 0))
    draft.source(0, form.a)
    draft.source(1, form.c)
    draft.source(2, form.b)
    draft.result(form.d)


def no_predicates(form: Form) -> None:
    """Raise NotExecuted if an instruction writes a predicate, which only some of its forms may."""
    if any(predicate.number is not None for predicate in form.all("q")):
        raise NotExecuted("with a predicate as a result")


SPECIAL = {
    **{f"SR_{name}.{axis}": code + place for name, code in (("TID", isa.SREG_TID_X), ("CTAID", isa.SREG_CTAID_X))
       for place, axis in enumerate("XYZ")},
    "SR_LANEID": isa.SREG_LANEID, "SR_EQMASK": isa.SREG_LANEMASK_EQ, "SR_LTMASK": isa.SREG_LANEMASK_LT,
    "SR_LEMASK": isa.SREG_LANEMASK_LE, "SR_GTMASK": isa.SREG_LANEMASK_GT, "SR_GEMASK": isa.SREG_LANEMASK_GE,
    "SR_CLOCKLO": isa.SREG_CLOCK, "SR_CLOCKHI": isa.SREG_CLOCK_HI, "SR_GLOBALTIMERLO": isa.SREG_GLOBALTIMER_LO,
    "SR_GLOBALTIMERHI": isa.SREG_GLOBALTIMER_HI, "SR_VIRTUALSMID": isa.SREG_SMID,
    "SR_SMEMSZ": isa.SREG_TOTAL_SMEM_SIZE,
    # ptxas takes %warpid and %nwarpid from bit 8 on
    "SR_VIRTID": isa.SREG_WARPID | 8 << isa.SREG_SHIFT, "SR_VIRTCFG": isa.SREG_NWARPID | 8 << isa.SREG_SHIFT}
# a word that is the same for all: where windows of generic addresses begin, the lowest stack pointer, the CTA in its cluster
# and where such a cluster's constants begin
NUMBERS = {"SRZ": 0, "SR_SWINLO": 0, "SR_SLMLO": 0, "SR_LMEMHIOFF": 0, "SR_CgaCtaId": 0, "SR_CgaSize": 0,
           "SR_SWINHI": SHARED_WINDOW >> 32, "SR_SLMHI": LOCAL_WINDOW >> 32}
PAIRS = {"SR_CLOCKLO": isa.SREG_CLOCK64, "SR_GLOBALTIMERLO": isa.SREG_GLOBALTIMER}


def special_register(form: Form, draft: Draft) -> None:
    """S2R, S2UR, CS2R, CS2UR: the latter two without .32 read a pair."""
    name = form.w.text
    is_wide = form.base in ("CS2R", "CS2UR") and not form.has("32")
    if name in NUMBERS:
        draft.be(isa.OP_MOV64 if is_wide else isa.OP_MOV32)
        draft.number(0, NUMBERS[name])
        if is_wide:
            draft.number(1, 0)
    elif is_wide and name in PAIRS:
        draft.be(isa.OP_SREG, PAIRS[name])
    elif not is_wide and name in SPECIAL:
        draft.be(isa.OP_SREG, SPECIAL[name])
    else:
        raise NotExecuted(f"with special register {name}")
    draft.result(form.d, 1 + is_wide)
