"""Each design's time per simulated cycle relative to `sram`: in one process, taking turns, in processor time."""

from __future__ import annotations

import time
from typing import Any

from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.simulator import Simulator
from tests.bench.measure import PEER, WORKLOADS
from tests.bench.row import row

CYCLES = 60_000


def rows(runs: int) -> list[dict[str, Any]]:
    """Return a row per design and workload: the least time of `runs`, at least 3; compiles designs if necessary."""
    from rfview.engine import plugin as designs

    others = [name for name in designs.names() if name != "sram"] + ["stt[stall=bank]"]
    specs = {name: load_launch_file(WORKLOADS / f"{name}.toml") for name in PEER}
    for design in ["sram", *others]:
        ns_per_cycle(next(iter(specs.values())), design)    # the first run loads or compiles
    found = []
    for name, spec in specs.items():
        times: dict[str, list[float]] = {design: [] for design in ["sram", *others]}
        for _ in range(max(3, runs)):
            for design, spent in times.items():
                spent.append(ns_per_cycle(spec, design))
        base = min(times["sram"])
        found += [row(f"time per cycle relative to sram's: {name} {design}", min(times[design]) / base, "x", at_most=1.6,
                      note=f"{min(times[design]):.0f} and {base:.0f} ns") for design in others]
    return found


def ns_per_cycle(spec: LaunchSpec, design: str) -> float:
    """Return the processor time per cycle in ns, over the first CYCLES."""
    simulator = Simulator(spec, design=design)
    simulator.step(1)
    began = time.thread_time()
    cycles = simulator.step(CYCLES)
    return 1e9 * (time.thread_time() - began) / cycles
