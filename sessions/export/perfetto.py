"""The JSON trace-event format for ui.perfetto.dev and chrome://tracing; one microsecond stands for one cycle.

Process 0 counts the warps that issued. Each warp slot is a process: a track with a slice per period of one state, and as
many tracks of instructions as were in flight at once, with a slice for each and its stages inside. Slices of one track
never overlap unless one contains the other, as the format requires.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from rfview.engine.escapes import visible_in
from rfview.sessions.export.instructions import Followed, constants, followed
from rfview.sessions.export.tables import batches
from rfview.sessions.lines.table import lines_of
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

MACHINE, STATES = 0, 0      # the process of the whole machine; in a warp's process the track of its states
Entry = dict[str, Any]


def write(timeline: Timeline, first: int, last: int, out: IO[str]) -> None:
    """Write the states and instructions of cycles first..last - 1."""
    shown = ("kernel", "design", "scheduler", "preset", "seed", "source_hash")
    about = {name: visible_in(getattr(timeline.info, name)) for name in shown}
    out.write('{"displayTimeUnit":"ns","otherData":' + json.dumps({**about, "1 us": "1 cycle"}) + ',"traceEvents":[\n')
    separator = ""
    for entry in chain(_names(timeline.info), _states(timeline, first, last), _instructions(timeline, first, last)):
        out.write(separator + json.dumps(entry, separators=(",", ":")))
        separator = ",\n"
    out.write("\n]}\n")


def _process(warp: int) -> int:
    return warp + 1


def _name(kind: str, process: int, thread: int, name: str, order: int) -> Iterator[Entry]:
    base = {"ph": "M", "pid": process, "tid": thread}
    yield {**base, "name": f"{kind}_name", "args": {"name": name}}
    yield {**base, "name": f"{kind}_sort_index", "args": {"sort_index": order}}


def _names(info: RunInfo) -> Iterator[Entry]:
    yield from _name("process", MACHINE, 0, "machine", 0)
    for warp in range(info.num_warps):
        yield from _name("process", _process(warp), 0, f"w{warp}", _process(warp))
        yield from _name("thread", _process(warp), STATES, "state", 0)


def _states(timeline: Timeline, first: int, last: int) -> Iterator[Entry]:
    """Yield a slice per period of one state, and the number of warps that issued, whenever it changes."""
    for warps, names, begins, _, spans in batches(timeline, "waits", first, last):
        for warp, name, begin, span in zip(warps, names, begins, spans, strict=True):
            yield _slice(warp, STATES, name, begin, begin + span)
    before = -1
    for cycles, _, issued, _ in batches(timeline, "cycles", first, last):
        for cycle, count in zip(cycles, issued, strict=True):
            if count != before:
                yield {"ph": "C", "pid": MACHINE, "tid": 0, "name": "issued", "ts": cycle, "args": {"warps": count}}
            before = count


def _slice(warp: int, track: int, name: str, start: int, stop: int) -> Entry:
    return {"ph": "X", "pid": _process(warp), "tid": track, "name": name, "ts": start, "dur": stop - start}


def _instructions(timeline: Timeline, first: int, last: int) -> Iterator[Entry]:
    info = constants(timeline, "program")
    lines, unit = lines_of(timeline), info.line_unit
    free_at: dict[int, list[int]] = {}      # by warp: the cycle from which each of its tracks is free
    for one in sorted(followed(timeline, first, last), key=lambda one: one.id):
        begin = one.stages[0][1]
        end = max(one.done, begin + 1)      # an instruction that is done at its issue takes that cycle
        tracks = free_at.setdefault(one.warp, [])
        track = next((number for number, free in enumerate(tracks) if free <= begin), len(tracks))
        if track == len(tracks):
            tracks.append(end)
            name = "instructions" if not track else f"instructions {track + 1}"
            yield from _name("thread", _process(one.warp), track + 1, name, track + 1)
        tracks[track] = end
        entry = info.instruction(one.pc)
        where = lines.at(one.pc) if lines else None
        text, number = (entry.text, entry.line) if entry else ("?", 0)
        about = {"pc": one.pc, unit: number, **({"source": where.text} if where is not None else {})}
        yield {**_slice(one.warp, track + 1, text, begin, end), "cat": "instruction", "args": about}
        yield from _stages(one, track + 1)


def _stages(one: Followed, track: int) -> Iterator[Entry]:
    """Yield the stages inside an instruction's slice; one that only issues has none."""
    inside = one.stages[1:]
    for (name, begin), (_, end) in zip(inside, (*inside[1:], ("", one.done))):
        if end > begin:
            yield {**_slice(one.warp, track, name, begin, end), "cat": "stage"}
