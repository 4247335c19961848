"""Float additions of atom and red: in global memory f32 flushes subnormals, in shared memory and other types do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engine.one_warp import run_on_both

pytestmark = pytest.mark.nojit
# (in memory, operand, sum, sum with flushed operands and results), as bits of f32
SUMS = [
    (0x00000001, 0x00000001, 0x00000002, 0x00000000),       # two subnormals
    (0x00800001, 0x80800000, 0x00000001, 0x00000000),       # only the result is subnormal
    (0x80000003, 0x80000001, 0x80000004, 0x80000000),       # the sign is kept
    (0x80800001, 0x00800000, 0x80000001, 0x80000000),
    (0x007FFFFF, 0x00800000, 0x00FFFFFF, 0x00800000),       # one operand is subnormal
    (0x3F800000, 0x00000001, 0x3F800000, 0x3F800000),
    (0x00400000, 0x00400000, 0x00800000, 0x00000000),       # a normal sum of two subnormals
    (0x80000001, 0x00000001, 0x00000000, 0x00000000),       # -0 + +0
    (0x80000000, 0x80000000, 0x80000000, 0x80000000),
    (0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000, 0x7F800000),
    (0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x7FFFFFFF),
    (0x3F800000, 0x40000000, 0x40400000, 0x40400000),
]
PTX = """.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p; .reg .b32 %s; .reg .b64 %g, %x;
.shared .align 16 .b8 sh[512];
mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 16;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; add.u64 %rd1, %rd1, %rd0; add.u64 %rd2, %rd2, %rd0;
ld.global.v2.f32 {{%f0, %f1}}, [%rd1]; mov.b32 %f2, %f0; mov.b32 %f3, 0f00000000;
mov.u32 %s, sh; shl.b32 %r1, %r0, 4; add.u32 %s, %s, %r1;
cvta.to.global.u64 %g, %rd2; cvta.shared.u64 %x, sh; cvt.u64.u32 %rd3, %r1; add.u64 %x, %x, %rd3;
st.global.v4.f32 [%g], {{%f0, %f0, %f3, %f3}}; st.shared.v4.f32 [%s], {{%f0, %f0, %f3, %f3}};
and.b32 %r2, %r0, 1; setp.ne.u32 %p, %r2, 0;
{body}
ret;
}}
"""
BACK = "\nld.shared.v2.f32 {%f6, %f7}, [%s]; st.global.v2.f32 [%g], {%f6, %f7};"       # what shared memory holds
IN_GLOBAL = [
    "atom.global.add.f32 %f2, [%g], %f1;", "atom.add.f32 %f2, [%g], %f1;", "atom.relaxed.sys.global.add.f32 %f2, [%g], %f1;",
    "red.global.add.f32 [%g], %f1;", "red.add.f32 [%g], %f1;",
    "red.global.add.v2.f32 [%g], {%f1, %f1};", "red.global.add.v4.f32 [%g], {%f1, %f1, %f3, %f3};",
    "atom.global.add.v2.f32 {%f2, %f4}, [%g], {%f1, %f1};",
]
IN_SHARED = [
    "atom.shared.add.f32 %f2, [%s], %f1;", "atom.shared::cta.add.f32 %f2, [%s], %f1;",
    "atom.shared::cluster.add.f32 %f2, [%s], %f1;", "atom.add.f32 %f2, [%x], %f1;", "red.shared.add.f32 [%s], %f1;",
    "red.add.f32 [%x], %f1;",
]


def run(folder: Path, body: str, sums: list[tuple[int, int, int, int]] = SUMS) -> np.ndarray:
    """Run with one sum per lane, from the first again after the last; return the words after it, (sums, 4) u4."""
    words = np.zeros((32, 4), np.uint32)
    for lane in range(32):
        words[lane, :2] = sums[lane % len(sums)][:2]
    got = run_on_both(folder, PTX.format(body=body), words, 4)
    np.testing.assert_array_equal(got[len(sums):2 * len(sums)], got[:len(sums)])
    return got[:len(sums)]


@pytest.mark.parametrize("instruction", IN_GLOBAL)
def test_f32_additions_in_global_memory_flush_subnormals(tmp_path: Path, instruction: str) -> None:
    got = run(tmp_path, instruction + "\nst.global.f32 [%g+8], %f2;")
    is_vector = ".v" in instruction
    for (old, _, exact, flushed), words in zip(SUMS, got.tolist(), strict=True):
        assert words[:3] == [flushed, flushed if is_vector else old, old], hex(exact)


@pytest.mark.parametrize("instruction", IN_SHARED)
def test_f32_additions_in_shared_memory_keep_subnormals(tmp_path: Path, instruction: str) -> None:
    got = run(tmp_path, instruction + BACK)
    for (old, _, exact, _), words in zip(SUMS, got.tolist(), strict=True):
        assert words[:2] == [exact, old]


def test_lanes_of_one_instruction_flush_by_the_space_that_each_address_hits(tmp_path: Path) -> None:
    got = run(tmp_path, "selp.b64 %rd4, %x, %g, %p;\natom.add.f32 %f2, [%rd4], %f1;\n"
              "@%p ld.shared.f32 %f6, [%s];\n@%p st.global.f32 [%g], %f6;")
    for lane, ((_, _, exact, flushed), words) in enumerate(zip(SUMS, got.tolist(), strict=True)):
        assert words[0] == (exact if lane & 1 else flushed)


@pytest.mark.parametrize("kind, old, operand, total", [
    ("f16", 0x0001, 0x0001, 0x0002), ("bf16", 0x0001, 0x0001, 0x0002), ("f16", 0x8003, 0x8001, 0x8004),
    ("f16x2", 0x00018003, 0x00018001, 0x00028004), ("bf16x2", 0x00018003, 0x00018001, 0x00028004),
])
@pytest.mark.parametrize("space, place", [("global", "%g"), ("shared", "%s")])
def test_additions_of_halves_never_flush(tmp_path: Path, kind: str, old: int, operand: int, total: int, space: str,
                                         place: str) -> None:
    letter = "r" if kind.endswith("x2") else "h"
    body = (".reg .b16 %h<9>;\nmov.b32 %r3, %f1; cvt.u16.u32 %h3, %r3;\n"
            f"atom.{space}.add.noftz.{kind} %{letter}4, [{place}], %{letter}3;" + (BACK if space == "shared" else ""))
    assert run(tmp_path, body, [(old, operand, 0, 0)])[0, 0] == total


@pytest.mark.parametrize("space, place", [("global", "%g"), ("shared", "%s")])
def test_additions_of_f64_never_flush(tmp_path: Path, space: str, place: str) -> None:
    body = (f".reg .b64 %d<3>; mov.b64 %d1, 1; st.{space}.b64 [{place}], %d1;\n"
            f"red.{space}.add.f64 [{place}], %d1;" + (BACK if space == "shared" else ""))
    assert run(tmp_path, body)[0].tolist()[:2] == [2, 0]


# (in memory, operand, the smaller, the larger) as bits of f16 and of bf16
EXTREMES = {"f16": [(0x3C00, 0xC000, 0xC000, 0x3C00), (0xBC00, 0xC000, 0xC000, 0xBC00), (0x8000, 0x0000, 0x8000, 0x0000),
                    (0x7E00, 0xC200, 0xC200, 0xC200), (0x4000, 0xFE01, 0x4000, 0x4000), (0x7E00, 0xFE01, 0x7FFF, 0x7FFF),
                    (0x0001, 0x8001, 0x8001, 0x0001), (0xFC00, 0x7C00, 0xFC00, 0x7C00)],
            "bf16": [(0x3F80, 0xC000, 0xC000, 0x3F80), (0xBF80, 0xC000, 0xC000, 0xBF80), (0x8000, 0x0000, 0x8000, 0x0000),
                     (0x7FC0, 0xC040, 0xC040, 0xC040), (0x4000, 0xFFC1, 0x4000, 0x4000), (0x0001, 0x8001, 0x8001, 0x0001)]}


@pytest.mark.parametrize("kind", EXTREMES)
@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("is_atom", [True, False])
def test_extremes_of_halves_compare_numbers(tmp_path: Path, kind: str, operation: str, is_atom: bool) -> None:
    cases = EXTREMES[kind]
    both = [tuple(a << 16 | b for a, b in zip(case, cases[(at + 1) % len(cases)])) for at, case in enumerate(cases)]
    name = f"{'atom' if is_atom else 'red'}.global.v2.{kind}x2.{operation}.noftz"
    body = f"{name} {'{%r4, %r5}, ' if is_atom else ''}[%g], {{%r3, %r3}};"
    if is_atom:
        body += "\nst.global.v2.b32 [%g+8], {%r4, %r5};"
    got = run(tmp_path, "mov.b32 %r3, %f1;\n" + body, [(old, operand, 0, 0) for old, operand, *_ in both])
    for (old, _, *wanted), words in zip(both, got.tolist(), strict=True):
        least = wanted[operation == "max"]
        assert words == [least, least, *([old, old] if is_atom else [0, 0])], hex(old)
