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
