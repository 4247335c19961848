"""The cost of the checker: runs of bundled kernels with and without it, each kind in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

from tests.bench.measure import REPOSITORY
from tests.bench.row import row

KERNELS = ("vectoradd", "histogram", "reduction", "bfs", "gemm", "hotspot", "mriq", "nw", "blur", "histo_main")
MOST = 3.0


def rows(runs: int) -> list[dict[str, Any]]:
    """Return the ratio of times with its bound for each kernel, and for all of them together."""
    off, on = timings("off", runs), timings("on", runs)
    found = [row(f"check {name}: time relative to an unchecked run", on[name] / off[name], "x", MOST) for name in KERNELS]
    return [*found, row("check: all kernels together", sum(on.values()) / sum(off.values()), "x", MOST)]


def timings(kind: str, runs: int) -> dict[str, float]:
    """Return each kernel's processor seconds, the least of `runs`, in a process with the checker ("on") or without."""
    done = subprocess.run([sys.executable, "-m", "tests.bench.checking", kind, str(runs)], cwd=REPOSITORY, check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def main(kind: str, runs: int) -> int:
    """Print the timings of this process as JSON."""
    from rfview.engine import kernels
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator

    machine = Simulator
    if kind == "on":
        from rfview.engine.check.machine import CheckedSimulator

        machine = CheckedSimulator
    found = {}
    for name in KERNELS:
        taken = []
        for _ in range(runs):
            simulator = machine(load_launch_file(kernels.path(name, "full")))
            simulator.step(1)
            began = time.process_time()
            simulator.run()
            taken.append(time.process_time() - began)
        found[name] = min(taken)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
