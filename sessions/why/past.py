"""The machine at past cycles, read straight from recorded chunks, for following a chain of causes back in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.sessions.machine import Machine

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.engine.snapshot import Snapshot
    from rfview.sessions.timeline.decoded import DecodedChunk
    from rfview.sessions.timeline.base import Timeline

MAX_READERS = 4  # chunks kept decoded while one chain is followed
MAX_MOMENTS = 24


class _Reader:
    """The states of one chunk. It reads only arrays that are never changed, so it is safe in another thread."""

    def __init__(self, part: DecodedChunk):
        self.first, self.last = part.first, part.last
        self.layout = part.layout
        self._part = part

    def records(self, cycle: int) -> tuple[Any, Any]:
        """Return (sm, rf) at a cycle of the chunk; totals such as `stall_total` are those of the chunk's start."""
        words = self._part.chunk.key.copy()
        self._part.changes.apply(words, cycle - self.first)
        data = words.view(np.uint8)
        split = self.layout.sm_bytes
        rf = data[split : split + self.layout.rf_dtype.itemsize].view(self.layout.rf_dtype)[0]
        return data[:split].view(self.layout.sm_dtype)[0], rf


class Past:
    """Moments by cycle: over a timeline, back to its first cycle; made by `around`, only two chunks."""

    def __init__(self, info: RunInfo, timeline: Timeline | None = None):
        self.info = info
        self._timeline = timeline
        self._readers: dict[int, _Reader] = {}
        self._fixed: list[_Reader] = []
        self._known: dict[int, Machine] = {}

    @classmethod
    def around(cls, timeline: Timeline, cycle: int) -> Past:
        """Return a past independent of the timeline, for another thread: the chunk of `cycle` and the one before."""
        past = cls(timeline.info)
        past._fixed = [_Reader(part) for part in timeline.around(cycle)]
        return past

    def know(self, snapshot: Snapshot) -> Machine:
        """Add a moment that has been read already, and return it."""
        moment = Machine.of(snapshot)
        self._known[moment.cycle] = moment
        return moment

    def at(self, cycle: int) -> Machine | None:
        """Return the machine at a cycle; None if the past does not reach that far back."""
        if cycle not in self._known:
            reader = self._reader(cycle)
            if reader is None:
                return None
            while len(self._known) >= MAX_MOMENTS:
                self._known.pop(next(iter(self._known)))
            self._known[cycle] = Machine(cycle, *reader.records(cycle), self.info)
        return self._known[cycle]

    def _reader(self, cycle: int) -> _Reader | None:
        """Return the reader of the chunk that holds a cycle."""
        for reader in self._fixed:
            if reader.first <= cycle <= reader.last:
                return reader
        timeline = self._timeline
        if timeline is None or not timeline.first <= cycle <= timeline.last or not timeline.chunk_starts():
            return None
        number = timeline.chunk_number(cycle)
        if number not in self._readers:
            if len(self._readers) >= MAX_READERS:
                self._readers.pop(next(iter(self._readers)))
            self._readers[number] = _Reader(timeline.decoded(number))
        return self._readers[number]
