"""Measures what features of the sub-core are worth: cycles of bundled kernels without each, relative to the preset's.

Usage: python -m tests.subcore_worth [--preset ampere] [--kernels gemm,..]

The signs must be those that Huerta et al. report (MICRO'25, Tables 5 and 6): without the reuse cache slower, with two read ports
faster, with an instruction cache that misses slower than with one that always hits, on the geometric mean. Exit code 1 if one is not.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from rfview.engine import kernels
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator

KERNELS = "sgemm,sad,fft8,mergesort,dct8x8,gesummv"    # those with most reuse bits, and two that wait for memory
# settings, and whether the geometric mean of their cycles must be above the preset's (1), below (-1)
FEATURES = (("no reuse cache", {"core.reuse_cache": 0}, 1), ("two read ports", {"core.read_ports": 2}, -1),
            ("no reuse cache, two read ports", {"core.reuse_cache": 0, "core.read_ports": 2}, -1),
            ("an L0 of 32 KB that misses", {"memory.icache_sets": 8, "memory.icache_ways": 4}, 1))


def cycles(name: str, preset: str, settings: dict[str, int]) -> int:
    """Return the cycles of a bundled kernel."""
    simulator = Simulator(load_launch_file(kernels.path(name)), preset=preset, settings=settings)
    simulator.run()
    return simulator.cycle


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="ampere")
    parser.add_argument("--kernels", default=KERNELS)
    args = parser.parse_args()
    ratios: dict[str, list[float]] = {what: [] for what, _, _ in FEATURES}
    print(f"{args.preset:<14}{'cycles':>10}  " + "".join(f"{what:>32}" for what in ratios))
    for name in args.kernels.split(","):
        usual = cycles(name, args.preset, {})
        for what, settings, _ in FEATURES:
            ratios[what].append(cycles(name, args.preset, settings) / usual)
        print(f"{name:<14}{usual:>10,}  " + "".join(f"{each[-1]:>32.4f}" for each in ratios.values()), flush=True)
    means = {what: math.exp(float(np.mean(np.log(each)))) for what, each in ratios.items()}
    print(f"{'geometric mean':<26}" + "".join(f"{mean:>32.4f}" for mean in means.values()))
    return int(any((means[what] - 1) * sign <= 0 for what, _, sign in FEATURES))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
