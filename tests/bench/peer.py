"""Cycles beside those of GPGPU-Sim 4.2.0, SM2_GTX480 with one SM: 24 points of four workloads, and five further kernels."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from rfview.engine.launch import load_launch_file
from tests.bench.measure import PEER, WORKLOADS
from tests.bench.row import row

POINTS = tuple(PEER)
# by machine: scheduler, settings, and the peer's cycles of each workload, known to half a percent
MACHINES: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "gto": ("gto", {}, (107_300, 88_400, 182_800, 213_700)),
    "lrr": ("lrr", {}, (127_800, 97_800, 187_400, 199_300)),
    "two-level, 6 active warps per scheduler": ("two_level", {}, (139_500, 113_100, 181_800, 204_600)),
    "4 banks": ("gto", {"sm.num_banks": 4, "sm.rows_per_bank": 256}, (109_500, 108_200, 182_700, 342_100)),
    "32 banks": ("gto", {"sm.num_banks": 32, "sm.rows_per_bank": 32}, (107_300, 85_400, 181_700, 209_800)),
    "2 SP collectors": ("gto", {"sm.sp_queue": 2}, (114_700, 89_700, 185_700, 373_600)),
}
KERNELS = {"conv2d": 74_900, "nn": 17_600, "blackscholes": 63_400, "gesummv": 1_284_400, "atax": 1_185_400}
WORST = 15      # percent from which a difference has to have a cause


def cycles(name: str, scheduler: str, settings: dict[str, Any]) -> int:
    """Return the cycles of a workload on preset gtx480, design sram."""
    from rfview.engine.simulator import Simulator   # imports numba

    simulator = Simulator(load_launch_file(WORKLOADS / f"{name}.toml"), scheduler=scheduler, preset="gtx480", settings=settings)
    simulator.run()
    return simulator.cycle


def rows() -> list[dict[str, Any]]:
    """Return the ratio of our cycles to the peer's in each point, and how far off they are on average and at most."""
    found, means = [], []
    groups = {"24 points": [(f"{name}, {machine}", name, scheduler, settings, theirs)
                            for machine, (scheduler, settings, all_theirs) in MACHINES.items()
                            for name, theirs in zip(POINTS, all_theirs, strict=True)],
              "5 kernels": [(name, name, "gto", {}, theirs) for name, theirs in KERNELS.items()]}
    for (group, points), goal in zip(groups.items(), (6, 8), strict=True):
        ratios = {what: cycles(name, scheduler, settings) / theirs for what, name, scheduler, settings, theirs in points}
        found += [row(f"cycles relative to GPGPU-Sim: {what}", ratio, "x") for what, ratio in ratios.items()]
        off = [100 * abs(ratio - 1) for ratio in ratios.values()]
        means += [row(f"cycles relative to GPGPU-Sim: mean absolute error of {group}", fmean(off), "%", at_most=goal),
                  row(f"cycles relative to GPGPU-Sim: largest error of {group}", max(off), "%", at_most=WORST)]
    for name, (theirs, _) in PEER.items():      # measured with another build of the same kernels
        found.append(row(f"cycles relative to GPGPU-Sim's first measurement: {name}", cycles(name, "gto", {}) / theirs, "x"))
    return found + means
