"""Waiting times at a screen of 120 x 40: from a key to its frame, steps of a held key, the start of a live run."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.row import row
from tests.bench.searching import MOMENT_S, QUIET_S, settle
from tests.rfview.terminal import Terminal

KEYS = 100
HELD_S = 3.0
REPEAT_S = 1 / 60       # the fastest at which a terminal repeats a held key
CYCLE = re.compile(r"cycle ([\d,]+)")


def rows(path: Path, runs: int) -> list[dict[str, Any]]:
    """Return all rows; path: a recording to step in."""
    with Terminal(["replay", str(path), "--fresh"]) as terminal:
        settle(terminal, QUIET_S)
        waits = [key_to_paint(terminal, "sSss"[number % 4]) for number in range(KEYS)]
        steps = held(terminal)
    starts = [start() for _ in range(runs + 1)][1:]     # the first run loads or compiles
    first, stepped = zip(*starts)
    return [row("key to paint, p95", 1000 * float(np.percentile(waits, 95)), "ms", at_most=33),
            row("key held: steps per second", steps, "steps/s", at_least=30),
            row("rfview debug, warm: first frame from exec", first, "s", at_most=0.55),
            row("rfview debug, warm: first step from exec", stepped, "s", at_most=1)]


def cycle_of(text: str) -> int:
    """Return the cycle that a screen shows, -1 if it shows none."""
    found = CYCLE.search(text)
    return int(found[1].replace(",", "")) if found else -1


def key_to_paint(terminal: Terminal, key: str) -> float:
    """Return the seconds from a key to the screen that shows another cycle, when the program is otherwise idle."""
    settle(terminal, MOMENT_S)
    before = cycle_of(terminal.text)
    began = time.perf_counter()
    terminal.send(key)
    terminal.wait(lambda text: cycle_of(text) not in (before, -1))
    return time.perf_counter() - began


def held(terminal: Terminal) -> float:
    """Return the number of different screens per second while the step key is held."""
    settle(terminal, MOMENT_S)
    shown = {cycle_of(terminal.text)}
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(REPEAT_S):
            terminal.send("s")

    def is_over(text: str) -> bool:
        shown.add(cycle_of(text))
        return time.perf_counter() - began > HELD_S

    key = threading.Thread(target=repeat)
    began = time.perf_counter()
    key.start()
    try:
        terminal.wait(is_over, HELD_S + 10)
    finally:
        over.set()
        key.join()
    return (len(shown) - 1) / HELD_S


def start() -> tuple[float, float]:
    """Return the seconds from exec of `rfview debug` to the first frame, and to the frame of the first step."""
    began = time.perf_counter()
    with Terminal(["debug", "vectoradd"]) as terminal:
        terminal.wait(lambda text: bool(text.strip()))
        first = time.perf_counter() - began
        terminal.send("s")
        terminal.wait(lambda text: cycle_of(text) > 0)
        return first, time.perf_counter() - began
