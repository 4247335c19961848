"""Forms other than nvcc's usual ones, on the machine and in the reference interpreter: old PTX, halves, copies, tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import KernelFault, PtxError
from rfview.engine.launch import load_launch_file
from rfview.engine.ptx import decode_module
from rfview.engine.ptx.decode import STACK_BYTES
from rfview.engine.simulator import Simulator
from tests.conftest import WITHOUT_JIT
from tests.reference.interpreter import run_launches

pytestmark = pytest.mark.nojit
SLOW = pytest.mark.skipif(WITHOUT_JIT, reason="takes seconds without JIT")
NEW = ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 io)\n{\n"
REGISTERS = """.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [io]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r2, [%rd2];
"""


def run_kernel(tmp_path: Path, text: str, data: np.ndarray, block: int, grid: int = 1, is_exact: bool = True) -> np.ndarray:
    """Run a module's only kernel on a buffer `io`; return the buffer, compared with the reference's if `is_exact`."""
    (tmp_path / "k.ptx").write_text(text)
    np.save(tmp_path / "io.npy", data)
    (tmp_path / "k.toml").write_text(f'[[launch]]\ngrid = [{grid}]\nblock = [{block}]\nargs = [{{buffer = "io"}}]\n'
                                     '[buffers.io]\nfile = "io.npy"\n')
    machine = Simulator(load_launch_file(tmp_path / "k.toml"))
    machine.run()
    got = machine.buffers()["io"]
    if is_exact:
        want = np.asarray(run_launches(machine.spec, machine.module)["io"]).reshape(got.shape)
        assert np.array_equal(got.view(np.uint8), want.view(np.uint8))
    return got


def words_after(tmp_path: Path, body: str, data: np.ndarray, block: int = 32) -> np.ndarray:
    """Run `body` with the thread's word in %r2; its result in %r3 replaces the word."""
    return run_kernel(tmp_path, f"{NEW}{REGISTERS}{body}\nst.global.u32 [%rd2], %r3; ret;\n}}\n", data, block)


@pytest.mark.parametrize("way", ["ret;", "bra AWAY; AWAY: bra DONE;"])
def test_threads_that_return_early_keep_no_barrier_waiting(tmp_path: Path, way: str) -> None:
    text = f"""{NEW}{REGISTERS} .shared .b32 s[64];
    setp.lt.u32 %p1, %r1, 37; @%p1 bra ON; {way}
ON: shl.b32 %r4, %r1, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r2; bar.sync 0;
    sub.u32 %r6, 36, %r1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r5; ld.shared.u32 %r3, [%r6]; st.global.u32 [%rd2], %r3;
DONE: ret;\n}}\n"""
    data = np.arange(64, dtype=np.uint32)
    got = run_kernel(tmp_path, text, data, 64)
    assert got.tolist() == [36 - i if i < 37 else i for i in range(64)]


def test_ptx_1_declares_parameters_in_the_body_and_reads_special_registers_anywhere(tmp_path: Path) -> None:
    text = """.version 1.3
.target sm_11, map_f64_to_f32
.entry k
{
.param .u32 io;
.reg .u32 $r<9>; .reg .f32 $f<9>; .reg .pred $p1, $p2;
cvt.u32.u16 $r1, %tid.x;
mad24.lo.u32 $r2, %ctaid.x, 32, $r1; shl.b32 $r3, $r2, 2; ld.param.u32 $r4, [io]; add.u32 $r4, $r4, $r3;
ld.global.f32 $f1, [$r4];
div.f32 $f2, $f1, 0f40800000; sqrt.f32 $f3, $f1; rcp.f32 $f4, $f1; ex2.f32 $f5, $f1; lg2.f32 $f6, $f1; rsqrt.f32 $f7, $f1;
add.f32 $f2, $f2, $f3; add.f32 $f2, $f2, $f4; add.f32 $f2, $f2, $f5; add.f32 $f2, $f2, $f6; add.f32 $f2, $f2, $f7;
setp.gt.f32 $p1|$p2, $f1, 0f40000000; @!$p1 bra $L1; add.f32 $f2, $f2, 1.0; $L1: @$p2 mul.f32 $f2, $f2, 2.0;
st.global.f32 [$r4], $f2; exit;
}
"""
    data = np.array([0.25, 1, 2, 4] * 16, np.float32)
    got = run_kernel(tmp_path, text, data, 32, 2, is_exact=False)
    x = data.astype(np.float64)
    want = x / 4 + np.sqrt(x) + 1 / x + 2**x + np.log2(x) + 1 / np.sqrt(x)
    assert np.allclose(got, np.where(x > 2, want + 1, want * 2), rtol=1e-5)


