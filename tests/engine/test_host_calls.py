"""Host calls with other instructions: a barrier after a printf opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator

PRINTS_THEN_WAITS = """
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[6] = {104, 101, 114, 101, 10, 0};
.visible .entry k(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p bra BEHIND;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0;
    { .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd3; .param .b32 q0;
      call.uni (q0), vprintf, (p0, p1); ld.param.b32 %r2, [q0]; }
    setp.lt.s32 %p, %r2, 0;
    @%p trap;
BEHIND:
    barrier.sync 0;
    ld.param.u64 %rd4, [out]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""


@pytest.mark.nojit
def test_a_barrier_behind_a_printf_opens(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PRINTS_THEN_WAITS)
    (tmp_path / "k.toml").write_text("""[[launch]]
grid = [1]
block = [64]
args = [{buffer = "out"}]
[buffers.out]
shape = [64]
dtype = "uint32"
zeros = true
[expect.out]
shape = [64]
dtype = "uint32"
arange = true
""")
    simulator = Simulator(load_launch_file(tmp_path / "k.toml"), max_cycles=20_000)
    simulator.run()
    assert simulator.verify() == (True, []) and [text for _, text in simulator.printed] == ["here\n"]
