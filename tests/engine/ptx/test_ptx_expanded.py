"""Instructions expanded into several: video, 8-bit floats, packed integers, bulk copies with barriers that count bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.compile import jit
from rfview.engine.errors import PtxError
from rfview.engine.ptx import decode_module
from tests.conftest import WITHOUT_JIT
from tests.engine.ptx.test_ptx_dialects import NEW, REGISTERS, SLOW, run_kernel, words_after

pytestmark = pytest.mark.nojit
WORDS = np.random.RandomState(7).randint(0, 2**32, 32, np.uint64).astype(np.uint32)
# bits, mantissa bits, exponent bias, largest value, code for a NaN
SMALL = {"e4m3x2": (8, 3, 7, 448.0, 127), "e5m2x2": (8, 2, 15, 57344.0, 127), "e3m2x2": (6, 2, 3, 28.0, 31),
         "e2m3x2": (6, 3, 1, 7.5, 31), "e2m1x2": (4, 1, 1, 6.0, 7)}
KINDS = [pytest.param(kind, marks=SLOW if kind != "e2m1x2" else ()) for kind in SMALL]


def part(word: int, first: int, bits: int, signed: bool) -> int:
    value = word >> first & (1 << bits) - 1
    return value - (signed and value >> bits - 1) * (1 << bits)


def clamped(value: int, bits: int, signed: bool) -> int:
    return min(max(value, -(1 << bits - 1)), (1 << bits - 1) - 1) if signed else min(max(value, 0), (1 << bits) - 1)


# instruction and its result in %r3, for a word x in %r2 and y = x * 3 + 1 in %r4
VIDEO = [
    ("vadd.u32.u32.u32 %r3, %r2.b1, %r4.h1;", lambda x, y: part(x, 8, 8, False) + part(y, 16, 16, False)),
    ("vsub.s32.s32.s32.sat %r3, %r2, %r4;", lambda x, y: clamped(part(x, 0, 32, True) - part(y, 0, 32, True), 32, True)),
    ("vsub.s32.u32.u32.add %r3, %r2.b3, %r4.b0, 7;", lambda x, y: (x >> 24) - (y & 255) + 7),
    ("vabsdiff.u32.s32.s32.max %r3, %r2.h0, %r4.h1, %r5;",
     lambda x, y: max(abs(part(x, 0, 16, True) - part(y, 16, 16, True)), x >> 16)),
    ("vmin.s32.s32.s32 %r3.b2, %r2.b1, %r4.b1, %r5;",
     lambda x, y: (x >> 16) & 0xFF00FFFF | (min(part(x, 8, 8, True), part(y, 8, 8, True)) & 255) << 16),
    ("vshl.u32.u32.u32.wrap %r3, %r2, %r4;", lambda x, y: x << (y & 31)),
    ("vshr.s32.s32.u32.clamp %r3, %r2, %r4.b0;", lambda x, y: part(x, 0, 32, True) >> min(y & 255, 32)),
    ("vmad.s32.s32.u32.shr7 %r3, %r2.h1, %r4.h0, %r5;",
     lambda x, y: part(x, 16, 16, True) * (y & 65535) + (x >> 16) >> 7),
    ("vmad.s32.s32.s32.po.sat %r3, %r2, %r4.b1, %r5;",
     lambda x, y: clamped(part(x, 0, 32, True) * part(y, 8, 8, True) + (x >> 16) + 1, 32, True)),
    ("vset.s32.u32.lt.add %r3, %r2.b0, %r4.b0, %r5;", lambda x, y: (part(x, 0, 8, True) < (y & 255)) + (x >> 16)),
    ("vset4.u32.u32.ge.add %r3, %r2, %r4, %r8;",
     lambda x, y: 5 + sum(part(x, k, 8, False) >= part(y, k, 8, False) for k in (0, 8, 16, 24))),
    ("vadd2.s32.s32.s32.sat %r3, %r2, %r4, %r0;",
     lambda x, y: sum((clamped(part(x, k, 16, True) + part(y, k, 16, True), 16, True) & 65535) << k for k in (0, 16))),
    ("vavrg4.s32.s32.s32 %r3, %r2, %r4, %r0;",
     lambda x, y: sum(((lambda t: t + (t >= 0) >> 1)(part(x, k, 8, True) + part(y, k, 8, True)) & 255) << k
                      for k in (0, 8, 16, 24))),
    ("vabsdiff4.s32.s32.s32.sat %r3, %r2, %r4, %r0;",
     lambda x, y: sum(clamped(abs(part(x, k, 8, True) - part(y, k, 8, True)), 8, True) << k for k in (0, 8, 16, 24))),
    ("vadd4.u32.u32.u32.sat %r3.b20, %r2, %r4, %r5;",
     lambda x, y: (x >> 16) & 0xFF00 | sum(min(part(x, k, 8, False) + part(y, k, 8, False), 255) << k for k in (0, 16))),
    ("vsub2.s32.u32.s32 %r3.h1, %r2.h03, %r4.h12, %r5;",    # halves 0 and 1 are x's, 2 and 3 are y's
     lambda x, y: (x >> 16) & 0xFFFF | (part(x, 0, 16, False) - part(x, 16, 16, True) & 0xFFFF) << 16),
    ("vmin4.u32.u32.u32.add %r3.b30, %r2.b7106, %r4, %r5;",
     lambda x, y: (x >> 16) + min(y >> 16 & 255, y & 255) + min(y >> 24, y >> 24)),
    ("cvt.pack.sat.s8.s32.b32 %r3, %r6, %r7, %r2;",
     lambda x, y: (clamped(part(x, 0, 32, True) >> 20, 8, True) & 255) << 8
     | clamped(part(y, 0, 32, True) >> 24, 8, True) & 255 | x << 16),
    ("cvt.pack.sat.u16.s32 %r3, %r2, %r7;",
     lambda x, y: clamped(part(x, 0, 32, True), 16, False) << 16 | clamped(part(y, 0, 32, True) >> 24, 16, False)),
    ("setp.ne.u32 %p2, %r5, 0; lop3.and.b32 %r3|%p1, %r2, %r4, %r5, 0x80, %p2; @%p1 mov.u32 %r3, 1;",
     lambda x, y: 1 if (x & y & x >> 16 != 0) and (x >> 16 != 0) else x & y & x >> 16),
    ("lop3.or.b32 _|%p1, %r2, 1, 0, 0xc0, 0; selp.u32 %r3, 5, 6, %p1;", lambda x, y: 5 if x & 1 else 6),
    ("setp.gt.and.u32 %p1, %r2, %r4, 1; selp.u32 %r3, 5, 6, %p1;", lambda x, y: 5 if x > y else 6),
]


@pytest.mark.parametrize("body, want", VIDEO, ids=[body.split()[0] for body, _ in VIDEO])
def test_an_instruction_of_several_steps(tmp_path: Path, body: str, want) -> None:  # noqa: ANN001
    setup = "mad.lo.u32 %r4, %r2, 3, 1; shr.u32 %r5, %r2, 16; shr.s32 %r6, %r2, 20; shr.s32 %r7, %r4, 24; mov.u32 %r8, 5; mov.u32 %r0, 0;\n"
    got = words_after(tmp_path, setup + body, WORDS.copy())
    pairs = [(int(x), (int(x) * 3 + 1) & 0xFFFFFFFF) for x in WORDS]
    assert got.tolist() == [want(x, y) & 0xFFFFFFFF for x, y in pairs]


def values_of(kind: str) -> np.ndarray:
    """Return the values of a format's nonnegative codes; those beyond the largest finite one are NaN."""
    bits, mantissa, bias, largest, _ = SMALL[kind]
    codes = np.arange(1 << bits - 1)
    exponent, fraction = codes >> mantissa, codes & (1 << mantissa) - 1
    normal = (1 + fraction / 2**mantissa) * 2.0 ** (exponent - bias)
    values = np.where(exponent == 0, fraction * 2.0 ** (1 - bias - mantissa), normal)
    return np.where(values > largest, np.nan, values)


