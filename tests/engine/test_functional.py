"""The functional mode's own promises: its clock, turns, faults and limits; other tests compare its memory.

test_kernels.py, test_against_reference.py, one_warp.py and tests/robustness/control_flow.py run the same kernels cycle by cycle
and by values only.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from tests.corpus.make import FOLDER
from tests.engine.one_warp import run_one_warp

BAD = FOLDER / "bad"
FAULTS = [name for name, entry in tomllib.loads((BAD / "EXPECTED.toml").read_text()).items() if entry["exit"] == 3
          and name != "endless_loop"]       # which instruction a loop is stopped at says nothing
HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>; .shared .align 4 .b8 flag[4];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
"""


def simulator_of(folder: Path, body: str, *, grid: int, block: int, words: int, **options: object) -> FunctionalSimulator:
    """Return a functional machine for a kernel with a buffer of zeros."""
    (folder / "k.ptx").write_text(f"{HEAD}{body} ret; }}")
    (folder / "k.toml").write_text(f'[[launch]]\ngrid = [{grid}]\nblock = [{block}]\nargs = [{{buffer = "out"}}]\n'
                                   f'[buffers.out]\nshape = [{words}]\ndtype = "uint32"\nzeros = true\n')
    return FunctionalSimulator(load_launch_file(folder / "k.toml"), **options)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_that_of_the_cycle_level_machine_whichever_warp_meets_it_first(name: str) -> None:
    spec, found = load_launch_file(BAD / f"{name}.toml"), []
    for kind in (Simulator, FunctionalSimulator):
        simulator = kind(spec, max_cycles=20_000)
        with pytest.raises(KernelFault) as raised:
            simulator.run()
        found.append(raised.value)
    cycles, values = found
    assert type(cycles) is type(values) and (cycles.pc, cycles.lane) == (values.pc, values.lane)
    assert str(cycles).split(" warp ")[0] == str(values).split(" warp ")[0]
    assert "cycle " not in str(values)


@pytest.mark.nojit
def test_a_fault_says_which_instruction_of_its_warp_it_is(tmp_path: Path) -> None:
    # of warp 1 the 9th: the three of the head, and these
    body = "mov.u32 %r3, 5; setp.ge.u32 %p1, %r1, 32; mov.u64 %rd2, 64; @%p1 st.global.u32 [%rd2], %r3;"
    machine = simulator_of(tmp_path, body, grid=1, block=64, words=1)
    with pytest.raises(KernelFault, match=r"writes 4 bytes at 0x40.*warp 1, lane 0, CTA 0, instruction (\d+) of the warp") as raised:
        machine.run()
    assert int(str(raised.value).split("instruction ")[1].split()[0]) == raised.value.pc + 1     # there is no loop


@pytest.mark.nojit
def test_the_clock_counts_warp_instructions_and_a_step_executes_as_many_as_asked() -> None:
    spec = load_launch_file(FOLDER / "votes" / "votes.sm75.toml")
    whole, parts = FunctionalSimulator(spec), FunctionalSimulator(spec)
    whole.run()
    steps = 0
    while not parts.finished:
        ran = parts.step(7)
        steps += 1
        assert ran == 7 or parts.finished
    assert whole.instructions == parts.instructions == int(whole.summary()["warp_instructions"]) and steps > 2
    assert {k: v.tobytes() for k, v in whole.buffers().items()} == {k: v.tobytes() for k, v in parts.buffers().items()}


@pytest.mark.nojit
def test_warps_and_ctas_that_poll_let_others_go_on(tmp_path: Path) -> None:
    body = """setp.ge.u32 %p1, %r1, 32; @%p1 bra SET;
      POLL: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, 2; @%p2 bra POLL; bra DONE;
      SET: setp.eq.u32 %p1, %r1, 32; @%p1 atom.global.add.u32 %r3, [%rd1], 1;
      DONE: """
    machine = simulator_of(tmp_path, body, grid=2, block=64, words=1, max_cycles=2_000)
    machine.run()
    assert machine.buffers()["out"].tolist() == [2]


def test_a_loop_without_end_is_stopped_after_what_the_cycles_could_issue(tmp_path: Path) -> None:
    machine = simulator_of(tmp_path, "LOOP: add.u32 %r3, %r3, 1; bra LOOP;", grid=1, block=32, words=1, max_cycles=10_000)
    with pytest.raises(KernelFault, match=r"20,000 warp instructions, as many as issue in at most 10,000 cycles; .*--max-cycles"):
        machine.run()
    assert machine.instructions == 20_000


