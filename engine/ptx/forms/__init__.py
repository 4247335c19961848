"""The forms of PTX instructions: one table of those that exist, and the machine's opcodes (engine/isa.py) of some of them.

`lookup("mul", ("wide", "u32"))` returns the `OpInfo` of an instruction that values/execute.py computes. Loads, stores,
atomics, branches, barriers and special registers are not looked up here: the front end builds those itself.

Operands. `src_types[k]` is the PTX type of source operand k in PTX order. Operands 0, 1, 2 go to row slots 2k (and
2k + 1 for 64 bits); a fourth operand (bfi's length, shfl's member mask) goes to slot 5. Predicate operands are not in
`src_types`: `num_psrc` counts them, in order, for `psrc`. `num_pdst` is the *most* predicate results an instruction can
have (setp p|q: 2; shfl d|p: 1; add.cc: 1, the carry); unused ones are NO_PRED. lop3's immediate table goes to `aux`.
Immediates of 16-bit operands are masked to 16 bits by the front end: upper bits of narrow values are zero in every row.
A cvt to 8 or 16 bits whose destination register is 32 bits wide needs FLAG_WIDE_DST added by the front end.

The table alone says which forms there are and what operands they take. The function that BASES names for an instruction
only chooses the opcode; a new instruction goes into the table, its file and BASES.

    table  table_values  table_memory  table_matrix       every form of PTX: modifiers, operands, what it needs of the target
    grammar                                               the notation of the table; the forms that an opcode can be
    operands                                              the notation of operands; the registers that each takes
    special_registers                                     their types, and what stands for those that the machine lacks
    form                                                  what the functions below are given and return
    arithmetic  special  compare  convert  warp           the opcodes of one kind of form each
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rfview.engine.isa import FLAG_CC_IN, FLAG_CC_OUT
from rfview.engine.ptx.forms.arithmetic import arithmetic, move
from rfview.engine.ptx.forms.compare import comparison, slct
from rfview.engine.ptx.forms.convert import cvt, cvta, isspacep
from rfview.engine.ptx.forms.form import Chosen, OpInfo, Spelling
from rfview.engine.ptx.forms.grammar import TYPE_WIDTHS
from rfview.engine.ptx.forms.operands import kind_of
from rfview.engine.ptx.forms.special import bits, copysign, dot, function, testp
from rfview.engine.ptx.forms.table import forms_of, nearest
from rfview.engine.ptx.forms.warp import collective

__all__ = ["BASES", "OpInfo", "UnsupportedOpcode", "lookup"]


class UnsupportedOpcode(Exception):
    """An instruction form that PTX does not have; `nearest` is a form that it does have."""

    def __init__(self, nearest: str) -> None:
        super().__init__(nearest)
        self.nearest = nearest


BASES: dict[str, Callable[[Spelling], Chosen]] = {base: choose for names, choose in {
    "add sub addc subc mul mad madc mul24 mad24 fma rem abs neg min max sad and or xor not cnot shl shr bfe bfi bfind brev "
    "clz popc fns bmsk szext": arithmetic,
    "div rcp sqrt rsqrt ex2 lg2 sin cos tanh": function, "testp": testp, "copysign": copysign, "mov selp": move,
    "shf lop3 prmt": bits, "dp4a dp2a": dot, "setp set": comparison, "slct": slct, "cvt": cvt, "cvta": cvta,
    "isspacep": isspacep, "shfl vote match activemask redux": collective,
}.items() for base in names.split()}


@lru_cache(maxsize=None)
def lookup(base: str, modifiers: tuple[str, ...]) -> OpInfo:
    """Find the opcode of an arithmetic, logic, conversion or warp-wide instruction.

    base: PTX base name ("mad"); modifiers: the dotted parts after it, types included (("lo", "s32")).
    Raises UnsupportedOpcode, whose `nearest` names the closest form that exists, for what is not PTX or has no opcode.
    """
    opcode = ".".join((base, *modifiers))
    forms = forms_of(opcode)
    if not forms or base not in BASES or forms[0].row.lowered:
        raise UnsupportedOpcode(nearest(opcode))
    form = forms[0]
    words = form.opcode.removeprefix(form.row.base).split(".")[1:]
    types = tuple(word for word in words if word in TYPE_WIDTHS)
    chosen = BASES[base](Spelling(form.row.base, tuple(word for word in words if word not in TYPE_WIDTHS), types))
    to, *sources = (kind_of(operand) for operand in form.operands)
    first = to.element or to
    return OpInfo(
        chosen.op, chosen.flags, chosen.aux, chosen.unit, chosen.latency, chosen.wait,
        tuple(kind.type for kind in sources if kind.what == "source"), first.type,
        (first.what == "=p") + (to.what == "pair") + bool(chosen.flags & FLAG_CC_OUT),
        sum(kind.what == "p" for kind in sources) + bool(chosen.flags & FLAG_CC_IN), chosen.is_float)
