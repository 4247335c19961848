"""Test malloc in kernels: what it gives, when it gives null, and what is said where that is used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import KernelFault, PtxError
from rfview.engine.ptx.lower.heap import HEAP_BYTES
from tests.engine.one_warp import run_one_warp

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
    """Return the pointers that the lanes get for their sizes."""
    words = run_one_warp(folder, PTX.format(after=after), np.array(sizes, "u4"), 2)
    return words.reshape(-1).view("u8").tolist()


def test_each_thread_gets_memory_of_its_own(tmp_path):
    sizes = [1 + 7 * lane for lane in range(32)]
    pointers = given(tmp_path, sizes, "st.u32 [%rd5], %r1;")
    assert all(pointer and pointer % 16 == 0 for pointer in pointers)
    spans = sorted(zip(pointers, sizes, strict=True))
    assert all(a + size <= b for (a, size), (b, _) in zip(spans, spans[1:], strict=False))


def test_what_the_heap_does_not_hold_is_null_and_takes_nothing(tmp_path):
    pointers = given(tmp_path, [HEAP_BYTES, 0xFFFFFFFF] + [64] * 29 + [HEAP_BYTES // 2])
    assert pointers[:2] == [0, 0] and all(pointers[2:])


def test_the_use_of_null_names_the_heap(tmp_path):
    with pytest.raises(KernelFault, match=r"at 0x4, which no buffer holds \(malloc gives 0 where its heap of 8 MiB is used"):
        given(tmp_path, [HEAP_BYTES] * 32, "st.u32 [%rd5+4], %r1;")


def test_modules_of_32_bit_addresses_have_no_heap(tmp_path):
    text = PTX.replace(".address_size 64", ".address_size 32")
    with pytest.raises(PtxError, match="'malloc' has no body in this module"):
        run_one_warp(tmp_path, text.format(after=""), np.zeros(32, "u4"), 2)
