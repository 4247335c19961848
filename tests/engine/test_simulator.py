"""The whole machine on bundled kernels: right results, balanced totals, and the same run however it is stepped."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from rfview.engine import kernels, plugin, ptx, state
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.state import COLLECT, FREE
from tests.harness import Assembly, Machine

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
needs_jit = pytest.mark.skipif(JIT_OFF, reason="whole kernels take minutes without JIT")


def simulator(name: str, **more: Any) -> Simulator:
    """Return a simulator of a bundled kernel."""
    return Simulator(load_launch_file(kernels.path(name)), **more)


@needs_jit
@pytest.mark.parametrize("scheduler", ["lrr", "gto"])
@pytest.mark.parametrize("design", ["sram", "stt", "stt[stall=bank]"])
@pytest.mark.parametrize("name", kernels.CORE)
def test_bundled_kernel_is_right_and_its_account_balances(name: str, design: str, scheduler: str) -> None:
    run = simulator(name, design=design, scheduler=scheduler)
    run.run()
    summary = run.summary()
    assert summary["verified"] is True, summary["mismatches"]
    assert summary["issued"] + sum(summary["stalls"].values()) == summary["warp_cycles"]
    assert summary["issued"] == summary["warp_instructions"]
    assert 5_000 <= summary["cycles"] <= 500_000
    placed = run.placement.launches[0]
    assert placed.launch.num_ctas >= 2 * placed.resident_ctas


@needs_jit
@pytest.mark.parametrize("name", ["vectoradd", "reduction", "bfs"])
def test_one_big_step_equals_many_small_ones(name: str) -> None:
    a, b = simulator(name), simulator(name)
    a.step(3000)
    for _ in range(3000):
        b.step(1)
    assert a.snapshot().same_as(b.snapshot())


@needs_jit
@pytest.mark.parametrize("design", ["sram", "stt", "stt[stall=bank]"])
@pytest.mark.parametrize("name", ["vectoradd", "bfs"])
def test_skipping_idle_cycles_changes_nothing(name: str, design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # stepping one cycle at a time skips nothing beyond that cycle; whole states are compared at arbitrary cycles
    a, b = simulator(name, design=design), simulator(name, design=design)
    for stop in (1, 97, 500, 1003, 2500):
        a.step(stop - a.cycle)
        while b.cycle < stop:
            b.step(1)
            b.sm.was_idle = 0
        assert a.snapshot().same_as(b.snapshot()), stop


@needs_jit
@pytest.mark.parametrize("name", ["reduction", "bfs"])
def test_an_end_lies_behind_its_issue_and_is_known_once_the_instruction_has_left_for_its_unit(name: str) -> None:
    run, ends = simulator(name), 0
    for _ in range(3000):
        run.step(1)
        table, stage = run.sm.inflight, run.sm.inflight["stage"]
        known = table["done_cycle"] > table["issue_cycle"]
        away = (stage > COLLECT) & (np.arange(len(table)) != run.sm.ldst_head)
        assert not known[stage == COLLECT].any() and known[away].all(), run.cycle
        assert (table["done_cycle"][stage != FREE] < run.cycle + 10_000).all()
        ends += int((table["done_cycle"][away] == run.cycle).sum())
    assert ends > 500


@needs_jit
def test_checkpoint_restores_the_whole_machine() -> None:
    run = simulator("bfs", design="stt")
    run.step(5000)
    kept = run.checkpoint()
    before = run.snapshot()
    run.step(4000)
    after = run.snapshot()
    run.restore(kept)
    assert run.snapshot().same_as(before)
    run.step(4000)
    assert run.snapshot().same_as(after)


@needs_jit
def test_recording_changes_nothing() -> None:
    a, b = simulator("reduction"), simulator("reduction")
    a.run()
    while b.record_chunk().num_cycles:
        pass
    assert a.snapshot().same_as(b.snapshot())


@needs_jit
def test_designs_compiled_in_other_processes_do_not_take_each_others_place() -> None:
    # each design is compiled in its own process, now or earlier; a third process loads both from the cache and runs them
    # without compiling
    code = (
        "import sys; from tests.engine.test_simulator import simulator\n"
        "from rfview.engine.machine import cycle\n"
        "for design in sys.argv[1:]:\n"
        "    run = simulator('nw', design=design); run.step(20000); print(int(run.sm.events[0]))\n"
        "print(sum(cycle.run.stats.cache_misses.values()))"
    )

    def issued(*names: str) -> list[int]:
        """Return the instructions issued under each design, and how many designs had to be compiled."""
        command = [sys.executable, "-W", "ignore", "-c", code, *names]
        return [int(word) for word in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]

    sram, stt = (issued(name)[0] for name in ("sram", "stt"))
    assert sram != stt
    assert issued("sram", "stt") == [sram, stt, 0]
    assert issued("stt", "sram") == [stt, sram, 0]


def test_unknown_names_are_one_clear_error() -> None:
    spec = load_launch_file(kernels.path("vectoradd"))
    with pytest.raises(InputError, match="no register-file design 'srma'.*sram"):
        Simulator(spec, design="srma")
    with pytest.raises(InputError, match="--scheduler greedy: there are .*gto"):
        Simulator(spec, scheduler="greedy")
    with pytest.raises(InputError, match="sm.num_warp: no such parameter.*sm.num_warps"):
        Simulator(spec, settings={"sm.num_warp": 8})
    with pytest.raises(InputError, match="expected 1..64"):
        Simulator(spec, settings={"sm.num_warps": 65})
    with pytest.raises(InputError, match="stt.stall=maybe: expected one of pipeline, bank"):
        Simulator(spec, design="stt[stall=maybe]")
    with pytest.raises(InputError, match="stt.write_cycle: no such parameter; did you mean stt.write_cycles"):
        Simulator(spec, design="stt[write_cycle=3]")


def test_a_number_of_a_design_keeps_to_its_range() -> None:
    for design in (plugin.design(name) for name in plugin.BUILT_IN):
        switches = [one for one in design.parameters if one.unit == "0 or 1"]
        assert all(plugin.greatest(one) == 1 for one in switches), f"{design.name}: what is 0 or 1 needs high=1"
    for variant, settings, said in (
        ("rfc[liveness=7]", {}, "rfc.liveness=7: expected 0 to 1"), ("rfc[entries=9]", {}, "expected 1 to 8"),
        ("racetrack[ports=0]", {}, "expected 1 to 4,096"), ("edram[m=9]", {}, "expected 0 to 4"),
        ("edram[node=14]", {}, "expected one of 22, 16, 11"), ("hrf[wb_write_ports=0]", {}, "expected 1 or more"),
        ("stt", {"stt.write_cycles": 2.5}, "expected a number like 4"), ("stt", {"stt.write_cycles": float("inf")}, "like 4"),
    ):
        with pytest.raises(InputError, match=said):
            plugin.build(variant, settings, "")
    assert plugin.build("rfc[liveness=off]", {"rfc.entries": 4.0}, "").values["rfc.entries"] == 4


def test_wild_address_names_kernel_line_warp_lane_and_address() -> None:
    machine = Machine(Assembly().mov(1, 8192).ld(2, 1).exit())
    with pytest.raises(KernelFault, match=r"test reads 4 bytes at 0x700000002000.*test.ptx:2.*warp 0, lane 0"):
        machine.run()
    assert machine.simulator.cycle > 0


def test_cycle_limit_names_the_hottest_line() -> None:
    machine = Machine(Assembly().bra(0).exit(), max_cycles=50)
    said = "did not end within 50 cycles; raise the limit with --max-cycles.*line 1.*; the warps: no_cta 47, [a-z_]+ 1"
    with pytest.raises(KernelFault, match=said):
        machine.run()


def test_barrier_that_cannot_open_is_a_deadlock_at_once() -> None:
    machine = Machine(Assembly().bar(count=64).exit())
    with pytest.raises(KernelFault, match="waits at a barrier that can never complete"):
        machine.run(limit=100)


def test_registers_live_where_hcrf_says() -> None:
    # HC-RF section IV-A, n = 20: warp 0 R0..R15 = row 0, R16..R19 = row 1 of banks 0..3; warp 1 R0 = row 1 of bank 4
    machine = Machine(Assembly().mov(0, 1).exit(), warps=2, registers=20).run()
    bases = [int(shot.sm.warp[1].reg_base) for shot in machine.snapshots if int(shot.sm.resident) & 2]
    assert set(bases) == {20}
    places = {(warp, reg): divmod(warp * 20 + reg, 16) for warp in (0, 1) for reg in range(20)}
    assert [places[0, reg] for reg in (0, 15, 16, 19)] == [(0, 0), (0, 15), (1, 0), (1, 3)]
    assert [places[1, reg] for reg in (0, 11, 12, 19)] == [(1, 4), (1, 15), (2, 0), (2, 7)]
    from rfview.engine.machine.registers import default_bank

    sm = machine.snapshots[3].sm
    assert [int(default_bank(sm, warp, reg)) for (warp, reg) in places] == [bank for _, bank in places.values()]


def test_unwritten_registers_and_shared_memory_are_zero() -> None:
    program = Assembly().ld(1, shared=True, offset=8).add(2, 1, imm=3).mov(3, 64).st(2, 3, shared=True, offset=8).exit()
    machine = Machine(program, ctas=20, warps=1)
    machine.simulator.run()
    assert np.array_equal(machine.simulator.buffers()["data"], np.zeros(1024, np.uint32))


def test_who_loads_a_long_module_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptx, "LONG_MODULE", 10)
    ptx._decoded_of.cache_clear()      # another test may have decoded it
    told: list[tuple[float | None, str]] = []
    Simulator(load_launch_file(kernels.path("vectoradd")), progress=lambda *what: told.append(what))
    assert [fraction for fraction, _ in told] == [None, 1.0]
    assert told[0][1].startswith("loading vectoradd: ") and told[0][1].endswith(" lines of PTX")


@pytest.mark.parametrize("limit", [100_000, 3_000_000])
def test_a_register_that_is_never_released_ends_the_run_with_the_warp_and_the_last_issue(limit: int) -> None:
    machine = Machine(Assembly().mov(1, 8).add(2, 1, imm=1).add(3, 2, imm=1).exit(), max_cycles=limit)
    simulator = machine.simulator
    while not (simulator.sm.wheel != state.NONE8).any():
        simulator.step(1)
    simulator.sm.wheel[:] = state.NONE8         # the result of the first instruction never comes
    said = "nothing has issued since cycle [0-9]+; w0 is in state wait and waits for R1; .*add.*warp 0, lane 0"
    with pytest.raises(KernelFault, match=said):
        simulator.run()
    assert simulator.cycle == min(limit, 2 << 20)


@pytest.mark.nojit
def test_a_machine_is_freed_as_soon_as_nothing_refers_to_it() -> None:
    simulator = Simulator(load_launch_file(kernels.path("vectoradd")))
    simulator.step(10)
    alive = weakref.ref(simulator)
    gc.disable()        # sweeps would wait for it, with megabytes per job
    try:
        del simulator
        assert alive() is None
    finally:
        gc.enable()
