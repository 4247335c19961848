"""Kills recordings at random times (SIGKILL): what is left can be opened, and shows true states up to its end.

A case starts `rfview record`, kills it when its file has a random fraction of the bytes of a complete one, and checks the
folder: it contains a complete recording, or one incomplete one that opens with a warning, or nothing if no chunk had been
written.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from rfview.engine.errors import InputError
from rfview.engine.snapshot import Snapshot
from rfview.sessions.file.writer import partials
from rfview.sessions.timeline.opening import open_recording

REPOSITORY = Path(__file__).resolve().parents[2]
KERNEL = REPOSITORY / "tests" / "bench" / "workloads" / "vecadd_262144.toml"      # about 190,000 cycles
SAMPLES = 40
BUDGETS = (0, 60_000, 1 << 30)          # cycles stored: keyframes alone, some chunks, all


def command(path: Path, budget: int) -> list[str]:
    """Return the command that records the kernel. budget: cycles stored."""
    return [sys.executable, "-m", "rfview", "record", str(KERNEL), "-o", str(path), "--budget", str(budget)]


def killed(target: Path, budget: int, size: int) -> None:
    """Record, and kill that when the growing file has a number of bytes, or has its name after all."""
    process = subprocess.Popen(command(target, budget), cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    grown = 0
    while process.poll() is None and not target.exists() and grown < size:
        time.sleep(0.001)
        with contextlib.suppress(FileNotFoundError):        # renamed meanwhile
            grown = sum(part.stat().st_size for part in partials(target))
    process.send_signal(signal.SIGKILL)
    process.wait()


@functools.cache
def truth(budget: int) -> tuple[int, dict[int, Snapshot]]:
    """Return the bytes of a complete recording, and sample states of it by cycle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.rfs"
        subprocess.run(command(path, budget), cwd=REPOSITORY, check=True, capture_output=True)
        found = {}
        with closing(open_recording(path)) as timeline:
            for cycle in range(timeline.first, timeline.last + 1, max(1, timeline.last // SAMPLES)):
                found[cycle] = timeline.at(cycle)
                len(found[cycle].rows), len(found[cycle].memory)
        return path.stat().st_size, found


def tried(folder: Path, chance: random.Random) -> tuple[str, str]:
    """Kill a run; return what is left (nothing, part or whole) or what is wrong, and details."""
    budget = chance.choice(BUDGETS)
    size, states = truth(budget)
    target = folder / "run.rfs"
    killed(target, budget, int(size * chance.uniform(0, 1)))
    left = partials(target)
    if len(left) + target.exists() > 1 or {path.name for path in folder.iterdir()} - {"run.rfs", *(one.name for one in left)}:
        return "litter", ", ".join(os.listdir(folder))
    if not left and not target.exists():
        return "nothing", ""
    try:
        timeline = open_recording(target)       # finds a partial recording by the name of the complete one
    except InputError as error:
        return ("nothing", "") if "no complete chunk" in str(error) or "header" in str(error) else ("unreadable", str(error))
    with closing(timeline):
        if left and not timeline.warnings:
            return "silent", "a part of a run opens without a warning"
        for cycle, state in states.items():
            if cycle <= timeline.last and not timeline.at(cycle).same_as(state):
                return "wrong", f"cycle {cycle}"
    return ("part" if left else "whole"), ""


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Kill runs first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            yield number, *tried(Path(folder), random.Random(f"kills {seed} {number}"))
