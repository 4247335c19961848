"""Maps PTX instruction forms (base name, modifiers and types) to the machine's opcodes (engine/isa.py).

`lookup("mul", ("wide", "u32"))` returns the `OpInfo` of an instruction that values/execute.py computes. Loads, stores,
atomics, branches, barriers and special registers are not looked up here: the front end builds those itself.

Operands. `src_types[k]` is the PTX type of source operand k in PTX order. Operands 0, 1, 2 go to row slots 2k (and
2k + 1 for 64 bits); a fourth operand (bfi's length, shfl's member mask) goes to slot 5. Predicate operands are not in
`src_types`: `num_psrc` counts them, in order, for `psrc`. `num_pdst` is the *most* predicate results an instruction can
have (setp p|q: 2; shfl d|p: 1; add.cc: 1, the carry); unused ones are NO_PRED. lop3's immediate table goes to `aux`.
Immediates of 16-bit operands are masked to 16 bits by the front end: upper bits of narrow values are zero in every row.
A cvt to 8 or 16 bits whose destination register is 32 bits wide needs FLAG_WIDE_DST added by the front end.

Each base name has one function, in the file of its kind; it consumes the modifiers it knows from a `Form` and raises
`Refused` for a combination that PTX does not have. A new one goes into its file, BASES, and with a form into EXAMPLES.

    form                                                  one form: its modifiers, and the OpInfo made from them
    arithmetic  compare  convert  logic  special  warp    the forms of one kind each
    table  table_values  table_memory  table_matrix       every form of PTX: modifiers, operands, what it needs of the target
    grammar                                               the notation of the table; the forms that an opcode can be
    operands                                              the notation of operands; the registers that each takes
    special_registers                                     their types, and what stands for those that the machine lacks
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import lru_cache

from rfview.engine.isa import TYPES
from rfview.engine.ptx.forms import arithmetic, compare, convert, logic, special, warp
from rfview.engine.ptx.forms.form import Form, OpInfo, Refused

__all__ = ["BASES", "EXAMPLES", "OpInfo", "UnsupportedOpcode", "lookup"]


class UnsupportedOpcode(Exception):
    """An instruction form that the machine does not have; `nearest` is a form that it does have."""

    def __init__(self, nearest: str) -> None:
        super().__init__(nearest)
        self.nearest = nearest


BASES: dict[str, Callable[[Form], OpInfo]] = {
    "add": arithmetic.add_sub, "sub": arithmetic.add_sub, "addc": arithmetic.add_sub_carry,
    "subc": arithmetic.add_sub_carry, "mul": arithmetic.mul, "mad": arithmetic.mad, "madc": arithmetic.mad_carry,
    "mul24": arithmetic.mul24, "mad24": arithmetic.mul24, "fma": arithmetic.fma, "div": arithmetic.div,
    "rem": arithmetic.rem, "abs": arithmetic.abs_neg, "neg": arithmetic.abs_neg, "min": arithmetic.min_max,
    "max": arithmetic.min_max, "sad": arithmetic.sad,
    "and": logic.logic, "or": logic.logic, "xor": logic.logic, "not": logic.not_, "cnot": logic.cnot,
    "shl": logic.shift, "shr": logic.shift, "shf": logic.shf, "lop3": logic.lop3, "bfe": logic.bfe, "bfi": logic.bfi,
    "bfind": logic.bfind, "brev": logic.bit_count, "clz": logic.bit_count, "popc": logic.bit_count, "fns": logic.fns,
    "bmsk": logic.bmsk, "szext": logic.szext, "prmt": logic.prmt, "dp4a": logic.dot, "dp2a": logic.dot,
    "mov": logic.mov,
    "setp": compare.setp, "set": compare.set_, "selp": compare.selp, "slct": compare.slct,
    "cvt": convert.cvt, "cvta": convert.cvta, "isspacep": convert.isspacep,
    "rcp": special.root, "sqrt": special.root, "rsqrt": special.root, "ex2": special.transcendental,
    "lg2": special.transcendental, "sin": special.transcendental, "cos": special.transcendental,
    "tanh": special.transcendental, "testp": special.testp, "copysign": special.copysign,
    "shfl": warp.shfl, "vote": warp.vote, "match": warp.match, "activemask": warp.activemask, "redux": warp.redux,
}

# one or more well-formed examples of each base, for the error message
EXAMPLES: tuple[str, ...] = tuple((
    "add.s32 add.u32 add.s64 add.u64 add.s16 add.u16 add.sat.s32 add.f32 add.rn.f32 add.rz.ftz.sat.f32 add.f64 "
    "add.rn.f64 add.f16 add.f16x2 add.cc.u32 add.cc.u64 addc.u32 addc.cc.u32 sub.s32 sub.u32 sub.s64 sub.u64 sub.s16 "
    "sub.f32 sub.f64 sub.f16x2 sub.cc.u32 subc.u32 subc.cc.u32 mul.lo.s32 mul.lo.u32 mul.hi.s32 mul.hi.u32 "
    "mul.lo.s64 mul.hi.u64 mul.wide.s32 mul.wide.u32 mul.wide.u16 mul.lo.s16 mul.f32 mul.rn.f32 mul.ftz.f32 mul.f64 "
    "mul.f16 mul.f16x2 mad.lo.s32 mad.lo.u32 mad.hi.s32 mad.wide.s32 mad.wide.u32 mad.lo.s64 mad.rn.f32 mad.lo.cc.u32 "
    "mad.hi.cc.u32 madc.lo.u32 madc.hi.u32 madc.lo.cc.u32 madc.hi.cc.u32 mul24.lo.s32 mul24.hi.u32 mad24.lo.s32 "
    "fma.rn.f32 fma.rn.ftz.f32 fma.rz.f32 fma.rn.f64 fma.rn.f16 fma.rn.f16x2 fma.rn.bf16x2 div.s32 div.u32 div.s64 "
    "div.u64 div.u16 div.rn.f32 div.approx.f32 div.approx.ftz.f32 div.full.f32 div.rn.f64 rem.s32 rem.u32 rem.s64 "
    "rem.u64 abs.s32 abs.f32 abs.f64 neg.s32 neg.s64 neg.f32 neg.f64 min.s32 min.u32 min.f32 min.f64 min.NaN.f32 "
    "max.s32 max.u32 max.f32 max.f64 sad.s32 sad.u32 and.b16 and.b32 and.b64 and.pred or.b16 or.b32 or.b64 or.pred "
    "xor.b16 xor.b32 xor.b64 xor.pred not.b16 not.b32 not.b64 not.pred cnot.b32 shl.b16 shl.b32 shl.b64 shr.u16 "
    "shr.s16 shr.u32 shr.s32 shr.b32 shr.u64 shr.s64 shf.l.wrap.b32 shf.r.wrap.b32 shf.l.clamp.b32 shf.r.clamp.b32 "
    "lop3.b32 bfe.u32 bfe.s32 bfe.u64 bfi.b32 bfi.b64 bfind.u32 bfind.shiftamt.u32 brev.b32 brev.b64 clz.b32 clz.b64 "
    "popc.b32 popc.b64 fns.b32 bmsk.clamp.b32 szext.clamp.s32 prmt.b32 prmt.b32.f4e dp4a.s32.s32 dp4a.u32.u32 "
    "dp2a.lo.s32.s32 setp.eq.s32 setp.ne.s32 setp.lt.s32 setp.lt.u32 setp.eq.b32 setp.lt.f32 setp.ltu.f32 setp.lt.f64 "
    "setp.nan.f32 setp.lt.and.s32 setp.eq.s64 setp.eq.f16 set.lt.u32.f32 set.eq.f16.f16 "
    "set.gt.f16x2.f16x2 selp.b32 selp.f32 selp.b64 slct.f32.s32 "
    "cvt.u32.u64 cvt.s64.s32 cvt.u16.u32 cvt.rn.f32.s32 cvt.rn.f32.f64 cvt.f64.f32 cvt.rzi.s32.f32 cvt.rni.s32.f32 "
    "cvt.rn.f16.f32 cvt.f32.f16 cvt.rn.bf16.f32 cvt.sat.f32.f32 cvt.rzi.f32.f32 cvt.rn.f16x2.f32 mov.u16 mov.u32 "
    "mov.b32 mov.b64 mov.u64 mov.f32 mov.f64 mov.pred rcp.rn.f32 rcp.approx.f32 rcp.approx.ftz.f32 rcp.rn.f64 "
    "rcp.approx.ftz.f64 sqrt.rn.f32 sqrt.approx.f32 sqrt.rn.f64 rsqrt.approx.f32 rsqrt.approx.f64 ex2.approx.f32 "
    "ex2.approx.ftz.f32 ex2.approx.f16 lg2.approx.f32 sin.approx.f32 cos.approx.f32 tanh.approx.f32 testp.finite.f32 "
    "copysign.f32 copysign.f64 shfl.sync.up.b32 shfl.sync.down.b32 shfl.sync.bfly.b32 shfl.sync.idx.b32 "
    "vote.sync.all.pred vote.sync.any.pred vote.sync.uni.pred vote.sync.ballot.b32 match.any.sync.b32 "
    "match.all.sync.b32 activemask.b32 redux.sync.add.s32 redux.sync.and.b32 cvta.global.u64 cvta.to.global.u64 "
    "cvta.shared.u64 cvta.to.shared.u64 isspacep.shared").split())


@lru_cache(maxsize=None)
def lookup(base: str, modifiers: tuple[str, ...]) -> OpInfo:
    """Find the opcode of an arithmetic, logic, conversion or warp-wide instruction.

    base: PTX base name ("mad"); modifiers: the dotted parts after it, in order, types included (("lo", "s32")).
    Raises UnsupportedOpcode, whose `nearest` names the closest form that exists.
    """
    handler = BASES.get(base)
    if handler is not None:
        try:
            return handler(Form(base, modifiers))
        except Refused:
            pass
    raise UnsupportedOpcode(_nearest(base, modifiers))


def types_in(parts: Iterable[str]) -> list[str]:
    return [part for part in parts if part in TYPES]


def _nearest(base: str, modifiers: tuple[str, ...]) -> str:
    name = ".".join((base, *modifiers))
    if base in BASES:
        own = [form for form in EXAMPLES if form.split(".")[0] == base]
        alike = [form for form in own if types_in(form.split(".")) == types_in(modifiers)]
        return difflib.get_close_matches(name, alike or own, n=1, cutoff=0.0)[0]
    return difflib.get_close_matches(name, EXAMPLES, n=1, cutoff=0.0)[0]
