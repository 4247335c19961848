"""malloc in kernels, the error for the use of its null pointer, and the grid barrier as numba-cuda calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import InputError, KernelFault, PtxError
from rfview.engine.program import HEAP_BYTES
from tests.engine.one_warp import run_one_warp
from tests.engine.ptx.test_ptx_dialects import run_kernel

PTX = """.version 9.0
.target sm_75
.address_size 64
.extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);
.extern .func free (.param .b64 free_param_0);
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];
    cvt.s64.s32 %rd4, %r2;
    {{ .param .b64 p; .param .b64 q; st.param.b64 [p+0], %rd4; call.uni (q), malloc, (p); ld.param.b64 %rd5, [q+0]; }}
    {after}
    {{ .param .b64 p; st.param.b64 [p+0], %rd5; call.uni free, (p); }}
    st.global.u64 [%rd2], %rd5;
    ret;
}}
"""


def given(folder: Path, sizes: list[int], after: str = "") -> list[int]:
    """Return the pointers that the lanes get for the sizes they request."""
    words = run_one_warp(folder, PTX.format(after=after), np.array(sizes, "u4"), 2)
    return words.reshape(-1).view("u8").tolist()


def test_each_thread_gets_memory_of_its_own(tmp_path):
    sizes = [1 + 7 * lane for lane in range(32)]
    pointers = given(tmp_path, sizes, "st.u32 [%rd5], %r1;")
    assert all(pointer and pointer % 16 == 0 for pointer in pointers)
    spans = sorted(zip(pointers, sizes, strict=True))
    assert all(a + size <= b for (a, size), (b, _) in zip(spans, spans[1:], strict=False))


def test_what_the_heap_does_not_hold_is_null_and_takes_nothing(tmp_path):
    pointers = given(tmp_path, [HEAP_BYTES + 1, 0xFFFFFFFF] + [64] * 29 + [HEAP_BYTES // 2])
    assert pointers[:2] == [0, 0] and all(pointers[2:])


def test_the_use_of_null_names_the_heap(tmp_path):
    with pytest.raises(KernelFault, match=r"at 0x4, which no buffer holds \(malloc gives 0 where its heap of 8 MiB is used"):
        given(tmp_path, [HEAP_BYTES] * 32, "st.u32 [%rd5+4], %r1;")


def test_modules_of_32_bit_addresses_have_no_heap(tmp_path):
    text = PTX.replace(".address_size 64", ".address_size 32")
    with pytest.raises(PtxError, match="'malloc' has no body in this module"):
        run_one_warp(tmp_path, text.format(after=""), np.zeros(32, "u4"), 2)


GRID = """.version 9.0
.target sm_75
.address_size 64
.extern .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle (.param .b32 p0);
.extern .func (.param .b32 func_retval0) cudaCGSynchronize (.param .b64 p0, .param .b32 p1);
.visible .entry k(.param .u64 io)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [io];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r2, %r3, %r1;
    mul.lo.u32 %r6, %r3, %r4;
    mul.wide.u32 %rd2, %r5, 4;
    add.u64 %rd2, %rd1, %rd2;
    {{ .param .b32 s; .param .b64 h; st.param.b32 [s+0], {scope}; call.uni (h), cudaCGGetIntrinsicHandle, (s);
      ld.param.b64 %rd5, [h+0]; }}
    mov.u32 %r7, 0;
ROUND:
    {{ .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h+0], %rd5; st.param.b32 [f+0], 0;
      call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %r8, [e+0]; }}
    setp.ne.u32 %p1, %r8, 0;
    @%p1 bra FAILED;
    // a thread of the CTA before
    sub.u32 %r9, %r5, %r3;
    setp.lt.u32 %p1, %r5, %r3;
    @%p1 add.u32 %r9, %r9, %r6;
    mul.wide.u32 %rd3, %r9, 4;
    add.u64 %rd3, %rd1, %rd3;
    ld.volatile.global.u32 %r10, [%rd3];
    {{ .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h+0], %rd5; st.param.b32 [f+0], 0;
      call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %r8, [e+0]; }}
    mad.lo.u32 %r10, %r10, 3, %r2;
    st.volatile.global.u32 [%rd2], %r10;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 5;
    @%p1 bra ROUND;
    ret;
FAILED:
    st.global.u32 [%rd2], %r8;
    ret;
}}
"""


def test_the_whole_grid_meets_at_the_barrier_of_the_device_library(tmp_path):
    ctas, threads = 6, 48
    want = data = np.arange(ctas * threads, dtype=np.uint32)
    got = run_kernel(tmp_path, GRID.format(scope=1), data, threads, ctas)
    for _ in range(5):
        want = np.roll(want, threads) * 3 + np.repeat(np.arange(ctas, dtype=np.uint32), threads)
    assert got.tolist() == want.tolist()


def test_grids_of_several_devices_get_no_handle_and_the_barrier_says_so(tmp_path):
    got = run_kernel(tmp_path, GRID.format(scope=2), np.full(64, 9, np.uint32), 32, 2)
    assert set(got.tolist()) == {1}


def test_a_grid_that_cannot_meet_is_refused(tmp_path):
    with pytest.raises(InputError, match="grid"):
        run_kernel(tmp_path, GRID.format(scope=1), np.zeros(1024 * 200, np.uint32), 1024, 200)
