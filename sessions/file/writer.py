"""Write a run to a session file: the engine runs ahead while its chunks are coded, compressed and written."""

from __future__ import annotations

import glob
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

import msgpack
import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES, Chunk
from rfview.engine.errors import InputError
from rfview.engine.info import RunInfo
from rfview.engine.files import ChangedMeanwhile, NewFile, opened
from rfview.engine.wording import plural
from rfview.engine.progress import Progress
from rfview.sessions.codec import streams
from rfview.sessions.file import framing
from rfview.sessions.file.header import Header
from rfview.sessions.file.index import Index
from rfview.sessions.file.run_info import End, end_of
from rfview.sessions.file.write_pipeline import WritePipeline
from rfview.sessions.file.zone_maps import CHUNKS
from rfview.sessions.layout import Layout

if TYPE_CHECKING:
    from rfview.sessions.timeline.base import CycleProgress

# the blobs in a CHNK map
BLOBS = ("state", "rows", "memory", "writes", "row_sum", "mem_sum")

# suffix of a recording's name until it is complete
PARTIAL = ".partial.rfs"


class CodedChunk(NamedTuple):
    """A chunk as in the file, except that its blobs are not yet compressed."""

    num: int
    first: int
    map: dict[str, Any]


class ZoneMap(NamedTuple):
    """A zone map as in the file."""

    map: dict[str, Any]


Frame: TypeAlias = Header | ZoneMap | CodedChunk


@dataclass(frozen=True)
class RecordResult:
    """The result of recording. fault: why the kernel was stopped, or None. wall_s: seconds."""

    path: Path
    cycles: int
    chunks: int
    file_bytes: int
    finished: bool
    fault: str | None
    wall_s: float

    @property
    def bytes_per_cycle(self) -> float:
        """Return file bytes per recorded cycle."""
        return self.file_bytes / max(1, self.cycles)


class Writer:
    """Writes chunks in order into an open file.

    `add` does it all; or a WritePipeline calls `code` for chunk after chunk, and `write` for their frames.
    """

    def __init__(self, file: BinaryIO, layout: Layout, info: RunInfo, chunk_cycles: int):
        """file: unbuffered, at its start."""
        self.layout = layout
        self.info = info
        self.chunk_cycles = chunk_cycles
        self.index = Index()
        self.file = file
        framing.write_all(file, framing.MAGIC)
        self._coder: Any = None
        self._before = 0, 0     # chain and CRC of the previous chunk
        self._parted = 0, 0, 0, 0       # chunks, zone maps and printed lines in the parts written; where the last one is

    def add(self, chunk: Chunk) -> None:
        """Code and write one chunk; the first must have rows and memory. Raises OSError, such as for a full disk."""
        for frame in self.code(chunk):
            self.write(frame)

    def code(self, chunk: Chunk) -> list[Frame]:
        """Return the frames that one chunk adds to the file, and release it; the first must have rows and memory."""
        frames: list[Frame] = []
        if self._coder is None:
            from rfview.sessions.file.chunk_coder import Coder  # imports numba: what replays imports this module too

            if chunk.key_rows is None or chunk.key_memory is None:
                raise ValueError("the first chunk needs rows and memory")
            state = chunk.key.copy()    # the chunk is released before the header is packed
            self._coder = Coder(self.layout, state, len(chunk.key_rows), len(chunk.key_memory))
            frames.append(Header(self.layout, self.info, chunk.first_cycle, state, chunk.key_memory, chunk.key_rows,
                                 self.chunk_cycles))
        frames.append(CodedChunk(chunk.num_cycles, chunk.first_cycle, self._coder.code(chunk)))
        chunk.release()
        return frames + (self._zone_map() if self._coder.zones.is_full else [])

    def _zone_map(self) -> list[Frame]:
        found = None if self._coder is None else self._coder.zone_map()
        return [] if found is None else [ZoneMap(found)]

    def write(self, frame: Frame) -> None:
        """Compress and write a frame returned by `code`. Raises OSError."""
        if isinstance(frame, Header):
            self._before = 0, framing.write_frame(self.file, framing.HEAD, frame.pack())[1]
        elif isinstance(frame, ZoneMap):
            self.index.zones.append(framing.write_frame(self.file, framing.ZONE, msgpack.packb(frame.map))[0])
            if len(self.index.first) % CHUNKS == 0:     # else it is the last one, and the whole index follows
                self._write_part()
        else:
            self._chunk(frame)

    def _chunk(self, coded: CodedChunk) -> None:
        """Compress and write a chunk, and add it to the index."""
        state = coded.map["state"]
        coded.map.update({name: streams.compress(coded.map[name]) for name in BLOBS if name in coded.map})
        self._coder.give_back(state)
        head = framing.ChunkHead.following(len(self.index.first), coded.num, coded.first, self._before)
        offset, crc = framing.write_frame(self.file, framing.CHUNK, head.pack(), msgpack.packb(coded.map))
        self._before = head.chain, crc
        self.index.add(head, coded.map, offset)

    def _write_part(self) -> None:
        """Write the index of the chunks since the last part, with which the file opens at once if this run is killed."""
        part = self.index.part(*self._parted)
        offset, _ = framing.write_frame(self.file, framing.PART, part.pack())
        self._parted = len(self.index.first), len(self.index.zones), len(self.index.printed), offset

    def finish(self, end: End, totals: np.ndarray) -> int:
        """Write index and trailer; return the file's size in bytes. Raises OSError.

        totals: stall totals after the last chunk.
        """
        if self._coder is not None:
            self.index.totals.append(totals.astype(np.int64))
            for frame in self._zone_map():
                self.write(frame)
        self.index.end = end
        framing.write_trailer(self.file, framing.write_frame(self.file, framing.INDEX, self.index.pack())[0])
        return self.file.tell()


