"""Opening, seeking in and searching a recording of ten million cycles of a real run (long.py)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.launch import load_launch_file
from rfview.sessions import Session, open_session
from rfview.sessions.why import why
from tests.bench.long import ROUNDS, write_launch_file
from tests.bench.row import row
from tests.rfview.terminal import Terminal

SEEKS = 200             # per run
QUIET_S = 0.6           # a screen that has not changed for this long is complete
MOMENT_S = 0.1          # the same after a key
JUMPS = 20
SLOW_S = 4.0            # duration of the measurement of a cycle-by-cycle search
Rows = list[dict[str, Any]]
# conditions whose searches cover all cycles: they never hold, or only at the very beginning
ONE_WORD = {
    "state word, one warp": "w3.state == wb_drain",
    "state word, any warp": "any(w.state == wb_drain)",
    "state word, another": "w3.num_issued == 4000000000",
    "stall reason": "stall.wb_drain > 0",
    "event kind": "event.instructions == 1",
}
LAST_CHANGE = {"a word that never changed": "sm.config.num_banks", "a barrier that is not used": "sm.barrier[3][7].arrived"}
# conditions that must be evaluated in every cycle
OTHERS = {"two words": "w3.pc / (w4.pc + 1) == 0.12345", "a word of all warps": "any(w.num_issued / 7 == 0.12345)",
          "a register's lane": "f32(w3.R5[7]) == 0.12345"}


def record_long(folder: Path, rounds: int = ROUNDS) -> tuple[Path, Rows]:
    """Record the long run; return its path and rows about the file."""
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    path = folder / "long.rfs"
    result = record(Simulator(load_launch_file(write_launch_file(folder, rounds))), path)
    index = sum(size for tag, size in frame_sizes(path) if tag in (b"ZONE", b"INDX"))
    return path, [row("cycles recorded", result.cycles, "cycles"),
                  row("bytes per cycle", result.bytes_per_cycle, "bytes"),
                  row("index and zone maps", 100 * index / result.file_bytes, "% of the file", at_most=5)]


def frame_sizes(path: Path) -> list[tuple[bytes, int]]:
    """Return (tag, bytes) of each frame of a session file."""
    from rfview.sessions.file import framing

    found, at, size = [], len(framing.MAGIC), path.stat().st_size
    with open(path, "rb") as file:
        while at < size - framing.TRAILER.size:
            file.seek(at)
            tag, length, _ = framing.FRAME.unpack(file.read(framing.FRAME.size))
            found.append((tag, framing.FRAME.size + length))
            at += framing.FRAME.size + length
    return found


def opening(path: Path, folder: Path, runs: int) -> Rows:
    """Open the recording in a terminal of 120 x 40; Python's bytecode is cached, as it is for an installed rfview."""
    environ = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    times: list[tuple[float, float]] = []
    opened = used = 0
    for _ in range(runs + 1):
        began = time.perf_counter()
        with Terminal(["replay", str(path), "--fresh"], environ=environ) as terminal:
            stamps = settle(terminal, QUIET_S)
            times.append((stamps[0] - began, stamps[-1] - began))
            opened = memory(terminal)
            walk(terminal)
            used = memory(terminal)
    first, whole = zip(*times[1:])      # the first run wrote the bytecode
    return [row("open: first frame from exec", first, "s", at_most=0.55),
            row("open: full screen from exec", whole, "s", at_most=0.5),
            row("open: memory", opened, "MB", at_most=300),
            row("memory after 20 jumps, searches and steps", used, "MB", at_most=300)]


def settle(terminal: Terminal, quiet_s: float) -> list[float]:
    """Wait until a screen shows something and has not changed for a while; return when it changed."""
    stamps: list[float] = []
    shown = ""

    def is_quiet(text: str) -> bool:
        nonlocal shown
        now = time.perf_counter()
        if text != shown and text.strip():
            shown = text
            stamps.append(now)
        return bool(stamps) and now - stamps[-1] > quiet_s

    terminal.wait(is_quiet)
    return stamps


