"""Simulates a recipe's run: into a session file, comparing states on the way, or as a live timeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine.chunk import Chunk
from rfview.engine.errors import InputError
from rfview.engine.plugin import origin as design_origin
from rfview.engine.progress import Progress
from rfview.sessions.file.writer import RecordResult, record
from rfview.sessions.timeline.base import CycleProgress
from rfview.sessions.timeline.recipe import Recipe
from rfview.sessions.timeline.recipe_writing import sum_of

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.sessions.timeline.live import LiveTimeline

PARTS = ("state", "registers", "memory")


class _Checked:
    """A simulator whose chunks end where the recipe has checksums, and whose states must match these."""

    def __init__(self, machine: Simulator, recipe: Recipe):
        self._machine, self._recipe = machine, recipe
        self._due = list(recipe.sums)
        self._agreed = -1
        self._verify()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def record_chunk(self, cycles: int, *, values: bool = True, lend: bool = False) -> Chunk:
        """Record a chunk like the simulator, up to the next checksum, and compare the state with it."""
        left = self._due[0][0] - self._machine.cycle if self._due else cycles
        chunk = self._machine.record_chunk(min(cycles, left), values=values, lend=lend)
        self._verify()
        return chunk

    def _verify(self) -> None:
        """Compare the current state if a checksum is due; raises InputError if it differs."""
        if not self._due:
            return
        machine, (cycle, *sums) = self._machine, self._due[0]
        stopped = machine.finished or machine.fault is not None
        if machine.cycle < cycle and not stopped:
            return
        if machine.cycle == cycle:
            found = sum_of(machine.snapshot())
            wrong = [part for part, mine, theirs in zip(PARTS, found, sums) if mine != theirs]
            if not wrong:
                self._agreed = cycle
                del self._due[0]
                return
            what = f"differs at keyframe cycle {cycle:,} ({', '.join(wrong)})"
        else:
            what = f"ended at cycle {machine.cycle:,}, before keyframe cycle {cycle:,}"
        since = f"all keyframes up to cycle {self._agreed:,} agree" if self._agreed >= 0 else "not even its start agrees"
        if other := design_origin.edited(self._recipe.info.design_spec):
            raise InputError(f"{self._recipe.path}: simulated again, the run {what}; {since}: {other}")
        raise InputError(f"{self._recipe.path}: simulated again, the run {what}; {since}. This version cannot fill the "
                       f"recipe: {self._recipe.origin(machine)}")


def fill(recipe: Recipe, path: str | Path, progress: CycleProgress | None = None,
         compiling: Progress | None = None) -> RecordResult:
    """Simulate a recipe and record it, comparing the states with checksums; imports numba.

    progress, and what an interrupted run leaves: as in rfview.sessions.file.writer.record. compiling: progress while code is
    prepared. Raises InputError, which names the first keyframe that differs; nothing is written then.
    """
    target = Path(path)
    machine = _Checked(recipe.simulator(compiling), recipe)
    return record(machine, target, progress=progress, max_cycles=recipe.cycles, compiling=compiling)


def live(recipe: Recipe, compiling: Progress | None = None) -> LiveTimeline:
    """Return a live timeline of a recipe's run, with a warning if another version wrote it; imports numba."""
    from rfview.sessions.timeline.live import LiveTimeline      # imports numba

    machine = recipe.simulator(compiling)
    timeline = LiveTimeline(machine)
    if machine.info.source_hash != recipe.info.source_hash:
        timeline.warnings.append(f"{recipe.path}: may run differently from when it was written: {recipe.origin(machine)}; "
                                 f"rfview record --fill {recipe.path} checks it")
    return timeline
