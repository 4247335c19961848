"""Lanes for which others wait run past the point of reconvergence, until they arrive or end."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.engine.one_warp import run_one_warp

PTX = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 4;
  @%p1 bra MEET;
  setp.lt.u32 %p2, %r1, 16;
  vote.sync.ballot.b32 %r2, %p2, -1;
MEET:
  st.global.u32 [%rd2], %r2;
  ret;
}
"""


def test_a_vote_of_all_goes_on_when_the_lanes_that_took_no_part_have_ended(tmp_path: Path) -> None:
    got = run_one_warp(tmp_path, PTX, np.zeros((32, 1), np.uint32), 1)[:, 0]
    assert got.tolist() == [0] * 4 + [0xFFF0] * 28
