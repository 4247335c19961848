"""The JSON trace-event format that ui.perfetto.dev and chrome://tracing read; one microsecond stands for one cycle.

Process 0 holds a thread per warp slot with a slice per run of one state, process 1 the instructions as asynchronous
slices named by their text, with a step per stage; counters give the warps that issued.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from rfview.sessions.export.instructions import constants, events, windows
from rfview.sessions.timeline.base import Timeline

WARPS, INSTRUCTIONS = 0, 1


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the states and instructions of cycles first..last - 1."""
    info = timeline.info
    about = constants(timeline, "kernel", "design", "scheduler", "preset", "seed", "source_hash")
    out.write('{"displayTimeUnit":"ns","otherData":' + json.dumps({**about, "1 us": "1 cycle"}) + ',"traceEvents":[\n')
    separator = ""
    for entry in (*_names(info), *_states(timeline, first, last), *_instructions(timeline, first, last)):
        out.write(separator + json.dumps(entry, separators=(",", ":")))
        separator = ",\n"
    out.write("\n]}\n")


def _names(info: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for process, name in ((WARPS, "warp states"), (INSTRUCTIONS, "instructions")):
        yield {"ph": "M", "pid": process, "tid": 0, "name": "process_name", "args": {"name": name}}
    for warp in range(int(info["num_warps"])):
        yield {"ph": "M", "pid": WARPS, "tid": warp, "name": "thread_name", "args": {"name": f"w{warp}"}}


def _states(timeline: Timeline, first: int, last: int) -> Iterator[dict[str, Any]]:
    """Yield a slice per run of a state; the state at c is what the warp did in cycle c - 1."""
    names = {int(entry["code"]): entry["name"] for entry in constants(timeline, "stalls")["stalls"]}
    since: np.ndarray | None = None
    now: np.ndarray | None = None
    issued = -1
    for start, stop in windows(timeline, first + 1, last):
        for row, states in enumerate(timeline.states(start, stop)):
            cycle = start + row - 1
            if now is None or since is None:
                now, since = states.copy(), np.full(len(states), cycle, np.int64)
            for warp in np.flatnonzero(states != now).tolist():
                yield _slice(names, warp, int(now[warp]), int(since[warp]), cycle)
                now[warp], since[warp] = states[warp], cycle
            count = int((states == 0).sum())
            if count != issued:
                issued = count
                yield {"ph": "C", "pid": WARPS, "tid": 0, "name": "issued", "ts": cycle, "args": {"warps": count}}
    if now is not None and since is not None:
        for warp in range(len(now)):
            yield _slice(names, warp, int(now[warp]), int(since[warp]), last)


def _slice(names: dict[int, str], warp: int, code: int, start: int, stop: int) -> dict[str, Any]:
    return {"ph": "X", "pid": WARPS, "tid": warp, "name": names.get(code, f"state {code}"), "ts": start,
            "dur": stop - start}


def _instructions(timeline: Timeline, first: int, last: int) -> Iterator[dict[str, Any]]:
    program = constants(timeline, "program")["program"] or []
    for event in events(timeline, first, last):
        text = program[event.pc]["text"] if event.pc < len(program) else "?"
        base = {"pid": INSTRUCTIONS, "tid": event.warp, "cat": "instruction", "id": event.seq, "name": text,
                "ts": event.cycle}
        phase = {"begin": "b", "stage": "n", "end": "e"}[event.kind]
        yield {"ph": phase, **base, "args": {"warp": event.warp, "pc": event.pc, "stage": event.stage}}
