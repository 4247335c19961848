"""A run on its way into a file: chunks within a budget, and keyframes."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.chunk import Chunk
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.progress import Progress
from rfview.sessions.file.keyframe import Keyframe
from rfview.sessions.file.write_pipeline import WritePipeline

if TYPE_CHECKING:
    from rfview.sessions.file.writer import Frame, Writer
    from rfview.sessions.timeline.base import CycleProgress

# chunks written for certain when another one is given to the pipeline: a file's size depends on the run alone
WRITTEN_CHUNKS = 8
STEP_CYCLES = 1 << 16       # run without being recorded, between two calls of progress


@dataclass(frozen=True)
class Budget:
    """How much of a run is stored as chunks, the rest only as keyframes: so many cycles, in whole chunks, or bytes; or all.

    first, last: only these cycles, `last` excluded.
    """

    cycles: int | None = None
    bytes: int | None = None
    first: int = 0
    last: int | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether no cycle is stored as chunks."""
        return 0 in (self.cycles, self.bytes)


class Running:
    """A run on its way into a file.

    reached: its cycle; begun, stored: the first cycle of its chunks, and the one after them; totals: stall totals there.
    """

    def __init__(self, simulator: Any, writer: Writer, chunk_cycles: int, budget: Budget, has_keyframes: bool):
        """has_keyframes: without them there is no budget, and no part can be stored: then raises InputError."""
        from rfview.sessions.file.keyframe_coder import KeyframeCoder   # imports numba: what replays imports this module too

        if (budget.first or budget.last) and not has_keyframes:
            raise InputError("a part of this run cannot be stored: the rest could not be simulated again")
        self._simulator, self._writer, self._chunk_cycles = simulator, writer, chunk_cycles
        self._budget = budget if has_keyframes else Budget()
        if self._budget.is_nothing:
            writer.name_inputs(simulator.spec)
        self._coder = KeyframeCoder(simulator) if has_keyframes else None
        self._pipeline: WritePipeline[Chunk | Keyframe, Frame] = WritePipeline(writer)
        self.first = self.reached = self.stored = self._last_keyframe = simulator.cycle
        self.begun = max(self.first, budget.first)
        self._chunks, self._is_storing = 0, self.begun == self.first
        self.totals = np.zeros(0, np.int64)
        self._due = sys.maxsize if self._coder is None else self._coder.next(self.reached)

    def go(self, progress: CycleProgress | None, max_cycles: int | None, compiling: Progress | None) -> None:
        """Run to the end, or for max_cycles, or until progress says so; return when everything is written."""
        limit = sys.maxsize if max_cycles is None else self.first + max_cycles
        try:
            if self._is_storing:
                self._note_stored()
            if not self._is_storing:
                self._pipeline.put(self._simulator.record_chunk(0))     # the header
            while self._advance(limit, compiling) and not (progress is not None and progress(self.reached)):
                pass
            if self.reached < self.begun:
                raise InputError(f"the run ends at cycle {self.reached:,}; it was to be stored from cycle {self.begun:,} on")
            if not self._is_storing and self._last_keyframe < self.reached:
                self._keyframe()
        finally:
            self._pipeline.finish()

    def _advance(self, limit: int, compiling: Progress | None) -> bool:
        """Run up to the end of a chunk or to a keyframe; return whether the run goes on."""
        simulator, length = self._simulator, min(limit, self._due, self._border) - self.reached
        if length <= 0:
            return False
        if self._is_storing:
            from rfview.sessions.codec.compiling import beside  # imports numba, as above

            # the coder keeps rows and memory from chunk to chunk: only the first keyframe needs them
            with nullcontext() if self._chunks else beside(compiling):
                chunk = simulator.record_chunk(min(length, self._chunk_cycles), values=not self._chunks, lend=True)
            if not chunk.num_cycles:
                return False
            self.reached = chunk.first_cycle + chunk.num_cycles
            self._pipeline.put(chunk)
            self._chunks += 1
            self._note_stored()
        else:
            with suppress(KernelFault):     # it is in simulator.fault
                simulator.step(min(length, STEP_CYCLES))
            if simulator.cycle == self.reached:
                return False
            self.reached = simulator.cycle
            self._is_storing = self.reached == self.begun
        if self.reached in (self._due, self.begun) or (self.reached == self.stored and not self._is_storing):
            self._keyframe()
        return simulator.fault is None

    @property
    def _border(self) -> int:
        """Return the cycle at which chunks begin or end next."""
        if self.reached < self.begun:
            return self.begun
        return self._budget.last if self._budget.last is not None and self._is_storing else sys.maxsize

    def _note_stored(self) -> None:
        """Note what the chunks cover so far, and whether the budget allows more."""
        self.stored, self.totals = self.reached, np.array(self._simulator.sm["stall_total"], np.int64)
        cycles, offsets, chunk = self._budget.cycles, self._writer.index.offset, self._chunks - WRITTEN_CHUNKS
        is_spent = cycles is not None and self.reached - self.begun >= cycles
        is_spent |= self._budget.last is not None and self.reached >= self._budget.last
        if self._budget.bytes is not None and not is_spent:
            is_spent = not self._budget.bytes or (chunk >= 0 and offsets[chunk] > self._budget.bytes)
        self._is_storing = not is_spent

    def _keyframe(self) -> None:
        """Give a keyframe of the current cycle to the pipeline."""
        assert self._coder is not None
        self._pipeline.put(self._coder.take(has_printed=self.reached == self.stored))
        self._last_keyframe, self._due = self.reached, self._coder.next(self.reached)
