"""Decoding of small kernels: every field of the INST arrays that the machine reads, and the errors of lowering."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rfview.engine import isa, kernels
from rfview.engine.compilation import Compilation
from rfview.engine.errors import PtxError
from rfview.engine.program import (NO_PC, SPACE_CONST, SPACE_GENERIC, SPACE_GLOBAL, SPACE_LOCAL, SPACE_PARAM,
                                   SPACE_SHARED, UNIT_CTRL, UNIT_LDST, UNIT_SP, WAIT_LONG, WAIT_SHORT, Param,
                                   Reloc)
from rfview.engine.ptx import decode_module, load_module

REPOSITORY = Path(__file__).resolve().parents[3]
HEAD = ".version 9.0\n.target sm_100a\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;\n"


def decode(body: str, params: str = ".param .u64 a", module: str = "", *, optimize: bool = True):
    text = f"{HEAD}{module}.visible .entry k({params}) {{ {REGISTERS}{body}\n}}\n"
    return decode_module(text, "m.ptx", how=Compilation(optimize=optimize)).kernels["k"]


def plain(body: str, **more):
    """Decode without clean-up."""
    return decode(body, optimize=False, **more)


def only(kernel, op: int):
    (pc,) = np.flatnonzero(kernel.insts["op"] == op)
    return kernel.insts[pc]


def test_a_small_kernel_as_a_whole():
    kernel = decode("""ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; setp.ge.s32 %p1, %r1, 100; @%p1 bra DONE;
        mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+16]; add.f32 %f2, %f1, 0f3F800000;
        st.global.f32 [%rd3], %f2; DONE: ret;""")
    assert kernel.registers == 4 and kernel.texts == (
        "mov.u32 R0, %tid.x", "setp.ge.s32 P0, R0, 100", "@P0 bra -> 9", "mul.wide.s32 R0, R0, 4",
        "ld.param.u64 R2, [0x0]", "add.s64 R0, R2, R0", "ld.global.f32 R2, [R0+16]", "add.f32 R2, R2, 0f3F800000",
        "st.global.f32 [R0], R2", "ret")
    assert kernel.virtual[:3] == (("%r1", 0, 3, 0, 1), ("%rd2", 3, 5, 0, 2), ("%rd1", 4, 5, 2, 2))
    branch = only(kernel, isa.OP_BRA)
    assert branch["target"] == len(kernel.insts) - 1
    assert branch["reconv"] == 3  # at a branch to the exit, the other lanes do not wait
    assert (branch["guard"], branch["guard_negate"], branch["unit"]) == (0, 0, UNIT_CTRL)
    load, add = only(kernel, isa.OP_LD), only(kernel, isa.OP_FADD)
    assert (load["space"], load["width"], load["count"]) == (SPACE_GLOBAL, 4, 1)
    assert (load["offset"], load["memory_kind"]) == (16, 1)
    assert (load["unit"], load["wait_class"]) == (UNIT_LDST, WAIT_LONG)
    assert add["long_source"] == 1 and add["last_use"] == 1 and add["imm"][2] == 0x3F800000 and add["imm_mask"] == 4
    assert kernel.params == (Param("a", "u64", 8, 8, 0),)
    assert kernel.predicates == 1 and kernel.local_bytes == kernel.shared_bytes == 0


def test_masks_name_what_is_read_and_written():
    kernel = plain("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.eq.s32 %p1, %r1, 0; "
                   "@!%p1 add.s32 %r3, %r1, %r2; st.shared.u32 [%r3], %r1; ret;")
    add = only(kernel, isa.OP_ADD32)
    src = [int(add["src"][0]), int(add["src"][2])]
    assert add["src_mask"] == 0b101 and add["guard_negate"] == 1
    assert int(add["dst_regs"]) == 1 << int(add["dst"][0])
    assert int(add["need_regs"]) == int(add["dst_regs"]) | 1 << src[0] | 1 << src[1]
    assert add["need_preds"] == 1 and add["dst_preds"] == 0
    store = only(kernel, isa.OP_ST)
    assert (store["imm_mask"], store["src_mask"], store["space"]) == (2, 5, SPACE_SHARED)


@pytest.mark.parametrize("text, op, fields", [
    ("ld.param.u32 %r1, [a+4];", isa.OP_LDPARAM, {"offset": 4, "unit": UNIT_SP, "wait_class": WAIT_SHORT, "width": 4,
                                                  "space": SPACE_PARAM}),
    ("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1+8];", isa.OP_LD, {"count": 4, "num_dst": 4, "wait_class": WAIT_SHORT,
                                                                    "offset": 8, "imm_mask": 2}),
    ("ld.global.s8 %r1, [%rd1];", isa.OP_LD, {"width": 1, "signed": 1, "reg_bits": 32}),
    ("ld.global.u16 %rs1, [%rd1];", isa.OP_LD, {"width": 2, "signed": 0, "reg_bits": 16}),
    ("ld.volatile.global.u64 %rd2, [%rd1+-8];", isa.OP_LD, {"width": 8, "reg_bits": 64, "num_dst": 2, "offset": -8}),
    ("ld.u32 %r1, [%rd1];", isa.OP_LD, {"space": SPACE_GENERIC, "wait_class": WAIT_LONG}),
    ("ld.local.u32 %r1, [64];", isa.OP_LD, {"space": SPACE_LOCAL, "imm_mask": 3, "wait_class": WAIT_LONG}),
    ("ld.const.u32 %r1, [%r2];", isa.OP_LD, {"space": SPACE_CONST, "wait_class": WAIT_SHORT}),
    ("ld.acquire.gpu.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1];", isa.OP_LD, {"space": SPACE_GLOBAL}),
    ("st.local.v2.b64 [%rd1], {%rd2, %rd3};", isa.OP_ST, {"space": SPACE_LOCAL, "count": 2, "src_mask": 0b111111}),
    ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", isa.OP_ATOM, {"aux": isa.ATOM_CAS | isa.T_U32 << 8, "memory_kind": 3,
                                                                 "src_mask": 0b10111}),
    ("red.shared.add.f32 [%r1], %f1;", isa.OP_RED, {"aux": isa.ATOM_ADD | isa.T_F32 << 8, "memory_kind": 4}),
    ("atom.add.release.gpu.u64 %rd1, [%rd2], 5;", isa.OP_ATOM, {"width": 8, "imm_mask": 0b1100}),
    ("bar.sync 1, 64;", isa.OP_BAR, {"aux": isa.BAR_SYNC, "imm_mask": 0b101}),
    ("barrier.sync 0;", isa.OP_BAR, {"aux": isa.BAR_SYNC}),
    ("bar.red.popc.u32 %r1, 0, %p1;", isa.OP_BAR, {"aux": isa.BAR_RED_POPC, "num_dst": 1}),
    ("bar.warp.sync %r1;", isa.OP_BAR_WARP, {"src_mask": 1}),
    ("membar.gl;", isa.OP_MEMBAR, {"unit": UNIT_CTRL}), ("fence.sc.cta;", isa.OP_MEMBAR, {}),
    ("trap;", isa.OP_TRAP, {}), ("nanosleep.u32 40;", isa.OP_NANOSLEEP, {"imm_mask": 1}),
    ("prefetch.global.L2 [%rd1];", isa.OP_NOP, {}),
    ("shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;", isa.OP_SHFL, {"imm_mask": 0b110100, "aux": isa.SHFL_DOWN}),
    ("vote.sync.ballot.b32 %r1, !%p1, -1;", isa.OP_VOTE, {"imm_mask": 1}),
    ("mov.b32 %r1, {%rs1, %rs2};", isa.OP_PACK16, {"num_dst": 1}),
    ("mov.b32 {%rs1, %rs2}, %r1;", isa.OP_UNPACK16, {"num_dst": 2}),
    ("mov.b64 %rd1, {%r1, %r2};", isa.OP_MOV64, {"src_mask": 3}),
    ("mov.b64 {_, %r2}, %rd1;", isa.OP_MOV32, {"src_mask": 1}),
    ("mov.u64 %rd1, %clock64;", isa.OP_SREG, {"aux": isa.SREG_CLOCK64, "num_dst": 2}),
    ("mov.pred %p1, 1;", isa.OP_PRED, {"aux": isa.PRED_TRUE}),
    ("cvt.u8.u32 %r1, %r2;", isa.OP_ZEXT8, {}),
    ("cvt.s8.s32 %r1, %r2;", isa.OP_CVT, {"flags": isa.FLAG_WIDE_DST}),
    ("cvta.global.u64 %rd1, %rd2;", isa.OP_MOV64, {}),
    ("cvta.to.shared.u64 %rd1, %rd2;", isa.OP_CVTA, {"aux": isa.CVTA_TO_SHARED}),
    ("lop3.b32 %r1, %r2, %r3, %r4, 0x1e;", isa.OP_LOP3, {"aux": 0x1E}),
    ("mov.f32 %f1, 0d3FF0000000000000;", isa.OP_MOV32, {}),
    ("bfi.b32 %r1, %r2, %r3, 4, 8;", isa.OP_INT, {"imm_mask": 0b110000}),
])
def test_fields_of_one_instruction(text, op, fields):
    define = "".join(f"mov.u32 %r{k}, %tid.x; cvt.u64.u32 %rd{k}, %r{k}; mov.b32 %f{k}, %r{k};"
                     f"cvt.u16.u32 %rs{k}, %r{k}; setp.eq.u32 %p{k}, %r{k}, 0;" for k in range(1, 5))
    kernel = plain(define + "\n" + text + "\nret;", params=".param .u32 z, .param .align 4 .b8 a[16]") \
        if "param" not in text else plain(text + "ret;", params=".param .align 4 .b8 a[16]")
    line = max(int(n) for n in kernel.insts["line"] if n <= (6 if "param" not in text else 5))
    inst = kernel.insts[kernel.insts["line"] == line][0] if "param" not in text else kernel.insts[0]
    assert inst["op"] == op
    for name, value in fields.items():
        assert inst[name] == value, name


def test_wide_vectors_are_split_and_keep_their_address():
    kernel = plain("mov.u64 %rd1, 64; ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd1+8]; "
                   "st.global.v4.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4}; ret;")
    loads = kernel.insts[kernel.insts["op"] == isa.OP_LD]
    stores = kernel.insts[kernel.insts["op"] == isa.OP_ST]
    assert list(loads["offset"]) == [8, 24] and list(stores["offset"]) == [0, 16]
    assert list(loads["count"]) == [2, 2]
    assert not int(loads[0]["dst_regs"]) & 1 << int(loads[1]["src"][0])


@pytest.mark.parametrize("number, bits", [
    ("1e300", 0x7F800000), ("-0d7FE0000000000000", 0xFF800000), ("3.4028235677973366e38", 0x7F800000),
    ("3.4028234663852886e38", 0x7F7FFFFF), ("1e-60", 0), ("0.1", 0x3DCCCCCD), ("0f7FA00000", 0x7FA00000),
])
def test_a_double_is_rounded_to_a_float_as_in_c(number: str, bits: int) -> None:
    kernel = decode(f"mov.f32 %f1, {number}; st.local.f32 [0], %f1; ret;")
    assert int(only(kernel, isa.OP_ST)["imm"][2]) == bits


def test_symbols_become_relocations_and_shared_offsets():
    module = """.global .align 4 .u32 table[4] = {1, 2, 3, 4};\n.const .align 8 .u64 pointers[2] = {table, table+8};
        .extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b8 unused[64];\n.shared .align 8 .b8 used[20];\n"""
    kernel = decode(""".shared .align 4 .b8 own[8]; mov.u64 %rd1, table; ld.global.u32 %r1, [table+4];
        ld.global.u32 %r2, [%rd1+8]; mov.u32 %r3, used; mov.u32 %r4, own; st.shared.u32 [%r4+4], %r1;
        st.shared.u32 [used+12], %r2; mov.u32 %r5, dyn; st.shared.u32 [%r5], %r3; ret;""", module=module)
    assert kernel.shared_bytes == 32
    assert [(r.symbol, r.addend, r.slot, r.wide) for r in kernel.relocs] == [
        ("table", 4, 0, True), ("table", 0, 0, True)]
    stores = kernel.insts[kernel.insts["op"] == isa.OP_ST]
    assert [int(s["imm"][0]) + int(s["offset"]) for s in stores] == [24, 12, 32]
    assert isinstance(kernel.relocs[0], Reloc)
    symbols = decode_module(HEAD + module, "m.ptx").symbols
    assert symbols["table"].init == bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])
    assert symbols["pointers"].relocs == ((0, "table", 0), (8, "table", 8)) and symbols["pointers"].space == "const"


def test_shared_variables_of_functions_are_placed_alike_whatever_seed_python_hashes_with():
    names = "alpha", "beta", "gamma", "delta", "epsilon"
    functions = "".join(f".func {name} {{ .shared .b8 s[16]; st.shared.u32 [s], {place}; ret; }}"
                        for place, name in enumerate(names))
    text = f"{HEAD}{functions}.entry k {{ {''.join(f'call {name};' for name in reversed(names))} ret; }}"
    program = ("from rfview.engine.ptx import decode_module\n"
               f"insts = decode_module({text!r}, 'm.ptx').kernels['k'].insts\n"
               "print(insts['imm'][:9:2, 0], insts['imm'][:9:2, 2])")
    for seed in "012":
        found = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=REPOSITORY,
                               capture_output=True, text=True, check=True).stdout
        assert found == "[64 48 32 16  0] [4 3 2 1 0]\n", "in order of declaration"


CALLEE = """.func (.param .b32 r) f(.param .b32 x, .param .align 4 .b8 s[8]) { .reg .pred %p<3>; .reg .b32 %r<9>;
  ld.param.b32 %r1, [x]; ld.param.b32 %r2, [s+4]; setp.gt.s32 %p1, %r1, 3; @%p1 bra BIG;
  st.param.b32 [r+0], %r2; ret; BIG: add.s32 %r3, %r1, %r2; st.param.b32 [r+0], %r3; ret; }\n"""
START = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;"
CALL = """{ .param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 q; st.param.b32 [p0+0], %r1;
  st.param.b32 [p1+0], 7; st.param.b32 [p1+4], %r2; call.uni (q), f, (p0, p1); ld.param.b32 %r3, [q+0]; }"""


def test_calls_are_inlined_with_parameters_in_registers():
    kernel = decode(START + CALL + "st.shared.u32 [%r1], %r3; ret;", module=CALLEE)
    assert kernel.local_bytes == 0 and np.count_nonzero(kernel.insts["op"] == isa.OP_EXIT) == 1
    branch = only(kernel, isa.OP_BRA)
    assert branch["reconv"] != NO_PC


def test_two_calls_of_one_function_have_their_own_registers_and_labels():
    kernel = decode(START + CALL + CALL.replace("%r1", "%r3") +
                    "st.shared.u32 [%r1], %r3; ret;", module=CALLEE)
    assert np.count_nonzero(kernel.insts["op"] == isa.OP_BRA) == 2


@pytest.mark.parametrize(("stores", "last"), [
    ("st.param.b64 [p], %rd1; st.param.b32 [p], %r1;", ("b64", "b32")),
    ("st.param.b32 [p], %r1; st.param.b64 [p], %rd1;", ("b32", "b64")),
    ("st.param.b32 [p], %r2; st.param.b64 [p], %rd1; st.param.b32 [p], %r1;", ("b64", "b32")),
])
def test_stores_to_a_parameter_that_overlap_stay_in_the_order_of_the_program(stores, last):
    module = ".func (.param .b32 r) f(.param .align 8 .b8 s[8]) { .reg .b32 %r<9>; ld.param.b32 %r1, [s]; " \
             "st.param.b32 [r], %r1; ret; }\n"
    kernel = decode(START + "cvt.u64.u32 %rd1, %r2; { .param .align 8 .b8 p[8]; .param .b32 q; " + stores +
                    "call.uni (q), f, (p); ld.param.b32 %r3, [q]; } st.shared.u32 [%r1], %r3; ret;", module=module)
    local = kernel.insts[(kernel.insts["op"] == isa.OP_ST) & (kernel.insts["space"] == SPACE_LOCAL)]
    assert tuple(f"b{8 * int(width)}" for width in local["width"]) == last


RECURSIVE = """.func (.param .b32 r) f(.param .b32 n) { .reg .pred %p<3>; .reg .b32 %r<9>;
  ld.param.b32 %r1, [n]; mov.b32 %r2, 0; setp.eq.s32 %p1, %r1, 0; @%p1 bra END; sub.s32 %r3, %r1, 1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p+0], %r3; call.uni (q), f, (p); ld.param.b32 %r4, [q+0]; }
  add.s32 %r2, %r4, %r1; END: st.param.b32 [r+0], %r2; ret; }\n"""
CALL_F = """mov.u32 %r1, %tid.x; { .param .b32 p0; .param .b32 q; st.param.b32 [p0+0], %r1; call.uni (q), f, (p0);
  ld.param.b32 %r3, [q+0]; } st.shared.u32 [%r1], %r3; ret;"""


def test_a_recursive_function_is_lowered_once_and_keeps_only_what_is_live_after_its_call():
    kernel = decode(CALL_F, module=RECURSIVE)
    local = kernel.insts[kernel.insts["space"] == SPACE_LOCAL]
    # its argument and the number of its call, but not the result 0 that it overwrites, nor the condition
    assert np.count_nonzero(local["op"] == isa.OP_ST) == np.count_nonzero(local["op"] == isa.OP_LD) == 2
    assert kernel.local_bytes == kernel.stack_bytes == 8192


def test_a_recursive_functions_parameter_has_no_address():
    module = RECURSIVE.replace("mov.b32 %r2, 0;", "mov.b32 %r2, n;")
    with pytest.raises(PtxError, match="recursive function 'f' takes the address of its parameter 'n'"):
        decode(CALL_F, module=module)


def test_an_aggregate_read_in_another_layout_goes_through_local_memory():
    module = CALLEE.replace("ld.param.b32 %r2, [s+4]", "ld.param.u8 %r2, [s+5]")
    kernel = decode(START + CALL + "st.shared.u32 [%r1], %r3; ret;", module=module)
    assert kernel.local_bytes >= 8
    assert np.count_nonzero((kernel.insts["op"] == isa.OP_ST) & (kernel.insts["space"] == SPACE_LOCAL)) == 2


def test_printf_and_assert_become_machine_instructions():
    module = """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 $str[3] = {104, 105, 0};\n"""
    kernel = decode("""mov.u64 %rd1, $str; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0;
      { .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd3;
      call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; } ret;""", module=module)
    inst = only(kernel, isa.OP_PRINTF)
    assert inst["imm_mask"] == 0b1111 and inst["num_dst"] == 1
    assert kernel.relocs[0].symbol == "$str"


def test_indexed_branches_become_a_chain():
    kernel = decode("mov.u32 %r1, %tid.x; T: .branchtargets A, B, C; brx.idx %r1, T; A: st.local.u32 [0], 1; ret; "
                    "B: st.local.u32 [0], 2; ret; C: ret;")
    assert np.count_nonzero(kernel.insts["op"] == isa.OP_BRA) == 2


def test_clean_up_propagates_copies_but_not_between_floats_and_integers():
    kernel = decode("""mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r3, 5; add.s32 %r4, %r2, %r3;
        cvt.rn.f32.s32 %f1, %r4; add.f32 %f2, %f1, %f1; mov.b32 %r5, %f2; shl.b32 %r6, %r5, 1;
        st.shared.u32 [%r1], %r6; ret;""")
    ops = list(kernel.insts["op"])
    assert ops.count(isa.OP_MOV32) == 1
    assert only(kernel, isa.OP_ADD32)["imm"][2] == 5


@pytest.mark.parametrize(("opcode", "is_past"), [
    ("ld.global.u32", False), ("ld.global.ca.u32", False), ("ld.global.cs.u32", False), ("ld.global.nc.u32", False),
    ("ld.relaxed.cta.global.u32", False), ("ld.weak.global.u32", False), ("ld.global.cg.u32", True), ("ld.global.cv.u32", True),
    ("ld.volatile.global.u32", True), ("ld.relaxed.gpu.global.u32", True), ("ld.acquire.sys.global.u32", True),
    ("ld.mmio.relaxed.sys.global.u32", True), ("ld.volatile.u32", True),
])
def test_loads_that_l1_may_not_serve_go_past_it(opcode, is_past):
    load = only(decode(f"ld.param.u64 %rd1, [a]; {opcode} %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret;"), isa.OP_LD)
    assert bool(load["flags"] & isa.FLAG_PAST_L1) == is_past


@pytest.mark.parametrize(("opcode", "is_past"), [("cp.async.ca.shared.global", False), ("cp.async.cg.shared.global", True)])
@pytest.mark.parametrize("source", ["", ", %r1"])
def test_an_asynchronous_copy_may_go_past_l1(opcode, is_past, source):
    kernel = decode(f"ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; {opcode} [%r1], [%rd1], 16{source}; ret;")
    loads = kernel.insts[kernel.insts["op"] == isa.OP_LD]
    assert len(loads) and all(bool(load["flags"] & isa.FLAG_PAST_L1) == is_past for load in loads)


def test_dead_atomics_and_loads_stay():
    kernel = decode("ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; atom.global.add.u32 %r2, [%rd1], 1; "
                    "ld.volatile.global.u32 %r3, [%rd1]; ret;")
    assert list(kernel.insts["op"]) == [isa.OP_LDPARAM, isa.OP_LD, isa.OP_ATOM, isa.OP_LD, isa.OP_EXIT]


def test_code_after_a_return_is_dropped_and_the_end_always_exits():
    kernel = plain("ret; add.s32 %r1, %r2, %r3;")
    assert list(kernel.insts["op"]) == [isa.OP_EXIT]
    assert list(plain("bar.sync 0;").insts["op"]) == [isa.OP_BAR, isa.OP_EXIT]


@pytest.mark.parametrize("optimize", [True, False])
def test_what_is_only_written_behind_its_reads_reads_as_zero(optimize):
    kernel = decode("ld.param.u64 %rd1, [a]; @%p1 add.s32 %r2, %r1, 5; st.global.u32 [%rd1], %r2; mov.u32 %r1, %clock; "
                    "setp.eq.s32 %p1, %r2, 3; ret;", optimize=optimize)
    add = only(kernel, isa.OP_ADD32)
    assert add["guard"] < kernel.predicates and (add["imm_mask"] & 1 or add["src"][0] < kernel.registers)


def test_names_in_an_inner_scope_hide_those_outside():
    kernel = plain("mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; L: } st.local.u32 [0], %r1; ret;")
    store, outer = only(kernel, isa.OP_ST), kernel.insts[0]
    assert store["src"][2] == outer["dst"][0]


@pytest.mark.parametrize("body, words", [
    ("addd.s32 %r1, %r2, %r3;", ["unsupported instruction 'addd.s32'", "add.s32"]),
    ("add.q32 %r1, %r2, %r3;", ["add.q32", "nearest supported form"]),
    ("ld.globl.u32 %r1, [%rd1];", ["'ld.globl.u32'", "'ld.global.nc.u32'"]),
    ("atom.global.foo.u32 %r1, [%rd1], 1;", ["'atom.global.foo.u32'", "'atom.global.min.u32'"]),
    ("wgmma.fence.sync.aligned;", ["tensor-core", "compile for sm_80"]),
    ("cvt.rn.e2m1x2.f32 %r1, %f1, %f2;", ["unsupported", "satfinite"]),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r1}, {%f1};", ["takes 8 registers"]),
    ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r1}, {%r1}, {%r1}, {%r1};", ["takes 4 registers"]),
    ("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 {%r1}, {%r1}, {%r1}, {%r1};", ["compile for sm_89"]),
    ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%rd1], %r2, [%rd1];", ["compile for sm_80"]),
    ("tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;", ["tensor maps", "compile for sm_80"]),
    ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}];", ["unknown name 't'"]),
    ("tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];", ["tex.cube", "takes 4 coordinates, found 2"]),
    ("tex.cube.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r3}];", ["tex.cube", "f32"]),
    ("bra NOWHERE;", ["unknown label 'NOWHERE'"]),
    ("add.s32 %r77, %r1, %r2;", ["unknown register '%r77'"]),
    ("mov.u64 %rd1, %tid.w;", ["the special register '%tid.w' has 32 bits"]),
    ("ld.global.u32 %r1, [nothing];", ["unknown name 'nothing'"]),
    ("add.s32 %r1, %r2;", ["takes 3 operands, found 2"]),
    ("add.s32 %rd1, %r2, %r3;", ["'%rd1' is declared .b64", ".s32"]),
    ("add.s64 %rd1, %r2, %rd3;", ["'%r2' is declared .b32", ".s64"]),
    ("add.s32 %r1, %f2, %r3;", ["'add.s32' works on .s32, '%f2' is declared .f32"]),
    ("add.u32 %r1, %r2, %rs1;", ["'%rs1' is declared .b16"]),
    ("mul.wide.s32 %f1, %r2, %r3;", ["'%f1' is declared .f32", ".s64"]),
    ("mov.u32 %r1, %f1;", ["'%f1' is declared .f32"]),
    ("cvt.rn.f32.s32 %f1, %f2;", ["'cvt.rn.f32.s32' works on .s32, '%f2' is declared .f32"]),
    ("shfl.sync.up.b32 %rs1, %r2, 1, 0, -1;", ["'%rs1' is declared .b16"]),
    ("add.s32 %r1, %r2, 1.5;", ["'add.s32' works on .s32", "floating-point number"]),
    ("add.f32 %f1, %f2, 1;", ["'add.f32' works on .f32", "the number 1"]),
    ("mov.b32 %f1, 1.0;", ["'mov.b32' works on .b32, found a floating-point number"]),
    ("xor.b32 %r1, %r2, 1.0;", ["'xor.b32' works on .b32"]), ("mov.b64 %rd1, 0f3F800000;", ["'mov.b64' works on .b64"]),
    ("mov.b16 %rs1, 1.0;", ["'mov.b16' works on .b16"]), ("mov.f64 %rd1, 1e400;", ["at most 64 bits, found '1e400'"]),
    ("add.f16 %rs1, %rs2, 0x3C00;", ["'add.f16' works on .f16, found the number 15360"]),
    ("fma.rn.bf16x2 %r1, %r2, %r3, 1;", ["'fma.rn.bf16x2' works on .bf16x2"]),
    ("cvt.f32.f16 %f1, 1.0;", ["'cvt.f32.f16' works on .f16"]), ("neg.f16 %rs1, 1;", ["'neg.f16' works on .f16"]),
    ("st.global.f32 [%rd1], 1;", ["'st.global.f32' works on .f32"]), ("st.global.b32 [%rd1], 1.0;", ["works on .b32"]),
    ("atom.global.exch.b32 %r1, [%rd1], 1.0;", ["works on .b32"]), ("bar.warp.sync 1.0;", ["works on .u32"]),
    ("ld.global.u32 %r1, [%f1];", ["address", "'%f1' is declared .f32"]),
    ("setp.hi.s32 %p1, %r1, %r2;", ["unsupported instruction 'setp.hi.s32'"]),
    ("fma.f32 %f1, %f2, %f3, %f4;", ["unsupported", "fma.rn.f32"]),
    ("cvt.f16.f32 %rs1, %f1;", ["unsupported", "cvt.rn.f16.f32"]),
    ("cvt.f32.s32 %f1, %r1;", ["unsupported", "cvt.rn.f32.s32"]),
    ("red.global.inc.f32 [%rd1], %f1;", ["'red.global.inc.f32'", "'red.global.inc.u32'"]),
    ("atom.global.add.s64 %rd2, [%rd1], %rd3;", ["'atom.global.add.s64'", "'atom.global.min.s64'"]),
    ("atom.shared.and.u32 %r2, [%r1], %r3;", ["'atom.shared.and.u32'", "'atom.shared.and.b32'"]),
    ("atom.global.add.f32 %r1, [%rd1], %f1; atom.global.add.u32 %f1, [%rd1], %r2;", ["'%f1' is declared .f32"]),
    ("st.global.s32 [%rd1], %f1;", ["'st.global.s32' works on .s32, '%f1' is declared .f32"]),
    ("ld.global.wt.u32 %r1, [%rd1];", ["'ld.global.wt.u32'", "'ld.global.u32'"]),
    ("st.global.ca.u32 [%rd1], %r1;", ["'st.global.ca.u32'", "'st.global.u32'"]),
    ("ld.acquire.global.u32 %r1, [%rd1];", ["'ld.acquire.gpu.global.u32'"]),
    ("cp.async.cg.shared.global [%r1], [%rd1], 8;", ["takes the number 16, found 8"]),
    ("wmma.load.a.sync.aligned.m5n5k5.row.f16 {%r1}, [%rd1];", ["unsupported instruction"]),
    ("membar.all;", ["unsupported", "membar.gl"]), ("fence.sc;", ["unsupported", "fence.sc.gpu"]),
    ("call k, ();", ["'k' is a kernel"]),
    ("add.s32 %r1, %p1, %r3;", ["predicate"]),
    ("selp.b32 %r1, %r2, %r3, %r4;", ["predicate"]),
    ("st.global.v2.u32 [%rd1], %r1;", ["takes 2 registers here, found 1"]),
    ("st.const.u32 [%rd1], %r1;", ["unsupported instruction 'st.const.u32'"]),
    ("@%r1 ret;", ["predicate register"]),
    ("call.sat nobody, ();", ["unsupported", "call.uni"]), ("call nobody, ();", ["unknown function 'nobody'"]),
    ("call %rd1, ();", ["no function whose address is taken"]),
    ("setp.lt.s32 %p1, %r1, %r2, %p2;", ["takes 3 operands, found 4"]),
    ("alloca.u64 %rd1, 32, 24;", ["alignment", "power of two"]), ("alloca.b64 %rd1, 32;", ["unsupported", "alloca.u64"]),
    ("ld.global.b128 %rd1, [%rd2];", ["'ld.global.b128' works on .b128, '%rd1' is declared .b64"]),
    ("mov.b64 %rd1, {%rs1, %rs2};", ["'mov.b64' works on .b32, '%rs1' is declared .b16"]),
    ("mov.b32 {%r1, %r2}, %r3;", ["'mov.b32' works on .b16, '%r1' is declared .b32"]), ("mov.b64 {%r1, %rs2}, %rd1;", ["'%rs2'"]),
    ("mov.u64 %rd1, {%r1, %r2};", ["'mov.u64' needs a register or number, found a vector"]), ("mov.b64 {_, _}, %rd1;", ["takes a part"]),
    ("ld.global.f16 %rs1, [%rd1];", ["'ld.global.f16'", "nearest"]), ("st.global.tf32 [%rd1], 1;", ["'st.global.tf32'", "nearest"]),
    ("bar.warp.arrive -1;", ["unsupported", "bar.cta.arrive"]), ("bar.warp.sync %f1;", ["'%f1' is declared .f32"]),
    ("barrier.warp.sync;", ["unsupported"]), ("bar.sync 0, 32, 5;", ["takes 1 to 2 operands, found 3"]),
    ("bar.sync.aligned 0;", ["unsupported"]), ("bar.red.popc.u32 %f1, 0, %p1;", ["'%f1' is declared .f32"]),
    ("barrier.cluster.wait.release;", ["unsupported"]), ("barrier.cluster.wait 0;", ["takes no operands, found 1"]),
    ("membar.gl.cta;", ["unsupported", "membar.gl"]), ("fence.sc.gpu.cta;", ["unsupported"]), ("ret 1;", ["takes no operands"]),
    ("nanosleep 3;", ["unsupported", "nanosleep.u32"]), ("nanosleep.u32 %rs1;", ["'%rs1' is declared .b16"]),
    ("prefetch.global.L2 %rd1;", ["an address in brackets, found '%rd1'"]), ("prefetch.L2 [no];", ["unknown name 'no'"]),
    ("pmevent %r1;", ["takes a number, found '%r1'"]), ("griddepcontrol.foo;", ["griddepcontrol.wait"]), ("nop;", ["unsupported"]),
    ("vadd.s32.u32.u32 ;", ["operands, found 0"]), ("txq %r1, [%rd1];", ["unsupported", "txq.width.b32"]),
    ("cvt.satfinite %r1, %f1;", ["unsupported"]), ("cvt.rn.satfinite.f16.f32;", ["takes 2 operands, found 0"]), ("mbarrier;", ["unsupported"]),
    ("atom.global.cas.b128;", ["takes 4 operands, found 0"]), ("sust.b.1d.b32.trap [%rd1, {%r4}], {};", ["takes 1 register here, found 0"]),
    ("mma.sync.m16n8k16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7};", ["unsupported", "m16n8k16.row.col"]),
    ("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7, %r8, %r9};",
     ["takes 2 registers here, found 4"]),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, %r2;", ["takes an address in brackets, found '%r2'"]),
])
def test_errors_of_lowering_name_line_text_and_what_was_expected(body, words):
    with pytest.raises(PtxError) as caught:
        decode(f"\n{body}\nret;")
    message = str(caught.value)
    assert message.startswith("m.ptx:6: "), message
    assert all(word in message for word in words), message
    assert message.endswith(f"\n    {body}")


@pytest.mark.parametrize("call, words", [
    ("st.param.b32 [p0+4], %r1;", "'st.param.b32' moves 4 bytes at +4, but parameter 'p0' has 4 bytes"),
    ("st.param.v2.b64 [p1], {%rd1, %rd2};", "moves 16 bytes at +0, but parameter 'p1' has 8"),
    ("call (q), f, (p0, p1); ld.param.b64 %rd1, [q];", "'ld.param.b64' moves 8 bytes at +0, but parameter 'q' has 4"),
    ("ld.param.u64 %rd1, [a+4];", "moves 8 bytes at +4, but parameter 'a' has 8"),
    ("ld.param.u64 %rd1, [a+-8];", "moves 8 bytes at -8, but parameter 'a' has 8"),
    ("call (q), f, (p1, p1);", "'p1' does not fit 'x' of 'f', which has 4 bytes"),
    ("call (q), f, (p0, q);", "'q' does not fit 's' of 'f', which has 8 bytes"),
    ("call (p1), f, (p0, p1);", "'p1' does not fit 'r' of 'f', which has 4 bytes"),
    ("call (%rd1), f, (p0, p1);", "'%rd1' does not fit 'r'"), ("call (%p1), f, (p0, p1);", "'%p1' does not fit 'r'"),
    ("call (q), f, (%rd1, p1);", "'%rd1' does not fit 'x'"), ("call (q), f, (%r1, %r2);", "'%r2' does not fit 's'"),
    ("call (q), f, (%r1, 31);", "the number 31 does not fit 's'"),
    ("call (q), f, (a, p1);", "'a' does not fit 'x'"),
])
def test_accesses_and_arguments_stay_within_parameters(call: str, words: str) -> None:
    body = f"{{ .param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 q; {call} }} ret;"
    with pytest.raises(PtxError) as error:
        decode(body, module=CALLEE)
    assert words in str(error.value)


@pytest.mark.parametrize("statement, words", [
    ("add.u32 %r1, [x];", "'add.u32' takes 3 operands, found 2"), ("ld.param %r1, [x];", "unsupported instruction 'ld.param'"),
    ("bar.sync [x];", "'bar.sync' needs a register or number, found an address")])
def test_a_recursive_function_names_its_parameter_only_in_accesses(statement: str, words: str) -> None:
    function = f".func f(.param .b32 x) {{\n.reg .b32 %r<3>;\n{statement}\ncall f, (x);\nret; }}\n"
    with pytest.raises(PtxError, match=f"m.ptx:6: {words}"):
        decode("{ .param .b32 y; st.param.b32 [y], 1; call f, (y); } ret;", module=function)


@pytest.mark.parametrize("result, words", [("%p1", "predicate"), ("%rd1", "'%rd1' is declared .b64")])
def test_a_system_call_returns_32_bits(result: str, words: str) -> None:
    module = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    with pytest.raises(PtxError, match=words):
        decode(f"call ({result}), vprintf, (%rd2, %rd3); ret;", module=module)


def test_part_of_an_address_in_an_initialiser_is_refused():
    with pytest.raises(PtxError, match="'g' has a byte of the address of 'v' without the others"):
        decode_module(f"{HEAD}.global .u32 v; .global .u8 g[2] = {{0xFF(v), 0xFF00(v)}};\n", "m.ptx")


def test_a_texture_is_no_parameter_of_a_kernel():
    with pytest.raises(PtxError, match="kernel parameter 't' cannot be of type .texref"):
        decode("ret;", params=".param .texref t")


def test_a_bad_kernel_does_not_spoil_a_good_one():
    text = HEAD + ".entry bad() { wmma.foo; ret; }\n.entry good() { ret; }\n"
    module = decode_module(text, "m.ptx")
    assert set(module.kernels) == {"bad", "good"} and len(module.kernels["good"].insts) == 1
    with pytest.raises(PtxError):
        _ = module.kernels["bad"]
    with pytest.raises(KeyError):
        _ = module.kernels["ugly"]


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(PtxError, match="cannot read PTX"):
        load_module(tmp_path / "no.ptx")


MODULES = sorted([*REPOSITORY.glob("engine/kernels/*/*.ptx"), *REPOSITORY.glob("tests/corpus/*/*.ptx")])


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent.name != "bad"], ids=lambda p: p.stem)
@pytest.mark.parametrize("optimize", [True, False])
def test_every_module_at_hand_decodes(path, optimize):
    module = load_module(path, how=Compilation(optimize=optimize))
    for kernel in module.kernels.values():
        insts = kernel.insts
        assert 1 <= kernel.registers <= 63 and kernel.predicates <= 32 and len(kernel.texts) == len(insts)
        assert insts[-1]["op"] in (isa.OP_EXIT, isa.OP_BRA_UNI, isa.OP_BRA, isa.OP_TRAP)
        branches = insts[np.isin(insts["op"], (isa.OP_BRA, isa.OP_BRA_UNI))]
        assert (branches["target"] < len(insts)).all()
        assert not (insts["src_mask"] & insts["imm_mask"]).any()
        assert all(reloc.symbol in module.symbols for reloc in kernel.relocs)


def test_clusters_of_one_cta_have_trivial_addresses_and_a_leader():
    kernel = decode("ld.param.u64 %rd1, [a]; mapa.u64 %rd2, %rd1, 0; getctarank.u64 %r1, %rd2; "
                    "createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0; elect.sync %r2|%p1, 0xffffffff; "
                    "@%p1 st.global.v2.u32 [%rd2], {%r1, %r2}; ret;")
    assert only(kernel, isa.OP_ST)["guard"] != 255
    module = ".version 8.0\n.target sm_90\n.address_size 64\n.entry c() .reqnctapercluster 2, 1, 1 "
    with pytest.raises(PtxError, match="clusters of 2 CTAs"):
        decode_module(module + "{ .reg .b64 %rd<3>; mapa.u64 %rd1, %rd2, 1; ret; }", "m.ptx").kernels["c"]


def test_modules_of_one_text_share_the_kernels_they_have_decoded() -> None:
    path = kernels.path("vectoradd").with_suffix(".ptx")
    text = path.read_text()
    one, other, plain = decode_module(text, "a.ptx"), load_module(path), decode_module(text, "a.ptx", how=Compilation(optimize=False))
    name = next(iter(one.kernels))
    assert one.kernels[name] is other.kernels[name] and one.kernels[name] is not plain.kernels[name]
