"""Parts of a program linked into one module: declarations, weak names, duplicate names, and files."""

from __future__ import annotations

import pytest

from rfview.engine.errors import PtxError
from rfview.engine.ptx import decode_module
from rfview.engine.ptx.link import link

HEAD = ".version {}\n.target sm_75\n.address_size 64\n"
ONE = HEAD.format("8.0") + """.file 1 "one.cu"
.extern .func (.param .b32 r) twice (.param .b32 x);
.extern .global .align 4 .u32 count;
.global .align 1 .b8 $str[3] = {104, 105, 0};
.weak .func (.param .b32 r) both (.param .b32 x)
{
  st.param.b32 [r], 1; ret;
}
.extern .shared .align 16 .b8 dyn[];
.visible .entry first(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .loc 1 7 3
  ld.global.u32 %r1, [count]; mov.u64 %rd1, $str; ld.global.u8 %r2, [%rd1]; st.shared.u32 [dyn], %r1;
  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %r2, [b]; } ret;
}
"""
TWO = HEAD.format("8.10") + """.file 1 "two.cu"
.visible .global .align 4 .u32 count = 5;
.global .align 1 .b8 $str[2] = {66, 0};
.global .align 8 .u64 table[1] = {$str};
.extern .shared .align 16 .b8 dyn[];
.weak .func (.param .b32 r) both (.param .b32 x)
{
  st.param.b32 [r], 2; ret;
}
.visible .func (.param .b32 r) twice (.param .b32 x)
{
  .reg .b32 %r<3>; .loc 1 9 1
  ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret;
}
"""


def test_parts_become_one_module_whose_declarations_are_the_others_definitions() -> None:
    text = link([ONE, TWO])
    module = decode_module(text, "linked.ptx")
    assert set(module.symbols) == {"count", "$str$1", "$str$2", "table"} and len(module.kernels["first"].insts) > 4
    assert module.symbols["count"].init[:1] == b"\5" and module.symbols["$str$2"].init == b"B\0"
    assert [name for _, name, _ in module.symbols["table"].relocs] == ["$str$2"]
    assert text.startswith(".version 8.10\n") and text.count(".func") == 2 and text.count("dyn[]") == 1
    assert '.file 2 "two.cu"' in text and ".loc 1 7 3" in text and ".loc 2 9 1" in text and "st.param.b32 [r], 2" not in text


def test_a_renamed_name_is_none_that_a_part_has_already() -> None:
    # nvcc numbers the strings of a file like this: $str, $str$1, $str$2
    strings = "".join(f".global .align 1 .b8 $str{end}[2] = {{{value}, 0}};\n" for end, value in (("$1", 67), ("$2", 68), ("$2$", 69)))
    module = decode_module(link([ONE, TWO + strings]), "linked.ptx")
    found = sorted(symbol.init[:1] for name, symbol in module.symbols.items() if name.startswith("$str"))
    assert found == [b"B", b"C", b"D", b"E", b"h"]
    (_, target, _), = module.symbols["table"].relocs
    assert module.symbols[target].init == b"B\0"


def test_one_part_stays_as_it_is() -> None:
    assert link([ONE]) == ONE


def test_labels_of_debugging_sections_are_each_part_s_own() -> None:
    section = ".section .debug_str\n{\n$L__info_string0:\n.b8 95,0\n}\n"
    text = link([ONE + section, TWO + section])
    assert "$L__info_string0$1:" in text and "$L__info_string0$2:" in text


@pytest.mark.parametrize(("texts", "problem"), [
    ([TWO, TWO], "two parts of the program define 'count'"),
    ([ONE, ".version 8.0\n.target sm_75\n.visible .global .u32 x = {"], "part 2:3: unterminated declaration"),
    ([ONE, "nothing"], "unterminated"), (["", ""], "are not PTX"), ([".version .target sm_75", ONE], "are not PTX"),
])
def test_what_cannot_be_joined_is_refused(texts: list[str], problem: str) -> None:
    with pytest.raises(PtxError, match=problem):
        link(texts)


def test_a_function_that_no_part_defines_is_said_where_it_is_called() -> None:
    with pytest.raises(PtxError, match="'twice' has no body"):
        decode_module(link([ONE, ""]), "linked.ptx").kernels["first"]