def test_a_launch_whose_ctas_keep_ending_goes_on_past_the_limit_and_one_that_stops_ending_them_does_not(tmp_path: Path) -> None:
    body = """mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 100; @%p1 bra LOOP;
      setp.eq.u32 %p2, %r2, STUCK; @%p2 bra LOOP; atom.global.add.u32 %r4, [%rd1], 1;"""
    fine = simulator_of(tmp_path, body.replace("STUCK", "999"), grid=100, block=32, words=1, max_cycles=3_000)
    fine.run()
    assert fine.instructions > 4 * 3_000 * 2 and fine.buffers()["out"].tolist() == [3_200]
    stuck = simulator_of(tmp_path, body.replace("STUCK", "99"), grid=100, block=32, words=1, max_cycles=3_000)
    with pytest.raises(KernelFault, match="6,000 warp instructions after its last CTA that ended, as many as issue in at most 3,000"):
        stuck.run()
    assert stuck.buffers()["out"].tolist() == [99 * 32]


@pytest.mark.nojit
def test_bad_accesses_are_dropped_and_reported_if_the_launch_is_to_go_on(tmp_path: Path) -> None:
    body = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], 7;"
    machine = simulator_of(tmp_path, body, grid=2, block=64, words=16, settings={"kernel.on_fault": "report"})
    machine.run()
    assert machine.buffers()["out"].tolist() == [7] * 16
    assert [report.count for report in machine.reports] == [4]       # warps


@pytest.mark.nojit
def test_a_clock_goes_on_while_a_warp_waits_for_it(tmp_path: Path) -> None:
    body = """mov.u32 %r3, %clock; AGAIN: mov.u32 %r4, %clock; sub.u32 %r4, %r4, %r3; setp.lt.u32 %p1, %r4, 50;
      @%p1 bra AGAIN; st.global.u32 [%rd1], %r4;"""
    machine = simulator_of(tmp_path, body, grid=1, block=32, words=1)
    machine.run()
    assert 50 <= machine.buffers()["out"][0] < 60


