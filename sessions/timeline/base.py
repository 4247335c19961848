"""The interface of timelines: a range of cycles, the state at each, columns of fields; for live and recorded runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.chunk import LANES
from rfview.engine.errors import InputError
from rfview.engine.snapshot import Snapshot
from rfview.sessions.timeline.decoded import DecodedChunk
from rfview.sessions.layout import Layout
from rfview.sessions.codec.logs import ALL

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.engine.progress import Progress
    from rfview.sessions.file.run_info import End
    from rfview.sessions.file.zone_maps import ZoneMaps
    from rfview.sessions.lines.table import LineTable

# called during long work with the cycle that it has reached; true stops it
CycleProgress = Callable[[int], bool | None]

RUN_CYCLES = 1 << 14        # simulated between two reports of progress

# Ranges of at most this many chunks are counted exactly, longer ones from totals at chunk starts.
EXACT_CHUNKS = 16


def never(cycle: int) -> bool:
    """Return false: work with this as its CycleProgress is not interrupted."""
    return False


@dataclass(frozen=True)
class Overview:
    """What happened in each of `b` equal ranges of cycles.

    edges: (b + 1,) i8 cycles; bucket i covers cycles edges[i]..edges[i + 1] - 1. states: (b, codes) f8 warp-cycles per
    stall code. issue_rate: (b,) f8 warp instructions per cycle. Sums are exact where edges are chunk borders, and
    interpolated within chunks on long runs; they always add up to the run's totals.
    """

    edges: np.ndarray
    states: np.ndarray
    issue_rate: np.ndarray


class Timeline(ABC):
    """A range of cycles first..last (both can be shown) in chunks; live ones grow by `extend`.

    first, last: first and last cycle with a known state; `last` is the state after everything that has run so far.
    closed: nothing can follow `last`. is_simulated: states are run anew from earlier ones, not read; stored: the cycles of a
    recording that are read, all others are run anew. info: the run's constants (Simulator.info). fault: why the kernel was
    stopped, or None. warnings: about the file. end: how a recorded run ended. layout: the dtypes of `sm` and `rf`.
    zone_maps: summaries of chunks, or None if the file has none. lines: of the program's sources, once requested
    (lines.table.lines_of).
    """

    first: int
    last: int
    closed: bool
    info: RunInfo
    end: End | None = None
    layout: Layout
    fault: str | None
    warnings: list[str]
    is_simulated = False
    stored: tuple[int, int] | None = None
    zone_maps: ZoneMaps | None = None
    lines: LineTable | None = None
    compiling: Progress | None = None

    def __init__(self, info: RunInfo, layout: Layout):
        self.info = info
        self.layout = layout
        self.first = self.last = 0
        self.closed = True
        self.fault = None
        self.warnings = []

    @cached_property
    def issued(self) -> int:
        """The code of the state `issued` in this run."""
        return self.info.stall_codes["issued"]

    # what each kind of timeline implements

    @abstractmethod
    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk, ascending; empty when nothing has run."""

    @abstractmethod
    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`, decoded; raises InputError if the file is damaged there."""

    def part(self, number: int, words: np.ndarray | None) -> DecodedChunk:
        """Return chunk `number`, decoded; of a simulated one perhaps only the history of what is named.

        words: of state; None for the logs of values.
        """
        return self.decoded(number)

    @abstractmethod
    def totals(self, number: int) -> np.ndarray:
        """Return (codes,) i8 stall totals at the start of chunk `number`; for the number after the last, at `last`."""

    def chunks_with_totals(self, first: int, last: int) -> list[int]:
        """Return those of the chunks first..last whose totals are known; always includes these two."""
        return list(range(first, last + 1))

    @abstractmethod
    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return the (cycle, text) lines printed by the kernel before cycle `upto`."""

    def extend(self, cycles: int) -> int:
        """Simulate at least `cycles` more cycles if possible; return how many were added (0 on a closed timeline)."""
        return 0

    def run_to_end(self, progress: CycleProgress | None, what: str) -> None:
        """Simulate to the end; raises InputError, which names the command `what`, when `progress` asks to stop."""
        while not self.closed and self.extend(RUN_CYCLES):
            if progress is not None and progress(self.last):
                raise InputError(f"{what}: stopped at cycle {self.last:,}, before the run's end")

    def drop_caches(self) -> None:  # noqa: B027 - most timelines hold little
        """Free memory whose content can be computed again: for a branch that is not shown."""

    def close(self) -> None:  # noqa: B027 - most timelines hold nothing
        """Close files and free caches."""

    # what every timeline provides

    def chunk_number(self, cycle: int) -> int:
        """Return the number of the chunk that contains `cycle`; the end of the last chunk counts as part of it."""
        return max(0, bisect_right(self.chunk_starts(), cycle) - 1)

    def window(self, cycle: int) -> tuple[int, int]:
        """Return (start, stop) of the range of cycles around `cycle` that is decoded at once; stop is exclusive."""
        starts = self.chunk_starts()
        if not starts:
            return self.first, self.last + 1
        number = self.chunk_number(cycle)
        stop = starts[number + 1] if number + 1 < len(starts) else self.last + 1
        return starts[number], stop

    def require(self, cycle: int) -> None:
        """Raise InputError unless first <= cycle <= last."""
        if not self.first <= cycle <= self.last:
            raise InputError(f"cycle {cycle:,} is outside this session's {self.first:,}..{self.last:,}")

    def at(self, cycle: int) -> Snapshot:
        """Return the machine at the start of a cycle in first..last; raises InputError for other cycles."""
        self.require(cycle)
        return self.decoded(self.chunk_number(cycle)).snapshot(cycle, self.info)

    def stretches(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Return (first cycle, cycle after, chunk) for the pieces of start..stop-1.

        A last cycle at a chunk's border is taken from the previous chunk, which has it as well.
        """
        if start >= stop:
            return []
        self.require(start)
        self.require(stop - 1)
        pieces = []
        cycle = start
        while cycle < stop:
            _, end = self.window(cycle)
            end = stop if stop - end <= 1 else end
            pieces.append((cycle, end, self.chunk_number(cycle)))
            cycle = end
        return pieces

    def _pieces(self, start: int, stop: int, words: np.ndarray | None = None) -> list[tuple[DecodedChunk, slice]]:
        """Return the chunks that contain cycles start..stop-1, each with its offsets; words: all that is needed of them."""
        pieces = []
        for low, high, number in self.stretches(start, stop):
            part = self.decoded(number) if words is None else self.part(number, words)
            pieces.append((part, slice(low - part.first, high - part.first)))
        return pieces

    def column(self, path: str, start: int, stop: int) -> np.ndarray:
        """Return (stop - start, *shape) values of one field at cycles start..stop-1.

        path: 'sm.warp[3].state', 'sm.bank[*].queue', 'rf.writes', 'sm.stall_total[4]'; an omitted index or [*] stands
        for every element and adds a dimension. Raises InputError for an unknown field or cycles outside first..last.
        """
        field = self.layout.field(path)
        if stop - start == 1:
            part, cut = self._pieces(start, stop)[0]
            return part.value(field, cut.start)[None]
        words = self.layout.stored_words(field)
        parts = [part.column(field)[cut] for part, cut in self._pieces(start, stop, words)]
        return np.concatenate(parts) if parts else np.empty((0, *field.shape), field.dtype)

    def row_column(self, row: int, start: int, stop: int, lanes: slice = ALL) -> np.ndarray:
        """Return (stop - start, lanes) u4 values of one recorded row (main register file, then the design's places).

        lanes: all 32, or some of them, which is faster.
        """
        parts = [part.row_column(row, lanes)[cut] for part, cut in self._pieces(start, stop)]
        return np.concatenate(parts) if parts else np.empty((0, len(LANES[lanes])), np.uint32)

    def memory_column(self, word: int, start: int, stop: int) -> np.ndarray:
        """Return (stop - start,) u4 values of one memory word, counted from the arena's start."""
        parts = [part.memory_column(word)[cut] for part, cut in self._pieces(start, stop)]
        return np.concatenate(parts) if parts else np.empty(0, np.uint32)

    def around(self, cycle: int) -> list[DecodedChunk]:
        """Return the chunk that contains a cycle and the previous one, decoded: another thread may keep and read them."""
        number = self.chunk_number(cycle)
        return [self.decoded(n) for n in (number, number - 1) if n >= 0] if self.chunk_starts() else []

    def states(self, start: int, stop: int) -> np.ndarray:
        """Return (stop - start, num_warps) u1 stall codes: what each warp slot did in the cycle before each cycle."""
        return self.column("sm.warp[*].state", start, stop)[:, : self.info.num_warps]

    def stall_totals(self, cycle: int) -> np.ndarray:
        """Return (codes,) i8 the warp-cycles per stall code of all cycles before `cycle`."""
        self.require(cycle)
        starts = self.chunk_starts()
        number = self.chunk_number(cycle)
        if not starts or cycle == starts[number]:
            return self.totals(number)
        if cycle == self.last:
            return self.totals(number + 1)
        part = self.decoded(number)
        return part.stall_total_at(cycle - part.first)

    def overview(self, buckets: int, start: int | None = None, stop: int | None = None) -> Overview:
        """Return issue rate and state histogram of `buckets` equal ranges of cycles start..stop-1 (default: all).

        Raises InputError if there is no cycle to show or the range is outside the session.
        """
        begin = self.first if start is None else start
        end = self.last if stop is None else stop
        self.require(begin)
        self.require(end)
        if buckets < 1 or end <= begin:
            raise InputError(f"an overview needs at least one cycle and one bucket, not {end - begin} and {buckets}")
        edges = begin + (np.arange(buckets + 1, dtype=np.int64) * (end - begin)) // buckets
        totals = self._totals_at(edges)
        states = np.diff(totals, axis=0)
        lengths = np.diff(edges)
        rate = np.divide(states[:, self.issued], lengths, out=np.zeros(buckets), where=lengths > 0)
        return Overview(edges, states, rate)

    def _totals_at(self, edges: np.ndarray) -> np.ndarray:
        """Return (len(edges), codes) f8 totals: exact for short ranges, else linear between chunk starts."""
        first, last = self.chunk_number(int(edges[0])), self.chunk_number(int(edges[-1]))
        if last - first < EXACT_CHUNKS:
            return np.array([self.stall_totals(int(edge)) for edge in edges], np.float64)
        return self._totals_between(edges, first, last)

    def _totals_between(self, edges: np.ndarray, first: int, last: int) -> np.ndarray:
        """Return (len(edges), codes) f8 totals, linear between those known at the starts of chunks first..last + 1."""
        starts, numbers = [*self.chunk_starts(), self.last], np.array(self.chunks_with_totals(first, last + 1))
        # only those next to an edge matter
        at = np.searchsorted(np.array(starts)[numbers], edges, side="right")
        near = np.zeros(len(numbers) + 1, bool)
        near[np.maximum(at - 1, 0)] = near[at] = True
        numbers = numbers[near[:-1]].tolist()
        known_at = np.array([starts[number] for number in numbers])
        known = np.array([self.totals(number) for number in numbers], np.float64)
        return np.stack([np.interp(edges, known_at, known[:, code]) for code in range(known.shape[1])], axis=1)
