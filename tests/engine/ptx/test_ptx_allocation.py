"""Allocated code computes what the virtual code computes: clean-up, colouring and spilling change no result."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine import isa
from rfview.engine.compilation import Compilation
from rfview.engine.errors import PtxError
from rfview.engine.ptx import decode_module
from rfview.engine.ptx.lower.kernel import lower_kernel
from rfview.engine.ptx.parse.parser import parse_module
from rfview.engine.ptx.parse.source import Source
from tests.engine.ptx.interpreter import pack_params, physical_steps, registers_in_range, run, virtual_steps
from tests.engine.ptx.programs import HEAD, kernels

PARAMS = pack_params([0x1000, 0x123456789])


def expected_stores(text: str) -> list[tuple[int, int, int]]:
    source = Source(text, "k.ptx")
    module = parse_module(source)
    program, _ = lower_kernel(source, module, module.functions["k"])
    return run(virtual_steps(program), PARAMS, 0)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([63, 63, 14, 10, 8]), st.booleans())
def test_allocated_code_makes_the_same_stores(text, limit, optimize):
    kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=limit, optimize=optimize)).kernels["k"]
    assert kernel.registers <= limit
    assert registers_in_range(kernel, kernel.registers)
    assert run(physical_steps(kernel), PARAMS, 0xDEADBEEF) == expected_stores(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels())
def test_a_value_marked_last_used_is_never_read_again(text):
    kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=12)).kernels["k"]
    steps = physical_steps(kernel)
    for pc, step in enumerate(steps):
        if kernel.insts["last_use"][pc] and step.guard is None:
            dead = {key for slot, key in enumerate(step.src) if kernel.insts["last_use"][pc] >> slot & 1}
            step.poison = dead - set(step.dst)
    assert run(steps, PARAMS, 0xDEADBEEF) == expected_stores(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels())
def test_live_ranges_of_one_register_never_overlap(text):
    # Copies may share a register with their source; here they are turned into additions.
    text = re.sub(r"mov\.[ub](32|64) (%\w+), (%\w+);", r"add.s\1 \2, \3, 0;", text)
    kernel = decode_module(text, "k.ptx", how=Compilation(optimize=False)).kernels["k"]
    spans: dict[int, list[tuple[int, int]]] = {}
    for _, first, last, register, words in kernel.virtual:
        assert 0 <= first <= last < len(kernel.insts)
        for word in range(words):
            spans.setdefault(register + word, []).append((first, last))
    for own in spans.values():
        own.sort()
        # A value may end at the instruction that redefines its register.
        assert all(end <= begin for (_, end), (begin, _) in zip(own, own[1:]))


def test_a_long_chain_of_live_values_is_spilled_and_counted():
    lines = [f"ld.global.u32 %r{k}, [%rd0+{4 * k}];" for k in range(30)]
    lines += [f"st.global.u32 [%rd0+{4 * k}], %r{k};" for k in range(30)]
    text = HEAD + "ld.param.u64 %rd0, [out];\n" + "\n".join(lines) + "\nret;\n}\n"
    kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=12)).kernels["k"]
    assert kernel.registers <= 12 and kernel.spilled_words >= 18
    assert kernel.local_bytes >= 4 * kernel.spilled_words
    assert run(physical_steps(kernel), PARAMS, 1) == expected_stores(text)


def test_a_spilled_guarded_definition_keeps_the_old_value():
    lines = [f"ld.global.u32 %r{k}, [%rd0+{4 * k}];" for k in range(20)]
    lines += ["setp.lt.u32 %p1, %r3, %r4;"]
    lines += [f"@%p1 add.s32 %r{k}, %r{k + 1}, 1;" for k in range(19)]
    lines += [f"@!%p1 mov.u32 %r{k}, {k};" for k in range(0, 20, 2)]
    lines += [f"st.global.u32 [%rd0+{4 * k}], %r{k};" for k in range(20)]
    text = HEAD + "ld.param.u64 %rd0, [out];\n" + "\n".join(lines) + "\nret;\n}\n"
    for limit in (6, 8, 12):
        kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=limit)).kernels["k"]
        assert kernel.spilled_words and kernel.registers <= limit
        assert run(physical_steps(kernel), PARAMS, 1) == expected_stores(text)


def test_too_few_registers_for_one_instruction_are_refused():
    text = HEAD + "ld.param.u64 %rd0, [out];\nadd.s64 %rd1, %rd0, %rd0;\nsub.s64 %rd2, %rd1, %rd0;\n" \
        "st.global.u64 [%rd0], %rd2;\nret;\n}\n"
    with pytest.raises(PtxError, match="max_registers"):
        _ = decode_module(text, "k.ptx", how=Compilation(max_registers=3)).kernels["k"]


def test_64_bit_values_take_even_pairs():
    text = HEAD + "ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd2, %r1;\n" \
        "add.s64 %rd3, %rd2, %rd0;\nst.global.u32 [%rd3], %r1;\nret;\n}\n"
    for _, _, _, register, words in decode_module(text, "k.ptx").kernels["k"].virtual:
        assert words == 1 or register % 2 == 0


def test_more_than_32_predicates_at_once_are_held_in_registers():
    lines = [f"setp.lt.u32 %q{k}, %r1, {k};" for k in range(40)]
    lines += [f"@%q{k} setp.gt.u32 %q{k}|%q{k + 1}, %r1, {k // 2};" for k in range(0, 40, 3)]
    lines += [f"@%q{k} st.global.u32 [%rd0], {k};" for k in range(40)]
    text = HEAD + "ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\n" + "\n".join(lines) + "\nret;\n}\n"
    for limit in (63, 8):
        kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=limit)).kernels["k"]
        assert kernel.predicates <= 32 and kernel.registers <= limit
        assert run(physical_steps(kernel), PARAMS, 0xDEADBEEF) == expected_stores(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([63, 10]), st.sampled_from([4, 3]))
def test_predicates_held_in_registers_make_the_same_stores(text, limit, predicates):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rfview.engine.ptx.decode.NUM_PREDICATES", predicates)
        kernel = decode_module(text, "k.ptx", how=Compilation(max_registers=limit)).kernels["k"]
    assert kernel.predicates <= predicates
    assert run(physical_steps(kernel), PARAMS, 0xDEADBEEF) == expected_stores(text)


def test_a_copy_of_a_low_word_never_takes_the_high_word_of_the_pair() -> None:
    text = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [a];
  ld.global.u64 %rd2, [%rd1];
  cvt.u32.u64 %r1, %rd2;
  cvt.u32.u64 %r2, %rd2;
  st.global.v2.u32 [%rd1], {%r1, %r2};
  st.global.u64 [%rd1+8], %rd2;
  ret;
}
"""
    for optimize in (False, True):
        kernel = decode_module(text, "k.ptx", how=Compilation(optimize=optimize)).kernels["k"]
        load = next(inst for inst in kernel.insts if inst["op"] == isa.OP_LD)
        store = kernel.insts[-2]
        low, high = load["dst"][:2].tolist()
        assert [low, high] == store["src"][2:4].tolist()
        between = [inst for inst in kernel.insts if load["line"] < inst["line"] < store["line"]]
        assert not any(high in inst["dst"] for inst in between)
