"""Branches that skip nothing: a body whose results are never read is dropped, but lanes still diverge at its branch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; setp.eq.s32 %p1, %r2, 0; mov.u32 %r3, 0;
  {body}
  add.u32 %r3, %r3, %r1; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r3; ret;
}}
"""
LAUNCH = """
[[launch]]
grid = [1]
block = [40]
args = [{buffer = "out"}]
[buffers.out]
shape = [40]
dtype = "uint32"
zeros = true
"""
PLAIN = "@%p1 bra L1; add.u32 %r4, %r1, 5; L1:"
LAST_OF_A_PATH = """setp.lt.u32 %p2, %r1, 9; @%p2 bra L3;
  add.u32 %r3, %r3, 100; @%p1 bra L2; mul.lo.u32 %r4, %r1, 5; L2: L3:"""
IN_A_LOOP = """L4: add.u32 %r3, %r3, 1; @%p1 bra L5; xor.b32 %r4, %r3, 5; L5: setp.lt.u32 %p2, %r3, %r2; @%p2 bra L4;"""
AFTER_A_BARRIER = "@%p1 bra L1; add.u32 %r4, %r1, 5; L1: bar.sync 0;"


@pytest.mark.parametrize(("body", "more"), [
    (PLAIN, lambda tid: 0 * tid), (LAST_OF_A_PATH, lambda tid: np.where(tid < 9, 0, 100)),
    (IN_A_LOOP, lambda tid: np.maximum(tid & 3, 1)), (AFTER_A_BARRIER, lambda tid: 0 * tid)])
def test_lanes_meet_again_behind_a_branch_that_skips_nothing(tmp_path: Path, body: str, more) -> None:
    (tmp_path / "k.ptx").write_text(PTX.format(body=body))
    (tmp_path / "k.toml").write_text(LAUNCH)
    simulator = Simulator(load_launch_file(tmp_path / "k.toml"), max_cycles=5000)
    simulator.run()
    tid = np.arange(40)
    assert simulator.buffers()["out"].tolist() == (tid + more(tid)).tolist()
