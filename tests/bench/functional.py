"""The functional mode beside the cycle mode: warp instructions per second, memory, and launches before a chosen one."""

from __future__ import annotations

import statistics
import time
from typing import Any

from rfview.capture.launches import choice_of
from rfview.engine import kernels
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import LaunchSpec, load_launch_file
from rfview.engine.simulator import Simulator
from tests.bench.measure import PEER, WORKLOADS
from tests.bench.row import row
from tests.capture.driven import NAME, SAXPY, driven

LAUNCHES = 400
GRID, BLOCK = (256, 1, 1), (256, 1, 1)
THREADS = GRID[0] * BLOCK[0]


def rows(runs: int) -> list[dict[str, Any]]:
    """Return the speed over the cycle mode, together and in the median, and how many kernels end with other memory."""
    specs = [load_launch_file(WORKLOADS / f"{name}.toml") for name in PEER]
    specs += [load_launch_file(kernels.path(name, "full")) for name in kernels.names()]
    measured = [beside(spec, runs) for spec in specs]
    instructions = sum(each["instructions"] for each in measured)
    cycles_s, values_s = (sum(each[name] for each in measured) for name in ("cycles_s", "values_s"))
    each_factor = [each["cycles_s"] / each["values_s"] for each in measured]
    before = before_a_choice()
    return [row("functional mode over cycle mode: warp instructions per processor second", cycles_s / values_s, "x", at_least=10),
            row("the same, median of the kernels", statistics.median(each_factor), "x"),
            row("functional mode", instructions / values_s / 1e6, "million warp instructions/s"),
            row("kernels whose memory differs from the cycle mode's", sum(not each["equal"] for each in measured), "kernels",
                at_most=0),
            row(f"{LAUNCHES} launches of {THREADS:,} threads before the chosen one: processor time over --every-cycle", before, "x", at_most=1 / 6)]


def beside(spec: LaunchSpec, runs: int) -> dict[str, Any]:
    """Return processor seconds of both modes, the least of `runs` each, alternating, and whether their memory is equal."""
    found: dict[str, Any] = {"cycles_s": float("inf"), "values_s": float("inf")}
    module = Simulator(spec).module
    memory = {}
    for _ in range(runs):
        for name, kind in (("cycles_s", Simulator), ("values_s", FunctionalSimulator)):
            simulator = kind(spec, module=module)
            simulator.step(1)
            began = time.process_time()
            simulator.run()
            found[name] = min(found[name], time.process_time() - began)
            memory[name] = {key: array.tobytes() for key, array in {**simulator.buffers(), **simulator.symbols()}.items()}
            found["instructions"] = simulator.instructions
    return found | {"equal": memory["cycles_s"] == memory["values_s"]}


def before_a_choice() -> float:
    """Return the processor time of the launches of a small kernel before a chosen one, over that with all cycles."""
    taken = []
    for by_values in (True, False):
        with driven(choice=choice_of(str(LAUNCHES)), by_values=by_values) as (client, _device, _said):
            x, y = client.malloc(4 * THREADS), client.malloc(4 * THREADS)
            module = client.load(SAXPY)
            client.launch(module, NAME, GRID, BLOCK, 0, [x, y, THREADS])      # loads compiled code
            began = time.process_time()
            for _ in range(LAUNCHES - 1):
                client.launch(module, NAME, GRID, BLOCK, 0, [x, y, THREADS])
            taken.append(time.process_time() - began)
    return taken[0] / taken[1]
