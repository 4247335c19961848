"""Many runs of the machine: described as plain data, done by a few processes, each done once.

What the comparison of designs and the check of the papers' claims share. A run that misbehaves is a result, not an end.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import IMPORT_ROOT
from rfview.engine.errors import KernelFault

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.engine.simulator import Simulator

Progress = Callable[[float, str], None]
Result = dict[str, Any]
WORKERS = 2
POLL_SECONDS = 0.2
MAX_CYCLES = 100_000_000


@dataclass(frozen=True)
class Job:
    """One run: a launch file on a machine. settings: sorted ("section.key", value) pairs; kind: how it is run.

    kind: "run" | "mapped" (racetrack with the mapping of a profiling run) | "sampled" (with what only stepping through
    it shows) | "tlp" (the profile of CTAs per SM). outputs: give back what the launch file expects, or all buffers.
    """

    path: str
    design: str = "sram"
    scheduler: str = "gto"
    preset: str = "fermi"
    settings: tuple[tuple[str, Any], ...] = ()
    max_cycles: int = MAX_CYCLES
    kind: str = "run"
    outputs: bool = False

    @property
    def kernel(self) -> str:
        """Return the launch file's name without its ending."""
        return Path(self.path).stem

    def having(self, settings: Mapping[str, Any] | None = None, **changes: Any) -> Job:
        """Return a copy with settings added and other fields changed."""
        merged = {**dict(self.settings), **(settings or {})}
        return replace(self, settings=tuple(sorted(merged.items())), **changes)


def simulator_of(job: Job, **changes: Any) -> Simulator:
    """Return the machine of a job, ready to run. Raises InputError for anything that cannot run."""
    return _machine(_spec(job.path), job, **changes)


def _machine(spec: LaunchSpec, job: Job, **changes: Any) -> Simulator:
    """Return the machine of a job over a launch that is loaded already."""
    from rfview.engine.simulator import Simulator      # imports numba: not where results are only read

    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in job.settings}
    return Simulator(spec, design=job.design, scheduler=job.scheduler, preset=job.preset,
                     settings={**settings, **changes}, max_cycles=job.max_cycles)


@lru_cache(maxsize=64)
def _spec(path: str) -> Any:
    """Read a launch file once per process."""
    from rfview.engine.launch import load_launch_file   # start-up, as all in this file: workers alone run machines

    return load_launch_file(Path(path))


def run_job(job: Job) -> Result:
    """Do one run and return its summary; "misbehaved" says what went wrong, or is None.

    Also "shape" (what the register file of this run looks like), "outputs" where asked for, and what the kind adds.
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
            from rfview.engine.papers.samples import sample     # imports numba: workers alone

            extra = sample(simulator)
        else:
            simulator.run()
    except KernelFault as fault:
        misbehaved = str(fault)
    return {**simulator.summary(), **extra, "misbehaved": misbehaved, "shape": shape_of(simulator),
            **({"outputs": outputs_of(simulator)} if job.outputs else {})}


def shape_of(simulator: Simulator) -> dict[str, Any]:
    """Return the numbers of a run's machine, the parameters of its designs (no tables of mappings), and its launches."""
    values = {name: value for name, value in simulator.built.values.items() if not isinstance(value, list)}
    return {
        "machine": simulator.config.values(), "values": values, "chain": list(simulator.built.chain),
        "resident_ctas": [placed.resident_ctas for placed in simulator.placement.launches],
        "threads_per_cta": [placed.launch.num_threads_per_cta for placed in simulator.placement.launches],
    }


def outputs_of(simulator: Simulator) -> dict[str, Any]:
    """Return the arrays that the launch file has expectations for, or all buffers where it has none."""
    found = {**simulator.symbols(), **simulator.buffers()}
    return {name: found[name] for name in simulator.spec.expect} or found


@lru_cache(maxsize=64)
def _mapping(job: Job) -> tuple[list[int], Result]:
    """Return the mapping for a job's kernel."""
    return mapping_of(_spec(job.path), job)


