"""Registers with several values: vectors, and 128-bit registers with their atomics, against NumPy and counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import PtxError
from tests.engine.one_warp import run_one_warp

HEAD = """.version 8.4
.target sm_90
.address_size 64
.global .align 16 .b64 sums[2] = {5, 7};
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<14>; .reg .b64 %rd<12>; .reg .pred %p<3>; .reg .b128 %q<6>; .reg .v4 .b32 v; .reg .v2 .b32 pair<3>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; mov.u64 %rd9, sums;
"""
WORDS = np.random.default_rng(3).integers(0, 2**32, (32, 4), dtype=np.uint32)


def run(folder: Path, body: str) -> np.ndarray:
    return run_one_warp(folder, HEAD + body + "ret; }", WORDS, 4)


def test_vectors_are_moved_and_taken_apart(tmp_path: Path) -> None:
    got = run(tmp_path, """
        ld.global.v4.b32 v, [%rd1];
        mov.v2.b32 pair1, {v.w, v.z};
        mov.v2.b32 {pair1.x, pair1.y}, {pair1.y, pair1.x};
        mov.b64 %rd4, pair1;
        mov.b64 pair2, %rd4;
        sub.u32 v.x, v.x+7, 7;
        add.u32 v.x, v.x, pair2.x;
        mov.u64 %rd5, %rd4+0x100000001;
        sub.u64 %rd4, %rd5+-1, 0x100000000;
        mov.b64 pair2, %rd4;
        st.global.v4.b32 [%rd2], v;
        st.global.v2.b32 [%rd2+8], pair2;""")
    want = WORDS.copy()
    want[:, 0] += WORDS[:, 2]
    assert np.array_equal(got, want)


def test_parts_of_a_vector_are_also_called_r_g_b_a(tmp_path: Path) -> None:
    got = run(tmp_path, """
        ld.global.v4.b32 v, [%rd1];
        add.u32 v.r, v.x, v.a;
        mov.v2.b32 pair1, {v.g, v.b};
        mov.b32 v.y, pair1.g;
        st.global.v4.b32 [%rd2], v;""")
    want = WORDS[:, [0, 2, 2, 3]]
    want[:, 0] += WORDS[:, 3]
    assert np.array_equal(got, want)


SWAPPED = """.func (.reg .v2 .u32 o) swapped(.reg .v2 .u32 i, .reg .u32 k) {
  .reg .u32 t;
  add.u32 t, i.x, k; mov.u32 o.x, i.y; mov.u32 o.y, t;
  ret;
}
"""


def test_vectors_are_passed_to_a_function_and_returned(tmp_path: Path) -> None:
    got = run_one_warp(tmp_path, HEAD.replace(".visible", SWAPPED + ".visible") + """
        ld.global.v4.b32 v, [%rd1];
        mov.v2.b32 pair1, {v.x, v.y};
        call (pair1), swapped, (pair1, 5);
        call ({%r2, v.w}), swapped, ({v.z, v.w}, 1);
        st.global.v4.b32 [%rd2], {pair1.x, pair1.y, %r2, v.w};
        ret; }""", WORDS, 4)
    assert np.array_equal(got, WORDS[:, [1, 0, 3, 2]] + np.array([0, 5, 0, 1], np.uint32))


def test_a_vector_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match="'i' is a vector of 2 values, 'v' has 4"):
        run_one_warp(tmp_path, HEAD.replace(".visible", SWAPPED + ".visible") + "call (pair1), swapped, (v, 5); ret; }",
                     WORDS, 4)


def test_128_bits_are_moved_whole_and_in_halves(tmp_path: Path) -> None:
    got = run(tmp_path, """
        ld.global.b128 %q1, [%rd1];
        mov.b128 {%rd4, %rd5}, %q1;
        mov.b128 %q2, {%rd5, %rd4};
        mov.b128 %q3, %q2;
        st.relaxed.gpu.global.b128 [%rd2], %q3;""")
    assert np.array_equal(got, WORDS[:, [2, 3, 0, 1]])


def test_128_bits_hold_a_narrower_value_extended_by_zeros_or_its_sign(tmp_path: Path) -> None:
    signed = run(tmp_path, "ld.global.s32 %q1, [%rd1]; st.global.b128 [%rd2], %q1;").view("<i8").reshape(32, 2)
    assert (signed[:, 0] == WORDS[:, 0].astype("i4")).all() and (signed[:, 1] == signed[:, 0] >> 63).all()
    got = run(tmp_path, """
        ld.global.v2.u32 {%q1, %q2}, [%rd1]; cvt.s64.s8 %q3, %q1; st.global.b128 [%rd2], %q3; st.global.u32 [%rd2+4], %q2;
    """)
    low = WORDS[:, 0].astype("i1").astype("i4")
    assert (got[:, 0] == low.view("u4")).all() and (got[:, 1] == WORDS[:, 1]).all()
    assert (got[:, 2] == (low >> 31).view("u4")).all() and (got[:, 3] == got[:, 2]).all()


def test_128_bits_are_swapped_by_one_thread_after_the_other(tmp_path: Path) -> None:
    # every lane adds 1 and 1 << 32 to the two halves by compare-and-swap, then exchanges the value
    got = run(tmp_path, """
        ld.relaxed.gpu.global.b128 %q1, [%rd9];
    AGAIN:
        mov.b128 {%rd4, %rd5}, %q1;
        add.u64 %rd6, %rd4, 1;
        add.u64 %rd7, %rd5, 0x100000000;
        mov.b128 %q2, {%rd6, %rd7};
        atom.relaxed.gpu.global.cas.b128 %q1, [%rd9], %q1, %q2;
        mov.b128 {%rd6, %rd7}, %q1;
        setp.ne.u64 %p1, %rd6, %rd4;
        setp.ne.or.u64 %p1, %rd7, %rd5, %p1;
        @%p1 bra AGAIN;
        bar.warp.sync -1;
        st.global.v2.b64 [%rd2], {%rd4, %rd5};
        setp.eq.u32 %p2, %r1, 0;
        mov.b128 %q3, {%rd9, %rd9};
        @%p2 atom.exch.b128 %q4, [%rd9], %q3;
        @%p2 st.global.b128 [%rd2], %q4;""")
    pairs = np.ascontiguousarray(got).view(np.uint64)
    assert pairs[0].tolist() == [5 + 32, 7 + (32 << 32)]
    seen = sorted(int(low) - 5 for low, _ in pairs[1:])
    assert len(set(seen)) == 31 and set(seen) <= set(range(32))
    assert all(int(high) - 7 == int(low) - 5 << 32 for low, high in pairs)
