"""Write a run into a session file: the engine runs ahead, while its chunks are coded, compressed and written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES, Chunk
from rfview.engine.errors import InputError
from rfview.sessions.codec import codec
from rfview.sessions.file import format, heap
from rfview.sessions.file.chunk_coder import Coder, Frame
from rfview.sessions.file.write_pipeline import Crew
from rfview.sessions.layout import Layout

# what is a blob of its own in a CHNK map
PARTS = ("state", "rows", "memory", "row_sum", "mem_sum")


@dataclass(frozen=True)
class RecordResult:
    """What was recorded: cycles, chunks and file bytes; fault: why the kernel was stopped, or None; wall_s: seconds."""

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

    `add` does it all; or a Crew calls `code` for chunk after chunk, `squeeze` for what comes of it, and `write`, in order.
    """

    def __init__(self, path: Path, layout: Layout, info: dict[str, Any], chunk_cycles: int):
        self.path = path
        self.layout = layout
        self.info = info
        self.chunk_cycles = chunk_cycles
        self.index = format.Index()
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - lives as long as the writer
        self._file.write(format.MAGIC)
        # its buffer is used again for every chunk
        self._packer = msgpack.Packer(autoreset=False)
        self._last: Chunk | None = None

    def add(self, chunk: Chunk) -> None:
        """Code and write one chunk; the first must bring rows and memory. Raises OSError, as on a full disk."""
        for frame in self.code(chunk):
            self.write(self.squeeze(frame))

    @cached_property
    def _coder(self) -> Coder:
        return Coder(self.layout)

    def prepare(self) -> None:
        """Do what can be done before there is a chunk."""
        _ = self._coder

    def code(self, chunk: Chunk) -> list[Frame]:
        """Return the frames that one chunk adds to the file; the first chunk must bring rows and memory."""
        frames: list[Frame] = []
        if self._last is None:
            if chunk.key_rows is None or chunk.key_memory is None:
                raise ValueError("the first chunk needs rows and memory")
            state = chunk.key.copy()    # the chunk may be given back before the header is packed
            header = format.Header(self.layout, self.info, chunk.first_cycle, state, chunk.key_memory, chunk.key_rows,
                                   self.chunk_cycles)  # fmt: skip
            frames.append((format.HEAD, header))
            self._coder.begin(state, len(chunk.key_rows), len(chunk.key_memory))
        frames += self._coder.code(chunk)
        if self._last is not None:
            self._last.release()
        self._last = chunk
        return frames

    def squeeze(self, frame: Frame) -> Frame:
        """Return a frame with its payload ready to be written, a chunk's with its map for the index beside it."""
        tag, content = frame
        if tag == format.HEAD:
            return tag, content.pack()
        if tag == format.SUMMARY:
            return tag, msgpack.packb(content)
        release = content.pop("release")
        content |= {name: codec.squeeze(content[name], codec.WIDE if name == "rows" else codec.NEAR) for name in PARTS
                    if name in content}  # fmt: skip
        release()
        return tag, content

    def write(self, frame: Frame) -> None:
        """Write a frame that `squeeze` returned. Raises OSError."""
        tag, content = frame
        if tag == format.CHUNK:
            self._packer.pack(content)
            self.index.add(content, format.write_frame(self._file, tag, self._packer.getbuffer()))
            self._packer.reset()
        else:
            offset = format.write_frame(self._file, tag, content)
            if tag == format.SUMMARY:
                self.index.summary.append(offset)

    def finish(self, end: dict[str, Any], totals: np.ndarray) -> int:
        """Write index and trailer; return the file's size in bytes. totals: stall totals behind the last chunk."""
        if self._last is not None:
            self.index.totals.append(totals.astype(np.int64))
            for frame in self._coder.summed_up():
                self.write(self.squeeze(frame))
        self.index.end = end
        format.write_trailer(self._file, format.write_frame(self._file, format.INDEX, self.index.pack()))
        size = self._file.tell()
        self._file.close()
        return size

    def close(self) -> None:
        """Close the file as it is; its whole chunks can be read."""
        self._file.close()


def partial_path(path: Path) -> Path:
    """Return where a recording is written until it is whole; the name opens like any recording."""
    return path.with_name(path.stem + ".partial.rfs")


def record(
    simulator: Any,
    path: str | Path,
    *,
    chunk_cycles: int = CHUNK_CYCLES,
    progress: Callable[[int], bool | None] | None = None,
    max_cycles: int | None = None,
    compiling: Callable[[float, str], None] | None = None,
) -> RecordResult:
    """Run `simulator` to its end, or for max_cycles, and write every cycle to `path`.

    progress: called after each chunk with the cycle reached; return True to stop there. compiling: progress while code
    is prepared, a share of 1 and what it is. The file is written beside the target as NAME.partial.rfs and renamed when
    whole, so a killed run leaves what it had, ready to open. A kernel fault ends the recording after the faulting cycle
    and is kept in it. Raises InputError when the file cannot be written.
    """
    target = Path(path)
    started = time.perf_counter()
    heap.keep_freed()
    partial = partial_path(target)
    layout = Layout(simulator.sm_dtype, simulator.rf_dtype)
    try:
        writer = Writer(partial, layout, simulator.info, chunk_cycles)
    except OSError as error:
        raise InputError(f"{target}: cannot write the recording ({error.strerror})") from None
    first = simulator.cycle
    try:
        cycles = _run(simulator, writer, chunk_cycles, progress, max_cycles, compiling)
        fault = None if simulator.fault is None else str(simulator.fault)
        finished = bool(simulator.finished)
        summary = simulator.summary() if finished and fault is None else None
        size = writer.finish({"finished": finished, "fault": fault, "summary": summary}, simulator.sm["stall_total"])
        os.replace(partial, target)
    except OSError as error:
        writer.close()
        kept = f"{partial.name} has the cycles so far"
        raise InputError(f"{target}: cannot write the recording ({error.strerror}); {kept}") from None
    except BaseException:
        writer.close()
        raise
    chunks = len(writer.index.first)
    wall_s = time.perf_counter() - started
    return RecordResult(target, cycles - first, chunks, size, finished, fault, wall_s)


def _run(simulator: Any, writer: Writer, chunk_cycles: int, progress: Callable[[int], bool | None] | None,
         max_cycles: int | None, compiling: Callable[[float, str], None] | None) -> int:  # fmt: skip
    """Drive the simulator and hand its chunks over; return the cycle reached, when all is written."""
    from rfview.sessions.codec import warm  # imports numba: what replays imports this module too

    crew: Crew[Chunk, Frame] = Crew(writer)
    limit = None if max_cycles is None else simulator.cycle + max_cycles
    reached = simulator.cycle
    started = False
    try:
        while True:
            length = chunk_cycles if limit is None else min(chunk_cycles, limit - reached)
            # rows and memory are carried on from chunk to chunk: only the first keyframe needs them
            with nullcontext() if started else warm.beside(compiling):
                chunk = simulator.record_chunk(length, values=not started, lend=True) if length > 0 else None
            started = True
            if chunk is None or chunk.num_cycles == 0:
                break
            crew.put(chunk)
            reached = chunk.first_cycle + chunk.num_cycles
            if simulator.fault is not None or (progress is not None and progress(reached)):
                break
    finally:
        crew.finish()
    return reached
