"""PTX that exceeds limits, nests too deeply or has negative counts: one error with file and line each."""

from __future__ import annotations

import numpy as np
import pytest

from rfview.engine.errors import KernelFault, PtxError
from rfview.engine.launch import launch_of_text
from rfview.engine.ptx import decode_module
from rfview.engine.simulator import Simulator

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
LAUNCH = """
[[launch]]
grid = [1]
block = [64]
args = [{buffer = "A"}]
[buffers.A]
dtype = "uint32"
shape = [64]
arange = [0, 1]
"""


def kernel(body: str, declared: str = "", registers: str = "%r<10>") -> str:
    return (f"{HEAD}{declared}\n.visible .entry k(.param .u64 a)\n{{\n.reg .b32 {registers};\n.reg .b64 %rd<10>;\n"
            f".reg .pred %p<4>;\n{body}\nret;\n}}\n")


WRONG = {
    "a negative array": (kernel("", ".global .b32 x[-4];"), 4, "array size -4"),
    "a negative shared array": (kernel(".shared .b32 s[-1];"), 10, "array size -1"),
    "brackets": (kernel(f"mov.u32 %r1, {'(' * 50_000}1{')' * 50_000};"), 10, "more than 200 deep"),
    "blocks": (kernel("{" * 20_000 + "}" * 20_000), 10, "more than 200 deep"),
    "rows of initial values": (kernel("", f".global .b32 x[4] = {'{' * 9000}1{'}' * 9000};"), 4, "more than 200 deep"),
    "signs": (kernel(f"mov.u32 %r1, {'- ' * 50_000}1;"), 10, "nested too deeply"),
    "a register's number": (kernel(f"mov.u32 %r{'9' * 5000}, 1;"), 10, "unknown register"),
    "a number": (kernel(f"mov.u32 %r1, {'9' * 5000};"), 10, "at most 64 bits"),
    "a count of registers": (kernel("", registers="%r<-5>"), 7, "count -5"),
    "shared memory": (kernel(".shared .b8 s[4000000000];"), 10, "at most 232,448"),
    "global memory": (kernel("", ".global .b8 x[40000000000];"), 4, "at most 2,147,483,648"),
    "constant memory": (kernel("", ".const .b8 x[40000000000];"), 4, "at most 2,147,483,648"),
    "local memory": (kernel(".local .b8 s[40000000000];"), 10, "at most 524,288"),
    "dimensions": (kernel("", ".global .b32 x[1000000][1000000][1000000];"), 4, "at most"),
    "rows that are filled up": (kernel("", ".global .b32 x[2][100000000] = {{1},{2}};"), 4, "at most 67,108,864"),
    "a barrier": (kernel("bar.sync 99;"), 10, "'bar.sync' takes the number 0 to 15, found 99"),
    "a barrier below zero": (kernel("barrier.sync -1;"), 10, "found -1"),
    "an arrival": (kernel("bar.arrive 16, 64;"), 10, "0 to 15, found 16"),
    "a reduction": (kernel("bar.red.popc.u32 %r1, 17, %p1;"), 10, "0 to 15, found 17"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_one_error_with_its_line(name: str) -> None:
    text, line, words = WRONG[name]
    with pytest.raises(PtxError) as error:
        loaded(text)
    assert f"k.ptx:{line}: " in str(error.value) and words in str(error.value)
    assert len(str(error.value)) < 600, "a line of a megabyte is not shown whole"


@pytest.mark.parametrize(("body", "words"), [
    ("mov.u64 %rd1, 4096; ld.global.u32 %r1, [%rd1];", "which no buffer holds"),
    ("ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1+1];", "not a multiple of 4"),
    ("ld.param.u64 %rd1, [a]; ld.global.v2.u32 {%r1, %r2}, [%rd1+4];", "not a multiple of 8"),
    ("mov.u32 %r2, 900000; ld.shared.u32 %r1, [%r2];", "shared memory at offset"),
    ("mov.u32 %r2, 900000; ld.local.u32 %r1, [%r2];", "local memory"),
    ("ld.param.u64 %rd1, [a]; ld.u8 %r1, [%rd1+4096];", "which no buffer holds"),
])
@pytest.mark.nojit
def test_a_load_faults_though_nobody_uses_its_result(body: str, words: str) -> None:
    with pytest.raises(KernelFault, match=words):
        run(body)


@pytest.mark.nojit
def test_a_barrier_number_from_a_register_is_checked_when_it_comes() -> None:
    with pytest.raises(KernelFault, match=r"waits at barrier 99; a CTA has barriers 0 to 15"):
        run("ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 99; bar.sync %r1;")


SUM = """
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, {active};
@!%p1 bra $done;
ld.param.u64 %rd1, [a];
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd1, %rd1, %rd2;
mov.u32 %r2, 1;
shfl.sync.{mode}.b32 %r3, %r2, 16, {clamp}, -1; add.u32 %r2, %r2, %r3;
shfl.sync.{mode}.b32 %r3, %r2, 8, {clamp}, -1;  add.u32 %r2, %r2, %r3;
shfl.sync.{mode}.b32 %r3, %r2, 4, {clamp}, -1;  add.u32 %r2, %r2, %r3;
shfl.sync.{mode}.b32 %r3, %r2, 2, {clamp}, -1;  add.u32 %r2, %r2, %r3;
shfl.sync.{mode}.b32 %r3, %r2, 1, {clamp}, -1;  add.u32 %r2, %r2, %r3;
st.global.u32 [%rd1], %r2;
$done:
"""


@pytest.mark.parametrize("active", [1, 7, 20, 31])
@pytest.mark.parametrize("mode", ["bfly", "down"])
@pytest.mark.nojit
def test_a_shuffle_reads_0_from_lanes_that_are_not_active(mode: str, active: int) -> None:
    body = SUM.format(active=active, mode=mode, clamp=31).replace(", -1;", f", {(1 << active) - 1};")
    simulator = run(body)
    assert simulator.buffers()["A"][0] == active, "the sum over part of a warp, in lane 0"


def loaded(text: str) -> Simulator:
    buffers = {"A": np.arange(64, dtype=np.uint32)}
    return Simulator(launch_of_text(LAUNCH, "k", buffers, {}), module=decode_module(text, "k.ptx"))


def run(body: str) -> Simulator:
    simulator = loaded(kernel(body))
    simulator.run()
    return simulator
