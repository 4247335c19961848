"""Scheduled code computes what its text does: necessary order is kept, the rest is moved to hide latency."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfview.engine.compilation import Compilation, Latencies
from rfview.engine.program import NO_REG, NUM_LATENCY_CLASSES, Kernel
from rfview.engine import isa, kernels as kernels_of_ours
from rfview.engine.ptx import decode_module, load_module
from rfview.engine.ptx.optimise.schedule import LONGEST
from rfview.engine.ptx.lower.kernel import lower_kernel
from rfview.engine.ptx.parse.parser import parse_module
from rfview.engine.ptx.parse.source import Source
from tests.engine.ptx.interpreter import pack_params, physical_steps, registers_in_range, run, virtual_steps
from tests.engine.ptx.programs import HEAD, kernels

PARAMS = pack_params([0x1000, 0x123456789])
LATENCIES = Latencies((5,) * NUM_LATENCY_CLASSES, shared=26, const=26, param=4, memory=220)
SCHEDULED = Compilation(schedule=True, latencies=LATENCIES)
ADDRESSES = "ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [x];\ncvt.u32.u64 %r50, %rd1;\n"


def memory_after(stores: list[tuple[int, int, int]]) -> dict[int, int]:
    """Return the bytes that stores leave in memory, by address."""
    return {address + k: value >> 8 * k & 255 for address, width, value in stores for k in range(width)}


def of_text(text: str) -> dict[int, int]:
    source = Source(text, "k.ptx")
    module = parse_module(source)
    program, _ = lower_kernel(source, module, module.functions["k"])
    return memory_after(run(virtual_steps(program), PARAMS, 0))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([63, 63, 14, 10, 8]), st.booleans())
def test_scheduled_code_leaves_the_same_memory(text, limit, optimize):
    how = Compilation(limit, optimize, schedule=True, latencies=LATENCIES)
    kernel = decode_module(text, "k.ptx", how=how).kernels["k"]
    assert kernel.registers <= limit and registers_in_range(kernel, kernel.registers)
    assert memory_after(run(physical_steps(kernel), PARAMS, 0xDEADBEEF)) == of_text(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([62, 24, 15, 8]), st.booleans())
def test_code_for_a_count_of_registers_leaves_the_same_memory(text, count, is_scheduled):
    how = Compilation(schedule=is_scheduled, latencies=LATENCIES, registers=count)
    kernel = decode_module(text, "k.ptx", how=how).kernels["k"]
    assert kernel.registers <= count and registers_in_range(kernel, kernel.registers)
    assert memory_after(run(physical_steps(kernel), PARAMS, 0xDEADBEEF)) == of_text(text)


def test_a_count_of_registers_is_used_whole_and_not_exceeded() -> None:
    body = HEAD + ADDRESSES + "".join(f"add.u32 %r{k + 1}, %r{k}, %r50;\n" for k in range(1, 40)).replace("%r1,", "%r50,") + \
        "st.global.u32 [%rd0], %r40;\nret;\n}\n"
    plain = decode_module(body, "k.ptx").kernels["k"]
    found = {count: decode_module(body, "k.ptx", how=Compilation(registers=count)).kernels["k"] for count in (6, 16, 31)}
    assert plain.registers < 16
    assert {count: kernel.registers for count, kernel in found.items()} == {6: 6, 16: 16, 31: 31}
    assert not any(kernel.spilled_words for kernel in found.values())
    assert len({int(dst) for dst in found[31].insts["dst"][:, 0] if dst != 255}) == 31


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([63, 14, 10, 8]), st.booleans())
def test_code_with_32_bit_addresses_leaves_the_same_memory(text, limit, optimize):
    # offsets added to an address, and masked sums, have only a low word
    text = text.replace("\nret;", "\nadd.s64 %t98, %rd1, %rd1;\nand.b64 %t98, %t98, 1020;\n"
                        "add.s64 %t98, %rd0, %t98;\nst.global.u32 [%t98+1024], %r0;\nret;")
    placed = pack_params([0x7000_4000_1000, 0x123456789])
    source = Source(text, "k.ptx")
    module = parse_module(source)
    wanted = memory_after(run(virtual_steps(lower_kernel(source, module, module.functions["k"])[0]), placed, 0))
    kernel = decode_module(text, "k.ptx", how=Compilation(limit, optimize, addresses_32=True)).kernels["k"]
    assert kernel.registers <= limit and registers_in_range(kernel, kernel.registers)
    assert all("spilled" in note for note in kernel.notes)
    assert memory_after(run(physical_steps(kernel), placed, 0xDEADBEEF)) == wanted


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([2, 4, 5]), st.sampled_from([0, 0, 40]))
def test_code_numbered_for_banks_leaves_the_same_memory_in_as_many_registers(text, banks, count):
    how = Compilation(registers=count, banks=banks)
    kernel = decode_module(text, "k.ptx", how=how).kernels["k"]
    plain = decode_module(text, "k.ptx", how=replace(how, banks=0)).kernels["k"]
    assert kernel.registers == plain.registers and registers_in_range(kernel, kernel.registers)
    assert memory_after(run(physical_steps(kernel), PARAMS, 0xDEADBEEF)) == of_text(text)
    assert in_one_bank(kernel, banks) <= in_one_bank(plain, banks) or has_loops(text)


def in_one_bank(kernel: Kernel, banks: int) -> int:
    """Count the pairs of different source registers of an instruction that are in the same bank."""
    read = [{int(reg) for reg in src if reg != NO_REG} for src in kernel.insts["src"]]
    return sum(one % banks == other % banks for sources in read for one, other in combinations(sorted(sources), 2))


def has_loops(text: str) -> bool:
    return "LOOP" in text


def test_registers_of_a_fused_multiply_add_are_brought_into_different_banks() -> None:
    names = [f"%r{10 + k}" for k in range(9)]
    body = HEAD + ADDRESSES + "".join(f"ld.global.f32 {name}, [%rd0+{4 * k}];\n" for k, name in enumerate(names)) + "".join(
        f"fma.rn.f32 {names[k]}, {names[k]}, {names[(k + 4) % 9]}, {names[(k + 8) % 9]};\n" for k in range(9)) + "".join(
        f"st.global.f32 [%rd0+{4 * k}], {name};\n" for k, name in enumerate(names)) + "ret;\n}\n"
    plain, better = (decode_module(body, "k.ptx", how=Compilation(banks=banks)).kernels["k"] for banks in (0, 4))
    assert in_one_bank(plain, 4) >= 12 and in_one_bank(better, 4) <= 5


@pytest.mark.parametrize("banks", [2, 4, 16])
def test_numbering_for_banks_keeps_64_bit_values_in_even_pairs(banks):
    path = kernels_of_ours.path("gemm").with_suffix(".ptx")
    for how in (Compilation(banks=banks), Compilation(schedule=True, latencies=LATENCIES, registers=40, banks=banks)):
        kernel = load_module(path, how=how).kernels["gemm"]
        wide = [(first, words) for _, _, _, first, words in kernel.virtual if words == 2]
        assert wide and all(first % 2 == 0 for first, _ in wide)
        addresses = kernel.insts[kernel.insts["memory_kind"] > 0]["src"][:, :2].astype(int)
        assert all(high == low + 1 for low, high in addresses if high != NO_REG)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(kernels(), st.sampled_from([63, 14, 10, 8]))
def test_a_schedule_spills_no_more_than_the_text_does(text, limit):
    plain = decode_module(text, "k.ptx", how=Compilation(max_registers=limit)).kernels["k"]
    scheduled = decode_module(text, "k.ptx", how=Compilation(limit, schedule=True, latencies=LATENCIES)).kernels["k"]
    assert scheduled.spilled_words <= plain.spilled_words
    assert computed(scheduled) == computed(plain) or plain.spilled_words


def computed(kernel: Kernel) -> list[int]:
    """Return a kernel's opcodes, sorted, without copies, some of which allocation drops, and loads of parameters, which it
    repeats instead of keeping them."""
    return sorted(int(op) for op in kernel.insts["op"] if op not in (isa.OP_MOV32, isa.OP_MOV64, isa.OP_LDPARAM))


def texts_of(body: str) -> list[str]:
    """Return the scheduled instructions of a body, which has addresses in %rd0 and %rd1 and a number in %r50."""
    text = HEAD + ".shared .b32 s[64];\n.local .b32 l[64];\n" + ADDRESSES + body + "\nret;\n}\n"
    return list(decode_module(text, "k.ptx", how=SCHEDULED).kernels["k"].texts)


def place(texts: list[str], *beginnings: str) -> int:
    """Return the pc of the first instruction with one of these beginnings."""
    return next(pc for pc, text in enumerate(texts) if text.startswith(beginnings))


# what the second instruction, the load, may not be moved above, although its result takes longest
LONG_LOAD = "ld.global.f32 %r3, [{}];\nst.global.u32 [%rd0], %r3;"
KEPT = {
    "a store that may meet it": f"st.global.u32 [%rd1], %r50;\n{LONG_LOAD.format('%rd0+64')}",
    "a store to the same place": f"st.global.u32 [%rd0+64], %r50;\n{LONG_LOAD.format('%rd0+64')}",
    "a store to part of it": f"st.global.b8 [%rd0+67], %r50;\n{LONG_LOAD.format('%rd0+64')}",
    "an atomic": f"red.global.add.u32 [%rd0], %r50;\n{LONG_LOAD.format('%rd0+64')}",
    "a barrier": f"bar.sync 0;\n{LONG_LOAD.format('%rd0+64')}",
    "a barrier of the warp": f"bar.warp.sync -1;\n{LONG_LOAD.format('%rd0+64')}",
    "a fence": f"membar.gl;\n{LONG_LOAD.format('%rd0+64')}",
    "a volatile load": f"ld.volatile.global.u32 %r4, [%rd1];\n{LONG_LOAD.format('%rd0+64')}\nst.global.u32 [%rd0+8], %r4;",
    "an exit of some threads": f"setp.eq.u32 %p1, %r50, 0;\n@%p1 exit;\n{LONG_LOAD.format('%rd0+64')}",
    "a clock": f"mov.u32 %r4, %clock;\n{LONG_LOAD.format('%rd0+64')}\nst.global.u32 [%rd0+8], %r4;",
    "a generic store": f"st.u32 [%rd1], %r50;\n{LONG_LOAD.format('%rd0+64')}",
}
FIRST = {"a volatile load": "ld.volatile", "an exit of some threads": "@P0 exit", "a clock": "mov.u32 R", "an atomic": "red",
         "a barrier": "bar.sync", "a barrier of the warp": "bar.warp", "a fence": "membar", "a generic store": "st.u32",
         "a store to part of it": "st.global.b8"}


@pytest.mark.parametrize("what", KEPT)
def test_a_load_does_not_pass(what: str) -> None:
    texts = texts_of(KEPT[what])
    assert place(texts, FIRST.get(what, "st.global.u32 [R")) < place(texts, "ld.global.f32"), texts


PASSED = {
    "a store through the same register elsewhere": "st.global.u32 [%rd0+96], %r9;\n",
    "a store to shared memory": "st.shared.u32 [s], %r9;\n",
    "a store to local memory": "st.local.u32 [l], %r9;\n",
    "a load of shared memory": "ld.shared.u32 %r8, [s];\nadd.u32 %r9, %r9, %r8;\nst.shared.u32 [s+8], %r9;\n",
}
CHAIN = "mov.u32 %r9, %r50;\n" + "mul.lo.u32 %r9, %r9, %r9;\n" * 3


@pytest.mark.parametrize("what", PASSED)
def test_a_load_passes(what: str) -> None:
    texts = texts_of(CHAIN + PASSED[what] + LONG_LOAD.format("%rd0+64"))
    assert place(texts, "ld.global.f32") < place(texts, "st."), texts


def test_a_load_of_what_nobody_writes_passes_stores() -> None:
    texts = texts_of(CHAIN + "st.global.u32 [%rd1], %r9;\n" + LONG_LOAD.format("%rd0+64").replace("ld.global", "ld.global.nc"))
    assert place(texts, "ld.global.nc") < place(texts, "st."), texts


def test_a_block_longer_than_a_stretch_is_put_in_order_part_by_part() -> None:
    count = LONGEST // 2
    step = "ld.global.u32 %r8, [%rd0+64];\nadd.u32 %r9, %r9, %r8;\nxor.b32 %r9, %r9, %r50;\n"
    body = f"mov.u32 %r9, 1;\n{step * count}st.global.u32 [%rd0], %r9;"
    text = HEAD + ADDRESSES + body + "\nret;\n}\n"
    kernel = decode_module(text, "k.ptx", how=SCHEDULED).kernels["k"]
    assert len(kernel.insts) > LONGEST
    assert memory_after(run(physical_steps(kernel), PARAMS, 0xDEADBEEF)) == of_text(text)


def test_loads_go_before_what_waits_for_them_and_no_further_than_the_registers_reach() -> None:
    body = ADDRESSES + "mov.u32 %r9, 0;\n" + "".join(
        f"ld.global.u32 %r{10 + k}, [%rd0+{4 * k}];\nadd.u32 %r9, %r9, %r{10 + k};\n" for k in range(30)) + \
        "st.global.u32 [%rd1], %r9;\n"
    counts = {}
    for limit in (63, 20, 8):
        how = Compilation(limit, schedule=True, latencies=LATENCIES)
        kernel = decode_module(HEAD + body + "ret;\n}\n", "k.ptx", how=how).kernels["k"]
        first_use = next(pc for pc, text in enumerate(kernel.texts) if text.startswith("add.u32"))
        counts[limit] = sum(text.startswith("ld.global") for text in kernel.texts[:first_use])
        assert kernel.registers <= limit and not kernel.spilled_words
    assert counts[63] == 30 and 3 <= counts[8] < counts[20] < 20
