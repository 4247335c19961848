"""Listings of machine code: from text to data and back, and what of a text is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine.compilation import ISAS, PTX, executes
from rfview.engine.config import load_preset
from rfview.engine.errors import SassError
from rfview.engine.ptx.parse.locations import locations
from rfview.engine.sass.constants import layout_of
from rfview.engine.sass.listing import (Bank, Control, Function, Instruction, Listing, Parameter, Place, Variable)
from rfview.engine.sass.module import module_of_listing
from rfview.engine.sass.read import read_listing
from rfview.engine.sass.write import text_of

TEXT = """// rfview machine code 1
.target sm_80
.address_size 64
.file 1 "scale.cu"
.global 16 256 seed
.bytes 0x0 0102030405
.const 8 8 factor 0x10
.bank 3 24
.bytes 0x0 000102030405060708090a0b0c0d0e0f00008040
.bank 4 8
.address 0x0 seed 0x4

.entry scale
.registers 10
.shared 128
.params 0x160
.param 0x0 8 u64 out
.param 0x8 4 f32 by
.loc 1 3 5 < 1 9 2
0000 B------:R-:W0:-:S02 S2R R0, SR_TID.X // 21
0010 B0-----:R-:W-:Y:S04:U1 FMUL R3, R0.reuse, 1.5:3fc00000 // 22
.label inner
0020 B------:R-:W-:-:S05 @!P1 EXIT
"""


def test_a_listing_is_read_as_written():
    listing = read_listing(TEXT, "scale.sass")
    assert text_of(listing) == TEXT
    (function,) = listing.functions
    first, product, _ = function.code
    assert first.place == Place(1, 3, 5, Place(1, 9, 2))
    assert (first.line, first.ptx, product.ptx) == (20, 21, 22)
    assert product.control == Control(stall=4, may_switch=True, write=7, read=7, wait=1, reuse=1)
    assert product.text == "FMUL R3, R0.reuse, 1.5"
    assert function.labels == (("inner", 0x20),)
    assert listing.variables[0] == Variable("seed", "global", 16, 256, 0, bytes([1, 2, 3, 4, 5]))
    assert listing.banks[1] == Bank(4, bytes(8), ((0, "seed", 4),))


def test_views_get_the_places_in_the_sources_from_the_listing():
    places = locations(TEXT)
    assert places.own_line(20) == "scale.cu:3"
    assert [(place.line, place.column) for place in places.at(21)] == [(3, 5), (9, 2)]


@pytest.mark.parametrize("line, changed, said", [
    (0, "// rfview machine code 9", "k.sass:1: expected '// rfview machine code 1'"),
    (1, ".target ptx", "k.sass:2: expected an architecture such as sm_80"),
    (13, ".registers 300", "k.sass:14: expected what belongs to .registers"),
    (13, ".colour 3", "k.sass:14: expected one of .target"),
    (19, "0010 B------:R-:W0:-:S02 S2R R0, SR_TID.X", "k.sass:20: expected an instruction at 0000"),
    (19, "0000 B1-----:R-:W0:-:S02 S2R R0, SR_TID.X", "k.sass:20: expected a control code"),
    (19, "0000 B------:R-:W0:-:S16 S2R R0, SR_TID.X", "k.sass:20: expected a control code"),
    (8, ".bytes 0x0 00xx", "k.sass:9: expected what belongs to .bytes"),
])
def test_a_wrong_line_is_named(line, changed, said):
    lines = TEXT.splitlines()
    lines[line] = changed
    with pytest.raises(SassError, match=re.escape(said)):
        read_listing("\n".join(lines), "k.sass")


CONTROLS = st.integers(0, (1 << 21) - 1).map(Control.of_bits)
NAMES = st.from_regex(r"[a-zA-Z_$][a-zA-Z0-9_$]{0,12}", fullmatch=True)
PLACES = st.recursive(st.none(), lambda caller: st.builds(Place, st.integers(1, 9), st.integers(0, 99), st.integers(0, 99), caller),
                      max_leaves=3)
OPERANDS = st.sampled_from(["R1", "-R2.reuse", "RZ", "c[0x0][0x160]", "0x10", "-1:bf800000", "1/2:3c004000", "[R2.64+UR4+-0x4]", "PT"])
INSTRUCTIONS = st.builds(Instruction, st.sampled_from(["", "@P0", "@!UP3"]), st.sampled_from(["FADD", "IMAD.WIDE.U32", "EXIT"]),
                         st.lists(OPERANDS, max_size=4).map(tuple), CONTROLS, PLACES, st.integers(0, 500))
BANKS = st.builds(Bank, st.integers(1, 4), st.binary(max_size=80), st.just(()))
PARAMETERS = st.builds(Parameter, NAMES, st.sampled_from(["u64", "f32", "b8"]), st.integers(0, 64), st.integers(1, 64))
FUNCTIONS = st.builds(
    Function, NAMES, st.booleans(), st.integers(0, 255), st.integers(0, 4096), st.integers(0, 4096), st.integers(0, 16),
    st.just(0x160), st.lists(PARAMETERS, min_size=1, max_size=3).map(tuple), st.integers(0, 1024),
    st.sampled_from([(0, 0, 0), (32, 2, 1)]), st.lists(BANKS, max_size=2).map(tuple), st.just(()),
    st.lists(INSTRUCTIONS, max_size=12).map(tuple))
LISTINGS = st.builds(
    Listing, st.sampled_from([75, 80, 120]), st.text(max_size=9), st.sampled_from(["", "0123456789abcdef"]),
    st.dictionaries(st.integers(1, 9), st.text(max_size=12), max_size=3), st.lists(BANKS, max_size=2).map(tuple), st.just(()),
    st.lists(FUNCTIONS, max_size=2, unique_by=lambda function: function.name).map(tuple))


@settings(max_examples=100, deadline=None)
@given(LISTINGS)
def test_whatever_a_listing_contains_its_text_reads_as_the_same(listing):
    text = text_of(listing)
    assert read_listing(text, "k.sass") == listing
    assert text_of(read_listing(text, "k.sass")) == text


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_text_with_changed_letters_is_read_or_refused(data):
    letters = list(TEXT)
    for _ in range(data.draw(st.integers(1, 4))):
        letters[data.draw(st.integers(25, len(letters) - 1))] = data.draw(st.sampled_from("0159afx,. []\n@!PRU-:"))
    try:
        module = module_of_listing("".join(letters), "k.sass")
        for name in module.kernels:
            assert len(module.kernels[name].insts) <= 3
    except SassError as refused:
        assert str(refused).startswith("k.sass:")


def test_every_architecture_that_can_be_asked_for_has_its_constants() -> None:
    layouts = {isa: layout_of(int(isa[3:]), "k.sass") for isa in ISAS if isa != PTX}
    assert layouts["sm_87"] is layouts["sm_75"] and layouts["sm_100"] is layouts["sm_121"]
    for sm in (70, 72, 130):
        with pytest.raises(SassError, match=f"sm_{sm}: expected sm_75 to sm_121"):
            layout_of(sm, "k.sass")


@pytest.mark.parametrize("gpu, code, runs", [(86, 80, True), (86, 87, False), (90, 80, False), (103, 100, True), (120, 103, False)])
def test_a_gpu_executes_the_code_of_its_generation_up_to_its_own(gpu: int, code: int, runs: bool) -> None:
    assert executes(gpu, code) == runs
    own = {86: "ampere", 90: "hopper"}.get(gpu)
    if own is not None:
        said = load_preset(own).with_setting("kernel.isa", f"sm_{code}").notes()
        assert any(f"machine code of sm_{code} with the latencies of sm_{gpu}" in note for note in said) != runs
