"""Consecutive chunks of a run, recorded once as it goes by: for a look at a few, where a session would be too much."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES
from rfview.sessions.layout import Layout
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.decoded import DecodedChunk


class OnceTimeline(Timeline):
    """The cycles from a simulator's own up to `last`, or the run's end: no values of rows and memory, only who wrote them.

    known: the first cycle, at a chunk's border, from which on states are known.
    """

    def __init__(self, simulator: Any, known: int, last: int):
        super().__init__(simulator.info, Layout(simulator.sm_dtype, simulator.rf_dtype))
        self.first = self.last = simulator.cycle
        self._parts: list[DecodedChunk] = []
        while self.last < last and not simulator.finished:
            only = None if self.last >= known else np.empty(0, np.uint32)
            chunk = simulator.record_chunk(min(CHUNK_CYCLES, last - self.last), values=False, only=only)
            self._parts.append(DecodedChunk(chunk, self.layout, _unknown, _unknown))
            self.last = simulator.cycle
        self._starts = [part.first for part in self._parts]

    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk."""
        return self._starts

    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`."""
        return self._parts[number]

    def totals(self, number: int) -> np.ndarray:
        """Return the stall totals at the start of chunk `number`."""
        return self._parts[number].stall_total()[0] if number < len(self._parts) else self._parts[-1].stall_total()[-1]

    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return nothing: what the kernel prints is not kept."""
        return []


def _unknown() -> np.ndarray:
    raise AssertionError("values of rows and memory are not recorded")