def partials(path: Path) -> list[Path]:
    """Return the partial files left by runs that did not end, the newest first; they open like any recording."""
    found = [one for one in path.parent.glob(f"{glob.escape(path.stem)}.??????{PARTIAL}") if one.is_file()]
    return sorted(found, key=lambda one: one.stat().st_mtime_ns, reverse=True)


def record(
    simulator: Any,
    path: str | Path,
    *,
    chunk_cycles: int = CHUNK_CYCLES,
    progress: CycleProgress | None = None,
    max_cycles: int | None = None,
    compiling: Progress | None = None,
) -> RecordResult:
    """Run `simulator` to its end, or for max_cycles, and write every cycle to `path`.

    progress: called after each chunk with the cycle reached; return True to stop there. compiling: progress while
    code is prepared, a share of 1 and a text. The file is written next to the target as NAME.XXXXXX.partial.rfs
    and renamed when complete, so a killed run leaves what it had, ready to open (`partials`). A kernel fault ends
    the recording after the faulting cycle and is stored in it. Raises InputError if the file cannot be written,
    or exists and is not a recording; anything else that ends it, such as Ctrl-C, has a note that names the partial file.
    """
    target = Path(path)
    started = time.perf_counter()
    layout = Layout(simulator.sm_dtype, simulator.rf_dtype)
    made = new_recording(target)
    first, writer = simulator.cycle, None
    try:
        writer = Writer(made.file, layout, simulator.info, chunk_cycles)
        cycles = _run(simulator, writer, chunk_cycles, progress, max_cycles, compiling)
        end = end_of(simulator)
        size = writer.finish(end, simulator.sm["stall_total"])
        made.commit()
    except OSError as error:
        kept = _kept(made, writer)
        raise InputError(f"{target}: cannot write the recording ({error.strerror or error}){kept}") from None
    except ChangedMeanwhile:
        raise
    except InputError:      # the run turned out to be a different one
        made.discard()
        raise
    except BaseException as error:
        error.add_note(_kept(made, writer))
        raise
    chunks = len(writer.index.first)
    wall_s = time.perf_counter() - started
    return RecordResult(target, cycles - first, chunks, size, bool(end.finished), end.fault, wall_s)


def new_recording(target: Path, magic: bytes = framing.MAGIC, suffix: str = PARTIAL) -> NewFile:
    """Return the file that will become a recording; raises InputError if it cannot, or would replace something else."""
    try:
        with opened(target) as file:
            begin = file.read(len(magic))
    except OSError:
        begin = b""         # there is none, or check_target will report what is wrong
    if begin not in (b"", magic, framing.OLD_MAGIC) and target.is_file():
        raise InputError(f"{target}: is not a recording and is not overwritten; give another name")
    return NewFile(target, suffix=suffix, is_recording=True)


def _kept(made: NewFile, writer: Writer | None) -> str:
    """Close an incomplete file, and remove it if it shows nothing; return what to say about it."""
    index = Index() if writer is None else writer.index
    if not index.first:
        made.discard()
        return ""
    with suppress(OSError):
        made.file.close()
    return f"; {made.path.name} has its first {plural(index.last - index.first[0], 'cycle')}"


def _run(simulator: Any, writer: Writer, chunk_cycles: int, progress: CycleProgress | None,
         max_cycles: int | None, compiling: Progress | None) -> int:
    """Run the simulator and pass its chunks to the pipeline; return the cycle reached, when everything is written."""
    from rfview.sessions.codec.compiling import beside  # imports numba: what replays imports this module too

    pipeline: WritePipeline[Chunk, Frame] = WritePipeline(writer)
    limit = None if max_cycles is None else simulator.cycle + max_cycles
    reached = simulator.cycle
    started = False
    try:
        while True:
            length = chunk_cycles if limit is None else min(chunk_cycles, limit - reached)
            # the coder keeps rows and memory from chunk to chunk: only the first keyframe needs them
            with nullcontext() if started else beside(compiling):
                chunk = simulator.record_chunk(length, values=not started, lend=True) if length > 0 else None
            started = True
            if chunk is None or chunk.num_cycles == 0:
                break
            pipeline.put(chunk)
            reached = chunk.first_cycle + chunk.num_cycles
            if simulator.fault is not None or (progress is not None and progress(reached)):
                break
    finally:
        pipeline.finish()
    return reached
