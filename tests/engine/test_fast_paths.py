"""The fast paths change not a single bit: skipping idle cycles, recording, compiled code, long steps, live keyframes.

A small run of each design is done in every way, and cycles, memory, registers and state at sampled cycles, stall totals,
event counts and energy are compared. Skipping cannot be switched off: but a machine that was not idle runs the next cycle
in full (engine/machine/cycle.py), so a run in which `was_idle` is cleared before each cycle never skips one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Any

import pytest

from rfview.engine.simulator import Simulator
from rfview.engine.snapshot import Snapshot
from rfview.sessions.timeline import live
from rfview.sessions.timeline.live import LiveTimeline
from tests.harness import Assembly, Machine
from tests.properties.runs import spec_of

# Cut to two launches of four CTAs: shared and global atomics, barriers, reductions, divergence, long waits for memory.
CASES = (
    ("histogram", "sram", "gto"), ("bfs", "sram", "lrr"), ("2dconv", "stt", "two_level"), ("bfs", "stt[stall=bank]", "lrr"),
    ("bfs", "hrf", "switch_on_stall"), ("scalarprod", "single_buffer", "gto"), ("bfs", "rfc", "two_level"),
    ("2dconv", "hcrf", "gto"), ("scalarprod", "edram", "lrr"), ("bfs", "racetrack", "gto"),
)
SAMPLES = 12
needs_jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes minutes without JIT")
each_case = pytest.mark.parametrize("case", CASES, ids="-".join)
Case = tuple[str, str, str]


def simulator(case: Case) -> Simulator:
    """Return a fresh simulator of a case: kernel, design, scheduler."""
    kernel, design, scheduler = case
    return Simulator(spec_of(kernel, True), design=design, scheduler=scheduler)


def facts(run: Simulator) -> dict[str, Any]:
    """Return a run's complete result: summary (cycles, stall totals, counts, energy), memory and buffers."""
    memory = sha256(run.arena.tobytes()).hexdigest()
    return {**run.summary(), "memory": memory, "buffers": {name: array.tobytes() for name, array in run.buffers().items()}}


@lru_cache
def truth(case: Case) -> tuple[dict[str, Any], dict[int, Snapshot]]:
    """Return the result of a run at full speed, and its snapshots at random cycles and at the end."""
    run = simulator(case)
    run.run()
    order = random.Random(" ".join(case))
    stops = sorted({*(order.randrange(run.cycle) for _ in range(SAMPLES)), 0, 1, run.cycle - 1})
    shots, again = {run.cycle: run.snapshot()}, simulator(case)
    for stop in stops:
        again.step(stop - again.cycle)
        shots[stop] = again.snapshot()
    return facts(run), shots


def check(run: Simulator, expected: tuple[dict[str, Any], dict[int, Snapshot]], advance: Callable[[int], None]) -> None:
    """Take a run to each sampled cycle in turn by `advance(cycles)` and compare; then compare its result."""
    for stop, shot in sorted(expected[1].items()):
        if stop > run.cycle:
            advance(stop - run.cycle)
        assert run.snapshot().same_as(shot), stop
    assert run.finished and facts(run) == expected[0]


@needs_jit
@each_case
def test_a_run_that_never_skips_idle_cycles_is_the_same(case: Case) -> None:
    expected, run = truth(case), simulator(case)

    def one_by_one(cycles: int) -> None:
        for _ in range(cycles):
            run.sm.was_idle = 0
            run.step(1)

    check(run, expected, one_by_one)


@needs_jit
@each_case
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_the_size_of_the_steps_changes_nothing(case: Case, size: int) -> None:
    expected, run = truth(case), simulator(case)

    def in_steps(cycles: int) -> None:
        for done in range(0, cycles, size):
            run.step(min(size, cycles - done))

    check(run, expected, in_steps)


@needs_jit
@each_case
@pytest.mark.parametrize("size", [1024, 61])
def test_recording_changes_nothing(case: Case, size: int) -> None:
    expected, run = truth(case), simulator(case)

    def recorded(cycles: int) -> None:
        stop = run.cycle + cycles
        while run.cycle < stop:
            run.record_chunk(min(size, stop - run.cycle), values=False)

    check(run, expected, recorded)


@needs_jit
def test_recording_without_skipping_changes_nothing() -> None:
    case = ("bfs", "hrf", "switch_on_stall")
    expected, run = truth(case), simulator(case)

    def one_by_one(cycles: int) -> None:
        for _ in range(cycles):
            run.sm.was_idle = 0
            run.record_chunk(1, values=False)

    check(run, expected, one_by_one)


@needs_jit
@each_case
@pytest.mark.parametrize("rate", [1e30, 1e-30], ids=["keyframes everywhere", "only the first keyframe"])
def test_live_rewinds_show_the_run_itself(case: Case, rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "KEYFRAME_RATE", rate)
    monkeypatch.setattr(live, "KEYFRAME_REST", 0)
    expected, run = truth(case), simulator(case)
    timeline = LiveTimeline(run, chunk_cycles=256)
    while timeline.extend(700):
        pass
    assert (len(timeline._keyframes.cycles) == 1) == (rate < 1)
    assert facts(run) == expected[0]
    order = list(expected[1].items())
    random.Random(7).shuffle(order)
    for cycle, shot in order:
        assert timeline.at(cycle).same_as(shot), cycle
    end = timeline.checkpoint_at(timeline.last)
    run.restore(end)
    assert facts(run) == expected[0]


def program() -> Assembly:
    """Return loads, arithmetic, a divergent branch, a loop, shared memory, a barrier and stores, for JIT on and off."""
    code = Assembly().mov(1, 0).sreg(2, 0).add(2, 2, 2).add(2, 2, 2).mov(5, 3)
    loop = len(code.insts)
    code.ld(3, offset=64).fma(4, 3, 3, 3).add(1, 1, imm=1).st(4, 2, shared=True).ld(6, 2, shared=True).add(5, 5, 6)
    code.setp_lt(0, 1, 3).bra(loop, guard=0)
    return code.sfu(7, 5).bar().st(7, offset=128).exit()


def walked(design: str) -> Iterator[str]:
    """Yield a fingerprint of every cycle of the hand-made program, then the run's summary."""
    run = Machine(program(), warps=2, ctas=2, design=design).simulator
    while not run.finished:
        run.step(1)
        shot = run.snapshot()
        parts = (shot.sm, shot.rf, shot.rows, shot.memory)
        yield sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:12]
    yield json.dumps(run.summary(), sort_keys=True)


@pytest.mark.slow
def test_compiled_code_and_plain_python_agree_in_every_cycle_of_every_design() -> None:
    designs = list(dict.fromkeys(design for _, design, _ in CASES))
    code = ("import sys, json; from tests.engine.test_fast_paths import walked;"
            "print(json.dumps({design: list(walked(design)) for design in sys.argv[1:]}))")
    found = []
    for off in ("0", "1"):
        env = {**os.environ, "NUMBA_DISABLE_JIT": off}
        command = [sys.executable, "-W", "ignore", "-c", code, *designs]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout))
    for design in designs:
        compiled, plain = found[0][design], found[1][design]
        assert len(compiled) > 150 and compiled[-1] == plain[-1], design
        assert [cycle for cycle, (a, b) in enumerate(zip(compiled, plain)) if a != b] == [], design
