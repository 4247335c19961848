"""Bad accesses under kernel.on_fault: the default ends the run, `report` drops the lanes and goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.errors import KernelFault
from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec
from rfview.engine.simulator import Simulator

pytestmark = pytest.mark.nojit

HEAD = """.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 o)
{
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
    .shared .align 4 .b8 block[64];
    .local .align 4 .b8 own[16];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [o];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    mov.u32 %r2, 7;
    mov.u32 %r3, block;
    shl.b32 %r4, %r1, 2;
    add.u32 %r3, %r3, %r4;
    mov.u32 %r5, own;
    add.u32 %r5, %r5, %r4;
    setp.eq.u32 %p1, %r1, 3;
    selp.b32 %r6, 1, 0, %p1;
    cvt.u64.u32 %rd6, %r6;
    add.u64 %rd6, %rd4, %rd6;
"""
TAIL = """    st.global.u32 [%rd5], %r2;
    ret;
}
"""


def simulator(body: str, **settings: str) -> Simulator:
    """Return a machine for one warp: x holds 100..115 in 16 words, o 32 zeros."""
    path = Path("k.ptx")
    buffers = {"x": Buffer("x", np.arange(100, 116, dtype=np.uint32)), "o": Buffer("o", np.zeros(32, np.uint32))}
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, (Arg("buffer", name="x"), Arg("buffer", name="o")))
    spec = LaunchSpec(path, "k", path, (launch,), buffers, {}, {}, False, "rmse", "", None)
    text = HEAD + "".join(f"    {line};\n" for line in body.split("; ")) + TAIL
    return Simulator(spec, source=(text, "k.ptx"), settings={"kernel.on_fault": settings.get("on_fault", "report")})


@pytest.mark.parametrize(("body", "lanes_with_0", "what"), [
    ("ld.global.u32 %r2, [%rd4]", range(16, 32), "reads 4 bytes at"),
    ("ld.u32 %r2, [%rd4]", range(16, 32), "(0 bytes past the end of x)"),
    ("ld.shared.u32 %r2, [%r3]; add.u32 %r2, %r2, 0", range(32), "accesses shared memory at offset 0x40"),
    ("ld.local.u32 %r2, [%r5]", range(32), "accesses local memory at offset 0x10"),
    ("ld.global.u32 %r2, [%rd6]; sub.u32 %r2, %r2, 100", [0, 3, *range(16, 32)], "not a multiple of 4"),
    ("atom.global.add.u32 %r2, [%rd4], 1", range(16, 32), "reads and writes 4 bytes at"),
])
def test_a_bad_load_gives_0_in_its_lanes_and_the_run_goes_on(body: str, lanes_with_0: range, what: str) -> None:
    machine = simulator(body)
    machine.run()
    assert machine.finished and machine.fault is None
    expected = set(lanes_with_0)
    found = machine.buffers()["o"]
    if "sub" in body:       # what is subtracted also turns the zeros of the dropped lanes into -100
        found = found + np.uint32(100) * (found >= 2**31)
    assert {lane for lane in range(32) if found[lane] == 0} == expected
    (report,) = machine.reports
    assert what in str(report) and "k.ptx:" in report.text and str(report).endswith("; dropped")
    assert (report.count, report.warp, report.lane) == (1, 0, 3 if "multiple" in what else 4 if "local" in what else 16)


@pytest.mark.parametrize(("body", "x"), [
    ("st.global.u32 [%rd4], %r1", list(range(16))),
    ("red.global.add.u32 [%rd4], %r1", [100 + 2 * k for k in range(16)]),
    ("st.v2.u32 [%rd4], {%r1, %r1}", [k // 2 * 2 for k in range(16)]),      # odd lanes are misaligned for 8 bytes
])
def test_a_bad_store_writes_nothing_in_its_lanes(body: str, x: list[int]) -> None:
    machine = simulator(body)
    machine.run()
    assert machine.buffers()["x"].tolist() == x
    assert (machine.buffers()["o"] == 7).all() and len(machine.reports) == 1


def test_repeated_bad_accesses_of_one_instruction_are_one_report_with_a_count() -> None:
    machine = simulator("mov.u32 %r7, 0; LOOP: ld.global.u32 %r2, [%rd4]; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5; "
                        "@%p1 bra LOOP")
    machine.run()
    (report,) = machine.reports
    assert report.count == 5 and str(report).endswith("; dropped, as 4 more of this instruction")


def test_by_default_a_bad_access_ends_the_run_and_traps_always_do() -> None:
    with pytest.raises(KernelFault, match="past the end of x"):
        simulator("ld.global.u32 %r2, [%rd4]", on_fault="stop").run()
    with pytest.raises(KernelFault, match="trap"):
        simulator("trap").run()
