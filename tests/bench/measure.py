"""Measurements of runs, start-up and registers, each a function that returns plain data; judge.py has the goals."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.launch import LaunchSpec, load_launch_file

REPOSITORY = Path(__file__).resolve().parent.parent.parent
WORKLOADS = Path(__file__).parent / "workloads"
SEEKS = 400
# pairs of a run and a recording for each requested run; they take a tenth of a second each
PAIRS = 10
# GPGPU-Sim 4.2.0, GTX480 configuration, one SM, execution-driven, on a 2-core machine: cycles and wall seconds of the
# whole run, medians of 3. The computer varies from run to run, so only orders of magnitude are comparable.
PEER = {
    "vecadd_262144": (123_619, 3.7), "sgemm_96": (87_706, 2.2), "reduce_524288": (180_230, 3.7),
    "fma_15360_20": (211_523, 4.6),
}


def machine() -> dict[str, Any]:
    """Return a description of the computer and the software versions."""
    from importlib.metadata import version

    return {"python": platform.python_version(), "platform": platform.platform(terse=True), "cores": os.cpu_count(),
            "numba": version("numba"), "numpy": version("numpy")}


def warm_up(spec: LaunchSpec) -> None:
    """Load compiled code, so that later measurements include only stepping."""
    from rfview.engine.simulator import Simulator

    simulator = Simulator(spec)
    simulator.step(1024)
    simulator.record_chunk(1024)


def stepping(spec: LaunchSpec, runs: int) -> dict[str, Any]:
    """Run a launch file without recording; median of `runs`."""
    from rfview.engine.simulator import Simulator

    walls, cycles = [], 0
    for _ in range(runs):
        simulator = Simulator(spec)
        began = time.perf_counter()
        simulator.run()
        walls.append(time.perf_counter() - began)
        cycles = simulator.cycle
    wall = statistics.median(walls)
    return {"cycles": cycles, "stepping_s": round(wall, 4), "sm_cycles_per_s": round(cycles / wall)}


def recordings(names: list[str], folder: Path, runs: int) -> dict[str, dict[str, Any]]:
    """Run and record each workload alternately, PAIRS times `runs`, into folder/NAME.rfs.

    The workloads take turns, too: other activity on the computer comes in stretches of seconds, which then affect only a
    few pairs of each. A recording is compared with the run before it.
    """
    pairs = {name: Pairs(load_launch_file(WORKLOADS / f"{name}.toml"), folder / f"{name}.rfs") for name in names}
    for _ in range(PAIRS * runs):
        for each in pairs.values():
            each.add()
    return {name: each.result() for name, each in pairs.items()}


class Pairs:
    """Alternate runs of a launch file without and with recording; each recording goes into a new file, since replacing one
    would add the time to free the old file's memory.
    """

    def __init__(self, spec: LaunchSpec, path: Path):
        self.spec, self.path = spec, path
        self.walls: list[float] = []
        self.ratios: list[float] = []

    def add(self) -> None:
        """Measure one pair."""
        from rfview.engine.simulator import Simulator
        from rfview.sessions.file.writer import record

        simulator = Simulator(self.spec)
        began = time.perf_counter()
        simulator.run()
        plain = time.perf_counter() - began
        self.path.unlink(missing_ok=True)
        simulator = Simulator(self.spec)
        began = time.perf_counter()
        self.last = record(simulator, self.path)
        self.walls.append(time.perf_counter() - began)
        self.ratios.append(round(self.walls[-1] / plain, 3))

    def result(self) -> dict[str, Any]:
        """Return medians, and all ratios."""
        wall, last = statistics.median(self.walls), self.last
        return {"recording_s": round(wall, 4), "sm_cycles_per_s": round(last.cycles / wall), "to_plain": self.ratios,
                "bytes_per_cycle": round(last.bytes_per_cycle, 2), "file_bytes": last.file_bytes}


def phases(spec: LaunchSpec, path: Path, runs: int) -> dict[str, float]:
    """Return the processor time of each part of recording and of a plain run, in us per cycle: the least of `runs` each.

    The parts run one after the other in one thread, so that other activity has little effect.
    """
    from rfview.engine.chunk import CHUNK_CYCLES
    from rfview.engine.simulator import Simulator
    from rfview.sessions.layout import Layout
    from rfview.sessions.file.writer import Writer

    best: dict[str, float] = {}
    for _ in range(runs):
        spent: dict[str, float] = {}

        def timed(part: str, action: Callable[[], Any]) -> Any:
            began = time.thread_time()
            made = action()
            spent[part] = spent.get(part, 0.0) + time.thread_time() - began
            return made

        simulator = Simulator(spec)
        timed("plain", simulator.run)
        simulator = Simulator(spec)
        writer = Writer(open(path, "wb", buffering=0), Layout(simulator.sm_dtype, simulator.rf_dtype), simulator.info, CHUNK_CYCLES)
        record_chunk = partial(simulator.record_chunk, lend=True)
        chunk = timed("capture", record_chunk)
        while chunk.num_cycles:
            for frame in timed("code", partial(writer.code, chunk)):
                timed("write", lambda frame=frame: writer.write(frame))
            chunk = timed("capture", partial(record_chunk, values=False))
        writer.file.close()
        best = {part: min(1e6 * wall / simulator.cycle, best.get(part, float("inf"))) for part, wall in spent.items()}
    return {part: round(wall, 3) for part, wall in best.items()}


def seeking(path: Path, seed: int = 1) -> dict[str, Any]:
    """Open a recording and read complete snapshots at random cycles."""
    from rfview.sessions import open_session

    began = time.perf_counter()
    session = open_session(path)
    opened = time.perf_counter() - began
    cycles = np.random.RandomState(seed).randint(session.timeline.first, session.timeline.last + 1, SEEKS)
    walls = []
    for cycle in cycles:
        began = time.perf_counter()
        session.goto(int(cycle))
        session.snapshot()
        walls.append(1000 * (time.perf_counter() - began))
    session.close()
    return {"open_ms": round(1000 * opened, 2), "seeks": SEEKS, "median_ms": round(statistics.median(walls), 3),
            "p99_ms": round(float(np.percentile(walls, 99)), 3), "max_ms": round(max(walls), 3)}


def workload(name: str, recorded: dict[str, Any], folder: Path, runs: int) -> dict[str, Any]:
    """Measure one workload and compare it with the peer's numbers; recorded: the result of `recordings` for it."""
    spec = load_launch_file(WORKLOADS / f"{name}.toml")
    plain = stepping(spec, runs)
    parts = phases(spec, folder / f"{name}.parts.rfs", runs)
    whole = commands(str(WORKLOADS / f"{name}.toml"), folder / f"{name}.command.rfs", runs)
    cycles, wall = PEER[name]
    return {
        "plain": plain, "recording": recorded, "us_per_cycle": parts, "seek": seeking(folder / f"{name}.rfs"),
        "commands": whole,
        "peer": {"cycles": cycles, "wall_s": wall, "sm_cycles_per_s": round(cycles / wall)},
        "ratios": {
            "cycles_to_peer": round(plain["cycles"] / cycles, 3),
            "speed_to_peer": round(plain["sm_cycles_per_s"] / (cycles / wall), 2),
            "wall_to_peer": round(plain["stepping_s"] / wall, 4),
            "recording_to_plain": recorded["to_plain"],
            "recording_cpu_to_plain": round((parts["capture"] + parts["code"] + parts["write"]) / parts["plain"], 2),
            "record_command_to_run_command": round(whole["record_s"] / whole["run_s"], 2),
        },
    }


