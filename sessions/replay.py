"""Open a session file as a timeline: header and index are read at once, chunks when they are looked at; never numba."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import msgpack
import numpy as np

from engine.errors import InputError
from sessions import codec, format, format2
from sessions.changes import StoredChanges
from sessions.decode import ByteCache, DecodedChunk
from sessions.format import Damage
from sessions.rowlog import ALL, RowLog
from sessions.summaries import CHUNKS, Summaries
from sessions.timeline import Timeline

# Files up to this size are checked whole when opened (about 1 GB/s); chunks of larger ones when they are reached.
CHECK_AT_OPEN_BYTES = 64 << 20
DECODED_BYTES = 48 << 20
FRAME_BYTES = 12 << 20
AHEAD = 16      # chunks
BASE_BYTES = 24 << 20


class StoredChunk:
    """A chunk of a file with the fields of engine.chunk.Chunk, each part expanded when it is first asked for."""

    key_rows = None
    key_memory = None

    def __init__(self, content: dict[str, Any], header: format.Header, what: str):
        self._content = content
        self._what = what
        self.first_cycle = int(content["first"])
        self.num_cycles = int(content["num"])
        self._header = header
        # about what the changes take when they have been decoded
        self.state_bytes = 12 * len(content.get("state") or content.get("deltas", b""))
        self._asked: tuple[Any, Any] = (None, None)

    @cached_property
    def _state(self) -> dict[str, list[Any]]:
        if self._header.number == format2.NUMBER:
            return format2.changes(self._content, self._what)
        return self._streams("state", codec.STATE)

    @cached_property
    def key(self) -> np.ndarray:
        """Return (words,) u4 the state at the first cycle."""
        return self._checked(self._make_key)

    def _make_key(self) -> np.ndarray:
        if self._header.number == format2.NUMBER:
            return format2.keyframe(self._content, self._what)
        words = self._header.state.copy()
        step, bits = (codec.unpack(self._state[name]) for name in ("key_step", "key_bits"))
        words[np.cumsum(step)] ^= bits
        return words

    @cached_property
    def changes(self) -> StoredChanges:
        """Return the state changes."""
        return self._checked(lambda: StoredChanges(self._state, self.key, self.first_cycle, self.num_cycles))


    def _streams(self, name: str, names: tuple[str, ...]) -> dict[str, list[Any]]:
        return self._checked(lambda: _streams_of(self._header, self._content[name], names, self._what))

    def _checked(self, decode: Callable[[], Any]) -> Any:
        try:
            return decode()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{self._what} is damaged ({error!r})") from None

    @cached_property
    def log(self) -> RowLog:
        """Return the row writes."""
        return self._checked(lambda: RowLog(self._streams("rows", codec.ROWS)))

    def row_writes(self, row: int, lanes: slice = ALL) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (prefix counts per cycle of all writes, numbers of the row's writes, (k, lanes) u4 what they wrote).

        A search asks twice, for a chunk's own cycles and for what it leaves to the next one: the last answer is kept.
        """
        asked, kept = (row, lanes.start, lanes.stop), self._asked
        if kept[0] != asked:
            writes = np.flatnonzero(self.row_index == row)
            # replaced, never changed: other threads may ask, too
            self._asked = kept = asked, (self.row_end, writes, self._checked(lambda: self.log.values(writes, lanes)))
        return kept[1]

    @cached_property
    def row_value(self) -> np.ndarray:
        """Return (k, 32) u4 what all row writes wrote."""
        return self._checked(lambda: self.log.values(np.arange(len(self.row_index))))

    @cached_property
    def _memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stored = self._streams("memory", codec.MEMORY)
        return self._checked(lambda: (codec.unpack_log(stored["counts"]), *codec.unpack_words(stored)))

    row_end = property(lambda self: self._checked(lambda: self.log.end))
    row_index = property(lambda self: self.log.index)
    mem_end = property(lambda self: self._memory[0])
    mem_index = property(lambda self: self._memory[1])
    mem_value = property(lambda self: self._memory[2])


def _streams_of(header: format.Header, blob: bytes, names: tuple[str, ...], what: str) -> dict[str, list[Any]]:
    """Return the streams of a blob; raises InputError naming `what` when it is damaged."""
    return codec.expand(blob, what) if header.number == format2.NUMBER else codec.expand_streams(blob, names, what)


