"""Parsing of every dialect feature, and the errors of broken text."""

from __future__ import annotations

import re

import pytest

from rfview.engine.errors import PtxError
from rfview.engine.ptx import load_module
from rfview.engine.ptx.parse.parser import parse_module
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import (Address, BranchTargets, Function, Group, Instruction, Label, Name,
                                            Negated, Number, Pair, RegisterDeclaration, Scope, Vector)

VERSION = ".version 9.0\n.target sm_75\n.address_size 64\n"


def parse(text: str):
    return parse_module(Source(VERSION + text, "m.ptx"))


def body(text: str) -> list[object]:
    return parse(f".entry k() {{ {text} }}").functions["k"].body.items


def operands(text: str) -> list[object]:
    (instruction,) = body(text)
    assert isinstance(instruction, Instruction)
    return instruction.operands


@pytest.mark.parametrize("text, kind, value", [
    ("17", "int", 17), ("-17", "int", -17), ("0x1F", "int", 31), ("0xFFu".replace("u", "U"), "int", 255),
    ("017", "int", 15), ("0b101", "int", 5), ("4U", "int", 4), ("0f3F800000", "f32", 0x3F800000),
    ("0d3FF0000000000000", "f64", 0x3FF0000000000000), ("-0f3F800000", "f32", 0xBF800000),
    ("1.5", "f64", 0x3FF8000000000000),
    ("~0", "int", -1), ("3+4", "int", 7), ("1<<4", "int", 16),
])
def test_numbers(text, kind, value):
    number = operands(f"mov.u32 %r1, {text};")[1]
    assert (number.kind, number.value) == (kind, value)


@pytest.mark.parametrize("text, value", [
    ("2+3*4", 14), ("(2+3)*4-1", 19), ("2*3+4*5", 26), ("10-2-3", 5), ("16>>1+1", 4), ("1<<2+1", 8), ("1|2^3&4", 3),
    ("6&3==3", 0), ("-7/2", -3), ("-7/2U", 0x7FFFFFFFFFFFFFFC), ("7 % 4", 3), ("-7 % 3", 0), ("5>3", 1), ("-1<0", 1),
    ("-1<0U", 0), ("1||0&&0", 1), ("2>1>0", 1), ("!0", 1), ("!5+1", 1), ("5>3?7:9", 7), ("0?2:0?4:5", 5), ("(1)", 1),
    ("-1>>1", -1), ("-1U>>1", (1 << 63) - 1), ("-1>>1U", -1), ("~0>>60", 15), ("(.u64)-1>>1", (1 << 63) - 1),
    ("(.s64)-1U>>1", -1), ("0xffffffffffffffff+1", 0), ("WARP_SZ*2", 64), ("WARP_SZ", 32), ("-(3+4)", -7),
])
def test_constant_expressions_are_those_of_ptxas(text, value):
    assert operands(f"mov.u64 %rd1, {text};")[1].value == value


def test_constant_expressions_as_addends_arguments_and_sizes():
    assert operands("ld.global.u32 %r1, [%rd1+4*(2+1)];")[1] == Address(Name("%rd1"), 12)
    assert operands("call (r), f, ((3+4)*2, x);")[2] == Group([Number("int", 14), Name("x")])
    assert [one.count for one in body(".reg .u32 a<2+2>; .reg .pred p<3>;")] == [4, 3]


@pytest.mark.parametrize("text, words", [
    ("mov.u32 %r1, 1/0;", "a divisor other than 0, found '0'"), ("mov.u32 %r1, 1<<64;", "a shift by 0 to 63 bits"),
    ("mov.u32 %r1, (x);", "a constant expression, found 'x'"), ("mov.u32 %r1, (.f64)1;", ".s64 or .u64"),
    ("mov.u32 %r1, 1?2;", "':'"), ("mov.f32 %f1, 1.5?2:3;", "an integer as the condition"),
])
def test_constant_expressions_without_a_value(text, words):
    with pytest.raises(PtxError, match=re.escape(words)):
        body(text)


@pytest.mark.parametrize("text, expected", [
    ("[%rd1]", Address(Name("%rd1"), 0)), ("[%rd1+16]", Address(Name("%rd1"), 16)),
    ("[%rd1+-16]", Address(Name("%rd1"), -16)),
    ("[%rd1-4]", Address(Name("%rd1"), -4)), ("[ sym + 4 ]", Address(Name("sym"), 4)), ("[4096]", Address(None, 4096)),
    ("{ %r1 }", Vector([Name("%r1")])), ("{%r1, _}", Vector([Name("%r1"), Name("_")])),
    ("%r1|%p2", Pair(Name("%r1"), Name("%p2"))),
    ("!%p1", Negated(Name("%p1"))), ("sym+8", Name("sym", 8)),
])
def test_operands(text, expected):
    assert operands(f"op.b32 {text};")[0] == expected


