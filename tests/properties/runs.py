"""One run of the property set: a kernel on a design under a scheduler, run to its end, partly checked cycle by cycle.

A run is watched from its first cycle on and again from three quarters on (`windows`); between them it runs at full
speed. At the end its memory is compared with that of plain `sram`, and the sums are checked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from rfview.engine import kernels
from rfview.engine import batch, defaults
from rfview.engine.batch import Job
from rfview.engine.errors import KernelFault
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.plugin import BUILT_IN
from rfview.engine.simulator import Simulator
from rfview.sessions.timeline.live import LiveTimeline
from tests.properties.causes import wrong_causes
from tests.properties.designs import checks_of
from tests.properties.sums import wrong_sums
from tests.properties.watch import Watch

MAPPED = "+mapping"             # suffix of a racetrack variant: uses the mapping from a profiling run
VARIANTS = ("stt[stall=bank]", "hrf[power_gating=true]", "rfc[main=stt]", "edram[precise_only=true]",
            "racetrack[preshift=false]", "racetrack" + MAPPED, "racetrack[preshift=false]" + MAPPED)
DESIGNS = (*BUILT_IN, *VARIANTS)
PLACES = 48                     # registers whose location is checked at the end of each watched part
SMALL_CTAS, SMALL_LAUNCHES = 4, 2


@dataclass(frozen=True)
class Case:
    """One run. windows: (first cycle, cycles) of the watched parts, in order. small: only the first CTAs and launches."""

    kernel: str
    design: str
    scheduler: str
    windows: tuple[tuple[int, int], ...] = ()
    small: bool = False
    memory: str = ""            # expected fingerprint of the final memory; "": nothing to compare with
    preset: str = defaults.PRESET


@dataclass
class Outcome:
    """The result of a run: sentences about what is wrong, and how much was checked."""

    case: Case
    wrong: list[str]
    cycles: int = 0
    watched: int = 0
    reads: int = 0
    writes: int = 0
    memory: str = ""
    same: bool | None = None
    notes: list[str] = field(default_factory=list)


@lru_cache
def spec_of(kernel: str, small: bool) -> LaunchSpec:
    """Return a bundled kernel's launch file; small: its first launches with a few CTAs each."""
    spec = load_launch_file(Path(kernels.path(kernel)))
    if not small:
        return spec
    launches = tuple(replace(launch, grid=few(launch.grid)) for launch in spec.launches[:SMALL_LAUNCHES])
    return replace(spec, launches=launches, expect={})


def few(grid: Sequence[int]) -> tuple[int, int, int]:
    """Return a grid reduced to at most SMALL_CTAS CTAs."""
    x = min(grid[0], SMALL_CTAS)
    y = min(grid[1], max(1, SMALL_CTAS // x))
    return x, y, 1


def simulator_of(case: Case) -> Simulator:
    """Return the machine of a case, ready to run; a mapped racetrack is profiled on plain tapes first."""
    variant = case.design.removesuffix(MAPPED)
    spec = spec_of(case.kernel, case.small)
    settings = {}
    if case.design.endswith(MAPPED):
        settings["racetrack.mapping"] = batch.mapping_of(spec, Job(case.kernel, variant, case.scheduler))[0]
    return Simulator(spec, design=variant, scheduler=case.scheduler, preset=case.preset, settings=settings)


def is_exact(design: str) -> bool:
    """Return whether a design must keep every bit."""
    return not design.startswith("edram") or "precise_only" in design


def run(case: Case) -> Outcome:
    """Do one run and return its outcome."""
    simulator = simulator_of(case)
    outcome = Outcome(case, [])
    try:
        for first, cycles in case.windows:
            if first > simulator.cycle:
                simulator.step(first - simulator.cycle)
            watch_part(simulator, cycles, outcome)
        simulator.run()
    except KernelFault as fault:
        if is_exact(case.design):
            outcome.wrong.append(str(fault))
        else:
            outcome.notes.append(f"misbehaved under injected errors: {fault}")
    summary = simulator.summary()
    outcome.cycles = simulator.cycle
    outcome.wrong += wrong_sums(summary, simulator.built.chain, simulator.built.values)
    outcome.memory = batch.fingerprint({**simulator.symbols(), **simulator.buffers()})
    outcome.wrong += wrong_causes(charged(case, outcome.cycles))
    if case.memory and is_exact(case.design) and not simulator.spec.order_dependent:
        outcome.same = outcome.memory == case.memory
        if not outcome.same:
            outcome.wrong.append("final memory differs from sram's")
    return outcome


def charged(case: Case, cycles: int) -> LiveTimeline:
    """Return the run of a case again up to the end of what was watched first, at least a chunk of it, as a timeline."""
    timeline = LiveTimeline(simulator_of(case), records=False)
    timeline.extend(min(cycles, max((first + length for first, length in case.windows[:1]), default=1)))
    return timeline


def watch_part(simulator: Simulator, cycles: int, outcome: Outcome) -> None:
    """Run cycles one by one under all checks; events must agree with what was observed from outside."""
    watch = Watch(simulator, exact=is_exact(outcome.case.design))
    checks = checks_of(watch)
    try:
        for _ in range(cycles):
            for check in checks:
                check.before()
            if simulator.finished or not watch.step():
                break
            for check in checks:
                check.after()
        held = watch.held()
        watch.check_events()
        watch.check_places(random.Random(simulator.cycle).sample(held, min(PLACES, len(held))))
    finally:
        outcome.wrong += watch.wrong
        outcome.watched += watch.cycles
        outcome.reads += watch.reads
        outcome.writes += watch.writes