class RecordedTimeline(Timeline):
    """A closed timeline over a session file.

    header: what the file says about its run. end: finished, fault and summary of the run; empty for a cut file.
    """

    def __init__(self, path: Path, file: BinaryIO, header: format.Header, index: format.Index, warnings: list[str]):
        super().__init__(header.info, header.layout)
        self.path = path
        self.header = header
        self.end = index.end
        self.warnings = warnings
        self.first = header.first
        self.last = index.first[-1] + index.num[-1]
        self.fault = index.end.get("fault")
        self._file = file
        self._index = index
        self._decoded: ByteCache[DecodedChunk] = ByteCache(DECODED_BYTES)
        self._frames: ByteCache[dict[str, Any]] = ByteCache(FRAME_BYTES)
        self._bases: ByteCache[np.ndarray] = ByteCache(BASE_BYTES)
        self._milestones: ByteCache[np.ndarray] = ByteCache(BASE_BYTES)
        self._newest_read, self._backward = -1, 0       # the last chunk read, and how many in a row went backward
        self._lock = threading.RLock()      # a snapshot's memory is read when it is looked at, in whatever thread
        if index.summary:
            self.summaries = Summaries(self.layout, self._read_summary, self.totals)

    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk."""
        return self._index.first

    def totals(self, number: int) -> np.ndarray:
        """Return the stall totals at the start of chunk `number`, or after the last."""
        if number >= len(self._index.totals):
            self._index.totals.append(self.decoded(number - 1).stall_total()[-1])
        return self._index.totals[number]

    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return the lines printed in cycles before `upto`."""
        return [(cycle, text) for cycle, text in self._index.printed if cycle < upto]

    def _read_summary(self, number: int) -> dict[str, Any] | None:
        """Return a summary's map, or None where a killed run left none, or, with a warning, where it is damaged."""
        if number >= len(self._index.summary) or self._index.summary[number] < 0:
            return None
        try:
            with self._lock:
                _, payload, _ = format.read_frame(self._file, self._index.summary[number], format.SUMMARY)
            content = msgpack.unpackb(payload, strict_map_key=False)
            if content["first"] != number * CHUNKS:
                raise Damage(f"holds chunks {content['first']}..")
        except (Damage, OSError, KeyError, ValueError, msgpack.UnpackException) as error:
            self.warnings.append(_lost_summary(self.path, number, error))
            return None
        return content

    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`, decoded; raises InputError when the file is damaged there."""
        part = self._decoded.get(number)
        if part is None:
            chunk: Any = StoredChunk(self._content(number), self.header, self._name(number))
            rows, memory = (partial(self._base, number, rows) for rows in (True, False))
            part = DecodedChunk(chunk, self.layout, rows, memory, partial(self._row, number))
            self._decoded.put(number, part, part.nbytes_hint(self._index.row_writes[number],
                                                             self._index.mem_writes[number]))  # fmt: skip
        return part

    def _name(self, number: int) -> str:
        return f"{self.path}: chunk {number} (cycles {self._index.first[number]:,}..)"

    def _content(self, number: int) -> dict[str, Any]:
        """Return a chunk's map with its parts still compressed."""
        with self._lock:
            content = self._frames.get(number)
            if content is None:
                try:
                    payload = self._payload(number)
                    content = msgpack.unpackb(payload, strict_map_key=False)
                except (Damage, OSError, ValueError, msgpack.UnpackException) as error:
                    raise InputError(f"{self._name(number)} cannot be read: {error}") from None
                self._frames.put(number, content, len(payload))
            return content

    def _payload(self, number: int) -> bytes:
        """Return a chunk's frame, read in one go; raises Damage.

        Who goes backward, which systems do not expect, has the chunks before asked for ahead of time.
        """
        offsets = self._index.offset
        self._backward = self._backward + 1 if number == self._newest_read - 1 else 0
        self._newest_read = number
        if self._backward >= AHEAD and number % AHEAD == 0 and hasattr(os, "posix_fadvise"):
            low = offsets[max(0, number - 2 * AHEAD)]
            os.posix_fadvise(self._file.fileno(), low, offsets[number] - low, os.POSIX_FADV_WILLNEED)
        if number + 1 >= len(offsets):
            return format.read_frame(self._file, offsets[number], format.CHUNK)[1]
        self._file.seek(offsets[number])
        frame = io.BytesIO(self._file.read(offsets[number + 1] - offsets[number]))
        return format.read_frame(frame, 0, format.CHUNK)[1]

    def _base(self, number: int, rows: bool) -> np.ndarray:
        """Return all rows, or the memory, at the start of a chunk, read-only (see format.py, row_sum and mem_sum)."""
        if not number:
            return self.header.rows if rows else self.header.memory
        with self._lock:
            array = self._bases.get((rows, number)) if number % CHUNKS else self._milestones.get((rows, number))
            if array is None:
                # rows are kept at every 64th chunk: it takes a few steps from there; memory is large and seldom asked for
                level = max(1, format.level_of(number))
                milestone = number - (number % format.RADIX ** (level + 1) if rows else number)
                array = self._newest(number, milestone, rows)
                array.flags.writeable = False
                (self._bases if number % CHUNKS else self._milestones).put((rows, number), array, array.nbytes)
        return array

    def _newest(self, number: int, milestone: int, rows: bool) -> np.ndarray:
        """Return the values at the start of a chunk: those at an earlier one, and the newest of what was written since."""
        writes, sums = (self._index.row_writes, self._index.row_sums) if rows else (self._index.mem_writes,
                                                                                    self._index.mem_sums)  # fmt: skip
        array = self._base(milestone, rows).copy()
        left = np.ones(len(array), bool)
        at = number
        while at > milestone:
            level = format.level_of(at)
            before = at - format.RADIX**level
            if not (sums if level else writes)[at if level else at - 1]:
                pass
            elif not rows:
                index, value = self._words(at, level)
                fresh = left[index]
                array[index[fresh]] = value[fresh]
                left[index] = False
            elif self._may_write(left, before, at):
                index, value = self._row_log(at, level, lambda log: log.newest(left))
                array[index] = value
                left[index] = False
            at = before
        return array

    def _row(self, number: int, row: int, lanes: slice) -> np.ndarray:
        """Return (lanes,) u4 of one row at the start of a chunk."""
        milestone = number - number % CHUNKS
        place = np.zeros(len(self.header.rows), bool)
        place[row] = True
        at = number
        while at > milestone:
            kept = self._bases.get((True, at))
            if kept is not None:
                return kept[row, lanes]
            level = format.level_of(at)
            before = at - format.RADIX**level
            counts = self._index.row_sums if level else self._index.row_writes
            if counts[at if level else at - 1] and self._may_write(place, before, at):
                value = (self._row_log(at, level, lambda log: log.last(row, lanes)) if level
                         else self.decoded(at - 1).chunk.row_writes(row, lanes)[2][-1:])  # fmt: skip
                if len(value):
                    return value[0]
            at = before
        return self._base(milestone, True)[row, lanes]

    def _may_write(self, places: np.ndarray, low: int, high: int) -> bool:
        """Say whether chunks low..high-1 may write any of these rows."""
        if self.summaries is None or low // CHUNKS != (high - 1) // CHUNKS:
            return True
        written = self.summaries.rows_written(low, high)
        return written is None or bool((written & places).any())

    def _row_log(self, number: int, level: int, read: Callable[[RowLog], Any]) -> Any:
        """Read something in the log of rows written in the 8**level chunks before `number`."""
        name = self._name(number)
        blob = self._content(number if level else number - 1)["row_sum" if level else "rows"]
        stored = _streams_of(self.header, blob, codec.ROWS, name)
        try:
            return read(RowLog(stored))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{name} is damaged ({error!r})") from None

    def _words(self, number: int, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (index, value) of the memory written in the 8**level chunks before `number`."""
        name = self._name(number)
        blob = self._content(number if level else number - 1)["mem_sum" if level else "memory"]
        stored = _streams_of(self.header, blob, codec.MEMORY, name)
        try:
            return codec.unpack_words(stored)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{name} is damaged ({error!r})") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def is_recording(path: Path) -> bool:
    """Say whether a file begins like a session file."""
    try:
        with open(path, "rb") as file:
            return file.read(len(format.MAGIC)) == format.MAGIC
    except OSError:
        return False


def open_recording(path: str | Path, *, check: bool | None = None) -> RecordedTimeline:
    """Open a session file; damage that leaves something to show becomes warnings of the timeline.

    check: read and check the whole file now; None = files up to 64 MiB. Raises InputError when the file is missing, is
    no session file, has a newer format, or holds no whole chunk.
    """
    path = Path(path)
    try:
        file = open(path, "rb")  # noqa: SIM115 - kept open by the timeline
    except OSError as error:
        raise InputError(f"{path}: cannot open the recording ({error.strerror})") from None
    try:
        return _open(path, file, check)
    except BaseException:
        file.close()
        raise


def _open(path: Path, file: BinaryIO, check: bool | None) -> RecordedTimeline:
    size = os.fstat(file.fileno()).st_size
    if file.read(len(format.MAGIC)) != format.MAGIC:
        raise InputError(f"{path}: not an rfview recording, or its first bytes are damaged")
    try:
        _, payload, begin = format.read_frame(file, len(format.MAGIC), format.HEAD)
    except Damage as error:
        raise InputError(f"{path}: the header is damaged or cut off ({error}); nothing can be shown") from None
    header = format.Header.unpack(payload, path)
    warnings: list[str] = []
    try:
        index_offset = format.read_trailer(file, size)
        _, payload, end = format.read_frame(file, index_offset, format.INDEX)
        if end + format.TRAILER.size != size:
            raise Damage("is not at the end of the file")
        index = format.Index.unpack(payload)
    except Damage as error:
        index, stopped = _scan(file, begin, size)
        last = index.first[-1] + index.num[-1] if index.first else 0
        warnings.append(f"{path}: the index is missing or damaged ({error}); rebuilt from the chunks, up to cycle "
                        f"{last:,}{stopped}")  # fmt: skip
    else:
        if check or (check is None and size <= CHECK_AT_OPEN_BYTES):
            _check_chunks(path, file, begin, index_offset, index, warnings)
    if not index.first:
        raise InputError(f"{path}: holds no whole chunk; nothing can be shown")
    return RecordedTimeline(path, file, header, index, warnings)


def _scan(file: BinaryIO, begin: int, size: int) -> tuple[format.Index, str]:
    """Rebuild the index from the chunks; return it and why the scan ended early, or ''."""
    index = format.Index()
    offset = begin
    stopped = ""
    while offset < size:
        try:
            tag, payload, behind = format.read_frame(file, offset)
            if tag == format.INDEX:
                break
            if tag == format.CHUNK:
                index.add(msgpack.unpackb(payload, strict_map_key=False), offset)
            if tag == format.SUMMARY:
                index.summary.append(offset)
        except (Damage, KeyError, TypeError, ValueError, msgpack.UnpackException) as error:
            stopped = f" (chunk {len(index.first)}: {error})"
            break
        offset = behind
    return index, stopped


def _lost_summary(path: Path, number: int, error: Exception) -> str:
    """Return what is said about a summary that cannot be read."""
    return f"{path}: the summary of chunks {number * CHUNKS}.. is damaged ({error}); searches decode these chunks"


def _check_chunks(path: Path, file: BinaryIO, begin: int, end: int, index: format.Index, warnings: list[str]) -> None:
    """Check every chunk's and summary's sum; shorten the session to the chunks before the first damaged one, and warn."""
    known = sorted([*((offset, format.CHUNK, number) for number, offset in enumerate(index.offset)),
                    *((offset, format.SUMMARY, number) for number, offset in enumerate(index.summary)),
                    (end, format.INDEX, 0)])  # fmt: skip
    offset = begin
    chunk = 0
    for place, (expected, tag, number) in enumerate(known):
        try:
            while offset < expected:
                offset = format.read_frame(file, offset)[2]
            if offset != expected:
                raise Damage("lies elsewhere than the index says")
            if tag != format.INDEX:
                offset = format.read_frame(file, offset, tag)[2]
            chunk += tag == format.CHUNK
        except Damage as error:
            if tag == format.SUMMARY and offset == expected:
                warnings.append(_lost_summary(path, number, error))
                index.summary[number], offset = -1, known[place + 1][0]
                continue
            number = min(chunk, len(index.offset) - 1)
            index.cut(number)
            last = index.first[-1] + index.num[-1] if number else 0
            warnings.append(f"{path}: chunk {number} is damaged ({error}); the session ends at cycle {last:,}")
            return


def describe(path: str | Path) -> dict[str, Any]:
    """Return what a session file holds and whether it is whole, as plain data; the whole file is checked.

    Raises InputError as `open_recording` does.
    """
    timeline = open_recording(path, check=True)
    info, size = timeline.info, os.path.getsize(path)
    cycles = timeline.last - timeline.first
    starts = timeline.chunk_starts()
    total = timeline.totals(len(starts)) - timeline.totals(0)
    summary = timeline.end.get("summary") or {}
    facts = {
        "file": str(path),
        "format": timeline.header.number,
        "bytes": size,
        "kernel": info.get("kernel"),
        "launches": info.get("num_launches"),
        "design": info.get("design"),
        "scheduler": info.get("scheduler"),
        "preset": info.get("preset"),
        "seed": info.get("seed"),
        "engine_version": info.get("engine_version"),
        "first_cycle": timeline.first,
        "last_cycle": timeline.last,
        "cycles": cycles,
        "chunks": len(starts),
        "bytes_per_cycle": round(size / max(1, cycles), 2),
        "warp_instructions": int(total[0]),
        "finished": timeline.end.get("finished"),
        "verified": summary.get("verified"),
        "fault": timeline.fault,
        "warnings": timeline.warnings,
    }
    timeline.close()
    return facts