def test_guards_and_statements_over_several_lines():
    items = body("@!%p1 ld.global.b32\n { %r1 },\n [ %rd1 + 0 ]; @p bra $L__BB0_1; $L__BB0_1: ret;")
    assert (items[0].guard, items[0].guard_negate, items[0].line) == ("%p1", True, 4)
    assert items[1].guard == "p" and not items[1].guard_negate
    assert items[2] == Label(6, "$L__BB0_1")


def test_comments_directives_and_pragmas_are_passed_over():
    items = body('// line\n /* block\n */ .loc 1 2 3, function_name $L1, inlined_at 1 4 5\n .pragma "nounroll";\n ret;')
    assert [type(item) for item in items] == [Instruction]
    assert items[0].line == 8


def test_scopes_registers_and_tables():
    items = body(".reg .b32 a, b; { .reg .pred %p<3>; t: .branchtargets x, y; } x: y: ret;")
    assert items[:2] == [RegisterDeclaration(4, "b32", "a", -1), RegisterDeclaration(4, "b32", "b", -1)]
    assert isinstance(items[2], Scope) and items[2].items[0] == RegisterDeclaration(4, "pred", "%p", 3)
    assert items[2].items[1] == BranchTargets(4, "t", ["x", "y"])


def test_parameters_of_all_dialects():
    kernel = parse(""".visible .entry k(.param .u64 .ptr .global .align 1 a, .param .align 4 .b8 s[12], .param .u64 .ptr
        .align 16 b, .param .f32 f) .reqntid 128, 1, 1 .minnctapersm 2 { ret; }""").functions["k"]
    assert [(p.name, p.type, p.size, p.alignment) for p in kernel.params] == [
        ("a", "u64", 8, 8), ("s", "b8", 12, 4), ("b", "u64", 8, 8), ("f", "f32", 4, 4)]
    assert kernel.required == (128, 1, 1) and kernel.max_threads == 128


def test_module_variables_and_initialisers():
    variables = parse("""
        .global .align 4 .u32 t[4] = {1, 2, 0x3};
        .const .align 8 .u64 p[2] = {t, generic(t)+8};
        .extern .shared .align 16 .b8 dyn[];
        .global .align 1 .b8 $str[3] = {104, 105};
        .global .f32 m[2][2] = {{0f3F800000}, {1.0, 2.0}};
        .visible .global .u32 one = 5;
        .shared .align 1 .u8 flag;""").variables
    assert (variables["t"].size, variables["t"].init) == (16, [Number("int", k) for k in (1, 2, 3)])
    assert variables["p"].init == [Name("t"), Name("t", 8)]
    assert variables["dyn"].is_extern and variables["dyn"].size == 0
    assert len(variables["m"].init) == 4 and variables["one"].init == [Number("int", 5)]
    assert variables["flag"].size == 1


def test_functions_prototypes_and_calls():
    module = parse(""".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
        .func (.param .b32 r) f(.param .b32 a);
        .func (.param .b32 r) f(.param .b32 a) { ret; }
        .entry k() { { .param .b32 x; call.uni (x), f, (x); }
        proto: .callprototype (.param .b32 _) _ (.param .b32 _); ret; }""")
    assert isinstance(module.functions["f"], Function) and module.functions["f"].body is not None
    assert module.functions["vprintf"].body is None
    call = module.functions["k"].body.items[0].items[1]
    assert call.operands == [Group([Name("x")]), Name("f"), Group([Name("x")])]


def test_debug_sections_of_triton_are_passed_over():
    module = parse("""// .globl k
        .visible .entry k() .maxntid 64 { .loc 1 5 0
        $L__tmp0: .loc 1 6 10 // k.py:6:10
        ret; $L__func_end0: }
        .file 1 "/k.py"
        .section .debug_abbrev { .b8 1 .b8 17 }
        .section .debug_info { .b32 $L__tmp0-$L__tmp0
        .b64 .debug_abbrev }""")
    assert module.functions["k"].max_threads == 64