def mapping_of(spec: LaunchSpec, job: Job) -> tuple[list[int], Result]:
    """Profile a racetrack run on plain tapes and return the optimised mapping as codes, with its predicted steps."""
    from rfview.engine.tools import mapping, profiling, tlp    # imports numba: workers alone

    simulator = _machine(spec, job, **tlp.PLAIN_TAPES, **{"racetrack.profile": 1})
    moves = profiling.moves(simulator)
    found = mapping.optimise_banks(moves, mapping.rows_in_use(simulator), int(simulator.built.values["racetrack.ports"]))
    banks, rows = moves.shape[:2]
    codes = [found[slot % banks].positions[slot // banks] ^ (slot // banks) for slot in range(banks * rows)]
    steps = {"identity_steps": sum(one.identity_shifts for one in found), "mapped_steps": sum(one.shifts for one in found)}
    return codes, steps


def _tlp(job: Job) -> Result:
    """Return the points (CTAs per SM, P_cache, P_ideal, P_RM, P) of the TLP search and the best number."""
    from rfview.engine.tools import tlp     # imports numba: workers alone

    points = tlp.curve(_spec(job.path), design=job.design, scheduler=job.scheduler, preset=job.preset,
                       settings=dict(job.settings), max_cycles=job.max_cycles)
    return {"points": [(p.ctas, p.cache_ipc, p.ideal_ipc, p.racetrack_ipc, p.ipc) for p in points],
            "best_ctas": tlp.best(points).ctas, "misbehaved": None}


def compile_designs(variants: Iterable[str], workers: int, say: Progress) -> None:
    """Compile the designs that are not in the cache yet, as many at once as there are workers."""
    # imports numba: not where results are only read
    from rfview.engine.compile import extern, warm
    from rfview.engine.plugin import build, files   # start-up
    from rfview.engine.simulator import engine_hash     # imports numba

    known = {build(variant, {}, engine_hash()).spec_dtype: variant for variant in variants}
    waiting = [variant for dtype, variant in known.items() if not warm.is_ready(dtype)]
    total = len(waiting)
    running: list[subprocess.Popen[bytes]] = []
    began = time.monotonic()
    while waiting or running:
        # the first brings what all share, in a process beside its own
        while waiting and len(running) < (workers if extern.READY.exists() else 1):
            command = [sys.executable, "-m", "rfview.engine.compile.child", files.absolute(waiting.pop(0))]
            running.append(subprocess.Popen(command, cwd=IMPORT_ROOT, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
        running = [child for child in running if child.poll() is None]
        done = total - len(waiting) - len(running)
        what = f"{total} designs" if total > 1 else "a design"
        say(done / total, f"compiling {what} (first run only), {time.monotonic() - began:.0f} s")
        time.sleep(POLL_SECONDS)


class Runs:
    """Runs jobs in a few processes and keeps every result; a context manager. workers = 1: in this process."""

    def __init__(self, progress: Progress | None = None, workers: int = WORKERS) -> None:
        self._say = progress or (lambda fraction, text: None)
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._results: dict[Job, Result] = {}

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=error[0] is None, cancel_futures=True)

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, job: Job) -> Result:
        return self.all([job])[0]

    def all(self, jobs: Sequence[Job]) -> list[Result]:
        """Return the results of jobs, running what has not been run yet. Raises InputError."""
        todo = sorted(dict.fromkeys(job for job in jobs if job not in self._results), key=lambda job: job.design)
        if todo:
            compile_designs((job.design for job in todo), self._workers, self._say)
            if self._workers > 1 and len(todo) > 1:
                self._share_out(todo)
            else:
                for number, job in enumerate(todo):
                    self._say(number / len(todo), _title(job))
                    self._results[job] = run_job(job)
        return [self._results[job] for job in jobs]

    def _share_out(self, jobs: Sequence[Job]) -> None:
        """Run jobs in the pool of processes."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"))
        futures: dict[Future[Result], Job] = {self._pool.submit(run_job, job): job for job in jobs}
        left = set(futures)
        try:
            while left:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for future in done:
                    self._results[futures[future]] = future.result()
                    self._say(1 - len(left) / len(futures), _title(futures[future]))
        except BaseException:
            for future in left:
                future.cancel()
            raise


def _title(job: Job) -> str:
    """Name a job in a line of progress."""
    return f"{job.kernel} under {job.design}, {job.scheduler}"


def fingerprint(outputs: Mapping[str, Any]) -> str:
    """Return a short hash over arrays, equal only where all their bits are."""
    digest = hashlib.sha256()
    for name in sorted(outputs):
        digest.update(name.encode() + outputs[name].tobytes())
    return digest.hexdigest()[:16]