@pytest.mark.parametrize("kind", KINDS)
def test_floats_become_the_nearest_small_ones(tmp_path: Path, kind: str) -> None:
    bits, *_, nan = SMALL[kind]
    sign, apart = 1 << bits - 1, 4 if bits == 4 else 8
    values = values_of(kind)
    finite = values[np.isfinite(values)]
    between = (finite[1:] + finite[:-1]) / 2  # every tie, and values just above and below it
    near = [np.nextafter(between.astype(np.float32), np.float32(end)) for end in (0, np.inf)]
    data = np.concatenate([finite, between, *near, [1e9, np.inf, np.nan, 1e-30]]).astype(np.float32)
    data = np.concatenate([data, -data])
    data = np.resize(data, -(-len(data) // 32) * 32)
    size = np.abs(data.astype(np.float64))
    gap = np.abs(np.minimum(size, finite[-1])[:, None] - finite)
    odd = np.arange(len(finite)) & 1
    codes = np.where(np.isnan(data), nan, np.argmin(gap * 2 + np.where(gap == gap.min(1, keepdims=True), odd * 1e-30, 0), 1))
    ties = (gap == gap.min(1, keepdims=True)).sum(1) > 1
    codes = np.where(ties & (codes & 1 == 1), codes + 1, codes)
    want = np.where(np.isnan(data), nan, codes | np.where(np.signbit(data), sign, 0))
    to = "b8" if bits == 4 else "b16"       # two of 4 bits fill a byte
    body = (f".reg .{to} a, b; mov.b32 %f1, %r2; neg.f32 %f2, %f1; cvt.rn.satfinite.{kind}.f32 a, %f2, %f1; "
            f"cvt.rn.satfinite.relu.{kind}.f32 b, %f2, %f1; cvt.u16.u{to[1:]} %h1, a; cvt.u16.u{to[1:]} %h2, b; "
            "mov.b32 %r3, {%h1, %h2};")
    for first in range(0, len(data), 160 if jit.OFF else 32):      # without JIT only every fifth warp
        got = words_after(tmp_path, body, data[first:first + 32].view(np.uint32).copy())
        wanted, is_nan, mask = want[first:first + 32], np.isnan(data[first:first + 32]), (1 << apart) - 1
        assert ((got & mask) == wanted).all()
        assert ((got >> apart & mask) == np.where(is_nan, nan, wanted ^ sign)).all()
        assert ((got >> 16 & mask) == np.where((wanted & sign > 0) & ~is_nan, 0, wanted)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_small_floats_become_halves(tmp_path: Path, kind: str) -> None:
    bits = SMALL[kind][0]
    sign, apart = 1 << bits - 1, 4 if bits == 4 else 8
    values = values_of(kind)
    if kind == "e5m2x2":
        values[124] = np.inf
    codes = np.arange(max(32, 1 << bits), dtype=np.uint32) & (1 << bits) - 1
    to = "8" if kind == "e2m1x2" else "16"
    body = f".reg .b{to} a; cvt.u{to}.u32 a, %r2; cvt.rn.f16x2.{kind} %r3, a;"
    for first in range(0, len(codes), 32):
        some = codes[first:first + 32]
        got = words_after(tmp_path, body, some | (some ^ sign) << apart)
        halves = got.view(np.float16).reshape(-1, 2)
        want = values[some & sign - 1] * np.where(some & sign, -1.0, 1.0)
        assert np.array_equal(halves[:, 0], want.astype(np.float16), equal_nan=True)
        assert np.array_equal(np.signbit(halves[:, 0])[~np.isnan(want)], np.signbit(want)[~np.isnan(want)])
        assert np.array_equal(halves[:, 1], -want.astype(np.float16), equal_nan=True)


@pytest.mark.parametrize("source", ["f32", "bf16x2"])
def test_scales_keep_the_exponent_alone(tmp_path: Path, source: str) -> None:
    words = np.resize(np.array([
        0, 1, 0x3F0000, 0x400000, 0x410000, 0x7F0000, 0x800000, 0x3F800000, 0x3F810000, 0xBF810000, 0x7EFF0000, 0x7F000000,
        0x7F010000, 0x7F7F0000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC10000], np.uint32), 32)
    if source == "bf16x2":
        words &= 0xFFFF0000
    size = words & 0x7FFFFFFF
    down = np.where(size > 0x7F800000, 255, size >> 23)
    more = (size & 0x7FFFFF > 0) & (size > 0x400000) & (size < 0x7F800000)
    up = np.where(size > 0x7F800000, 255, (size >> 23) + more)
    finite = lambda codes: np.where((codes == 255) & (size <= 0x7F800000), 254, codes)  # noqa: E731
    both = "mov.b32 %f1, %r2;" if source == "f32" else "shr.u32 %r4, %r2, 16; shl.b32 %r5, %r4, 16; or.b32 %r4, %r4, %r5;"
    operands = "%f1, %f1" if source == "f32" else "%r4"
    for modifiers, want in (("rz", down), ("rp", up), ("rz.satfinite", finite(down)), ("rp.satfinite", finite(up))):
        body = f"{both} cvt.{modifiers}.ue8m0x2.{source} %h1, {operands}; cvt.u32.u16 %r3, %h1;"
        got = words_after(tmp_path, body, words)
        assert np.array_equal(got, want | want << 8), modifiers


def test_scales_become_halves_of_16_bits(tmp_path: Path) -> None:
    codes = np.array([0, 1, 2, 126, 127, 128, 253, 254, 255, *range(30, 53)], np.uint32)
    got = words_after(tmp_path, "cvt.u16.u32 %h1, %r2; cvt.rn.bf16x2.ue8m0x2 %r3, %h1;", codes | 127 << 8)
    values = (got << 16).view(np.float32)
    want = np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int64) - 127)).astype(np.float32)
    assert np.array_equal(values, want, equal_nan=True) and (got >> 16 == 0x3F80).all()


