"""Records a part of a run, between two cycles, and keyframes of all of it, or only the part, as a run of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rfview.engine.errors import InputError
from rfview.engine.wording import whole
from rfview.sessions.branches.fork import machine_at
from rfview.sessions.timeline.base import CycleProgress
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.timeline.replay import RecordedTimeline
from rfview.sessions.file.writer import Budget, RecordResult, record
from rfview.sessions.session import Session

if TYPE_CHECKING:
    pass

CYCLE = re.compile(r"\d[\d,_]*\Z")
LAUNCH = re.compile(r"launch\s+(\d+)\Z")


def capture(session: Session, path: str | Path, first: int, last: int) -> RecordResult:
    """Write cycles first..last - 1 of a session as a new recording.

    They are simulated by a separate machine, so the session is unchanged. Raises InputError for an empty range, a file
    that cannot be written, or a recording that cannot be simulated again.
    """
    check(path)
    if last <= first:
        raise InputError(f"capture: cycle {last:,} is not after cycle {first:,}, where it begins")
    session.reach(last)
    for cycle in (first, last):
        session.timeline.require(cycle)
    machine, _ = machine_at(session.timeline, first, {}, session.progress, session.compiling)
    return record(machine, path, progress=session.progress, max_cycles=last - first, compiling=session.compiling)


def part_of(timeline: LiveTimeline | RecordedTimeline, begin: str, end: str,
            progress: CycleProgress | None = None) -> Budget:
    """Return the cycles between two places as what is to be stored: a cycle, "launch N" (0 is the first), or a condition.

    timeline: of a new simulator, which runs as far as needed and is then at cycle 0 again, or of a recording. begin, end:
    "" is the run's start or end; a condition is searched for from `begin` or the start. Raises InputError for a place that
    the run does not reach.
    """
    session = Session(timeline)
    session.progress = progress
    first = _find(session, begin, "--from") if begin else 0
    last = _find(session, end, "--to", first) if end else None
    if last is not None and last <= first:
        raise InputError(f"--to {end}: that is cycle {last:,}, not after cycle {first:,}, where the part begins")
    if isinstance(timeline, LiveTimeline):
        timeline.simulator.restore(timeline.checkpoint_at(0))
    return Budget(first=first, last=last)


def _find(session: Session, place: str, option: str, first: int = 0) -> int:
    """Return the cycle of a place, of a condition that at or after cycle `first`. A new run is not run for a cycle."""
    text, timeline = place.strip(), session.timeline
    if CYCLE.match(text):
        cycle = whole(text)
        if timeline.closed and cycle > timeline.last:
            raise InputError(f"{option} {place}: the run ends at cycle {timeline.last:,}")
        return cycle
    session.goto(first)
    launch = LAUNCH.match(text)
    condition = f"launch.index >= {launch[1]}" if launch else text
    here = session.cycle
    if not session.expression(condition).truth(here, here + 1)[0]:
        stop = session.run_until(condition)
        if stop.reason != "condition":
            why = "the run's end" if stop.reason == "end" else f"where {stop.text}"
            raise InputError(f"{option} {place}: not met from cycle {here:,} to cycle {stop.cycle:,}, {why}")
        return stop.cycle
    return here


def check(path: str | Path) -> None:
    """Raise InputError if the file cannot be written, before anything is simulated."""
    file = Path(path)
    if file.is_dir() or not file.parent.is_dir():
        raise InputError(f"{path}: {'is a folder' if file.is_dir() else f'there is no folder {file.parent}'}")
