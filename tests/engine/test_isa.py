"""The opcode table: every form is found, errors suggest a similar form, operand shapes suit the front end."""

from __future__ import annotations

import pytest

from rfview.engine import isa
from rfview.engine.program import LAT_DP_MAD, LAT_FP_DIV, LAT_INT_ADD, UNIT_SFU, UNIT_SP, WAIT_FIXED, WAIT_SHORT
from rfview.engine.ptx import forms
from tests.ptx_forms import opcodes


def find(text: str) -> forms.OpInfo:
    base, *modifiers = text.split(".")
    return forms.lookup(base, tuple(modifiers))


@pytest.mark.parametrize("base", forms.BASES)
def test_every_form_of_the_table_has_an_opcode_of_the_machine(base: str) -> None:
    found = {form: find(form) for form in opcodes(base)}
    assert found and all(len(info.src_types) <= 4 for info in found.values())
    assert all(isa.mnemonic(info.op) == isa.REVERSE[info.op] for info in found.values())


@pytest.mark.parametrize(
    "form",
    [
        "add.sat.u32",
        "add.pred",
        "mul.s32",
        "mul.wide.s64",
        "cvt.s32.f32",
        "cvt.rni.f32.s32",
        "setp.lt.b32",
        "nosuch.f32",
        "sqrt.f16",
        "add.bogus.s32",
        "cvta.global",
        "setp.ltu.s32",
        "vote.sync.ballot.pred",
        "add.ftz.f64",
        "add",
        "fma.lo.f32",
    ],
)
def test_an_unknown_form_names_a_supported_one(form: str) -> None:
    with pytest.raises(forms.UnsupportedOpcode) as caught:
        find(form)
    find(caught.value.nearest)


def test_constants_are_distinct_and_named() -> None:
    codes = {name: value for name, value in vars(isa).items() if name.startswith("OP_")}
    assert sorted(codes.values()) == list(range(len(isa.REVERSE)))
    assert all(isa.REVERSE[value] == name[3:].lower() for name, value in codes.items())


def test_units_latencies_and_operand_shapes() -> None:
    add = find("add.s32")
    assert (add.unit, add.latency_class, add.wait_class, add.is_float) == (UNIT_SP, LAT_INT_ADD, WAIT_FIXED, False)
    div = find("div.rn.f32")
    assert (div.unit, div.latency_class, div.wait_class, div.is_float) == (UNIT_SFU, LAT_FP_DIV, WAIT_SHORT, True)
    fma = find("fma.rn.f64")
    assert (fma.unit, fma.latency_class, fma.src_types, fma.dst_type) == (UNIT_SFU, LAT_DP_MAD, ("f64",) * 3, "f64")
    assert find("mad.wide.s32").src_types == ("s32", "s32", "s64")
    assert find("mul.wide.u16").dst_type == "u32"
    carry = find("addc.cc.u32")
    assert (carry.num_psrc, carry.num_pdst) == (1, 1)
    assert find("setp.lt.and.s32").num_psrc == 1 and find("selp.b32").num_psrc == 1
    assert find("and.pred").num_psrc == 2 and find("and.pred").dst_type == "pred"
    assert find("shfl.sync.down.b32").src_types == ("b32", "b32", "b32", "u32")
    assert not find("cvt.rn.f32.s32").is_float and not find("mov.f32").is_float and not find("add.f16").is_float


def test_special_registers_have_names() -> None:
    assert isa.SREGS["%tid.x"] == isa.SREG_TID_X
    assert isa.SREGS["%total_smem_size"] == isa.SREG_TOTAL_SMEM_SIZE
    assert isa.SREGS["%envreg2"] == isa.SREG_ENVREG