def test_bytes_are_packed_into_16_bits_and_taken_apart(tmp_path: Path) -> None:
    data = np.arange(32, dtype=np.uint32) * 0x01234567
    body = ("{ .reg .b8 a, b; cvt.u16.u32 %h1, %r2; mov.b16 {a, b}, %h1; mov.b16 %h2, {b, a}; mov.b16 %h3, {a, 0}; "
            "mov.b32 %r3, {%h2, %h3}; }")
    got = words_after(tmp_path, body, data)
    assert np.array_equal(got, (data >> 8 & 255) | (data & 255) << 8 | (data & 255) << 16)


@pytest.mark.parametrize("kind, largest", [("f16", 65504.0), ("bf16", float.fromhex("0x1.fep127"))])
def test_floats_become_finite_halves(tmp_path: Path, kind: str, largest: float) -> None:
    data = np.array([1e9, -3e38, 65519, -65520, np.inf, -np.inf, 1.5, np.float32(3.4e38)], np.float32)
    body = f"mov.b32 %f1, %r2; cvt.rn.satfinite.{kind}x2.f32 %r4, %f1, %f1; cvt.rn.satfinite.{kind}.f32 %h1, %f1; "
    body += f"mov.b32 {{%h2, %h3}}, %r4; cvt.f32.{kind} %f2, %h1; cvt.f32.{kind} %f3, %h3; mov.b32 %r3, %f2; "
    body += "setp.neu.f32 %p1, %f2, %f3; @%p1 mov.u32 %r3, 0;"
    got = words_after(tmp_path, body, data.view(np.uint32).copy(), 8).view(np.float32)
    clamped = np.clip(data, -largest, largest)
    assert np.allclose(got, clamped, rtol=2.0 ** (-11 if kind == "f16" else -8)) and np.isfinite(got).all()


