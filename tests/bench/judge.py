"""The goals for what measure.py measures: turns its plain data into rows."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from tests.bench.row import row


def judge(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows for the measurements."""
    rows = []
    workloads = found.get("workloads", {})
    for name, work in workloads.items():
        ratios = work["ratios"]
        rows += [row(f"simulation, wall time relative to GPGPU-Sim: {name}", 1 / ratios["wall_to_peer"], "x", at_least=25),
                 row(f"simulation, SM-cycles/s relative to GPGPU-Sim: {name}", ratios["speed_to_peer"], "x", at_least=25),
                 row(f"recording relative to not recording: {name}", ratios["recording_to_plain"], "x"),
                 row(f"recording, processor time relative to not recording: {name}", ratios["recording_cpu_to_plain"], "x"),
                 row(f"recording, rfview record relative to rfview run: {name}", ratios["record_command_to_run_command"], "x")]
    if workloads:
        sizes = [work["recording"]["bytes_per_cycle"] for work in workloads.values()]
        rows.append(row("recording, geometric mean of the workloads", geometric_mean(sizes), "bytes per cycle"))
    if "bundled_bytes_per_cycle" in found:
        rows.append(row("recording, geometric mean of the bundled kernels",
                        geometric_mean(found["bundled_bytes_per_cycle"].values()), "bytes per cycle", at_most=85))
    for name, size in found.get("subcore_bytes_per_cycle", {}).items():
        rows.append(row(f"recording, bytes per cycle relative to Fermi's core: {name} on ampere",
                        size / found["bundled_bytes_per_cycle"][name], "x", at_most=1.5))
    start = found.get("start", {})
    for name, what, goal in (("warm_run_vectoradd_s", "rfview run vectoradd, warm cache", 1),
                             ("cold_run_hotspot_s", "rfview run hotspot, nothing compiled", 30),
                             ("cold_record_hotspot_s", "rfview record hotspot, nothing compiled", None)):
        if name in start:
            rows.append(row(what, start[name], "s", at_most=goal))
    if "registers" in found:
        rows.append(row("registers per thread relative to ptxas, median", found["registers"]["ratio_median"], "x"))
    return rows
