"""Lanes for which others wait run past the point of reconvergence, until they arrive, end, or store what is polled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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


POLLS = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
POLL:
  OPCODE %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra POLL;
MEET:
  setp.eq.u32 %p1, %r1, 1;
  @%p1 st.volatile.global.u32 [%rd1], 7;
  st.global.u32 [%rd2], 1;
  ret;
}
"""


@pytest.mark.parametrize("opcode", ["ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.acquire.cta.global.u32",
                                    "ld.volatile.u32"])
def test_lanes_at_a_reconvergence_point_run_ahead_of_one_that_polls_memory(tmp_path: Path, opcode: str) -> None:
    got = run_one_warp(tmp_path, POLLS.replace("OPCODE", opcode), np.zeros((32, 1), np.uint32), 1)[:, 0]
    assert got.tolist() == [1] * 32
