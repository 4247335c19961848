"""Write a run into a session file: the engine runs ahead, one thread codes its chunks, another compresses and writes."""

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
from sessions.summaries import STATES
from sessions.summarise import Plan, Summariser


# what is a blob of its own in a CHNK map
PARTS = ("key", "deltas", "rows", "memory", "row_sum", "mem_sum")
# the tag and what `Writer.write` makes its payload of
Frame = tuple[bytes, Any]


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
        from sessions import passes  # imports numba: what replays imports this module too

        self.values = values.copy()
        self._put = passes.put_rows if values.ndim == 2 else passes.put_words
        self._touched: list[list[np.ndarray]] = []

    def add(self, index: np.ndarray, value: np.ndarray) -> None:
        """Take in one chunk's log, in order."""
        self._put(self.values, index, value)
        if not self._touched:
            self._touched.append([])
        self._touched[0].append(index.copy())

    def take(self, level: int) -> np.ndarray:
        """Return the places touched in the last 8**level chunks, ascending, and begin these levels anew."""
        while len(self._touched) <= level:
            self._touched.append([])
        for below in range(level):
            parts = self._touched[below]
            merged = distinct(np.concatenate(parts)) if parts else np.empty(0, np.uint32)
            self._touched[below] = []
            self._touched[below + 1].append(merged)
        return self._touched[level][-1]


def distinct(values: np.ndarray) -> np.ndarray:
    """Return each number once, ascending."""
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=ordered[:1] ^ 1) != 0] if len(ordered) else ordered