ACCESS = """.version 8.0
.target sm_75
.address_size 64
.const .align 4 .b32 table[4] = {5, 6, 7, 8};
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<9>, %t, %v; .reg .b64 %a<9>, %in, %out; .reg .pred %p<3>; .shared .align 16 .b8 s[512]; .local .align 16 .b8 l[64];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %v, 0; mul.wide.u32 %a1, %t, 4;
  add.u64 %a2, %in, %a1; add.u64 %a3, %out, %a1; mov.u32 %r1, s; mov.u32 %r2, l; shl.b32 %r3, %t, 2; shl.b32 %r4, %t, 4;
"""
ACCESSES = {        # what is in %v at the end is stored
    "a load of consecutive words": ("ld.global.u32 %v, [%a2];", lambda t: t + 100),
    "a load of all lanes at one place": ("ld.global.u32 %v, [%in+12];", lambda t: 103),
    "a load under a guard": ("setp.lt.u32 %p1, %t, 5; @%p1 ld.global.u32 %v, [%a2];", lambda t: t + 100 if t < 5 else 0),
    "stores of several lanes to one word": (
        "and.b32 %r5, %t, 3; mul.wide.u32 %a4, %r5, 4; add.u64 %a4, %in, %a4; st.global.u32 [%a4], %t; "
        "ld.volatile.global.u32 %v, [%in+8];", lambda t: 30),
    "a store of an immediate": ("st.global.u32 [%a2], 9; ld.volatile.global.u32 %v, [%a2];", lambda t: 9),
    "a shared address that wraps": (
        "add.u32 %r5, %r1, %r3; sub.u32 %r5, %r5, 64; st.shared.u32 [%r5+64], %t; ld.shared.u32 %v, [%r5+64];", lambda t: t),
    "vectors in shared memory": (
        "add.u32 %r5, %r1, %r4; st.shared.v4.u32 [%r5], {%t, %r3, %r4, %t}; bar.warp.sync -1; ld.shared.v2.u32 {%r6, %v}, [s+40];",
        lambda t: 2),
    "local memory at lanes' own places": (
        "and.b32 %r5, %r3, 12; add.u32 %r5, %r2, %r5; st.local.u32 [%r5], %t; ld.local.u32 %v, [%r5];", lambda t: t),
    "pairs in local memory": ("st.local.v2.u32 [l+8], {%r3, %t}; ld.local.v2.u32 {%r6, %v}, [l+8];", lambda t: t),
    "generic addresses of shared and local memory": (
        "cvt.u64.u32 %a4, %r1; cvta.shared.u64 %a4, %a4; cvt.u64.u32 %a5, %r2; cvta.local.u64 %a5, %a5; "
        "setp.lt.u32 %p1, %t, 16; selp.b64 %a4, %a4, %a5, %p1; st.u32 [%a4+4], %t; ld.u32 %v, [%a4+4];",
        lambda t: 15 if t < 16 else t),
    "a constant at lanes' own places": (
        "mov.u64 %a4, table; and.b32 %r5, %r3, 12; cvt.u64.u32 %a5, %r5; add.u64 %a4, %a4, %a5; ld.const.u32 %v, [%a4];",
        lambda t: 5 + t % 4),
    "bytes": ("add.u64 %a4, %a2, 1; ld.global.u8 %v, [%a2]; ld.global.s8 %r5, [%a4]; add.u32 %v, %v, %r5;", lambda t: t + 100),
    "signed and unsigned parts of a word": (
        "add.u32 %r5, %r1, %r3; st.shared.u32 [%r5], 0x8182F3F4; ld.shared.s8 %v, [%r5+1]; ld.shared.s16 %r6, [%r5+2]; "
        "ld.shared.u16 %r7, [%r5+2]; add.u32 %v, %v, %r6; add.u32 %v, %v, %r7;", lambda t: 0x8182 + 0x8182 - 0x10000 - 13),
    "a byte under a guard": ("setp.lt.u32 %p1, %t, 5; @%p1 ld.global.u8 %v, [%a2];", lambda t: t + 100 if t < 5 else 0),
    "bytes of local memory": (
        "and.b32 %r5, %t, 3; add.u32 %r5, %r2, %r5; st.local.u32 [l], 0x04030201; ld.local.u8 %v, [%r5];", lambda t: t % 4 + 1),
    "eight bytes": ("ld.global.u64 %a4, [%in+8]; st.local.u64 [l], %a4; ld.local.u32 %v, [l+4];", lambda t: 103),
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", ACCESSES)
def test_accesses_of_all_lanes_at_once_are_those_of_the_machine(tmp_path: Path, name: str) -> None:
    body, value = ACCESSES[name]
    words = np.arange(100, 132, dtype=np.uint32).reshape(32, 1)
    got = run_one_warp(tmp_path, f"{ACCESS}{body} st.global.u32 [%a3], %v; ret; }}", words, 1)[:, 0]
    assert got.tolist() == [value(t) for t in range(32)]


@pytest.mark.nojit
@pytest.mark.parametrize("body", [
    "setp.eq.u32 %p1, %t, 9; selp.u64 %a4, 1, 0, %p1; add.u64 %a2, %a2, %a4; ld.global.u32 %v, [%a2];",     # misaligned
    "ld.global.u32 %v, [%a2+4];", "st.global.u32 [%a2+-4], %t;",            # the last lane, the first one
    "add.u32 %r5, %r1, %r4; ld.shared.v4.u32 {%r5, %r6, %r7, %v}, [%r5+16];", "add.u32 %r5, %r2, %r3; ld.local.u32 %v, [%r5];",
])
def test_a_bad_lane_of_an_access_is_a_fault_of_that_lane(tmp_path: Path, body: str) -> None:
    with pytest.raises(KernelFault):        # run_one_warp compares both
        run_one_warp(tmp_path, f"{ACCESS}{body} st.global.u32 [%a3], %v; ret; }}", np.zeros((32, 1), np.uint32), 1)


def test_several_launches_share_memory_and_a_machine_runs_again_from_the_start() -> None:
    spec = load_launch_file(kernels.path("gaussian"))
    assert len(spec.launches) > 1
    machine = FunctionalSimulator(spec)
    begin = machine.checkpoint()
    machine.run()
    first = machine.instructions
    assert machine.verify() == (True, [])
    machine.restore(begin)
    machine.run()
    assert machine.instructions == first and machine.verify() == (True, [])


def test_cycles_are_not_to_be_had() -> None:
    machine = FunctionalSimulator(load_launch_file(kernels.path("vectoradd")))
    with pytest.raises(InputError, match="no cycles to record"):
        machine.record_chunk()
    with pytest.raises(InputError, match="no time and no energy"):
        machine.energy()
    assert "cycles" not in machine.summary()
    assert isinstance(machine.buffers()["c"], np.ndarray)
