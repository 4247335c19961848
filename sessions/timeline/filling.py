"""Stores cycles of a recording's run that it lacks: all of them, compared with the keyframes on the way, or a part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rfview.engine.chunk import Chunk
from rfview.engine.errors import InputError
from rfview.sessions.file.writer import Budget, RecordResult, record
from rfview.sessions.timeline.base import CycleProgress
from rfview.sessions.timeline.replay import RecordedTimeline


class _Compared:
    """The machine of a recording, which must equal its keyframes wherever it stops."""

    def __init__(self, recording: RecordedTimeline):
        again = recording.again()
        again.distrust()
        self._machine, self._compare = again.simulator, again.compare

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def record_chunk(self, cycles: int, **what: Any) -> Chunk:
        """Record a chunk like the simulator; raises InputError if it ends in another state than the recording's run."""
        chunk = self._machine.record_chunk(cycles, **what)
        self._compare()
        return chunk

    def step(self, n: int) -> int:
        """Run like the simulator; raises InputError as `record_chunk` does."""
        ran = self._machine.step(n)
        self._compare()
        return ran


def fill(recording: RecordedTimeline, path: str | Path, progress: CycleProgress | None = None,
         budget: Budget | None = None) -> RecordResult:
    """Record the run of a recording again, within a budget for chunks (default: all of it); imports numba.

    progress, and what an interrupted run leaves: as in rfview.sessions.file.writer.record. Raises InputError, which names
    the first keyframe that differs; nothing is written then.
    """
    return record(_Compared(recording), path, progress=progress, max_cycles=recording.last, compiling=recording.compiling,
                  budget=budget, end=recording.end)


def fill_part(recording: RecordedTimeline, path: str | Path, part: Budget,
              progress: CycleProgress | None = None) -> RecordResult:
    """Record only the cycles of a part again, from the keyframe before it; the file has all keyframes of the recording.

    Raises InputError as `fill` does.
    """
    again, last = recording.again(), recording.last if part.last is None else part.last
    again.simulator.restore(again.checkpoint_at(part.first))
    return record(_Chunks(again.simulator, recording), path, progress=progress, max_cycles=last - part.first,
                  compiling=recording.compiling, end=recording.end, like=recording.copied())


def hull(recording: RecordedTimeline, part: Budget) -> Budget:
    """Return a part that has all cycles that a recording stores, too: its chunks follow one another.

    Raises InputError if there is a gap between them.
    """
    last = recording.last if part.last is None else part.last
    if not recording.stored_chunks:
        return part
    first, until = recording.stored_from, recording.stored_until
    if part.first > until or last < first:
        raise InputError(f"{recording.path}: stores cycles {first:,} to {until:,}, and those between must be stored, too: "
                         f"give --from {min(part.first, first)} --to {max(last, until)}, or another file with -o")
    return Budget(first=min(part.first, first), last=max(last, until))


class _Chunks:
    """A machine whose chunks leave out the printed lines that keyframes of the recording have."""

    def __init__(self, machine: Any, recording: RecordedTimeline):
        self._machine, self._stored = machine, range(recording.stored_from, recording.stored_until)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def record_chunk(self, cycles: int, **what: Any) -> Chunk:
        """Record a chunk like the simulator."""
        chunk = self._machine.record_chunk(cycles, **what)
        chunk.printed = [line for line in chunk.printed if line[0] in self._stored]
        return chunk