@pytest.mark.parametrize("body", ["mov.u32 %r3, %cluster_ctarank;", "mov.u32 %r3, %clusterid.x;", "barrier.cluster.arrive;",
                                  "mapa.shared::cluster.u32 %r3, %r2, 1;"])
def test_what_needs_several_ctas_in_a_cluster_is_refused(body: str) -> None:
    text = NEW.replace("\n{", "\n.explicitcluster .reqnctapercluster 2, 1, 1\n{")
    with pytest.raises(PtxError, match="clusters of 2 CTAs"):
        decode_module(f"{text}{REGISTERS}{body} ret; }}\n", "m.ptx").kernels["k"]
    decode_module(f"{NEW}{REGISTERS}{body} ret; }}\n", "m.ptx").kernels["k"]


COPY = """ .shared .align 16 .b8 s[1024]; .shared .align 8 .b64 bar; .reg .pred %q;
    mov.u32 %r5, bar; mov.u32 %r6, s; setp.eq.u32 %q, %r1, 0;
    @%q mbarrier.init.shared::cta.b64 [bar], COUNT; bar.sync 0;
    BEGIN
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    sub.u32 %r7, 63, %r1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6; ld.shared.u32 %r3, [%r7];"""
BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [%r5];"
BEGINNINGS = {
    "one arrival that expects": (1, f"@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256; @%q {BULK}"),
    "copied first": (1, f"@%q {BULK} @%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;"),
    "expected apart": (64, f"@%q mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; @%q {BULK} "
                           "mbarrier.arrive.shared::cta.b64 %rd5, [bar];"),
    "two copies": (2, "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256; setp.eq.u32 %p3, %r1, 32; @%p3 "
                      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+128], [%rd1+128], 128, [%r5]; "
                      "@%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 128, [%r5]; "
                      "@%p3 mbarrier.arrive.shared::cta.b64 _, [bar];"),
}