class Writer:
    """Writes chunks in order into an open file.

    `add` does it all; or one thread calls `code` for chunk after chunk, and another `write` for what comes of it, in order.
    """

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
        self._plan = Plan.of(layout)
        from sessions import encode  # imports numba: what replays imports this module too

        self._encode = encode
        self._encoder = encode.Encoder(layout.kinds, self._plan.watch, layout.field(STATES).offsets)
        self._coded = self._learn_at = 0

    def add(self, chunk: Chunk) -> None:
        """Code and write one chunk; the first must bring rows and memory. Raises OSError, as on a full disk."""
        for frame in self.code(chunk):
            self.write(*frame)

    def code(self, chunk: Chunk) -> list[Frame]:
        """Return the frames that one chunk adds to the file; the first chunk must bring rows and memory."""
        frames: list[Frame] = []
        if self._rows is None or self._memory is None or self._summary is None:
            if chunk.key_rows is None or chunk.key_memory is None:
                raise ValueError("the first chunk needs rows and memory")
            frames.append((format.HEAD, format.Header(self.layout, self.info, chunk.first_cycle, chunk.key_memory,
                                                      chunk.key_rows, self.chunk_cycles)))  # fmt: skip
            self._rows, self._memory = Newest(chunk.key_rows), Newest(chunk.key_memory)
            self._summary = Summariser(self._plan, len(chunk.key_rows))
        frames.append((format.CHUNK, self._content(chunk)))
        self._coded += 1
        if self._summary.is_full:
            frames += self._summed_up()
        self._rows.add(chunk.row_index, chunk.row_value)
        self._memory.add(chunk.mem_index, chunk.mem_value)
        if self._last is not None:
            self._last.release()
        self._last = chunk
        return frames

    def write(self, tag: bytes, content: Any) -> None:
        """Write one of the frames that `code` returned. Raises OSError."""
        if tag == format.HEAD:
            format.write_frame(self._file, tag, content.pack())
        elif tag == format.SUMMARY:
            self.index.summary.append(format.write_frame(self._file, tag, msgpack.packb(content)))
        else:
            content |= {name: codec.compress(content[name], near=name == "deltas") for name in PARTS if name in content}
            offset = format.write_frame(self._file, tag, msgpack.packb(content, default=codec._plain))
            self._file.flush()
            self.index.add(content, offset)

    def _content(self, chunk: Chunk) -> dict[str, Any]:
        """Return the CHNK map of format.py, with its PARTS not yet compressed."""
        assert self._rows is not None and self._memory is not None and self._summary is not None
        key = np.concatenate([chunk.key_sm, chunk.key_rf])
        number = self._coded
        learn = number == self._learn_at
        deltas, extent = self._encoder.encode(key, chunk.blocks, chunk.first_cycle, learn)
        if learn:
            self._learn_at = max(1, 4 * number)
        self._summary.add(key, extent, chunk.row_index, chunk.mem_index)
        rows = {"counts": self._encode.pack_log(chunk.row_end), **self._encode.pack_rows(chunk.row_index, chunk.row_value)}
        memory = {"counts": self._encode.pack_log(chunk.mem_end),
                  **self._encode.pack_words(chunk.mem_index, chunk.mem_value)}  # fmt: skip
        content = {
            "first": chunk.first_cycle,
            "num": chunk.num_cycles,
            "totals": _read_totals(key, self.layout).tolist(),
            "key": key.astype("<u4", copy=False).data,
            "deltas": deltas,
            "rows": rows,
            "memory": memory,
            "row_writes": len(chunk.row_index),
            "mem_writes": len(chunk.mem_index),
            "printed": chunk.printed,
        }
        level = format.level_of(number)
        if level:
            row_places, mem_places = self._rows.take(level), self._memory.take(level)
            content |= {
                "level": level,
                "row_sum": self._encode.pack_rows(row_places, self._rows.values[row_places]),
                "mem_sum": self._encode.pack_words(mem_places, self._memory.values[mem_places]),
                "row_sums": len(row_places),
                "mem_sums": len(mem_places),
            }
        return content

    def _summed_up(self) -> list[Frame]:
        """Return the frame of what the chunks since the last summary hold in short, if there are any."""
        summary = self._summary
        if summary is None or not summary.count:
            return []
        return [(format.SUMMARY, summary.take(self._coded - summary.count))]

    def finish(self, end: dict[str, Any]) -> int:
        """Write index and trailer; return the file's size in bytes."""
        if self._last is not None:
            self.index.totals.append(_totals_after(self._last, self.layout))
        for frame in self._summed_up():
            self.write(*frame)
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
    field = layout.field("sm.stall_total")
    return key[field.words].view(field.dtype)


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
    """Drive the simulator and hand its chunks from thread to thread; return the cycle reached.

    Coding and compressing take about as long as each other, and together longer than the simulation; so the file lags by
    a few chunks, and the simulation waits when the queues are full.
    """
    work: queue.Queue[Chunk | None] = queue.Queue(maxsize=2)
    coded: queue.Queue[list[Frame] | None] = queue.Queue(maxsize=2)
    failure: list[BaseException] = []

    def code() -> None:
        while (chunk := work.get()) is not None:
            if not failure:
                try:
                    coded.put(writer.code(chunk))
                except BaseException as error:
                    failure.append(error)
        coded.put(None)

    def write() -> None:
        while (frames := coded.get()) is not None:
            if not failure:
                try:
                    for frame in frames:
                        writer.write(*frame)
                except BaseException as error:
                    failure.append(error)

    workers = [threading.Thread(target=target, name=f"rfview-{target.__name__}") for target in (code, write)]
    for worker in workers:
        worker.start()
    limit = None if max_cycles is None else simulator.cycle + max_cycles
    reached = simulator.cycle
    started = False
    try:
        while not failure:
            length = chunk_cycles if limit is None else min(chunk_cycles, limit - reached)
            # rows and memory are carried on from chunk to chunk: only the first keyframe needs them
            chunk = simulator.record_chunk(length, values=not started, lend=True) if length > 0 else None
            started = True
            if chunk is None or chunk.num_cycles == 0:
                break
            work.put(chunk)
            reached = chunk.first_cycle + chunk.num_cycles
            if simulator.fault is not None or (progress is not None and progress(reached)):
                break
    finally:
        work.put(None)
        for worker in workers:
            worker.join()
    if failure:
        raise failure[0]
    return reached