def memory(terminal: Terminal) -> float:
    """Return the peak memory of the program in a terminal, in MB."""
    status = Path(f"/proc/{terminal.process.pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def walk(terminal: Terminal) -> None:
    """Jump through the session, search it, and step around each place."""
    for share in range(JUMPS):
        place = 100 * (share + 0.5) / JUMPS
        for keys in (f":goto {place:.1f}%\r", f":break if w{share % 48}.state == barrier\r", "C", "sssSS"):
            terminal.send(keys)
            settle(terminal, MOMENT_S)


def seeking(path: Path, runs: int, seed: int = 1) -> Rows:
    """Read complete snapshots at random cycles, and one cycle before each, and say why warps wait there."""
    session = open_session(path)
    timeline = session.timeline
    jumps: list[tuple[float, float]] = []
    backs: list[tuple[float, float]] = []
    rows: list[tuple[float, float]] = []
    chains: list[tuple[float, float]] = []
    for cycle in np.random.RandomState(seed).randint(timeline.first + 1, timeline.last + 1, SEEKS * runs).tolist():
        jumps.append(timed(lambda cycle=cycle: (session.goto(cycle), session.snapshot())))  # type: ignore[misc]
        rows.append(timed(lambda: session.snapshot().rows))     # registers are read only on request
        chains.append(timed(lambda cycle=cycle: why(session, None, cycle)))  # type: ignore[misc]
        backs.append(timed(lambda: (session.back(), session.snapshot())))
    session.close()
    both = [(jump[0] + row[0], jump[1] + row[1]) for jump, row in zip(jumps, rows)]
    found = []
    for name, times in (("seek to a random cycle", jumps), ("one cycle back from there", backs),
                        ("seek with all registers", both)):
        wall, cpu = zip(*times)
        found += [row(f"{name}: median", wall, "ms", cpu=cpu),
                  row(f"{name}: p99", percentile(wall), "ms", at_most=10, cpu=[percentile(cpu)])]
    wall, cpu = zip(*chains)
    return [*found, row("why a warp waits, at a random cycle: median", wall, "ms", at_most=50, cpu=cpu)]


def percentile(values: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return float(np.percentile(values, 99))


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the milliseconds that a call takes, as wall time and as this thread's CPU time."""
    began, spent = time.perf_counter(), time.thread_time()
    call()
    return 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - spent)


def searching(path: Path, runs: int) -> Rows:
    """Search backwards from the end, each time in a fresh session."""
    rows = []
    for name, condition in ONE_WORD.items():
        times = []
        for _ in range(runs):
            with at_end(path) as session:
                session.add_breakpoint("if", condition=condition)
                times.append(timed(session.reverse_continue))
                assert session.cycle < session.timeline.last // 100, condition
        wall, cpu = zip(*times)
        rows.append(row(f"reverse-continue: {name}", wall, "ms", at_most=100, note=condition, cpu=cpu))
    for name, item in LAST_CHANGE.items():
        times = []
        for _ in range(runs):
            with at_end(path) as session:
                times.append(timed(lambda session=session, item=item: session.last_change(item)))  # type: ignore[misc]
        wall, cpu = zip(*times)
        rows.append(row(f"last change: {name}", wall, "ms", at_most=100, note=item, cpu=cpu))
    for name, condition in OTHERS.items():
        by_wall, by_cpu = speed(path, condition)
        rows.append(row(f"reverse-continue: any other, {name}", by_wall, "cycles/s", at_least=5e6, note=condition,
                        cpu=[by_cpu]))
    return rows


def at_end(path: Path) -> Session:
    """Return a new session positioned at its end."""
    session = open_session(path)
    session.goto("end")
    return session


def speed(path: Path, condition: str) -> tuple[float, float]:
    """Return the cycles per second, and per second of CPU time, of a search in every cycle, measured for a few seconds."""
    with at_end(path) as session:
        began = time.perf_counter()
        session.progress = lambda cycle: time.perf_counter() - began > SLOW_S
        session.add_breakpoint("if", condition=condition)
        here = session.cycle
        spent = time.thread_time()
        stop = session.reverse_continue()
        cycles = here - stop.cycle
        return cycles / (time.perf_counter() - began), cycles / (time.thread_time() - spent)


def load() -> list[float]:
    """Return the load averages of the computer over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]