@pytest.mark.parametrize("way", list(BEGINNINGS)[:1] if WITHOUT_JIT else BEGINNINGS)
def test_a_bulk_copy_completes_the_barrier_that_counts_its_bytes(tmp_path: Path, way: str) -> None:
    count, begin = BEGINNINGS[way]
    data = np.random.RandomState(8).randint(0, 2**31, 64).astype(np.uint32)
    got = words_after(tmp_path, COPY.replace("COUNT", str(count)).replace("BEGIN", begin), data, 64)
    assert got.tolist() == data[::-1].tolist()


def test_a_token_of_a_barrier_that_counts_bytes_waits_for_its_own_phase(tmp_path: Path) -> None:
    body = """ .shared .align 8 .b64 bar; .reg .b64 %t<3>;
    mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 %t1, [bar];
    mbarrier.test_wait.shared.b64 %p1, [bar], %t1; selp.u32 %r3, 1, 0, %p1;
    mbarrier.pending_count.b64 %r5, %t1; mad.lo.u32 %r3, %r5, 1000, %r3;
    mbarrier.arrive.expect_tx.shared.b64 %t2, [bar], 48; mbarrier.test_wait.shared.b64 %p1, [bar], %t1;
    @%p1 add.u32 %r3, %r3, 10; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;
    mbarrier.test_wait.shared.b64 %p1, [bar], %t2; @%p1 add.u32 %r3, %r3, 100;"""
    assert words_after(tmp_path, body, np.zeros(1, np.uint32), 1).tolist() == [2100]


@pytest.mark.parametrize("counts_bytes", [False, True])
def test_who_drops_out_of_a_barrier_is_missed_in_no_phase_after(tmp_path: Path, counts_bytes: bool) -> None:
    """Of three, one arrives and two drop out, which ends the phase; the remaining one ends each later phase alone."""
    body = f""" .shared .align 8 .b64 bar; .reg .b64 %t<4>; mbarrier.init.shared.b64 [bar], 3;
    mbarrier.arrive.shared.b64 %t1, [bar]; mbarrier.arrive_drop.shared.b64 %t2, [bar];
    mbarrier.test_wait.shared.b64 %p1, [bar], %t1; selp.u32 %r3, 1, 0, %p1; mbarrier.pending_count.b64 %r5, %t2;
    mad.lo.u32 %r3, %r5, 1000, %r3;
    {"mbarrier.arrive_drop.expect_tx.shared.b64 %t3, [bar], 16;" if counts_bytes else "mbarrier.arrive_drop.shared.b64 %t3, [bar];"}
    {"mbarrier.test_wait.shared.b64 %p1, [bar], %t2; @%p1 add.u32 %r3, %r3, 1;" if counts_bytes else ""}
    {"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;" if counts_bytes else ""}
    mbarrier.test_wait.shared.b64 %p1, [bar], %t3; @%p1 add.u32 %r3, %r3, 10;
    mbarrier.arrive.shared.b64 %t1, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], %t1; @%p1 add.u32 %r3, %r3, 100;
    mbarrier.arrive.shared.b64 %t1, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], %t1; @%p1 add.u32 %r3, %r3, 100;"""
    assert words_after(tmp_path, body, np.zeros(1, np.uint32), 1).tolist() == [2210]


