"""Write a run to a session file: the engine runs ahead while its chunks are coded, compressed and written."""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

import msgpack
import numpy as np

from rfview.engine import kernels
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
from rfview.sessions.file.keyframe import Keyframe, hash_of, own_key
from rfview.sessions.file.run_info import End, Inputs, end_of
from rfview.sessions.file.running import Budget, Running
from rfview.sessions.file.zone_maps import CHUNKS
from rfview.sessions.layout import Layout

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.sessions.timeline.base import CycleProgress

# the blobs in a CHNK map
BLOBS = ("state", "rows", "memory", "writes", "row_sum", "mem_sum")

# a part of the index follows so many keyframes where there are no chunks
PART_KEYFRAMES = 8

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


class Base(NamedTuple):
    """What the first chunk begins with, if that is not at the header's cycle."""

    header: Header


Frame: TypeAlias = Header | Base | ZoneMap | CodedChunk | Keyframe


@dataclass(frozen=True)
class Copied:
    """What a file has besides chunks: the payloads of its header and of its keyframes, and its index."""

    head: bytes
    keyframes: Iterable[bytes]
    index: Index


@dataclass(frozen=True)
class RecordResult:
    """The result of recording.

    begun: the first cycle in chunks; stored: how many are. fault: why the kernel was stopped, or None. wall_s: seconds.
    """

    path: Path
    cycles: int
    begun: int
    stored: int
    chunks: int
    keyframes: int
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
        self._inputs_of: Callable[[np.ndarray], Inputs | None] = lambda memory: None
        self.index = Index()
        self.file = file
        framing.write_all(file, framing.MAGIC)
        self._coder: Any = None
        self._has_header, self._first = False, 0        # what the coder begins with is of cycle _first
        self._before = 0, 0     # chain and CRC of the previous chunk
        self._parted = self.index.sizes()       # what is in the parts written
        self._part_at = 0       # where the last one is
        self._printed: list[tuple[int, str]] = []       # all lines of the run, if they are known
        self._seal = b"", b""       # key of the seals, and hash of the header

    def add(self, chunk: Chunk) -> None:
        """Code and write one chunk; the first must have rows and memory. Raises OSError, such as for a full disk."""
        for frame in self.code(chunk):
            self.write(frame)

    def code(self, chunk: Chunk | Keyframe) -> list[Frame]:
        """Return the frames that a chunk adds to the file, and release it; the first must have rows and memory.

        One without cycles adds only the header. A keyframe is one.
        """
        if isinstance(chunk, Keyframe):
            return [chunk]
        frames: list[Frame] = []
        if self._coder is None or (not self._coder.coded and chunk.first_cycle != self._first):
            from rfview.sessions.file.chunk_coder import Coder  # imports numba: what replays imports this module too

            if chunk.key_rows is None or chunk.key_memory is None:
                raise ValueError("the first chunk needs rows and memory")
            state = chunk.key.copy()    # the chunk is released before the header is packed
            self._coder = Coder(self.layout, state, len(chunk.key_rows), len(chunk.key_memory))
            header = Header(self.layout, self.info, chunk.first_cycle, state, chunk.key_memory, chunk.key_rows,
                            self.chunk_cycles)
            frames.append(Base(header) if self._has_header else replace(header, inputs=self._inputs_of(header.memory)))
            self._has_header, self._first = True, chunk.first_cycle
        if not chunk.num_cycles:
            return frames
        frames.append(CodedChunk(chunk.num_cycles, chunk.first_cycle, self._coder.code(chunk)))
        chunk.release()
        return frames + (self._zone_map() if self._coder.zones.is_full else [])

    def _zone_map(self) -> list[Frame]:
        found = None if self._coder is None else self._coder.zone_map()
        return [] if found is None else [ZoneMap(found)]

    def write(self, frame: Frame) -> None:
        """Compress and write a frame returned by `code`. Raises OSError."""
        if isinstance(frame, Header):
            head = frame.pack()
            self._before, self._seal = (0, framing.write_frame(self.file, framing.HEAD, head)[1]), (b"", hash_of(head))
        elif isinstance(frame, Base):
            self.index.base, crc = framing.write_frame(self.file, framing.BASE, frame.header.pack_base())
            self._before = 0, crc
        elif isinstance(frame, Keyframe):
            self._keyframe(frame)
        elif isinstance(frame, ZoneMap):
            self.index.zones.append(framing.write_frame(self.file, framing.ZONE, msgpack.packb(frame.map))[0])
            if len(self.index.first) % CHUNKS == 0:     # else it is the last one, and the whole index follows
                self._write_part()
        else:
            self._chunk(frame)

    def name_inputs(self, spec: LaunchSpec) -> None:
        """Do not write the memory at cycle 0 if it is a bundled kernel's own, but its name: it is only run from."""
        for size in kernels.SIZES:
            if spec.name in kernels.names() and spec.path == kernels.path(spec.name, size):
                self._inputs_of = partial(Inputs.of, spec.name, size)
                return

    def copy(self, like: Copied) -> None:
        """Write the header and the keyframes of another file. Their seals stay valid: these are bound to the header."""
        self._printed = like.index.printed
        self._before, self._has_header = (0, framing.write_frame(self.file, framing.HEAD, like.head)[1]), True
        for cycle, totals, payload in zip(like.index.key_cycle, like.index.key_totals, like.keyframes, strict=True):
            self.index.add_keyframe(cycle, totals, [], framing.write_frame(self.file, framing.KEYFRAME, payload)[0])

    def _chunk(self, coded: CodedChunk) -> None:
        """Compress and write a chunk, and add it to the index."""
        state = coded.map["state"]
        coded.map.update({name: streams.compress(coded.map[name]) for name in BLOBS if name in coded.map})
        self._coder.give_back(state)
        head = framing.ChunkHead.following(len(self.index.first), coded.num, coded.first, self._before)
        offset, crc = framing.write_frame(self.file, framing.CHUNK, head.pack(), msgpack.packb(coded.map))
        self._before = head.chain, crc
        self.index.add(head, coded.map, offset)

    def _keyframe(self, frame: Keyframe) -> None:
        """Compress, seal and write a keyframe, and add it to the index."""
        self._seal = self._seal[0] or own_key(), self._seal[1]
        offset, _ = framing.write_frame(self.file, framing.KEYFRAME, *frame.pack(*self._seal))
        self.index.add_keyframe(frame.cycle, frame.body.totals, frame.body.printed, offset)
        if len(self.index.key_cycle) - self._parted[1] >= PART_KEYFRAMES:
            self._write_part()

    def _write_part(self) -> None:
        """Write the index since the last part, with which the file opens at once if this run is killed."""
        part = self.index.part(*self._parted, self._part_at)
        self._part_at, _ = framing.write_frame(self.file, framing.PART, part.pack())
        self._parted = self.index.sizes()

    def finish(self, end: End, totals: np.ndarray) -> int:
        """Write index and trailer; return the file's size in bytes. Raises OSError.

        totals: stall totals after the last chunk.
        """
        if self._coder is not None:
            self.index.totals.append(totals.astype(np.int64))
            for frame in self._zone_map():
                self.write(frame)
        self.index.end = end
        self.index.printed = self._printed or self.index.printed
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
    budget: Budget | None = None,
    has_keyframes: bool = True,
    end: End | None = None,
    like: Copied | None = None,
) -> RecordResult:
    """Run `simulator` to its end, or for max_cycles, and write it to `path`: chunks within the budget, and keyframes.

    end: how the run is known to end. like: the header and the keyframes of this run, if only chunks are to be made.
    has_keyframes: False if the machine cannot be restored; there are none either, and no budget, if it is not at cycle 0 or
    its launch is not known as text: it could not be simulated again.
    progress: called after each chunk with the cycle reached; return True to stop there. compiling: progress while
    code is prepared, a share of 1 and a text. The file is written next to the target as NAME.XXXXXX.partial.rfs
    and renamed when complete, so a killed run leaves what it had, ready to open (`partials`). A kernel fault ends
    the recording after the faulting cycle and is stored in it. Raises InputError if the file cannot be written,
    or exists and is not a recording; anything else that ends it, such as Ctrl-C, has a note that names the partial file.
    """
    target = Path(path)
    started = time.perf_counter()
    made, writer = new_recording(target), None
    try:
        writer = Writer(made.file, Layout(simulator.sm_dtype, simulator.rf_dtype), simulator.info, chunk_cycles)
        if like is not None:
            writer.copy(like)
        can_restore = has_keyframes and like is None and not simulator.cycle and bool(simulator.info.launch_toml)
        run = Running(simulator, writer, chunk_cycles, budget or Budget(), can_restore)
        run.go(progress, max_cycles, compiling)
        end = end or end_of(simulator)
        size = writer.finish(end, run.totals)
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
    return _result(target, run, writer.index, end, size, started)


