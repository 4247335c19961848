"""Processor time of questions such as who wrote a register or when it changed, for every design and scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rfview.engine import kernels, plugin
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.sessions import Session, open_session
from rfview.sessions.file.writer import record
from rfview.sessions.reports.tracing import trace
from tests.bench.row import row

KERNEL, WARP, LANE = "gemm", "w5.R3", "w5.R3[3]"
# the goals: seconds for an answer nearby, and seconds per cycle searched
NEAR_S, RATE_S = 0.2, 0.5e-6


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return a row for each question and design: the share of its goal that it takes under the worst scheduler."""
    found = []
    for design in plugin.BUILT_IN:
        worst: dict[str, tuple[float, str]] = {}
        for scheduler in SCHEDULERS:
            path = folder / f"{design}_{scheduler}.rfs"
            record(Simulator(load_launch_file(kernels.path(KERNEL)), design=design, scheduler=scheduler), path)
            for name, (seconds, cycles) in asked(path).items():
                share = seconds / max(NEAR_S, RATE_S * cycles)
                note = f"{scheduler}: {1000 * seconds:.1f} ms for {cycles:,} cycles"
                worst[name] = max(worst.get(name, (0.0, "")), (share, note))
            path.unlink()
        found += [row(f"{name}, {design}", share, "of the goal", at_most=1, note=note) for name, (share, note) in worst.items()]
    return found


def asked(path: Path) -> dict[str, tuple[float, int]]:
    """Return each question's processor time and cycles searched, asked at three quarters of an open session."""
    questions: dict[str, Callable[[Session], Any]] = {
        "last": lambda session: session.last_change(WARP),
        "watchpoint": lambda session: (session.watch(LANE), session.reverse_continue()),
        "find": lambda session: session.run_until(f"{LANE} == 123456789"),
        "reverse-find": lambda session: session.reverse_until(f"{LANE} == 123456789"),
        "trace": lambda session: trace(session, LANE),
    }
    found = {}
    for name, question in questions.items():
        with open_session(path) as session:
            timeline = session.timeline
            session.goto(timeline.first + (timeline.last - timeline.first) * 3 // 4)
            session.snapshot()
            here, began = session.cycle, time.process_time()
            question(session)
            spent = time.process_time() - began
            searched = timeline.last - timeline.first if name == "trace" else abs(session.cycle - here)
            found[name] = (spent, searched)
    return found