def test_a_module_with_32_bit_addresses(tmp_path: Path) -> None:
    text = """.version 2.3
.target sm_20
.address_size 32
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.entry k(.param .u32 .ptr .global .align 4 io)
{
.reg .b32 %r<9>;
ld.param.u32 %r1, [io]; cvta.to.global.u32 %r2, %r1; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.s32 %r2, %r2, %r4;
and.b32 %r5, %r4, 12; mov.u32 %r6, table; add.s32 %r6, %r6, %r5; ld.const.u32 %r7, [%r6];
ldu.global.u32 %r8, [%r2]; add.u32 %r8, %r8, %r7; st.global.u32 [%r2], %r8; exit;
}
"""
    got = run_kernel(tmp_path, text, np.arange(32, dtype=np.uint32), 32)
    assert got.tolist() == [i + 10 * (i % 4 + 1) for i in range(32)]
    wide = text.replace(".address_size 32", ".address_size 64")
    with pytest.raises(PtxError, match="converts addresses of 32 bits"):
        run_kernel(tmp_path, wide, np.arange(32, dtype=np.uint32), 32)
    with pytest.raises(PtxError, match="cvta.shared.u32.*generic addresses have 64 bits"):
        decode_module(text.replace("cvta.to.global.u32", "cvta.shared.u32"), "m.ptx").kernels["k"]


def test_a_register_named_twice_by_a_vector_gets_the_last_value(tmp_path: Path) -> None:
    text = """.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 io)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f16x2 %x;
ld.param.u64 %d1, [io]; ld.global.v4.u32 {%r1, %r2, %r1, %r3}, [%d1]; mov.b64 %d2, {%r1, %r2}; mov.b64 {%r4, %r4}, %d2;
st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4}; add.u32 %x, %r1, 1; st.global.u32 [%d1+16], %x; exit;
}
"""
    got = run_kernel(tmp_path, text, np.array([10, 11, 12, 13, 0], dtype=np.uint32), 1)
    assert got.tolist() == [12, 11, 13, 11, 13]


def test_sampler_properties_are_passed_over() -> None:
    sampler = ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };"
    text = f".version 4.3\n.target sm_35\n.address_size 64\n{sampler}\n.entry k() {{ ret; }}\n"
    assert len(decode_module(text, "m.ptx").kernels["k"].insts) == 1