def _result(target: Path, run: Running, index: Index, end: End, size: int, started: float) -> RecordResult:
    cycles = max(run.reached, index.last) - (0 if index.base else run.first)      # a part has keyframes of all cycles
    return RecordResult(target, cycles, run.begun, run.stored - run.begun, len(index.first), len(index.key_cycle), size,
                        bool(end.finished), end.fault, time.perf_counter() - started)


def new_recording(target: Path) -> NewFile:
    """Return the file that will become a recording; raises InputError if it cannot, or would replace something else."""
    try:
        with opened(target) as file:
            begin = file.read(len(framing.MAGIC))
    except OSError:
        begin = b""         # there is none, or check_target will report what is wrong
    if begin not in (b"", framing.MAGIC, framing.OLD_MAGIC) and target.is_file():
        raise InputError(f"{target}: is not a recording and is not overwritten; give another name")
    return NewFile(target, suffix=PARTIAL, is_recording=True)


def _kept(made: NewFile, writer: Writer | None) -> str:
    """Close an incomplete file, and remove it if it shows nothing; return what to say about it."""
    index = Index() if writer is None else writer.index
    if not index.last:
        made.discard()
        return ""
    with suppress(OSError):
        made.file.close()
    return f"; {made.path.name} has its first {plural(index.last - (index.first or [0])[0], 'cycle')}"
