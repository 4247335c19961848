"""A timeline extended by the engine: it runs ahead at full speed; cycles to be shown are simulated again and recorded.

Long moves run the machine without its journal and take occasional keyframes (keyframes.py). A cycle to be
shown is reached from the nearest keyframe before it, and its chunk is recorded into a cache; on the way,
checkpoints are kept, so that going further back does not start at the keyframe again. Short moves record at once.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left, bisect_right, insort
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES, Blocks, Chunk, Rows
from rfview.engine.errors import KernelFault
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.codec import pages
from rfview.sessions.timeline.decoded import DecodedChunk
from rfview.sessions.timeline.keyframes import Keyframes
from rfview.sessions.timeline.sweep import Sweep
from rfview.sessions.layout import Layout
from rfview.sessions.timeline.base import Overview, Timeline

# Under 300 MB for machines of a few MB, including the process itself (about 160 MB with the compiled machine).
KEYFRAME_BYTES = 64 << 20
DECODED_BYTES = 48 << 20
CHECKPOINT_BYTES = 16 << 20
MAX_CHECKPOINTS = 16
# One call of the machine costs as much as about 100 cycles, several times that on a busy computer; for a stretch that is
# about one percent. Stall totals are known between stretches; a finer overview runs some of them again, about
# 0.1 s at a time.
STRETCH_CHUNKS = 16
REFINE_CYCLES = 1 << 17
# A keyframe compares the whole machine, at about 8 GB/s, and takes another 0.3 ms; the next one is due when the
# simulation has taken 20 times as long, so that keyframes cost about 5 %. If it took longer, as the first ones
# do, for which the system must clear memory, the next is due after 15 times as long as the keyframe, or MAX_REST_S.
KEYFRAME_RATE = 8e9 / 20  # bytes of the machine per second of simulation
KEYFRAME_BASE = 2 << 20  # bytes that take as long as the fixed cost
KEYFRAME_REST, MAX_REST_S = 15, 0.1


class Memory:
    """The memory at a chunk's beginning, as the pages that differ from the run's: it is large, and rarely asked for."""

    def __init__(self, first: np.ndarray, now: np.ndarray):
        """first: before the run, kept by reference. now: read now."""
        self._first, self._which = first, pages.changed_pages(now, first)
        self._contents = pages.taken(now, self._which)

    @property
    def nbytes(self) -> int:
        """Return its size, together with the whole memory if that is asked for once."""
        return self._contents.nbytes + self._first.nbytes

    def whole(self) -> np.ndarray:
        """Return (words,) u4, read-only."""
        if not len(self._which):
            return self._first
        memory = self._first.copy()
        pages.put(memory, self._which, self._contents)
        memory.flags.writeable = False
        return memory


class LiveTimeline(Timeline):
    """A timeline over a running simulator; `last` is how far it has run, at chunk borders or the kernel's end.

    budget_bytes: for keyframes. records: whether to begin with the first chunk. `printed` and `fault` are those of the
    furthest point reached. Only this object may drive the simulator.
    """

    is_simulated = True

    def __init__(self, simulator: Any, *, chunk_cycles: int = CHUNK_CYCLES, budget_bytes: int = KEYFRAME_BYTES,
                 records: bool = True):
        super().__init__(simulator.info, Layout(simulator.sm_dtype, simulator.rf_dtype))
        self.simulator = simulator
        self.chunk_cycles = chunk_cycles
        self.first = self.last = simulator.cycle
        self.closed = False
        self._starts: list[int] = []
        self._lengths: list[int] = []
        self._totals: dict[int, np.ndarray] = {}  # by cycle, where known
        self._known: list[int] = []  # these cycles, ascending
        self._keyframes = Keyframes({"arena": simulator.initial_memory}, budget_bytes)
        self._due_s = 0.0  # of simulation until the next keyframe
        self._checkpoints: ByteCache[Any] = ByteCache(CHECKPOINT_BYTES)
        self._furthest: Any = None
        self._printed: list[tuple[int, str]] = list(simulator.printed)
        self._decoded: ByteCache[DecodedChunk] = ByteCache(DECODED_BYTES)
        self._sweep = Sweep()
        self._size = simulator.checkpoint(lend=True).nbytes
        self._room = min(MAX_CHECKPOINTS, CHECKPOINT_BYTES // self._size)    # checkpoints kept on the way to a cycle
        if records:
            self._record()

    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk."""
        return self._starts

    def totals(self, number: int) -> np.ndarray:
        """Return the stall totals at the start of chunk `number`, or at `last`; simulated again if not kept."""
        cycle = self._starts[number] if number < len(self._starts) else self.last
        if cycle not in self._totals:
            self._note_totals(cycle, self.decoded(number).stall_total()[0])
        return self._totals[cycle]

    def _note_totals(self, cycle: int, totals: np.ndarray) -> None:
        """Store the stall totals at a chunk's border."""
        if cycle not in self._totals:
            insort(self._known, cycle)
            self._totals[cycle] = np.array(totals, np.int64)

    def chunks_with_totals(self, first: int, last: int) -> list[int]:
        """Return those of the chunks first..last whose totals are known, and these two."""
        starts = [*self._starts, self.last]
        known = self._known[bisect_right(self._known, starts[first]) : bisect_left(self._known, starts[last])]
        return [first, *(bisect_left(starts, cycle) for cycle in known), last]

    def overview(self, buckets: int, start: int | None = None, stop: int | None = None) -> Overview:
        """Return an overview like every timeline; if it is finer than the known totals, each call determines more."""
        begin, end = self.first if start is None else start, self.last if stop is None else stop
        if buckets >= 1 and self.first <= begin < end <= self.last:
            self._refine(begin, end, (end - begin) / buckets)
        return super().overview(buckets, start, stop)

    def _refine(self, begin: int, end: int, bucket: float) -> None:
        """Simulate stretches longer than two buckets again, and keep the totals at their chunks' borders."""
        known = self._known[max(0, bisect_right(self._known, begin) - 1) : bisect_left(self._known, end) + 1]
        room = REFINE_CYCLES
        for low, high in pairwise(known):
            if high - low <= max(2 * bucket, self.chunk_cycles) or room <= 0:
                continue
            room -= high - low
            self._rewind(low)
            while self.simulator.cycle + self.chunk_cycles < high:
                self.simulator.step(self.chunk_cycles)
                self._note_totals(self.simulator.cycle, self.simulator.sm["stall_total"])

    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return the lines printed in cycles before `upto`."""
        return [(cycle, text) for cycle, text in self._printed if cycle < upto]

    def extend(self, cycles: int) -> int:
        """Simulate at least `cycles` more, rounded up to whole chunks; return how many were added, 0 at the end.

        Up to one chunk is recorded, since it will be shown; more runs at full speed.
        """
        before = self.last
        while not self.closed and (missing := cycles - (self.last - before)) > 0:
            if missing <= self.chunk_cycles:
                self._record()
            else:
                self._run(min(STRETCH_CHUNKS, -(-missing // self.chunk_cycles)))
        return self.last - before

    def _to_furthest(self) -> None:
        """Move the machine to the furthest cycle simulated so far; take a keyframe there if one is due."""
        if self._furthest is not None:
            self.simulator.restore(self._furthest)
            self._furthest = None
        if self._due_s <= 0:
            began = time.thread_time()
            checkpoint = self.simulator.checkpoint(lend=True)
            self._keyframes.add(checkpoint)
            took_s = time.thread_time() - began
            rest_s = min(KEYFRAME_REST * took_s, MAX_REST_S)
            self._due_s = max((checkpoint.nbytes + KEYFRAME_BASE) / KEYFRAME_RATE, rest_s)

    def _record(self) -> None:
        """Simulate one more chunk at the furthest cycle and keep it decoded."""
        self._to_furthest()
        began = time.thread_time()
        chunk, memory = self._recorded(self.chunk_cycles)
        self._due_s -= time.thread_time() - began
        if chunk.num_cycles or not self._starts:
            part = self._keep(len(self._starts), chunk, memory)
            self._add([chunk.first_cycle], part.last, chunk.printed)
            self._note_totals(part.first, part.stall_total()[0])
            self._note_totals(part.last, part.stall_total()[-1])
        self._note_end(chunk.num_cycles)

    def _run(self, chunks: int) -> None:
        """Simulate some chunks at the furthest cycle without recording them."""
        self._to_furthest()
        simulator = self.simulator
        first, printed = simulator.cycle, len(simulator.printed)
        began = time.thread_time()
        with suppress(KernelFault):  # it is in simulator.fault; the cycles before it are part of the timeline
            simulator.step(chunks * self.chunk_cycles)
        self._due_s -= time.thread_time() - began
        if simulator.cycle > first:
            self._add(list(range(first, simulator.cycle, self.chunk_cycles)), simulator.cycle, simulator.printed[printed:])
            self._note_totals(self.last, simulator.sm["stall_total"])
        self._note_end(simulator.cycle - first)

    def _add(self, starts: list[int], last: int, printed: list[tuple[int, str]]) -> None:
        """Append chunks that begin at `starts`; the last one ends at `last`."""
        self._starts += starts
        self._lengths += np.diff([*starts, last]).tolist()
        self._printed += printed
        self.last = last

    def _note_end(self, ran: int) -> None:
        """Close the timeline if the run has ended."""
        simulator = self.simulator
        if simulator.fault is not None:
            self.fault = str(simulator.fault)
        self.closed = ran == 0 or self.fault is not None or bool(simulator.finished)

    def _recorded(self, cycles: int) -> tuple[Chunk, Memory]:
        """Simulate some cycles, recorded; return the chunk, and the memory at its beginning."""
        memory = Memory(self.simulator.initial_memory, self.simulator.checkpoint(lend=True).arena)
        return self.simulator.record_chunk(cycles, memory=False), memory

    def _keep(self, number: int, chunk: Chunk, memory: Memory) -> DecodedChunk:
        """Put a chunk into the cache. memory: at its beginning."""
        rows = chunk.key_rows
        assert rows is not None
        part = DecodedChunk(chunk, self.layout, lambda: rows, memory.whole)
        size = part.nbytes_hint(len(chunk.row_index), len(chunk.mem_index)) + 2 * rows.nbytes + memory.nbytes
        return self._decoded.put(number, part, size)

    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`, simulated again from the nearest copy of the machine before it if necessary."""
        part = self._decoded.get(number)
        if part is not None:
            return part
        chunk, memory = self._again(number)
        assert memory is not None
        return self._keep(number, chunk, memory)

    def part(self, number: int, words: np.ndarray | None) -> DecodedChunk:
        """Return chunk `number`; in a sweep over chunks that are not decoded, with what it has needed."""
        expected, part = self._sweep.expects(number, words), self._decoded.get(number)
        if part is not None or not expected:
            return part or self.decoded(number)
        if self._sweep.part is None:
            chunk, _ = self._again(number, **self._sweep.needs())
            self._sweep.part = DecodedChunk(chunk, self.layout, _no_values, _no_values)
        return self._sweep.part

    def _again(self, number: int, **what: Any) -> tuple[Chunk, Memory | None]:
        """Simulate a chunk again; return it, and the memory at its beginning unless it is recorded in part.

        what: keyword arguments of Simulator.record_chunk, for a part.
        """
        begin, length = self._starts[number], self._lengths[number]
        self._rewind(begin)
        first, memory = (self.simulator.record_chunk(length, **what), None) if what else self._recorded(length)
        pieces = [first]
        # if the journal runs full, a chunk comes in pieces
        while (done := sum(piece.num_cycles for piece in pieces)) < length and pieces[-1].num_cycles:
            if self.simulator.fault is not None:
                break
            pieces.append(self.simulator.record_chunk(length - done, **{**what, "values": False}))
        if (pieces[0].first_cycle, done) != (begin, length):
            raise KernelFault(f"cycle {pieces[0].first_cycle + done}: re-simulation diverged: a defect of the "
                              "design or of rfview")
        return joined(pieces), memory

    def checkpoint_at(self, cycle: int) -> Any:
        """Return a complete copy of the machine at a cycle in first..last."""
        self.require(cycle)
        self._rewind(cycle)
        return self.simulator.checkpoint()

    def memory_at_end(self) -> dict[str, np.ndarray]:
        """Return every buffer's content at `last`, by name."""
        self._rewind(self.last)
        return dict(self.simulator.buffers())

    def drop_caches(self) -> None:
        """Drop chunks and copies that can be simulated again."""
        self._decoded.clear()
        self._checkpoints.clear()

    def _rewind(self, cycle: int) -> None:
        """Move the machine to a cycle in first..last from the nearest copy at or before it; keep some copies on the way."""
        self._leave()
        simulator = self.simulator
        here = simulator.cycle if simulator.fault is None and simulator.cycle <= cycle else -1
        left_behind = self._checkpoints.keys()
        nearest = max((key for key in left_behind if isinstance(key, int) and key <= cycle), default=-1)
        keyframe = self._keyframes.before(cycle)
        assert keyframe is not None  # the first is never dropped
        if self._furthest is not None and self._furthest.cycle <= cycle:
            simulator.restore(self._furthest)
        elif here < max(nearest, keyframe):
            kept = self._checkpoints.get(nearest) if nearest >= keyframe else self._keyframes.get(keyframe, self._furthest)
            simulator.restore(kept)
        gap = -(-(cycle - simulator.cycle) // self.chunk_cycles)
        stride = self.chunk_cycles * -(-gap // (self._room + 1))
        while (missing := cycle - simulator.cycle) > 0:
            self._step(min(stride, missing))
            if self._room and simulator.cycle < cycle:
                self._checkpoints.put(simulator.cycle, simulator.checkpoint(), self._size)

    def _leave(self) -> None:
        """Keep the machine at the furthest cycle simulated so far, before it moves elsewhere."""
        if self._furthest is None:
            self._furthest = self.simulator.checkpoint()

    def _step(self, cycles: int) -> None:
        """Run some cycles that have run before."""
        self.simulator.step(cycles)


def _no_values() -> np.ndarray:
    """Refuse: a part for a sweep has no rows and no memory."""
    raise AssertionError("a part with the history of some words has no values")


def joined(pieces: list[Chunk]) -> Chunk:
    """Return consecutive chunks as one."""
    if len(pieces) == 1:
        return pieces[0]
    parts: dict[str, Any] = {"mem_end": _ends([piece.mem_end for piece in pieces])}
    for part in ("mem_index", "mem_value"):
        parts[part] = np.concatenate([getattr(piece, part) for piece in pieces])
    parts["blocks"] = Blocks(
        _ends([piece.blocks.end for piece in pieces]),
        *(np.concatenate([getattr(piece.blocks, part) for piece in pieces]) for part in ("first", "mask", "value")),
    )
    parts["rows"] = Rows(
        _ends([piece.rows.end for piece in pieces]),
        *(np.concatenate([getattr(piece.rows, part) for piece in pieces]) for part in ("index", "kind", "word")),
    )
    cycles = sum(piece.num_cycles for piece in pieces)
    printed = [line for piece in pieces for line in piece.printed]
    return replace(pieces[0], num_cycles=cycles, printed=printed, **parts)


def _ends(ends: list[np.ndarray]) -> np.ndarray:
    """Return the prefix counts of consecutive logs as those of one log."""
    shifts = np.cumsum([0, *(int(end[-1]) if len(end) else 0 for end in ends)])
    return np.concatenate([end + np.uint32(shift) for end, shift in zip(ends, shifts)])


def launch_path(target: str | Path) -> Path:
    """Return the launch file that a target names: a path, or the name of a bundled kernel; raises InputError."""
    path = Path(target)
    if path.suffix == ".toml" or os.path.isfile(path) or len(path.parts) > 1:
        return path
    from rfview.engine import kernels       # start-up

    return kernels.path(str(target))


def open_live(target: str | Path, **options: Any) -> LiveTimeline:
    """Load a launch file or bundled kernel into a simulator and return its timeline; imports numba.

    options: of rfview.engine.simulator.Simulator. Raises InputError for a target or option that cannot be used.
    """
    from rfview.engine.launch import load_launch_file

    spec = load_launch_file(launch_path(target))        # before numba: errors in the target are reported at once
    from rfview.engine.simulator import Simulator

    return LiveTimeline(Simulator(spec, **options))
