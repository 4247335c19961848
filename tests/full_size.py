"""Run bundled kernels in their full size and compare with the references; takes minutes, so not part of CI.

    python -m tests.full_size                   all that have a full size
    python -m tests.full_size gaussian gemm     these
"""

from __future__ import annotations

import sys
import time

import numpy as np

from rfview.engine import kernels
from rfview.engine.kernels.make import expected
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator


def check(name: str) -> tuple[str, bool]:
    """Return a summary of a kernel's run in its full size, and whether every result matches the reference."""
    spec = load_launch_file(kernels.path(name, "full"))
    small = load_launch_file(kernels.path(name))
    simulator = Simulator(spec)
    began = time.monotonic()
    simulator.run()
    got = {**simulator.symbols(), **simulator.buffers()}
    wrong = []
    for key, array in expected(name, spec).items():
        allowed = small.expect[key]
        if not np.allclose(got[key], array, rtol=allowed.rtol, atol=allowed.atol, equal_nan=True):
            wrong.append(key)
    resident = simulator.placement.launches[0].resident_ctas
    told = f"{simulator.cycle:>9,} cycles, {resident} CTAs at once, {time.monotonic() - began:.1f} s"
    return f"{told}; {'differs: ' + ', '.join(wrong) if wrong else 'as the reference'}", not wrong


def main(names: list[str]) -> int:
    """Check the kernels named, or all that have a full size; return 1 if one differs."""
    chosen = names or [name for name in kernels.names() if kernels.path(name, "full") != kernels.path(name)]
    fine = True
    for name in chosen:
        told, same = check(name)
        fine = fine and same
        print(f"{name:<18}{told}", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
