"""A timeline that the engine extends: checkpoints every chunk, the past re-simulated from the nearest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.chunk import Chunk
from engine.errors import KernelFault
from sessions.decode import ByteCache, DecodedChunk
from sessions.layout import Layout
from sessions.timeline import Timeline

CHUNK_CYCLES = 1024
CHECKPOINT_BYTES = 300 << 20
DECODED_BYTES = 160 << 20


class LiveTimeline(Timeline):
    """A timeline over a running simulator; `last` is how far it has run, at chunk borders or the kernel's end.

    A checkpoint is kept at the start of every chunk, thinned to `budget_bytes` by dropping every other one of the older
    half. `printed` and `fault` are those of the furthest point reached. Only this object may drive the simulator.
    """

    def __init__(self, simulator: Any, *, chunk_cycles: int = CHUNK_CYCLES, budget_bytes: int = CHECKPOINT_BYTES):
        super().__init__(simulator.info, Layout(simulator.sm_dtype, simulator.rf_dtype))
        self.simulator = simulator
        self.chunk_cycles = chunk_cycles
        self.budget_bytes = budget_bytes
        self.first = self.last = simulator.cycle
        self.closed = False
        self._starts: list[int] = []
        self._lengths: list[int] = []
        self._totals: list[np.ndarray] = []
        self._checkpoints: dict[int, Any] = {}
        self._frontier: Any = None
        self._printed: list[tuple[int, str]] = list(simulator.printed)
        self._decoded: ByteCache[DecodedChunk] = ByteCache(DECODED_BYTES)
        self._run_chunk()

    def chunk_starts(self) -> list[int]:
        """Return the first cycle of each chunk."""
        return self._starts

    def totals(self, number: int) -> np.ndarray:
        """Return the stall totals at the start of chunk `number`, or at `last`."""
        return self._totals[number]

    def printed(self, upto: int) -> list[tuple[int, str]]:
        """Return the lines printed in cycles before `upto`."""
        return [(cycle, text) for cycle, text in self._printed if cycle < upto]

    def extend(self, cycles: int) -> int:
        """Simulate at least `cycles` more, rounded up to whole chunks; return how many were added, 0 at the end."""
        before = self.last
        while not self.closed and self.last - before < cycles:
            self._run_chunk()
        return self.last - before

    def _run_chunk(self) -> None:
        """Simulate one more chunk at the frontier."""
        simulator = self.simulator
        if self._frontier is not None:
            simulator.restore(self._frontier)
            self._frontier = None
        checkpoint = simulator.checkpoint()
        chunk = simulator.record_chunk(self.chunk_cycles)
        if chunk.num_cycles or not self._starts:
            number = len(self._starts)
            self._checkpoints[number] = checkpoint
            self._starts.append(chunk.first_cycle)
            self._lengths.append(chunk.num_cycles)
            self._printed += chunk.printed
            part = self._keep(number, chunk)
            del self._totals[number:]
            self._totals += [part.stall_total()[0].copy(), part.stall_total()[-1].copy()]
            self.last = part.last
            self._thin()
        if simulator.fault is not None:
            self.fault = str(simulator.fault)
        self.closed = chunk.num_cycles == 0 or self.fault is not None or bool(simulator.finished)

    def _keep(self, number: int, chunk: Chunk) -> DecodedChunk:
        """Put a chunk into the cache."""
        part = DecodedChunk(chunk, self.layout, lambda: chunk.key_rows, lambda: chunk.key_memory)  # type: ignore
        held = sum(array.nbytes for array in (chunk.key_rows, chunk.key_memory) if array is not None)
        size = part.nbytes_hint(len(chunk.row_index), len(chunk.mem_index)) + 2 * held
        return self._decoded.put(number, part, size)

    def _thin(self) -> None:
        """Drop every other checkpoint of the older half while they take more than the budget; keep the first."""
        while len(self._checkpoints) > 2 and sum(c.nbytes for c in self._checkpoints.values()) > self.budget_bytes:
            numbers = sorted(self._checkpoints)
            for number in numbers[: max(2, len(numbers) // 2)][1::2]:
                del self._checkpoints[number]

    def decoded(self, number: int) -> DecodedChunk:
        """Return chunk `number`, re-simulated from the nearest checkpoint before it if need be."""
        part = self._decoded.get(number)
        if part is not None:
            return part
        simulator = self.simulator
        if self._frontier is None:
            self._frontier = simulator.checkpoint()
        nearest = max(kept for kept in self._checkpoints if kept <= number)
        simulator.restore(self._checkpoints[nearest])
        missing = self._starts[number] - simulator.cycle
        if missing:
            simulator.step(missing)
        chunk = simulator.record_chunk(self._lengths[number])
        if (chunk.first_cycle, chunk.num_cycles) != (self._starts[number], self._lengths[number]):
            reached = chunk.first_cycle + chunk.num_cycles
            raise KernelFault(f"cycle {reached}: re-simulation went another way: a defect of the design or of rfview")
        return self._keep(number, chunk)

    def checkpoint_at(self, cycle: int) -> Any:
        """Return a complete copy of the machine at a cycle in first..last, re-simulated from the nearest checkpoint."""
        self.check(cycle)
        simulator = self.simulator
        if self._frontier is None:
            self._frontier = simulator.checkpoint()
        starts = [self._frontier, *self._checkpoints.values()]
        simulator.restore(max((kept for kept in starts if kept.cycle <= cycle), key=lambda kept: kept.cycle))
        if cycle > simulator.cycle:
            simulator.step(cycle - simulator.cycle)
        return simulator.checkpoint()


def launch_path(target: str | Path) -> Path:
    """Return the launch file that a target names: a path, or the name of a bundled kernel; raises InputError."""
    path = Path(target)
    if path.suffix == ".toml" or path.is_file() or len(path.parts) > 1:
        return path
    from engine import kernels

    return kernels.path(str(target))


def open_live(
    target: str | Path,
    *,
    design: str = "sram",
    scheduler: str = "gto",
    preset: str = "fermi",
    settings: Mapping[str, str | int | float] | None = None,
    max_cycles: int = 100_000_000,
    progress: Callable[..., None] | None = None,
) -> LiveTimeline:
    """Load a launch file or bundled kernel into a simulator and return its timeline; imports numba.

    Options as of engine.simulator.Simulator. Raises InputError for a target or option that cannot be used.
    """
    from engine.launch import load_launch_file

    spec = load_launch_file(launch_path(target))
    from engine.simulator import Simulator

    return LiveTimeline(Simulator(spec, design=design, scheduler=scheduler, preset=preset, settings=settings or {},
                                  max_cycles=max_cycles, progress=progress))  # fmt: skip
