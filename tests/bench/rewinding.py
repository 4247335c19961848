"""Rewindable live runs and keyframed recordings compared with plain runs: time ratios, memory and seeks over ten million cycles.

Ratios are of CPU time in one process: the plain and the live run advance in turns of 65,536 cycles, so that other
activity on the computer affects both.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rfview import execute
from rfview.engine.launch import LaunchSpec, load_launch_file
from tests.bench.long import ORDER, ROUNDS, WORKLOADS, write_launch_file
from tests.bench.row import row

TURN_CYCLES = 1 << 16
SEEKS = 100
DESIGNS = ("sram", "hrf")
SEARCH_ROUNDS, NEAR_CYCLES = 4, 20_000
# name, command, where it begins
SEARCHES = (
    ("find", "find w3.state == wb_drain", 0), ("reverse-find", "reverse-find w3.state == wb_drain", "end"),
    ("find in all warps", "find any(w.state == wb_drain)", 0), ("last", "last sm.config.num_banks", "end"),
    ("find of a register's value", "find f32({register}[7]) == 0.12345", 0),
    ("trace", "trace w3.pc at w3.state == wb_drain", 0), ("trace of a register", "trace {register}[0], w3.pc", 0),
)
Rows = list[dict[str, Any]]


def rows(folder: Path, runs: int, rounds: int = ROUNDS) -> Rows:
    """Return all rows; `folder` is for files that may be deleted."""
    found = []
    for design in DESIGNS:
        for name in ORDER:
            spec = load_launch_file(WORKLOADS / f"{name}.toml")
            ratios = [live_ratio(spec, design) for _ in range(runs + 1)][1:]   # the first run loads or compiles
            found.append(row(f"live run, rewindable, to plain run: {name} {design}", ratios, "x", at_most=1.1))
    medium = write_launch_file(folder, SEARCH_ROUNDS)
    found += keyframed(medium, folder, runs) + searches(medium)
    return found + long_run(write_launch_file(folder, rounds))


def spent(call: Callable[[], Any]) -> float:
    """Return the seconds of this thread's CPU time that a call takes."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def live_ratio(spec: LaunchSpec, design: str) -> float:
    """Run a plain simulator and a live timeline to the end in turns; return the live one's time over the plain one's."""
    from rfview.engine.simulator import Simulator
    from rfview.sessions.timeline.live import LiveTimeline

    plain, timeline = Simulator(spec, design=design), LiveTimeline(Simulator(spec, design=design))
    plain.step(timeline.last)
    times = [0.0, 0.0]
    ways = [lambda: plain.step(TURN_CYCLES), lambda: timeline.extend(TURN_CYCLES)]
    turn = 0
    while not plain.finished:
        for way in (turn, 1 - turn):
            times[way] += spent(ways[way])
        turn = 1 - turn
    assert timeline.closed and timeline.last == plain.cycle
    return times[1] / times[0]


def keyframed(path: Path, folder: Path, runs: int) -> Rows:
    """Compare recording with keyframes alone with the plain run, and seek in what is recorded."""
    from rfview.engine.simulator import Simulator
    from rfview.sessions import open_session
    from rfview.sessions.file.writer import Budget, record

    spec, file = load_launch_file(path), folder / "keyframed.rfs"
    ratios: list[float] = []
    for _ in range(runs + 1):
        plain, again = Simulator(spec), Simulator(spec)
        alone = spent_by_all(plain.run)
        ratios.append(spent_by_all(lambda: record(again, file, budget=Budget(cycles=0))) / alone)     # noqa: B023
    session, order, seeks = open_session(file), random.Random(1), []
    last = session.timeline.last
    for _ in range(SEEKS):
        cycle = order.randint(1, last)
        seeks.append(1000 * spent(lambda: (session.goto(cycle), session.snapshot())))       # noqa: B023
    session.close()
    return [row("recorded with keyframes alone, to plain run", ratios[1:], "x", at_most=1.15, note=f"{last:,} cycles"),
            row("recorded with keyframes alone", file.stat().st_size / last, "bytes per cycle", at_most=0.5),
            row("keyframes alone: seek to a random cycle, median", seeks, "ms", at_most=20),
            row("keyframes alone: seek to a random cycle, p99", float(np.percentile(seeks, 99)), "ms", at_most=100)]


def spent_by_all(call: Callable[[], Any]) -> float:
    """Return the seconds of CPU time of all threads that a call takes."""
    began = time.process_time()
    call()
    return time.process_time() - began


def searches(path: Path) -> Rows:
    """Search a live run from end to end, beside running it: once for what is not there, and once for what is near."""
    from rfview.sessions import open_session

    session = open_session(path)
    plain = spent(lambda: session.goto("end"))
    register = f"w3.R{session.info.registers_per_thread - 1}"
    found = []
    for name, command, begin in SEARCHES:
        session.goto(begin)
        took = spent(lambda text=command.format(register=register): execute(session, text))  # type: ignore[misc]
        found.append(row(f"live run: {name} over all cycles, to plain run", took / plain, "x", at_most=3, note=command))
    session.goto("end")
    near = f"cycle <= {session.timeline.last - NEAR_CYCLES} and w3.num_issued >= 0"
    took = [spent(lambda: (session.timeline.drop_caches(), session.goto("end"), session.reverse_until(near)))
            for _ in range(3)]
    found.append(row("live run: reverse-until 20,000 cycles back", [1000 * one for one in took], "ms", at_most=100))
    session.close()
    return found


def long_run(path: Path) -> Rows:
    """Run ten million cycles live in a separate process, then rewind it to random cycles."""
    child = subprocess.run([sys.executable, "-m", "tests.bench.rewinding", str(path)], check=True, capture_output=True,
                           text=True, cwd=WORKLOADS.parent.parent.parent)
    found = json.loads(child.stdout)
    return [row("live run: cycles", found["cycles"], "cycles"),
            row("live run: keyframes", found["keyframes"], "keyframes", note=f"{found['keyframe_mb']} MB"),
            row("live run: longest stretch between keyframes", found["longest"], "cycles"),
            row("live run: most memory, with 100 rewinds", found["memory_mb"], "MB", at_most=300),
            row("live run: rewind to a random cycle, median", found["seeks_ms"], "ms"),
            row("live run: rewind to a random cycle, p99", float(np.percentile(found["seeks_ms"], 99)), "ms"),
            row("live run: one cycle back from there", found["backs_ms"], "ms")]


def long_child(path: str) -> dict[str, Any]:
    """Run to the end, rewind to random cycles and one cycle back from each; return times and memory."""
    from rfview.sessions import open_session

    session = open_session(path)
    last = session.goto("end").cycle
    timeline: Any = session.timeline
    keyframes = timeline._keyframes
    found = {"cycles": last, "keyframes": len(keyframes.cycles), "keyframe_mb": round(keyframes.nbytes / 1e6, 1),
             "longest": max(np.diff([*keyframes.cycles, last]).tolist())}
    order, seeks, backs = random.Random(1), [], []
    for _ in range(SEEKS):
        cycle = order.randint(1, last)
        for place, into in ((cycle, seeks), (cycle - 1, backs)):
            began = time.perf_counter()
            session.goto(place)
            session.snapshot()
            into.append(1000 * (time.perf_counter() - began))
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return {**found, "seeks_ms": seeks, "backs_ms": backs, "memory_mb": int(status.split("VmHWM:")[1].split()[0]) / 1024}


if __name__ == "__main__":
    print(json.dumps(long_child(sys.argv[1])))