@pytest.mark.parametrize("text, line, words", [
    (".entry k() { add.s32 %r1 %r2; }", 4, ["';' or ','", "%r2"]),
    (".entry k() {\n ret;", 4, ["'{' without its '}'"]),
    (".entry k() {\n ret\n}", 5, ["';'"]),
    (".entry k() { mov.u32 %r1, `; }", 4, ["unexpected character"]),
    (".entry k() { /* mov.u32 %r1, 1; }", 4, ["unterminated comment"]),
    (".entry k() { x: x: ret; }", 4, ["'x' is defined twice"]),
    (".entry k() { .reg .b32 %r<4>;\n .reg .b32 %r<5>; ret; }", 5, ["%r", "declared twice"]),
    (".global .u32 a;\n.global .u32 a;", 5, ["'a' is declared twice", "line 4"]),
    (".entry k() { ret; }\n.entry k() { ret; }", 5, ["'k' is defined twice"]),
    (".entry k(.param .u32 a, .param .u32 a) { ret; }", 4, ["parameter 'a' is declared twice"]),
    (".global .quux a;", 4, ["expected a type"]),
    ("hello;", 4, ["expected a module directive"]),
    (".entry k() { .bogus 1; }", 4, ["directive"]),
    (".entry k() { .shared .b32 v; .shared .b32 v; ret; }", 4, ["'v' is declared twice"]),
    (".entry k() { ld.u32 %r1, [%rd1+99999999999999999999]; }", 4, ["at most 64 bits", "99999999999999999999"]),
    (".entry k() { ld.u32 %r1, [%rd1+9999999999999999999]; }", 4, ["offset of at most 63 bits"]),
    (".entry k() { mov.u64 %rd1, 1<<99999999999; }", 4, ["shift by 0 to 63 bits"]),
    (".version", 4, ["a version such as 8.0", "end of file"]),
    (".address_size 48", 4, ["32 or 64", "48"]),
    (".target sm_999", 4, ["a target such as sm_90", "sm_999"]), (".target sm_90, fast", 4, ["a target option", "debug"]),
    (".global .align 3 .b8 a[9];", 4, ["power of two", "3"]), (".global .align 0 .b8 a;", 4, ["power of two"]),
    (".entry k() {\n .shared .align 12 .b8 a[9]; ret; }", 5, ["power of two"]),
    (".entry k(.param .u64 .ptr .global .align 6 p) { ret; }", 4, ["power of two"]),
    (".global .u32 v; .global .u8 a[2] = {0xFE(v), 1};", 4, ["expected a mask of one byte", "found '0xFE'"]),
    (".global .u32 v; .global .u8 a[2] = {0xFF(1), 1};", 4, ["expected a symbol in parentheses"]),
    (".global .bf16 a;", 4, ["expected a type such as .u32, found '.bf16'"]),
    (".shared .u32 a = 3;", 4, ["'a', in .shared, cannot have an initial value"]),
    (".extern .global .u32 a = 3;", 4, ["cannot have an initial value"]),
    (".local .u32 a;", 4, [".local variables are declared in functions"]),
    (".entry (.reg .u32 a) k() { ret; }", 4, ["kernels return no values"]),
    (".entry k() .maxntid 0, 1, 1 { ret; }", 4, ["at least one thread"]),
])
def test_errors_name_file_line_and_text(text, line, words):
    with pytest.raises(PtxError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"m.ptx:{line}: ")
    assert all(word in message for word in words)
    assert (VERSION + text).split("\n")[line - 1].strip() in message


@pytest.mark.parametrize("text, line, words", [
    (".version 99.0\n.target sm_90\n", 1, ["a version such as 8.0", "99.0"]),
    (".version 9\n.target sm_90\n", 1, ["a version such as 8.0"]),
    (".target sm_90\n.version 9.0\n", 1, ["expected '.version' at the start"]),
    (".version 9.0\n.address_size 64\n", 1, ["expected '.target' after '.version'"]),
])
def test_a_module_begins_with_a_version_and_a_target(text, line, words):
    with pytest.raises(PtxError) as caught:
        parse_module(Source(text + ".entry k() { ret; }", "m.ptx"))
    message = str(caught.value)
    assert message.startswith(f"m.ptx:{line}: ") and all(word in message for word in words), message


@pytest.mark.parametrize("target", ["sm_10", "sm_75, debug", "sm_90a", "sm_103f", "compute_80", "sm_20, texmode_independent"])
def test_targets_of_all_compilers_are_read(target):
    module = parse_module(Source(f".version 9.4\n.target {target}\n.entry k() {{ ret; }}", "m.ptx"))
    assert module.target == target.split(",")[0]


def test_text_without_a_version_is_no_ptx():
    with pytest.raises(PtxError, match="version"):
        parse_module(Source("\n", "m.ptx"))


def test_files_of_other_habits_are_read_and_compiled_code_is_named(tmp_path):
    text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    for raw in (text + b"\0", text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text):
        (tmp_path / "k.ptx").write_bytes(raw)
        assert [inst["line"] for inst in load_module(tmp_path / "k.ptx").kernels["k"].insts] == [6]
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF\2\1\1A\7" + bytes(99))
    with pytest.raises(PtxError, match="compiled code"):
        load_module(tmp_path / "k.cubin")
    (tmp_path / "k.cu").write_text("#define N 4\n__global__ void k(float *x) { x[N] *= 2.5f; }\n")
    with pytest.raises(PtxError, match="nvcc -ptx makes PTX of CUDA source"):
        load_module(tmp_path / "k.cu")