def bundled(folder: Path, preset: str, names: Sequence[str] = ()) -> dict[str, float]:
    """Return the bytes per cycle of a full recording of bundled kernels, by default of the core ones, under sram."""
    from rfview.engine import kernels
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    path = folder / "bundled.rfs"
    found = {name: record(Simulator(load_launch_file(kernels.path(name)), preset=preset), path).bytes_per_cycle
             for name in names or kernels.CORE}
    path.unlink()
    return {name: round(size, 2) for name, size in found.items()}


def commands(launch: str, path: Path, runs: int) -> dict[str, float]:
    """Return the seconds that `rfview run` and `rfview record` take as processes: medians of alternate runs."""
    walls = [(child("run", launch), child("record", launch, "-o", str(path))) for _ in range(runs)]
    run, record = (round(statistics.median(times), 3) for times in zip(*walls))
    return {"run_s": run, "record_s": record}


def some_recording(folder: Path) -> Path:
    """Return a recording to replay: the newest in a folder, or the bundled one."""
    made = sorted(folder.glob("*.rfs"), key=lambda path: path.stat().st_mtime)
    return made[-1] if made else REPOSITORY / "sessions" / "recorded" / "first.rfs"


def child(*args: str, **env: str) -> float:
    """Return the wall seconds of `rfview ARGS` in a fresh process that writes bytecode, as a user's does."""
    began = time.perf_counter()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-m", "rfview", *args], cwd=REPOSITORY, env={**kept, **env}, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return round(time.perf_counter() - began, 3)


def starting(recorded: Path, with_cold: bool) -> dict[str, Any]:
    """Return the seconds that small commands take as processes: with nothing compiled, all compiled, and without machine."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        if with_cold:
            found["cold_run_hotspot_s"] = child("run", "hotspot", RFVIEW_CACHE_DIR=cache)
            found["warm_run_hotspot_s"] = child("run", "hotspot", RFVIEW_CACHE_DIR=cache)
            with tempfile.TemporaryDirectory() as other:
                found["cold_record_hotspot_s"] = child("record", "hotspot", "-o", f"{other}/x.rfs", RFVIEW_CACHE_DIR=other)
        else:
            found["warm_run_hotspot_s"] = child("run", "hotspot")
    child("run", "vectoradd")
    found["warm_run_vectoradd_s"] = child("run", "vectoradd")
    found["replay_as_text_s"] = child("replay", str(recorded))
    found["help_word_s"] = child("help", "gto")
    found["version_s"] = child("--version")
    return found


def registers() -> dict[str, Any]:
    """Return registers per thread after our allocation, and those that ptxas reports for the same PTX."""
    from rfview.engine.ptx import load_module

    table = json.loads((REPOSITORY / "tests" / "corpus" / "ptxas_registers.json").read_text(encoding="utf-8"))
    rows, ratios = {}, []
    for file, kernels in table.items():
        module = load_module(REPOSITORY / file)
        for name, theirs in kernels.items():
            kernel = module.kernels[name]
            rows[f"{Path(file).stem}:{name}"] = {"rfview": kernel.registers, "ptxas": theirs,
                                                 "spilled_words": kernel.spilled_words}
            ratios.append(kernel.registers / theirs)
    return {"ratio_median": round(statistics.median(ratios), 3), "ratio_min": round(min(ratios), 3),
            "ratio_max": round(max(ratios), 3), "kernels": rows}
