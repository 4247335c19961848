"""One run of the machine as plain data, and its execution, which returns a summary as plain data.

A run that misbehaves is a result, not an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import defaults
from rfview.engine.batch import nudge
from rfview.engine.errors import KernelFault

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.engine.simulator import Simulator

Result = dict[str, Any]
KEPT_LAUNCHES = 128


@dataclass(frozen=True)
class Job:
    """One run: a launch file on a machine. settings: sorted ("section.key", value) pairs; kind: how it is run.

    kind: "run" | "mapped" (racetrack with the mapping of a profiling run) | "sampled" (with what only stepping through
    it shows) | "tlp" (the profile of CTAs per SM). outputs: return the arrays that the launch file expects, or all buffers.
    nudge: so many nudged runs follow it, to show what comes by chance (nudge.py).
    """

    path: str
    design: str = defaults.DESIGN
    scheduler: str = defaults.SCHEDULER
    preset: str = defaults.PRESET
    settings: tuple[tuple[str, Any], ...] = ()
    max_cycles: int = defaults.MAX_CYCLES
    kind: str = "run"
    outputs: bool = False
    nudge: int = 0

    @property
    def title(self) -> str:
        """Return the job's name for the progress line."""
        return f"{self.kernel} under {self.design}, {self.scheduler}"

    @property
    def kernel(self) -> str:
        """Return the launch file's name without its suffix; it is the same for a bundled kernel's full size."""
        path = Path(self.path)
        return path.parent.name if path.name == "full.toml" else path.stem

    def having(self, settings: Mapping[str, Any] | None = None, **changes: Any) -> Job:
        """Return a copy with settings added and other fields changed."""
        merged = {**dict(self.settings), **(settings or {})}
        return replace(self, settings=tuple(sorted(merged.items())), **changes)


def simulator_of(job: Job, **changes: Any) -> Simulator:
    """Return a job's machine, ready to run. Raises InputError for anything that cannot run."""
    return _machine(loaded(job.path), job, **changes)


def _machine(spec: LaunchSpec, job: Job, **changes: Any) -> Simulator:
    """Return a job's machine over a launch that is already loaded."""
    from rfview.engine.simulator import Simulator      # imports numba, which reading results does not need

    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in job.settings}
    return Simulator(spec, design=job.design, scheduler=job.scheduler, preset=job.preset,
                     settings={**settings, **changes}, max_cycles=job.max_cycles)


@lru_cache(maxsize=KEPT_LAUNCHES)
def loaded(path: str) -> LaunchSpec:
    """Read a launch file once per process."""
    from rfview.engine.launch import load_launch_file   # start-up, as everywhere in this file: only workers run machines

    return load_launch_file(Path(path))


def run_job(job: Job) -> Result:
    """Execute one run and return its summary; "misbehaved" says what went wrong, or is None.

    It also contains "shape" (the geometry of the run's register file), "outputs" if requested, "nudged" (the cycles of
    the nudged runs), and what the kind adds.
    """
    if job.kind == "tlp":
        return _tlp(job)
    extra: Result = {}
    if job.kind == "mapped":
        codes, extra = _mapping(job.having(kind="run", outputs=False))
        simulator = simulator_of(job, **{"racetrack.mapping": codes})
    else:
        simulator = simulator_of(job)
    misbehaved = None
    try:
        if job.kind == "sampled":
            from rfview.engine.batch.samples import sample      # start-up, as above

            extra = sample(simulator)
        else:
            simulator.run()
    except KernelFault as fault:
        misbehaved = str(fault)
    return {**simulator.summary(), **extra, "misbehaved": misbehaved, "shape": shape_of(simulator),
            "nudged": [] if misbehaved else _nudged(simulator, job.nudge),
            **({"outputs": outputs_of(simulator)} if job.outputs else {})}


def _nudged(simulator: Simulator, number: int) -> list[int]:
    """Return the cycles of nudged runs of a machine, one after the other; one that misbehaves ends them."""
    cycles = []
    for which in range(1, number + 1):
        machine = simulator.twin()
        try:
            nudge.run(machine, which)
        except KernelFault:
            break
        cycles.append(machine.cycle)
    return cycles


def shape_of(simulator: Simulator) -> dict[str, Any]:
    """Return the numbers of a run's machine, the parameters of its designs (no tables of mappings), and its launches."""
    values = {name: value for name, value in simulator.built.values.items() if not isinstance(value, list)}
    return {
        "machine": simulator.config.values(), "values": values, "chain": list(simulator.built.chain),
        "resident_ctas": [placed.resident_ctas for placed in simulator.placement.launches],
        "threads_per_cta": [placed.launch.num_threads_per_cta for placed in simulator.placement.launches],
    }


def outputs_of(simulator: Simulator) -> dict[str, Any]:
    """Return the arrays that the launch file has expectations for, or all buffers if it has none."""
    arrays = {**simulator.symbols(), **simulator.buffers()}
    return {name: arrays[name] for name in simulator.spec.expect} or arrays


@lru_cache(maxsize=64)
def _mapping(job: Job) -> tuple[list[int], Result]:
    """Return the mapping for a job's kernel."""
    return mapping_of(loaded(job.path), job)


def mapping_of(spec: LaunchSpec, job: Job) -> tuple[list[int], Result]:
    """Profile a racetrack run without a mapping and return the optimised mapping as codes, with its predicted steps."""
    from rfview.engine.tools import mapping, profiling, tlp    # imports numba: workers alone

    simulator = _machine(spec, job, **tlp.PLAIN_TAPES, **{"racetrack.profile": 1})
    moves = profiling.moves(simulator)
    mappings = mapping.optimise_banks(moves, mapping.rows_in_use(simulator), int(simulator.built.values["racetrack.ports"]))
    banks, rows = moves.shape[:2]
    codes = [mappings[slot % banks].positions[slot // banks] ^ (slot // banks) for slot in range(banks * rows)]
    steps = {"identity_steps": sum(one.identity_shifts for one in mappings),
             "mapped_steps": sum(one.shifts for one in mappings)}
    return codes, steps


def _tlp(job: Job) -> Result:
    """Return the points (CTAs per SM, P_cache, P_ideal, P_RM, P) of the TLP search and the best number."""
    from rfview.engine.tools import tlp     # imports numba: workers alone

    points = tlp.curve(loaded(job.path), design=job.design, scheduler=job.scheduler, preset=job.preset,
                       settings=dict(job.settings), max_cycles=job.max_cycles)
    return {"points": [(p.ctas, p.cache_ipc, p.ideal_ipc, p.racetrack_ipc, p.ipc) for p in points],
            "best_ctas": tlp.best(points).ctas, "misbehaved": None}


def fingerprint(outputs: Mapping[str, Any]) -> str:
    """Return a short hash over arrays, which is equal only if all their bits are."""
    digest = hashlib.sha256()
    for name in sorted(outputs):
        digest.update(name.encode() + outputs[name].tobytes())
    return digest.hexdigest()[:16]
