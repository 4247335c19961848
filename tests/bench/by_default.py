"""A run of a hundred million cycles recorded by default: processor time over the plain run, size, memory, opening it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bench.long import write_launch_file
from tests.bench.measure import REPOSITORY
from tests.bench.row import row
from tests.bench.searching import opening

ROUNDS = 174            # of long.py: about 1e8 cycles
MOST_CYCLES = "200,000,000"


def rows(folder: Path, runs: int, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Run and record in processes of their own, in turns; then open the recording. Takes minutes for each of `runs`."""
    path, file, report = write_launch_file(folder, rounds), folder / "by_default.rfs", folder / "report.json"
    plain, recorded = ["run", str(path)], ["record", str(path), "-o", str(file)]
    ratios, most = [], 0.0
    for _ in range(runs):
        alone, _ = spent([*plain, "--max-cycles", MOST_CYCLES, "--json"], report)
        with_file, held = spent([*recorded, "--max-cycles", MOST_CYCLES, "--json"], report)
        ratios.append(with_file / alone)
        most = max(most, held)
    made = json.loads(report.read_text(encoding="utf-8"))
    note = f"{made['cycles']:,} cycles"
    found = [row("recorded by default, to plain run: processor time", ratios, "x", at_most=1.3, note=note),
             row("recorded by default: size", file.stat().st_size / 1e6, "MB", at_most=600, note=note),
             row("recorded by default: memory of the writer", most, "MB", at_most=300)]
    for one in opening(file, folder, runs):
        found.append(one | {"what": f"recorded by default, {one['what']}"})
    return found


def spent(words: list[str], output: Path) -> tuple[float, float]:
    """Return the processor seconds and the peak memory in MB of an rfview command, whose output goes to a file."""
    with open(output, "wb") as file:
        child = subprocess.Popen([sys.executable, "-m", "rfview", *words], cwd=REPOSITORY, stdout=file)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"rfview {words[0]} ended with code {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
