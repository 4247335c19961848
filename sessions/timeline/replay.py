"""The timeline of a session file: chunks are read on demand; numba is imported only for cycles that have none.

Those are simulated again from the keyframe before them (again.py).
"""

from __future__ import annotations

import io
import os
import threading
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES
from rfview.engine.errors import InputError
from rfview.sessions.codec import limits, streams
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.timeline.decoded import DecodedChunk
from rfview.sessions.codec.logs import MEMORY, ROWS, RowLog, read_memory
from rfview.sessions.file import framing
from rfview.sessions.file.header import Header
from rfview.sessions.file.index import Index, RADIX, level_of
from rfview.sessions.file.framing import Damage
from rfview.sessions.file.stored import StoredChunk
from rfview.sessions.file.writer import Copied
from rfview.sessions.file.zone_maps import CHUNKS, ZoneMaps
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.sessions.file.run_info import End
    from rfview.sessions.timeline.again import Again

DECODED_BYTES = 32 << 20
FRAME_BYTES = 12 << 20
AHEAD = 16      # chunks
BASE_BYTES = 24 << 20
START_BYTES = 64        # of memory for a chunk that is simulated


class RecordedTimeline(Timeline):
    """A closed timeline over a session file.

    header: the run's constants in the file. end: how the run ended. stored_chunks: how many chunks are in the file;
    first_stored: the number of the first; stored_from, stored_until: their first cycle, and the one after them.
    keyframe_cycles: ascending.
    """

    def __init__(self, path: Path, file: BinaryIO, header: Header, index: Index, warnings: list[str], base: Header):
        """base: the header with the values at the first chunk's first cycle."""
        super().__init__(header.info, header.layout)
        self.path = path
        self.header = header
        self.end: End = index.end
        self.warnings = warnings
        self.first = header.first
        self.stored_chunks = len(index.first)
        self.stored_from: int = index.first[0] if index.first else header.first
        self.stored_until: int = index.chunks_end if index.first else header.first
        self.stored = self.stored_from, self.stored_until
        self.last = index.last
        self.keyframe_cycles = index.key_cycle
        rest = max(0, self.last - self.stored_until) + self.stored_from - self.first
        limits.allow(START_BYTES * (rest // CHUNK_CYCLES), limits.ARRAYS, "its cycles")
        keyed = index.key_cycle
        before = [self.first, *(cycle for cycle in keyed if self.first < cycle < self.stored_from), self.stored_from]
        after = [self.stored_until, *(cycle for cycle in keyed if cycle > self.stored_until)]
        early, late = ([cycle for low, high in pairwise(borders) for cycle in range(low, high, CHUNK_CYCLES)]
                       for borders in (before, after))
        self.first_stored = len(early)
        self._starts = [*early, *index.first, *late]
        self.is_simulated = len(self._starts) > self.stored_chunks
        self._again: Again | None = None
        self._cannot: InputError | None = None      # why the run cannot be simulated again, once that has been tried
        self.fault = index.end.fault
        self._file, self._base_header = file, base
        self._opened_as = self._identity()
        self._index = index
        self._decoded: ByteCache[DecodedChunk] = ByteCache(DECODED_BYTES)
        self._frames: ByteCache[tuple[framing.ChunkHead, dict[str, Any]]] = ByteCache(FRAME_BYTES)
        self._bases: ByteCache[np.ndarray] = ByteCache(BASE_BYTES)
        self._milestones: ByteCache[np.ndarray] = ByteCache(BASE_BYTES)
        self._newest_read, self._backward = -1, 0       # the last chunk read, and the number of consecutive backward reads
        self._lock = threading.RLock()      # a snapshot's memory is read on first use, in any thread
        if index.zones:
            self.zone_maps = ZoneMaps(self.layout, self._read_zone_map, self._lost_zone_map, self.totals,
                                      len(index.first), len(header.rows), self.first_stored)

    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk."""
        return self._starts

    def totals(self, number: int) -> np.ndarray:
        """Return the stall totals at the start of chunk `number`, or after the last."""
        number -= self.first_stored
        if not 0 <= number <= self.stored_chunks:
            number += self.first_stored
            cycle = self._starts[number] if number < len(self._starts) else self.last
            if cycle == self.first:
                return np.zeros(len(self._index.key_totals[0]), np.int64)
            at = bisect_left(self.keyframe_cycles, cycle)
            if self.keyframe_cycles[at : at + 1] == [cycle]:
                return self._index.key_totals[at]
            return self.again().totals(number)
        if number >= len(self._index.totals):
            self._index.totals.append(self.decoded(self.first_stored + number - 1).stall_total()[-1])
        return self._index.totals[number]

    def chunks_with_totals(self, first: int, last: int) -> list[int]:
        """Return those of the chunks first..last whose totals are known, and these two."""
        stored = range(max(first, self.first_stored), min(last, self.first_stored + self.stored_chunks) + 1)
        keyed = [bisect_left(self._starts, cycle) for cycle in self.keyframe_cycles
                 if not self.stored_from <= cycle <= self.stored_until]
        return sorted({first, last, *stored, *(number for number in keyed if first < number < last)})

    def _totals_at(self, edges: np.ndarray) -> np.ndarray:
        """Return totals; of cycles that cannot be simulated here, linear between keyframes."""
        try:
            return super()._totals_at(edges)
        except InputError:
            if self._cannot is None:
                raise
            return self._totals_between(edges, *(self.chunk_number(int(edge)) for edge in (edges[0], edges[-1])))

    def again(self) -> Again:
        """Return the run, simulated again; raises InputError if it cannot be."""
        if self._cannot is not None:
            raise self._cannot
        if self._again is None:
            from rfview.sessions.timeline.again import Again        # imports numba

            try:
                self._again = Again(self, self._index.key_offset, self._read_frame)
            except InputError as error:
                self._cannot = error
                raise
        return self._again

    def copied(self) -> Copied:
        """Return what the file has besides chunks."""
        keyframes = (self._read_frame(offset, framing.KEYFRAME) for offset in self._index.key_offset)
        return Copied(self._read_frame(-1, framing.HEAD), keyframes, self._index)

    def _read_frame(self, offset: int, tag: bytes) -> bytes:
        """Return a frame's payload; raises Damage. offset: -1 for the header."""
        with self._lock:
            return framing.read_frame(self._file, len(framing.MAGIC) if offset < 0 else offset, tag).payload

    def part(self, number: int, words: np.ndarray | None) -> DecodedChunk:
        """Return chunk `number`, of a simulated one perhaps only what is named."""
        return self.decoded(number) if self.is_stored(number) else self.again().part(number, words)

    @property
    def not_stored(self) -> str:
        """Return which cycles have no chunk, as a clause."""
        early = [f"before {self.stored_from:,}"] if self.first_stored else []
        late = [f"after {self.stored_until:,}"] if self.last > self.stored_until else []
        return f"cycles {' and '.join([*early, *late])} are not stored"

    def is_stored(self, number: int) -> bool:
        """Return whether a chunk is in the file."""
        return self.first_stored <= number < self.first_stored + self.stored_chunks

    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return the lines printed in cycles before `upto`."""
        return [(cycle, text) for cycle, text in self._index.printed if cycle < upto]

    def _read_zone_map(self, number: int) -> dict[str, Any] | None:
        """Return a zone map, or None if a killed run left none or, with a warning, if it is damaged."""
        if not 0 <= number < len(self._index.zones) or self._index.zones[number] < 0:
            return None
        try:
            with self._lock:
                payload = framing.read_frame(self._file, self._index.zones[number], framing.ZONE).payload
            content = limits.unpacked(payload, "a zone map")
            if content["first"] != number * CHUNKS:
                raise Damage(f"holds chunks {content['first']}..")
        except (Damage, OSError, *streams.DAMAGE) as error:
            self._lost_zone_map(number, error)
            return None
        return content

    def _lost_zone_map(self, number: int, error: Exception) -> None:
        self.warnings.append(lost_zone_map(self.path, number, error))

    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`, decoded; raises InputError when the file is damaged there."""
        return self._stored(number - self.first_stored) if self.is_stored(number) else self.again().decoded(number)

    def _stored(self, number: int) -> DecodedChunk:
        """Return a chunk of the file; here and below, `number` counts those."""
        part = self._decoded.get(number)
        if part is None:
            chunk: Any = StoredChunk(*self._content(number), self._base_header, self._name(number))
            rows, memory = (partial(self._base, number, rows) for rows in (True, False))
            part = DecodedChunk(chunk, self.layout, rows, memory, partial(self._row, number))
            self._decoded.put(number, part, part.nbytes_hint(self._index.row_writes[number],
                                                             self._index.mem_writes[number]))
        return part

    def _identity(self) -> tuple[int, int]:
        """Return a value that changes when the open file is written to."""
        status = os.fstat(self._file.fileno())
        return status.st_mtime_ns, status.st_size

    def _name(self, number: int) -> str:
        return f"{self.path}: chunk {number} (cycles {self._index.first[number]:,}..)"

    def _content(self, number: int) -> tuple[framing.ChunkHead, dict[str, Any]]:
        """Return a chunk's head and its map, with its parts still compressed."""
        with self._lock:
            content = self._frames.get(number)
            if content is None:
                try:
                    payload = self._payload(number)
                    head, packed = framing.ChunkHead.split(payload)
                    self._index.check(number, head)
                    content = head, limits.unpacked(packed, "a chunk", limits.ARRAYS)
                    content[1].pop("printed", None)        # the index has them
                except (Damage, OSError, *streams.DAMAGE) as error:
                    changed = "" if self._identity() == self._opened_as else ("; the file has been written to since it was "
                                                                              "opened: open it again")
                    raise InputError(f"{self._name(number)} cannot be read: {error}{changed}") from None
                self._frames.put(number, content, len(payload))
            return content

    def _payload(self, number: int) -> bytes:
        """Return a chunk's frame, read at once; raises Damage.

        When reading backwards, which systems do not anticipate, earlier chunks are requested in advance.
        """
        offsets = self._index.offset
        self._backward = self._backward + 1 if number == self._newest_read - 1 else 0
        self._newest_read = number
        if self._backward >= AHEAD and number % AHEAD == 0 and hasattr(os, "posix_fadvise"):
            low = offsets[max(0, number - 2 * AHEAD)]
            os.posix_fadvise(self._file.fileno(), low, offsets[number] - low, os.POSIX_FADV_WILLNEED)
        if number + 1 >= len(offsets) or offsets[number + 1] <= offsets[number]:
            return framing.read_frame(self._file, offsets[number], framing.CHUNK).payload
        self._file.seek(offsets[number])
        frame = io.BytesIO(self._file.read(offsets[number + 1] - offsets[number]))
        return framing.read_frame(frame, 0, framing.CHUNK).payload

    def _base(self, number: int, rows: bool) -> np.ndarray:
        """Return all rows, or the memory, at a chunk's start, read-only (row_sum, mem_sum: see rfview.sessions.file)."""
        if not number:
            return self._base_header.rows if rows else self._base_header.memory
        with self._lock:
            array = self._bases.get((rows, number)) if number % CHUNKS else self._milestones.get((rows, number))
            if array is None:
                # rows are cached at every 64th chunk: a few steps from there suffice; memory is large and rarely needed
                level = max(1, level_of(number))
                milestone = number - (number % RADIX ** (level + 1) if rows else number)
                array = self._newest(number, milestone, rows)
                array.flags.writeable = False
                (self._bases if number % CHUNKS else self._milestones).put((rows, number), array, array.nbytes)
        return array

    def _newest(self, number: int, milestone: int, rows: bool) -> np.ndarray:
        """Return the values at the start of a chunk: those at an earlier one, updated with the newest writes since."""
        writes, sums = (self._index.row_writes, self._index.row_sums) if rows else (self._index.mem_writes,
                                                                                    self._index.mem_sums)
        array = self._base(milestone, rows).copy()
        left = np.ones(len(array), bool)
        at = number
        while at > milestone:
            level = level_of(at)
            before = at - RADIX**level
            if not (sums if level else writes)[at if level else at - 1]:
                pass
            elif not rows:
                index, value = self._log(at, level, False, lambda stored: read_memory(stored, len(left)))
                fresh = left[index]
                array[index[fresh]] = value[fresh]
                left[index] = False
            elif self._may_write_any(left, before, at):
                index, value = self._log(at, level, True, lambda stored: RowLog(stored, len(left)).newest(left))
                array[index] = value
                left[index] = False
            at = before
        return array

    def _row(self, number: int, row: int, lanes: slice) -> np.ndarray:
        """Return (lanes,) u4: one row at the start of a chunk."""
        milestone, size = number - number % CHUNKS, len(self._base_header.rows)
        at = number
        while at > milestone:
            base = self._bases.get((True, at))
            if base is not None:
                return base[row, lanes]
            level = level_of(at)
            before = at - RADIX**level
            counts = self._index.row_sums if level else self._index.row_writes
            if counts[at if level else at - 1] and self._may_write(row, before, at):
                value = (self._log(at, level, True, lambda stored: RowLog(stored, size).last(row, lanes)) if level
                         else self._stored(at - 1).chunk.row_writes(row, lanes)[2][-1:])
                if len(value):
                    return value[0]
            at = before
        return self._base(milestone, True)[row, lanes]

    def _may_write(self, row: int, low: int, high: int) -> bool:
        """Return whether chunks low..high-1 may write a row."""
        written = self._written(low, high)
        return written is None or bool(written[row].any())

    def _may_write_any(self, places: np.ndarray, low: int, high: int) -> bool:
        """Return whether chunks low..high-1 may write any of these rows."""
        written = self._written(low, high)
        return written is None or bool((np.logical_or.reduce(written, axis=1) & places).any())

    def _written(self, low: int, high: int) -> np.ndarray | None:
        """Return (rows, high - low) bool: which rows each chunk may write; None if no single zone map covers them."""
        known = self.zone_maps if low // CHUNKS == (high - 1) // CHUNKS else None
        return None if known is None else known.rows_written(self.first_stored + low, self.first_stored + high)

    def _log(self, number: int, level: int, rows: bool, read: Callable[[dict[str, streams.Stream]], Any]) -> Any:
        """Read from the log of writes to rows, or memory, in the 8**level chunks before `number`."""
        part = ("row_sum" if rows else "mem_sum") if level else ("rows" if rows else "memory")
        try:
            blob = self._content(number if level else number - 1)[1][part]
            return read(streams.split(streams.decompress(blob), ROWS if rows else MEMORY))
        except streams.DAMAGE as error:
            raise InputError(f"{self._name(number)} is damaged ({error!r})") from None

    def drop_caches(self) -> None:
        """Drop what can be simulated again."""
        if self._again is not None:
            self._again.drop_caches()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def lost_zone_map(path: Path, number: int, error: Exception) -> str:
    """Return the warning about a zone map that cannot be read."""
    return f"{path}: the zone map of chunks {number * CHUNKS}.. is damaged ({error}); searches decode these chunks"
