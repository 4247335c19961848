"""Write a run into a session file: the engine runs ahead, a worker thread codes and compresses chunk after chunk."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from engine.chunk import Chunk
from engine.errors import InputError
from sessions import codec, format
from sessions.layout import Layout
from sessions.summarise import Summariser


# Modes are chosen in chunks 0, 1, 2, 4, ... and then in every 64th.
LEARN_CHUNKS = 64


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


class Newest:
    """The newest value of every place written since some chunk, per level of 8 (see format.py, row_sum and mem_sum)."""

    def __init__(self, values: np.ndarray):
        self.values = values.copy()
        self._touched: list[list[np.ndarray]] = []

    def add(self, index: np.ndarray, value: np.ndarray) -> None:
        """Take in one chunk's log, in order."""
        self.values[index] = value
        if not self._touched:
            self._touched.append([])
        self._touched[0].append(np.unique(index))

    def take(self, level: int) -> np.ndarray:
        """Return the places touched in the last 8**level chunks, ascending, and begin these levels anew."""
        while len(self._touched) <= level:
            self._touched.append([])
        for below in range(level):
            parts = self._touched[below]
            merged = np.unique(np.concatenate(parts)) if parts else np.empty(0, np.uint32)
            self._touched[below] = []
            self._touched[below + 1].append(merged)
        return self._touched[level][-1]


class Writer:
    """Writes chunks in order into an open file; used by one thread at a time."""

    def __init__(self, path: Path, layout: Layout, info: dict[str, Any], chunk_cycles: int):
        self.path = path
        self.layout = layout
        self.info = info
        self.chunk_cycles = chunk_cycles
        self.index = format.Index()
        self._file = open(path, "wb")  # noqa: SIM115 - lives as long as the writer
        self._file.write(format.MAGIC)
        self._rows: Newest | None = None
        self._memory: Newest | None = None
        self._summary: Summariser | None = None
        self._last: Chunk | None = None
        self._modes = np.full(layout.num_words, codec.XOR, np.uint8)

    def add(self, chunk: Chunk) -> None:
        """Code and write one chunk; the first must bring rows and memory. Raises OSError, as on a full disk."""
        if self._rows is None or self._memory is None:
            if chunk.key_rows is None or chunk.key_memory is None:
                raise ValueError("the first chunk needs rows and memory")
            header = format.Header(self.layout, self.info, chunk.first_cycle, chunk.key_memory, chunk.key_rows,
                                   self.chunk_cycles)  # fmt: skip
            format.write_frame(self._file, format.HEAD, header.pack())
            self._rows, self._memory = Newest(chunk.key_rows), Newest(chunk.key_memory)
            self._summary = Summariser(self.layout, len(chunk.key_rows))
        content = self._content(chunk)
        offset = format.write_frame(self._file, format.CHUNK, msgpack.packb(content, default=codec._plain))
        self._file.flush()
        self.index.add(content, offset)
        if self._summary is not None and self._summary.is_full:
            self._write_summary()
        self._last = chunk
        self._rows.add(chunk.row_index, chunk.row_value)
        self._memory.add(chunk.mem_index, chunk.mem_value)

    def _content(self, chunk: Chunk) -> dict[str, Any]:
        """Return the CHNK map of format.py."""
        assert self._rows is not None and self._memory is not None and self._summary is not None
        key = np.concatenate([chunk.key_sm, chunk.key_rf])
        deltas = codec.Deltas(key, chunk.delta_end, chunk.delta_index, chunk.delta_value)
        self._learn(deltas, chunk.first_cycle)
        self._summary.add(key, deltas.words, deltas.begin, deltas.new, chunk.row_index, chunk.mem_index)
        rows = {"counts": codec.pack_log(chunk.row_end), **codec.pack_rows(chunk.row_index, chunk.row_value)}
        memory = {"counts": codec.pack_log(chunk.mem_end), **codec.pack_words(chunk.mem_index, chunk.mem_value)}
        content = {
            "first": chunk.first_cycle,
            "num": chunk.num_cycles,
            "totals": _read_totals(key, self.layout).tolist(),
            "key": codec.compress(key.astype("<u4").tobytes()),
            "deltas": codec.compress(codec.pack_deltas(deltas, chunk.first_cycle, self._modes)),
            "rows": codec.compress(rows),
            "memory": codec.compress(memory),
            "row_writes": len(chunk.row_index),
            "mem_writes": len(chunk.mem_index),
            "printed": chunk.printed,
        }
        level = format.level_of(len(self.index.first))
        if level:
            row_places, mem_places = self._rows.take(level), self._memory.take(level)
            content |= {
                "level": level,
                "row_sum": codec.compress(codec.pack_rows(row_places, self._rows.values[row_places])),
                "mem_sum": codec.compress(codec.pack_words(mem_places, self._memory.values[mem_places])),
                "row_sums": len(row_places),
                "mem_sums": len(mem_places),
            }
        return content

    def _learn(self, deltas: codec.Deltas, first_cycle: int) -> None:
        """Choose anew, now and then, how each kind of word is coded."""
        number = len(self.index.first)
        if (number < LEARN_CHUNKS and number & (number - 1) == 0) or number % LEARN_CHUNKS == 0:
            kinds = self.layout.kinds
            for kind, mode in codec.choose_modes(deltas, first_cycle, kinds).items():
                self._modes[kinds == kind] = mode

    def _write_summary(self) -> None:
        """Write what the chunks since the last summary hold in short."""
        summary = self._summary
        if summary is not None and summary.count:
            content = msgpack.packb(summary.take(len(self.index.first) - summary.count))
            self.index.summary.append(format.write_frame(self._file, format.SUMMARY, content))

    def finish(self, end: dict[str, Any]) -> int:
        """Write index and trailer; return the file's size in bytes."""
        if self._last is not None:
            self.index.totals.append(_totals_after(self._last, self.layout))
        self._write_summary()
        self.index.end = end
        format.write_trailer(self._file, format.write_frame(self._file, format.INDEX, self.index.pack()))
        self._file.flush()
        os.fsync(self._file.fileno())
        size = self._file.tell()
        self._file.close()
        return size

    def close(self) -> None:
        """Close the file as it is; its whole chunks can be read."""
        self._file.close()