def test_bulk_copies_back_to_global_memory_and_reductions(tmp_path: Path) -> None:
    body = f"""{NEW}{REGISTERS} .shared .align 16 .b8 s[512];
    mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.u32 %r4, %r4, %r5; add.u32 %r6, %r2, 5; st.shared.u32 [%r4], %r6; bar.sync 0;
    setp.eq.u32 %p1, %r1, 3;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1+256], [s], 128;
    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+256], [s+128], 128;
    @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 0; ret;\n}}\n"""
    data = np.arange(96, dtype=np.uint32)
    got = run_kernel(tmp_path, body, data, 64)
    assert got.tolist() == [*range(64), *(2 * k + 42 for k in range(32))]


@pytest.mark.parametrize("body, words", [
    ("vadd.u32.u32 %r1, %r2, %r3;", "nearest supported form: 'vadd.u32.u32.u32'"), ("vadd.u32.u32.u32.shr7 %r1, %r2, %r3;", "vadd.u32.u32.u32"),
    ("vadd.u32.u32.u32 %r1, -%r2, %r3;", "found a register with a sign"), ("vadd4.u32.u32.u32 %r1, %r2.b8210, %r3, %r4;", "b8210"),
    ("vadd4.u32.u32.u32 %r1.b02, %r2, %r3, %r4;", "b02"), ("vadd2.u32.u32.u32 %r1.h1, %r2.b10, %r3, %r4;", "b10"),
    ("vmin2.s32.s32.s32.sat.max %r1, %r2, %r3, %r4;", "nearest supported form: 'vmin2"), ("cvt.pack.sat.u8.s32 %r1, %r2, %r3;", "cvt.pack"),
    ("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "satfinite"), ("lop3.or.b32 %r1, %r2, %r3, %r4, 3, %p1;", "d|p"),
    ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
     "tensor maps"),
    ("cp.async.bulk.shared::cluster.global.bulk_group [%r1], 4, 16;", "unsupported instruction"),
    ("cp.async.bulk.shared::cluster.local [%r1], [%rd1], 16;", "unsupported instruction"),
])
def test_other_forms_are_refused(body: str, words: str) -> None:
    with pytest.raises(PtxError, match=words):
        decode_module(f"{NEW}{REGISTERS}{body} ret; }}\n", "m.ptx").kernels["k"]


def test_the_least_of_three_magnitudes_and_tf32_within_bounds(tmp_path: Path) -> None:
    data = np.array([-3.5, 2.0, -1e38, 3.4028234e38, -np.inf, np.nan, -0.0, 1.0009766], np.float32)
    body = ("mov.b32 %f1, %r2; mov.b32 %f2, 0f40400000; neg.f32 %f3, %f2; max.abs.f32 %f1, %f1, %f2, %f3; "
            "mov.b32 %f2, %r2; cvt.rn.relu.satfinite.tf32.f32 %r4, %f2; mov.b32 %r3, %f1; add.u32 %r3, %r3, %r4;")
    got = words_after(tmp_path, body, data.view(np.uint32).copy(), 8)
    largest = np.fmax(np.abs(data), np.float32(3))
    rounded = np.array([0, 2.0, 0, 0, 0, 0, 0, 0], np.float32).view(np.uint32)
    rounded[[3, 5]], rounded[7] = [0x7F7FE000, 0x7FFFFFFF], np.float32(1.0009765625).view(np.uint32)
    assert got.tolist() == [(int(a) + int(b)) & 0xFFFFFFFF for a, b in zip(largest.view(np.uint32), rounded, strict=True)]
