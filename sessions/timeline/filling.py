"""Records a recording's run again, with every cycle, comparing it with the keyframes on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rfview.engine.chunk import Chunk
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