def _read_totals(key: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the stall totals in a state's words."""
    return np.array(layout.split(key)[0]["stall_total"], np.int64)


def _totals_after(chunk: Chunk, layout: Layout) -> np.ndarray:
    """Return the stall totals after a chunk."""
    from sessions.decode import DecodedChunk

    part = DecodedChunk(chunk, layout, lambda: np.empty(0), lambda: np.empty(0))
    return part.stall_total()[-1].astype(np.int64)


def partial_path(path: Path) -> Path:
    """Return where a recording is written until it is whole; the name opens like any recording."""
    return path.with_name(path.stem + ".partial.rfs")


def record(
    simulator: Any,
    path: str | Path,
    *,
    chunk_cycles: int = 1024,
    progress: Callable[[int], bool | None] | None = None,
    max_cycles: int | None = None,
) -> RecordResult:
    """Run `simulator` to its end, or for max_cycles, and write every cycle to `path`.

    progress: called after each chunk with the cycle reached; return True to stop there. The file is written beside the
    target as NAME.partial.rfs and renamed when whole, so a killed run leaves what it had, ready to open. A kernel fault
    ends the recording after the faulting cycle and is kept in it. Raises InputError when the file cannot be written.
    """
    target = Path(path)
    started = time.perf_counter()
    partial = partial_path(target)
    layout = Layout(simulator.sm_dtype, simulator.rf_dtype)
    try:
        writer = Writer(partial, layout, simulator.info, chunk_cycles)
    except OSError as error:
        raise InputError(f"{target}: cannot write the recording ({error.strerror})") from None
    first = simulator.cycle
    try:
        cycles = _run(simulator, writer, chunk_cycles, progress, max_cycles)
        fault = None if simulator.fault is None else str(simulator.fault)
        finished = bool(simulator.finished)
        summary = simulator.summary() if finished and fault is None else None
        size = writer.finish({"finished": finished, "fault": fault, "summary": summary})
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
         max_cycles: int | None) -> int:  # fmt: skip
    """Drive the simulator and hand its chunks to a worker thread; return the cycle reached."""
    work: queue.Queue[Chunk | None] = queue.Queue(maxsize=4)
    failure: list[BaseException] = []

    def write() -> None:
        while (chunk := work.get()) is not None:
            if not failure:
                try:
                    writer.add(chunk)
                except BaseException as error:
                    failure.append(error)

    worker = threading.Thread(target=write, name="rfview-record")
    worker.start()
    limit = None if max_cycles is None else simulator.cycle + max_cycles
    reached = simulator.cycle
    started = False
    try:
        while not failure:
            length = chunk_cycles if limit is None else min(chunk_cycles, limit - reached)
            # rows and memory are carried on from chunk to chunk: only the first keyframe needs them
            chunk = simulator.record_chunk(length, values=not started) if length > 0 else None
            started = True
            if chunk is None or chunk.num_cycles == 0:
                break
            work.put(chunk)
            reached = chunk.first_cycle + chunk.num_cycles
            if simulator.fault is not None or (progress is not None and progress(reached)):
                break
    finally:
        work.put(None)
        worker.join()
    if failure:
        raise failure[0]
    return reached
