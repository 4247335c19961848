"""ldmatrix and stmatrix against NumPy: which lane holds which elements of 8 x 8 matrices of 16 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engine.one_warp import run_one_warp

LANE = np.arange(32)
# Rows of 16 bytes are 48 bytes apart; lane n has the address of row n.
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b32 %r<20>; .reg .b64 %rd<10>; .shared .align 16 .b8 space[1536];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 48; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r2, space; mad.lo.u32 %r3, %r1, 48, %r2;
  ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd1];
  {body}
  st.global.v4.u32 [%rd2], {{%r8, %r9, %r10, %r11}};
  ret;
}}
"""


def run(folder: Path, body: str, words: np.ndarray) -> np.ndarray:
    """Run one warp over (32, 12) words and return what it stored: the first four words of each lane."""
    return run_one_warp(folder, PTX.format(body=body), words, 12)[:, :4]


def fragment(matrix: np.ndarray, is_transposed: bool) -> np.ndarray:
    """Return the word that each lane holds of one (8, 8) matrix."""
    held = (matrix.T if is_transposed else matrix).astype("u4")
    row, column = LANE // 4, 2 * (LANE % 4)
    return held[row, column] | held[row, column + 1] << np.uint32(16)


@pytest.mark.parametrize("transposed", ["", ".trans"])
def test_ldmatrix_hands_each_lane_two_elements_of_each_matrix(tmp_path: Path, transposed: str) -> None:
    words = np.random.RandomState(1).randint(0, 1 << 32, (32, 12), "u8").astype("u4")
    body = f"""st.shared.v4.u32 [%r3], {{%r4, %r5, %r6, %r7}}; bar.sync 0;
      mov.u32 %r8, %r3; ldmatrix.sync.aligned.m8n8.x4{transposed}.shared.b16 {{%r8, %r9, %r10, %r11}}, [%r8];"""
    got = run(tmp_path, body, words)
    matrices = words[:, :4].copy().view("u2").reshape(4, 8, 8)
    assert (got == np.stack([fragment(matrix, bool(transposed)) for matrix in matrices], 1)).all()


@pytest.mark.parametrize("transposed", ["", ".trans"])
def test_stmatrix_is_the_inverse(tmp_path: Path, transposed: str) -> None:
    matrices = np.random.RandomState(2).randint(0, 1 << 16, (4, 8, 8)).astype("u2")
    words = np.zeros((32, 12), "u4")
    words[:, :4] = np.stack([fragment(matrix, bool(transposed)) for matrix in matrices], 1)
    body = f"""stmatrix.sync.aligned.m8n8.x4{transposed}.shared.b16 [%r3], {{%r4, %r5, %r6, %r7}}; bar.sync 0;
      ld.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r3];"""
    assert (run(tmp_path, body, words) == matrices.reshape(32, 8).copy().view("u4")).all()


def test_the_address_may_be_a_variable(tmp_path: Path) -> None:
    words = np.random.default_rng(3).integers(0, 2**32, (32, 12), dtype=np.uint32)
    body = ("st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7}; bar.sync 0; mov.u32 %r12, space; add.u32 %r12, %r12, 48;"
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [space+48];"
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r12];"
            "wmma.load.c.sync.aligned.row.m16n16k16.shared.s32 {%r10, %r11, %r13, %r14, %r15, %r16, %r17, %r18}, [space];"
            "ld.shared.u32 %r11, [space+4];")
    got = run(tmp_path, body, words)
    assert (got[:, 0] == got[:, 1]).all() and (got[:, 0] != 0).any()
    assert got[0, 2] == words[0, 0] and got[0, 3] == words[0, 1]
