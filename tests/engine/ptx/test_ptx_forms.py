"""Which forms of an instruction exist: what the PTX manual leaves out is refused, as the assembler refuses it."""

from __future__ import annotations

import pytest

from rfview.engine.errors import PtxError
from rfview.engine.program import Kernel
from rfview.engine.ptx import decode_module, forms

_FORMS = """
add.sat.bf16 mul.ftz.bf16x2 fma.rn.sat.relu.f16 fma.rn.ftz.bf16 abs.ftz.bf16 min.ftz.bf16x2 div.rn.sat.f32 rcp.rn.sat.f32
sqrt.rz.ftz.sat.f32 div.approx.sat.f32 div.ftz.f32 rcp.ftz.f32 sqrt.ftz.f32 mul24.lo.sat.u32 add.cc.b32 madc.lo.b64
tanh.approx.ftz.f32 ex2.approx.ftz.f16 ex2.approx.bf16 setp.eq.ftz.u32 setp.eq.ftz.bf16 set.eq.ftz.bf16.f16
set.eq.f16.bf16 slct.ftz.u32.s32 slct.f16.s32 selp.f16 mov.f16 mov.bf16x2 cvt.sat.u32.u8 cvt.rzi.u8.bf16
cvt.rn.sat.bf16.f32 cvt.rn.f32.f32 cvt.rn.f64.f32 cvt.rm.relu.f16.f32 cvt.rn.relu.f16.f64
""".split()
_KEPT = """
add.rn.bf16 fma.rn.relu.bf16x2 fma.rn.ftz.sat.f16 div.rn.ftz.f32 div.approx.ftz.f32 div.f32 rcp.approx.ftz.f64 mad24.hi.sat.s32
ex2.approx.ftz.bf16x2 ex2.approx.f16 setp.eq.ftz.f16x2 set.eq.ftz.u16.f16 set.eq.bf16.f16 slct.ftz.f64.f32 cvt.sat.s32.u32
cvt.sat.u64.s8 cvt.rzi.s16.bf16 cvt.rp.ftz.bf16.f32 cvt.rn.f16.bf16 cvt.rz.relu.bf16.f32 cvt.rn.ftz.f32.s32
""".split()


def decode(body: str, version: str = "9.0", target: str = "sm_75") -> Kernel:
    """Decode a kernel of a few statements. Raises PtxError."""
    text = (f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{\n.reg .pred %p<4>; "
            f".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .b16 %h<9>;\n{body}\nret; }}")
    return decode_module(text, "x.ptx").kernels["k"]


@pytest.mark.parametrize("form", _FORMS)
def test_a_form_that_ptx_lacks_is_refused(form: str) -> None:
    base, *modifiers = form.split(".")
    with pytest.raises(forms.UnsupportedOpcode):
        forms.lookup(base, tuple(modifiers))


@pytest.mark.parametrize("form", _KEPT)
def test_a_form_that_ptx_has_is_found(form: str) -> None:
    base, *modifiers = form.split(".")
    assert forms.lookup(base, tuple(modifiers)).op


@pytest.mark.parametrize("body, words", [
    ("ret 0;", "takes no operands"), ("exit %r1;", "takes no operands"), ("trap 1;", "takes no operands"),
    ("exit.uni;", "unsupported instruction"), ("bar.sync 0, 33;", "whole warps"), ("bar.arrive 1, 0;", "whole warps"),
    ("bar.sync %f1;", "works on .u32"), ("add.rn.sat.f32x2 %d1, %d2, %d3;", "nearest supported form: 'add"),
    ("lop3.xor.b32 %r1|%p1, %r2, %r3, %r4, 3, %p2;", "nearest supported form: 'lop3"), ("cvt.rna.relu.tf32.f32 %r1, %f1;", "cvt.rn.relu.tf32.f32"),
    ("cvt.rm.satfinite.f16.f32 %h1, %f1;", "cvt.rn.satfinite"),
    ("vadd4.u32.u32.u32 %r1, %r2.b10, %r3, %r4;", "selects with '.b' and four digits from 0 to 7 here, found '.b10'"),
    ("vset2.eq.u32.u32 %r1.h01, %r2, %r3, %r4;", "selects with .h0, .h1 or .h10 here, found '.h01'"),
    ("cvt.sat.s64.s32 %d1, %r1;", "nearest supported form: 'cvt.s64.s32'"),
    ("suld.b.3d.b32.trap %r1, [%d1, {%r1, %r2}];", "takes 4 coordinates, found 2"),
    ("suld.b.1d.b32.trap %r1, [%d1, {%f1}];", "works on .u32, '%f1' is declared .f32"),
    ("setp.eq.f16 %p1|%p2, %h1, %h2;", "a predicate register, found a pair"),
])
def test_a_statement_that_the_assembler_refuses_is_refused(body: str, words: str) -> None:
    with pytest.raises(PtxError, match=words):
        decode(body)


@pytest.mark.parametrize("body", [
    "bar.sync 1, 64;", "bar.sync %r1, %r2;", "barrier.sync 0;", "ret.uni;", "cvt.rn.f32.s32 %f1, %r1;",
    # .sync behind the mode, as older headers write it in inline assembly
    "vote.ballot.sync.b32 %r1, %p1, 0xffffffff;", "shfl.idx.sync.b32 %r1, %r2, 0, 31, -1;",
])
def test_a_statement_that_the_assembler_takes_is_taken(body: str) -> None:
    assert len(decode(body).insts)


@pytest.mark.parametrize("body, version, target", [
    ("div.f32 %f1, %f2, %f3;", "1.3", "sm_13"), ("sqrt.f32 %f1, %f2;", "1.3", "sm_13"), ("ex2.f32 %f1, %f2;", "1.3", "sm_13"),
    ("mad.f32 %f1, %f2, %f3, %f4;", "2.3", "sm_13"), ("shfl.idx.b32 %r1, %r2, 0, 31;", "6.3", "sm_61"),
    ("vote.all.pred %p1, %p2;", "6.4", "sm_61"),
])
def test_forms_of_old_ptx_are_taken_from_old_modules_only(body: str, version: str, target: str) -> None:
    decode(body, version, target)
    with pytest.raises(PtxError, match=r"is not part of PTX 9.0 for sm_75; nearest supported form"):
        decode(body)


def test_a_predicate_cannot_be_a_variable() -> None:
    with pytest.raises(PtxError, match=r"x.ptx:1: a predicate cannot be in .shared"):
        decode_module(".version 9.0 .target sm_75 .address_size 64 .shared .pred p;", "x.ptx")
