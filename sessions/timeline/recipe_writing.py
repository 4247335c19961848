"""Runs a kernel and writes its recipe: at about the speed of a plain run, with checksums of some of its states."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack
import msgspec
import numpy as np

from rfview.engine.errors import InputError, KernelFault
from rfview.engine.files import NewFile
from rfview.engine.info import Run
from rfview.sessions.codec import streams
from rfview.sessions.file import framing
from rfview.sessions.file.run_info import End, end_of, RecipeRun
from rfview.sessions.file.writer import new_recording
from rfview.sessions.timeline.base import CycleProgress
from rfview.sessions.timeline.recipe import FORMAT, MAGIC, RECIPE, SUFFIX

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.engine.snapshot import Snapshot

PARTIAL = f".partial{SUFFIX}"
# A checksum reads the whole state, at about 1 GB/s: one in 16,384 cycles per MB of state, and fewer in long runs.
FIRST_STRIDE = 1 << 14
STRIDE_BYTES = 1 << 20
MAX_SUMS = 128
STEP_CYCLES = 1 << 16  # between two checks of the clock and the keyboard


@dataclass(frozen=True)
class RecipeResult:
    """What was written: cycles run, states with checksums and file bytes. fault: why the kernel was stopped, or None."""

    path: Path
    cycles: int
    sums: int
    file_bytes: int
    finished: bool
    fault: str | None
    verified: bool | None
    wall_s: float


class Sums:
    """Checksums of a run's states at multiples of a stride that doubles when there are many."""

    def __init__(self, state_bytes: int):
        self.stride = FIRST_STRIDE
        while self.stride * STRIDE_BYTES < FIRST_STRIDE * state_bytes:
            self.stride *= 2
        self.sums: list[list[int]] = []

    def add(self, snapshot: Snapshot) -> None:
        """Add a state later than all others."""
        self.sums.append([snapshot.cycle, *sum_of(snapshot)])
        if len(self.sums) > MAX_SUMS:
            self.stride *= 2
            self.sums = [entry for entry in self.sums if entry[0] % self.stride == 0]


def sum_of(snapshot: Snapshot) -> list[int]:
    """Return the CRC32 of state, value rows and memory."""
    state = zlib.crc32(snapshot.rf.tobytes(), zlib.crc32(snapshot.sm.tobytes()))
    return [state, *(zlib.crc32(array.reshape(-1).view(np.uint8).data) for array in (snapshot.rows, snapshot.memory))]


def write_recipe(simulator: Simulator, path: str | Path, progress: CycleProgress | None = None) -> RecipeResult:
    """Run a fresh simulator to its end and write its recipe.

    progress: called periodically with the cycle reached, may return True to stop there. A fault ends the run and is
    stored. An interrupted run leaves what it has as NAME.XXXXXX.partial.rfr and raises. Raises InputError if the
    file cannot be written.
    """
    target = Path(path)
    began = time.perf_counter()
    body = _described(simulator)
    first = simulator.snapshot()
    arrays = (first.sm, first.rf, first.rows, first.memory)
    sums = Sums(sum(array.nbytes for array in arrays))
    sums.add(first)
    made = new_recording(target, MAGIC, PARTIAL)
    try:
        _run(simulator, sums, progress)
    except KeyboardInterrupt:
        # the machine may be anywhere within a step: only the last state with a checksum is known
        _write(made, {**body, **msgspec.to_builtins(End(finished=False)), "cycles": sums.sums[-1][0], "sums": sums.sums})
        made.file.close()
        raise
    except BaseException:
        made.discard()
        raise
    if sums.sums[-1][0] != simulator.cycle:
        sums.sums.append([simulator.cycle, *sum_of(simulator.snapshot())])
    end = end_of(simulator)
    size = _write(made, {**body, **msgspec.to_builtins(end), "cycles": simulator.cycle, "sums": sums.sums})
    with _discarded_on_error(made):
        made.commit()
    return RecipeResult(target, simulator.cycle, len(sums.sums), size, bool(end.finished), end.fault, end.verified,
                        time.perf_counter() - began)


def _run(simulator: Simulator, sums: Sums, progress: CycleProgress | None) -> None:
    """Run to the end or a fault, computing checksums of states on the way."""
    while not simulator.finished and simulator.fault is None:
        missing = sums.stride - simulator.cycle % sums.stride
        try:
            simulator.step(min(missing, STEP_CYCLES))
        except KernelFault:
            return  # it is in simulator.fault
        if simulator.cycle % sums.stride == 0 and not simulator.finished:
            sums.add(simulator.snapshot())
        if progress is not None and progress(simulator.cycle):
            return


def _described(simulator: Simulator) -> dict[str, Any]:
    """Return the parts of the body that are known before the run."""
    spec = simulator.spec
    return {
        "info": msgspec.to_builtins(RecipeRun(max_cycles=simulator.max_cycles,
                                                 **{name: getattr(simulator.info, name) for name in Run.__struct_fields__})),
        "buffers": [[name, _stored(buffer.array)] for name, buffer in spec.buffers.items()],
        "symbols": [[name, _stored(buffer.array)] for name, buffer in spec.symbols.items()],
        "expect": [[name, _stored(expect.array), expect.rtol, expect.atol, expect.reason]
                   for name, expect in spec.expect.items()],
    }


def _stored(array: np.ndarray) -> list[Any]:
    """Return [dtype, shape, bytes]."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return [little.dtype.str, list(array.shape), little.tobytes()]


def _write(made: NewFile, body: dict[str, Any]) -> int:
    """Write a recipe to its file; return its size in bytes. On InputError the file is removed."""
    with _discarded_on_error(made):
        framing.write_all(made.file, MAGIC)
        framing.write_frame(made.file, RECIPE, msgpack.packb({"format": FORMAT, "body": streams.compress_map(body)}))
        return made.file.tell()


@contextmanager
def _discarded_on_error(made: NewFile) -> Iterator[None]:
    """Remove a recipe that cannot be written, and raise InputError."""
    try:
        yield
    except OSError as error:
        made.discard()
        raise InputError(f"{made.target}: cannot write the recipe ({error.strerror or error})") from None