def test_tiles_of_a_warp_vote_reduce_and_match_each_with_its_own_mask(tmp_path: Path) -> None:
    data = np.random.default_rng(5).integers(0, 4, 32).astype(np.uint32)
    tiles = data.reshape(4, 8)
    mask = "and.b32 %r4, %r1, 24; shl.b32 %r5, 255, %r4; setp.eq.u32 %p1, %r2, 1;"
    ballots = words_after(tmp_path, f"{mask} vote.sync.ballot.b32 %r3, %p1, %r5;", data)
    assert ballots.tolist() == [sum(int(x == 1) << 8 * (i // 8) + k for k, x in enumerate(tiles[i // 8])) for i in range(32)]
    any_of = words_after(tmp_path, f"{mask} vote.sync.any.pred %p2, %p1, %r5; selp.b32 %r3, 1, 0, %p2;", data)
    assert any_of.tolist() == [int((tiles[i // 8] == 1).any()) for i in range(32)]
    total = words_after(tmp_path, f"{mask} redux.sync.add.u32 %r3, %r2, %r5;", data)
    assert total.tolist() == [int(tiles[i // 8].sum()) for i in range(32)]
    same = words_after(tmp_path, f"{mask} match.any.sync.b32 %r3, %r2, %r5;", data)
    assert same.tolist() == [sum(int(x == data[i]) << 8 * (i // 8) + k for k, x in enumerate(tiles[i // 8]))
                             for i in range(32)]


def test_set_on_halves_answers_in_halves_or_masks(tmp_path: Path) -> None:
    one, two = 0x3C00, 0x4000
    data = np.array([one | two << 16, two | one << 16, one | one << 16, two | two << 16] * 8, np.uint32)
    pair = words_after(tmp_path, "mov.b32 %r4, 0x3C003C00; set.gt.f16x2.f16x2 %r3, %r2, %r4;", data)
    assert pair[:4].tolist() == [one << 16, one, 0, one | one << 16]
    masks = words_after(tmp_path, "mov.b32 %r4, 0x3C003C00; set.gt.u32.f16x2 %r3, %r2, %r4;", data)
    assert masks[:4].tolist() == [0xFFFF0000, 0xFFFF, 0, 0xFFFFFFFF]
    single = words_after(tmp_path, "mov.b32 {%h1, %h2}, %r2; set.lt.f16.f16 %h3, %h1, %h2; cvt.u32.u16 %r3, %h3;", data)
    assert single[:4].tolist() == [one, 0, 0, 0]


def test_pairs_of_floats_and_relu_and_the_cluster_of_one_cta(tmp_path: Path) -> None:
    data = np.arange(32, dtype=np.float32).view(np.uint32)
    body = """mov.b64 %rd3, {%r2, %r2}; mov.b32 %r4, 0f40000000; mov.b32 %r5, 0f3F800000; mov.b64 %rd4, {%r4, %r5};
    fma.rn.f32x2 %rd5, %rd3, %rd4, %rd4; mul.rn.f32x2 %rd6, %rd5, %rd4; mov.b64 {%f1, %f2}, %rd6;
    sub.f32 %f3, %f1, %f2; mov.b32 %r3, %f3;"""
    x = np.arange(32)
    assert words_after(tmp_path, body, data).view(np.float32).tolist() == ((2 * x + 2) * 2 - (x + 1)).tolist()
    relu = words_after(tmp_path, "sub.s32 %r4, %r1, 9; min.s32.relu %r3, %r4, 5;", data)
    assert relu.tolist() == np.clip(x - 9, 0, 5).tolist()
    body = """mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; mov.u32 %r6, %nclusterid.x; shl.b32 %r5, %r5, 4;
    or.b32 %r4, %r4, %r5; shl.b32 %r6, %r6, 8; or.b32 %r3, %r4, %r6;"""
    assert set(words_after(tmp_path, body, data).tolist()) == {0x110}


@pytest.mark.parametrize("has_nan", [True] if WITHOUT_JIT else [False, True])
def test_a_warp_reduces_floats(tmp_path: Path, has_nan: bool) -> None:
    values = np.random.default_rng(3).normal(size=32).astype(np.float32)
    values[4], values[9] = -0.0, np.nan if has_nan else 0.0
    lanes = {"min": np.fmin, "max": np.fmax, "min.NaN": np.minimum, "max.NaN": np.maximum}
    for name, function in lanes.items():
        for parts, given in ((name, values), (name[:3] + ".abs" + name[3:], np.abs(values))):
            got = words_after(tmp_path, f"mov.b32 %f1, %r2; redux.sync.{parts}.f32 %f2, %f1, -1; mov.b32 %r3, %f2;",
                              values.view(np.uint32)).view(np.float32)
            assert np.array_equal(got, np.full(32, function.reduce(given)), equal_nan=True)
    all_nan = words_after(tmp_path, "mov.b32 %f1, %r2; redux.sync.max.f32 %f2, %f1, -1; mov.b32 %r3, %f2;",
                          np.full(32, 0xFFC12345, np.uint32))
    assert set(all_nan.tolist()) == {0x7FFFFFFF}


PRODUCTS = (("s4.u4", 64, ""), ("u4.s4", 64, ".satfinite"), ("b1.b1", 256, ".xor.popc"), ("b1.b1", 256, ".and.popc"))


@pytest.mark.parametrize("kinds, depth, end", PRODUCTS[:1] if WITHOUT_JIT else PRODUCTS)
def test_matrix_products_of_four_bits_and_of_single_bits(tmp_path: Path, kinds: str, depth: int, end: str) -> None:
    words = np.random.default_rng(5).integers(0, 2**32, (24, 8), dtype=np.uint32)  # 16 rows of A, 8 columns of B
    lane, at = np.arange(32), np.arange(32) % 4
    a = [words[lane // 4 + row, at + along] for along in (0, 4) for row in (0, 8)]
    b = [words[16 + lane // 4, at + along] for along in (0, 4)]
    data = np.stack([*a, *b, lane * 0, lane * 0], 1).astype(np.uint32)
    text = f"""{NEW}{REGISTERS} mad.wide.u32 %rd2, %r1, 32, %rd1; ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd2];
    ld.global.v2.u32 {{%r6, %r7}}, [%rd2+16]; mov.u32 %r8, 0;
    mma.sync.aligned.m16n8k{depth}.row.col{end if "sat" in end else ""}.s32.{kinds}.s32{end if "popc" in end else ""}
      {{%r8, %r9, %r10, %r11}}, {{%r2, %r3, %r4, %r5}}, {{%r6, %r7}}, {{%r8, %r8, %r8, %r8}};
    st.global.v4.u32 [%rd2], {{%r8, %r9, %r10, %r11}}; ret;\n}}\n"""
    got = run_kernel(tmp_path, text, data, 32)[:, :4].view(np.int32).reshape(8, 4, 2, 2).transpose(2, 0, 1, 3).reshape(16, 8)
    bits = 1 if "b1" in kinds else 4
    elements = (words[:, :, None] >> np.arange(0, 32, bits, dtype=np.uint32) & (1 << bits) - 1)
    elements = elements.reshape(24, depth).astype(int)
    left, right = ((part - 16 * (part > 7) if kind == "s4" else part)
                   for kind, part in zip(kinds.split("."), (elements[:16], elements[16:]), strict=True))
    if "popc" in end:
        pairs = left[:, None] ^ right[None] if "xor" in end else left[:, None] & right[None]
        assert np.array_equal(got, pairs.sum(-1))
    else:
        assert np.array_equal(got, left @ right.T)


def test_movmatrix_transposes_halves_across_the_lanes(tmp_path: Path) -> None:
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    got = words_after(tmp_path, "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;", matrix.view(np.uint32).reshape(-1))
    assert np.array_equal(got.view(np.uint16).reshape(8, 8), matrix.T)


def test_min_and_max_with_the_product_of_the_signs(tmp_path: Path) -> None:
    x = np.linspace(-2, 2, 32, dtype=np.float32)
    got = words_after(tmp_path, "mov.b32 %f1, %r2; min.xorsign.abs.f32 %f2, %f1, 0fBF800000; mov.b32 %r3, %f2;",
                      x.view(np.uint32)).view(np.float32)
    assert got.tolist() == (np.minimum(np.abs(x), 1) * -np.sign(x)).tolist()
    words = np.array([0x7FC00000, 0xBF000000], np.uint32)
    body = "mov.b32 %f1, %r2; min.NaN.xorsign.abs.f32 %f2, %f1, 0fBF800000; mov.b32 %r3, %f2;"
    assert words_after(tmp_path, body, words, 2).tolist() == [0x7FFFFFFF, 0x3F000000]      # the sign of a NaN is not set


@pytest.mark.parametrize("kind, one", [("f16", 0x3C00), ("bf16", 0x3F80)])
def test_max_of_halves_with_the_product_of_the_signs(tmp_path: Path, kind: str, one: int) -> None:
    words = np.array([0x00008000, one << 16 | one | 0x8000, (one + 7) << 16, 0x8001 << 16 | one + 3], np.uint32)
    body = f"mov.b32 %r1, {one << 16 | one | 0x8000:#x}; max.xorsign.abs.{kind}x2 %r3, %r2, %r1;"
    want = [one << 16 | one, one << 16 | one, one + 7 << 16 | one | 0x8000, (one | 0x8000) << 16 | one + 3 | 0x8000]
    assert words_after(tmp_path, body, words, 4).tolist() == want
    body = f"mov.b32 %r1, {one << 16 | 0xFFFF:#x}; max.NaN.xorsign.abs.{kind}x2 %r3, %r2, %r1;"
    want = [one << 16 | 0x7FFF, one << 16 | 0x7FFF, one + 7 << 16 | 0x7FFF, (one | 0x8000) << 16 | 0x7FFF]
    assert words_after(tmp_path, body, words, 4).tolist() == want
    body = (f"mov.b32 {{%h1, %h2}}, %r2; mov.b16 %h2, {one | 0x8000:#x}; min.xorsign.abs.{kind} %h1, %h1, %h2;"
            " cvt.u32.u16 %r3, %h1;")
    assert words_after(tmp_path, body, words, 4).tolist() == [0, one, 0x8000, one | 0x8000]


def test_set_gives_one_as_a_half_for_numbers_of_other_types(tmp_path: Path) -> None:
    words = np.array([3, 0xFFFFFFFE, 5, 0x80000000], np.uint32)
    body = ("set.lt.f16.s32 %h1, %r2, 4; mov.b32 %f1, %r2; set.ltu.bf16.f32 %h2, %f1, 0f00000004; cvt.u64.u32 %rd3, %r2;"
            "setp.gt.u32 %p1, %r1, 2; set.gt.or.bf16.u64 %h3, %rd3, 4, %p1; cvt.u32.u16 %r4, %h3; mov.b32 %r3, {%h1, %h2};"
            "xor.b32 %r3, %r3, %r4;")
    half, brain = 0x3C00, 0x3F80
    want = [half | brain << 16, half ^ brain | brain << 16, brain, half ^ brain | brain << 16]
    assert words_after(tmp_path, body, words, 4).tolist() == want


def test_tf32_rounds_towards_zero(tmp_path: Path) -> None:
    words = np.array([0x3F801FFF, 0xBF803FFF, 0x7F7FFFFF, 0x7FC00001], np.uint32)
    got = words_after(tmp_path, "mov.b32 %f1, %r2; cvt.rz.tf32.f32 %r3, %f1;", words, 4)
    assert got.tolist() == [0x3F800000, 0xBF802000, 0x7F7FE000, 0x7FFFFFFF]


def test_a_stack_from_which_nothing_is_allocated_can_be_saved(tmp_path: Path) -> None:
    body = "stacksave.u64 %rd3; stackrestore.u64 %rd3; stacksave.u64 %rd4; sub.u64 %rd4, %rd4, %rd3; cvt.u32.u64 %r3, %rd4;"
    assert words_after(tmp_path, body, np.array([7], np.uint32), 1).tolist() == [0]


@pytest.mark.parametrize("given", ["0", "4", "7", "12", "16", "%r6"])
def test_an_async_copy_fills_up_with_zeros(tmp_path: Path, given: str) -> None:
    text = f"""{NEW}{REGISTERS} .shared .align 16 .b8 s[64]; mov.u32 %r5, s;
    mul.wide.u32 %rd3, %r1, 12; add.u64 %rd3, %rd2, %rd3;
    shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r5; mul.lo.u32 %r6, %r1, 5; st.shared.u32 [%r4+4], 7;
    cp.async.cg.shared.global [%r4], [%rd3], 16, {given}; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
    ld.shared.v4.u32 {{%r7, %r8, %r9, %r10}}, [%r4]; st.global.v4.u32 [%rd3], {{%r7, %r8, %r9, %r10}}; ret;\n}}\n"""
    data = np.arange(1, 65, dtype=np.uint8) | 128
    got = run_kernel(tmp_path, text, data.view(np.uint32), 4).view(np.uint8).reshape(4, 16)
    for thread, row in enumerate(data.reshape(4, 16)):
        kept = min(5 * thread if given == "%r6" else int(given), 16)
        assert got[thread].tolist() == [*row[:kept].tolist(), *[0] * (16 - kept)]


@pytest.mark.parametrize("saved", ["", *(pytest.param(line, marks=SLOW)
                                      for line in ("stacksave.u64 %rd8;", "stacksave.u32 %r9;"))])
def test_alloca_gives_areas_that_are_free_again_when_the_function_returns(tmp_path: Path, saved: str) -> None:
    restored = saved.replace("save", "restore")
    text = f"""{NEW.replace('.visible', '''.func (.reg .b32 sum) inner(.reg .b32 n)
{ .reg .pred p; .reg .b32 k; .reg .b64 size, base, at; mul.wide.u32 size, n, 1024; alloca.u64 base, size, 16; mov.u32 k, n;
FILL: sub.u32 k, k, 1; mad.wide.u32 at, k, 4, base; st.local.u32 [at], k; setp.ne.u32 p, k, 0; @p bra FILL;
  mov.u32 sum, 0;
ADD: mad.wide.u32 at, k, 4, base; ld.local.u32 n, [at]; add.u32 sum, sum, n; add.u32 k, k, 1; cvt.u32.u64 n, size;
  shr.u32 n, n, 10; setp.lt.u32 p, k, n; @p bra ADD; ret; }
.visible''')}{REGISTERS}
    mul.wide.u32 %rd3, %r1, 4; alloca.u64 %rd4, %rd3, 4; add.u64 %rd4, %rd4, -4; add.u32 %r4, %r1, 1; mov.u32 %r3, 0;
    setp.eq.u32 %p1, %r1, 0; @%p1 bra LOOP; add.u64 %rd5, %rd4, %rd3; st.local.u32 [%rd5], %r1;
LOOP: {saved} call (%r5), inner, (%r4); {restored} add.u32 %r3, %r3, %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 6;
    @%p2 bra LOOP; @%p1 bra END; ld.local.u32 %r5, [%rd5]; add.u32 %r3, %r3, %r5;
END: st.global.u32 [%rd2], %r3; ret; }}
"""
    # the sum of a thread's areas is larger than its stack
    assert all(sum(1024 * n for n in range(t + 1, 6)) > STACK_BYTES for t in range(4))
    got = run_kernel(tmp_path, text, np.zeros(4, np.uint32), 4, is_exact=False)
    assert got.tolist() == [sum(n * (n - 1) // 2 for n in range(t + 1, 6)) + t for t in range(4)]


def test_an_alloca_beyond_the_stack_is_a_fault(tmp_path: Path) -> None:
    for size in ("8193", "0x100000010"):
        text = f"{NEW}{REGISTERS} alloca.u64 %rd3, {size}; add.u64 %rd3, %rd3, {size}; st.local.u8 [%rd3+-1], %r1; ret; }}\n"
        with pytest.raises(KernelFault, match="alloca: these go too deep or take too much"):
            run_kernel(tmp_path, text, np.zeros(32, np.uint32), 32, is_exact=False)
