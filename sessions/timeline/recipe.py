"""The recipe file (.rfr): what a run needs to be simulated again, and checksums of its states, in place of its cycles.

A recipe is written at about the speed of a plain run. `fill` simulates it again into a session file and compares the
states on the way; `Recipe.simulator` is the machine at cycle 0, for a live session.

    file   := magic frame(RCPE)                            frames as in sessions/file/format.py, each under a CRC
    magic  := 89 52 46 52 0D 0A 1A 0A                      ("\\x89RFR\\r\\n\\x1a\\n")

RCPE payload, a msgpack map; `blob` is zstd over msgpack; unknown names are ignored
    format       1; goes up when a field changes its meaning, and a reader refuses a higher one
    body         blob of a map:
      info         of Simulator.info: name, kernel, launch_toml, ptx, design, design_spec, scheduler, preset, parameters (all
                   that were in force, those given by --set and as file contents included), seed, engine_version,
                   source_hash; beside them max_cycles
      buffers, symbols   [[name, array], ..] as they are before the run; array := [dtype, shape, bytes], little endian
      expect       [[name, array, rtol, atol, reason], ..]
      cycles       how many ran; state sums are known up to there
      finished, fault, summary   as `end` of a session file; finished is false where the run was interrupted
      sums         [[cycle, state, rows, memory], ..] CRC32 of the recorded state [sm | rf], of the recorded value rows and
                   of the memory as a snapshot shows them; at cycle 0, at every multiple of some number of cycles, and
                   after the last one
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np

from rfview.engine.compilation import words_of_run
from rfview.engine.chunk import Chunk
from rfview.engine.plugin import origin as design_origin
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.files import NewFile
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import format
from rfview.sessions.file.writer import RecordResult, new_recording, record

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.engine.snapshot import Snapshot
    from rfview.sessions.timeline.live import LiveTimeline

FORMAT = 1
MAGIC = b"\x89RFR\r\n\x1a\n"
RECIPE = b"RCPE"
SUFFIX = ".rfr"
PARTIAL = f".partial{SUFFIX}"
INFO = ("name", "kernel", "launch_toml", "ptx", "design", "design_spec", "scheduler", "preset", "parameters", "seed",
        "engine_version", "source_hash")
# A sum reads the whole state, about 1 GB/s: per MB of state one in 16,384 cycles, and fewer the longer the run is.
FIRST_STRIDE = 1 << 14
STRIDE_BYTES = 1 << 20
MAX_SUMS = 128
STEP_CYCLES = 1 << 16  # between two looks at the clock and the keyboard
PARTS = ("state", "registers", "memory")

Progress = Callable[[int], bool | None]


@dataclass(frozen=True)
class RecipeResult:
    """What was written: cycles run, states summed and file bytes; fault: why the kernel was stopped, or None."""

    path: Path
    cycles: int
    sums: int
    file_bytes: int
    finished: bool
    fault: str | None
    verified: bool | None
    wall_s: float


@dataclass(frozen=True)
class Recipe:
    """A recipe as read. body: the map of the file format above, arrays as they are stored."""

    path: Path
    body: dict[str, Any]

    @property
    def info(self) -> dict[str, Any]:
        """Return the constants of the run."""
        return self.body["info"]

    @property
    def cycles(self) -> int:
        """Return how many cycles ran."""
        return self.body["cycles"]

    @property
    def sums(self) -> list[list[int]]:
        """Return [cycle, state, rows, memory] of each state that was summed, ascending."""
        return self.body["sums"]

    def spec(self) -> LaunchSpec:
        """Return the launch file with its arrays; raises InputError where they do not belong together."""
        from rfview.engine.launch import Expect, launch_of_text     # start-up: reading what a recipe says needs none

        body, info = self.body, self.info
        try:
            buffers, symbols = ({name: _array(stored) for name, stored in body[part]} for part in ("buffers", "symbols"))
            expect = {name: Expect(name, _array(stored), rtol, atol, reason)
                      for name, stored, rtol, atol, reason in body["expect"]}  # fmt: skip
            spec = launch_of_text(info["launch_toml"], info["name"], buffers, symbols)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{self.path}: cannot be run ({error})") from None
        return replace(spec, expect=expect)

    def simulator(self, progress: Callable[[float, str], None] | None = None) -> Any:
        """Return a simulator at cycle 0; imports numba. Raises InputError where this version lacks what the run needs."""
        from rfview.sessions.timeline.simulate import simulator_like     # imports numba

        return simulator_like(self.info, self.spec(), f"{self.path}: simulating it again",
                              max_cycles=self.info["max_cycles"], progress=progress)  # fmt: skip

    def origin(self, machine: Any) -> str:
        """Return which version wrote the recipe and which one this is, as part of a sentence."""
        mine = machine.info
        return (f"it is from rfview {self.info['engine_version']} ({self.info['source_hash']}), this is "
                f"{mine['engine_version']} ({mine['source_hash']})")  # fmt: skip


class Sums:
    """Checksums of a run's states at multiples of a stride that doubles when there are many."""

    def __init__(self, state_bytes: int):
        self.stride = FIRST_STRIDE
        while self.stride * STRIDE_BYTES < FIRST_STRIDE * state_bytes:
            self.stride *= 2
        self.sums: list[list[int]] = []

    def add(self, snapshot: Snapshot) -> None:
        """Take in a state, later than all others."""
        self.sums.append([snapshot.cycle, *sum_of(snapshot)])
        if len(self.sums) > MAX_SUMS:
            self.stride *= 2
            self.sums = [entry for entry in self.sums if entry[0] % self.stride == 0]


def sum_of(snapshot: Snapshot) -> list[int]:
    """Return the CRC32 of state, value rows and memory."""
    state = zlib.crc32(snapshot.rf.tobytes(), zlib.crc32(snapshot.sm.tobytes()))
    return [state, *(zlib.crc32(array.reshape(-1).view(np.uint8).data) for array in (snapshot.rows, snapshot.memory))]


def write_recipe(simulator: Any, path: str | Path, progress: Progress | None = None) -> RecipeResult:
    """Run a fresh simulator to its end and write its recipe.

    progress: called now and then with the cycle reached; return True to stop there. A fault ends the run and is kept. An
    interrupted run leaves what it has as NAME.XXXXXX.partial.rfr and raises. Raises InputError when the file cannot be
    written.
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
        # the machine may be anywhere within a step: what is known is the last state that was summed
        _write(made, {**body, **_end(None), "cycles": sums.sums[-1][0], "sums": sums.sums})
        made.file.close()
        raise
    except BaseException:
        made.discard()
        raise
    if sums.sums[-1][0] != simulator.cycle:
        sums.sums.append([simulator.cycle, *sum_of(simulator.snapshot())])
    end = _end(simulator)
    size = _write(made, {**body, **end, "cycles": simulator.cycle, "sums": sums.sums})
    _commit(made)
    return RecipeResult(target, simulator.cycle, len(sums.sums), size, end["finished"], end["fault"],
                        (end["summary"] or {}).get("verified"), time.perf_counter() - began)  # fmt: skip


def _run(simulator: Any, sums: Sums, progress: Progress | None) -> None:
    """Run to the end or a fault, summing states up on the way."""
    while not simulator.finished and simulator.fault is None:
        missing = sums.stride - simulator.cycle % sums.stride
        try:
            simulator.step(min(missing, STEP_CYCLES))
        except KernelFault:
            return  # simulator.fault has it
        if simulator.cycle % sums.stride == 0 and not simulator.finished:
            sums.add(simulator.snapshot())
        if progress is not None and progress(simulator.cycle):
            return


def _described(simulator: Any) -> dict[str, Any]:
    """Return the parts of the body that are known before the run."""
    spec = simulator.spec
    return {
        "info": {**{name: simulator.info[name] for name in (*INFO, "sources")}, "max_cycles": simulator.max_cycles},
        "buffers": [[name, _stored(buffer.array)] for name, buffer in spec.buffers.items()],
        "symbols": [[name, _stored(buffer.array)] for name, buffer in spec.symbols.items()],
        "expect": [[name, _stored(expect.array), expect.rtol, expect.atol, expect.reason]
                   for name, expect in spec.expect.items()],
    }  # fmt: skip


def _end(simulator: Any) -> dict[str, Any]:
    """Return how the run ended; None: it was interrupted."""
    finished = simulator is not None and bool(simulator.finished)
    fault = None if simulator is None or simulator.fault is None else str(simulator.fault)
    return {"finished": finished, "fault": fault, "summary": simulator.summary() if finished and fault is None else None}


def _stored(array: np.ndarray) -> list[Any]:
    """Return [dtype, shape, bytes]."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return [little.dtype.str, list(array.shape), little.tobytes()]


def _array(stored: list[Any]) -> np.ndarray:
    """Return the array behind `_stored`, in native byte order."""
    dtype, shape, data = stored
    little = np.frombuffer(data, np.dtype(dtype)).reshape(shape)
    return little.astype(little.dtype.newbyteorder("="))


def _write(made: NewFile, body: dict[str, Any]) -> int:
    """Write a recipe into its file; return its bytes. Raises InputError, with the file taken away."""
    try:
        format.write_all(made.file, MAGIC)
        format.write_frame(made.file, RECIPE, msgpack.packb({"format": FORMAT, "body": streams.compress_map(body)}))
        return made.file.tell()
    except OSError as error:
        made.discard()
        raise InputError(f"{made.target}: cannot write the recipe ({error.strerror or error})") from None


def _commit(made: NewFile) -> None:
    """Give a recipe its name; raises InputError."""
    try:
        made.commit()
    except OSError as error:
        made.discard()
        raise InputError(f"{made.target}: cannot write the recipe ({error.strerror or error})") from None


def is_recipe(path: str | Path) -> bool:
    """Say whether a file begins like a recipe, or, where there is none, is named like one."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return Path(path).suffix == SUFFIX


def open_recipe(path: str | Path) -> Recipe:
    """Read a recipe; raises InputError when it is missing, foreign, cut off, damaged or of a newer format."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{path}: not an rfview recipe, or its first bytes are damaged")
            frame = format.read_frame(file, len(MAGIC), RECIPE)
            if file.read(1):
                raise format.Damage(f"something follows its end at byte {frame.end:,}")
    except OSError as error:
        raise InputError(f"{path}: cannot open the recipe ({error.strerror})") from None
    except format.Damage as error:
        raise InputError(f"{path}: the recipe is damaged or cut off ({error}); write it again") from None
    try:
        outer = limits.unpacked(frame.payload, "the recipe", limits.ARRAYS)
        number = outer["format"]
        if number > FORMAT:
            raise InputError(f"{path}: recipe format {number}, this rfview reads up to format {FORMAT}; update it")
        body = streams.decompress_map(outer["body"], f"{path}: the recipe", limits.ARRAYS)
        missing = [name for name in ("info", "buffers", "symbols", "expect", "cycles", "sums", "finished", "fault")
                   if name not in body]
        missing += [name for name in (*INFO, "max_cycles") if name not in body.get("info", {})]
        if missing:
            raise InputError(f"{path}: the recipe lacks {', '.join(missing)}; write it again")
    except streams.DAMAGE as error:
        raise InputError(f"{path}: the recipe cannot be read ({error!r})") from None
    return Recipe(path, body)


class _Differs(InputError):
    """A state that is not the recipe's."""


class _Checked:
    """A simulator whose chunks end where the recipe has sums, and whose states must have them."""

    def __init__(self, machine: Any, recipe: Recipe):
        self._machine, self._recipe = machine, recipe
        self._due = list(recipe.sums)
        self._agreed = -1
        self._verify()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def record_chunk(self, cycles: int, *, values: bool = True, lend: bool = False) -> Chunk:
        """Record a chunk as the simulator does, up to the next sum, and compare the state with it."""
        left = self._due[0][0] - self._machine.cycle if self._due else cycles
        chunk = self._machine.record_chunk(min(cycles, left), values=values, lend=lend)
        self._verify()
        return chunk

    def _verify(self) -> None:
        """Compare the present state where a sum is due; raises _Differs."""
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
        if other := design_origin.edited(self._recipe.info["design_spec"]):
            raise _Differs(f"{self._recipe.path}: simulated again, the run {what}; {since}: {other}")
        raise _Differs(f"{self._recipe.path}: simulated again, the run {what}; {since}. This version cannot fill the "
                       f"recipe: {self._recipe.origin(machine)}")  # fmt: skip


def fill(recipe: Recipe, path: str | Path, progress: Progress | None = None,
         compiling: Callable[[float, str], None] | None = None) -> RecordResult:  # fmt: skip
    """Simulate a recipe again and record it, comparing the states that were summed; imports numba.

    progress, and what an interrupted run leaves: as of rfview.sessions.file.writer.record. compiling: progress while code is
    prepared. Raises InputError naming the first keyframe that differs; nothing is written then.
    """
    target = Path(path)
    machine = _Checked(recipe.simulator(compiling), recipe)
    return record(machine, target, progress=progress, max_cycles=recipe.cycles, compiling=compiling)


def live(recipe: Recipe, compiling: Callable[[float, str], None] | None = None) -> LiveTimeline:
    """Return a live timeline of a recipe's run, with a warning where another version wrote it; imports numba."""
    from rfview.sessions.timeline.live import LiveTimeline      # imports numba

    machine = recipe.simulator(compiling)
    timeline = LiveTimeline(machine)
    if machine.info["source_hash"] != recipe.info["source_hash"]:
        timeline.warnings.append(f"{recipe.path}: may run otherwise than when it was written: {recipe.origin(machine)}; "
                                 f"rfview record --fill {recipe.path} checks it")  # fmt: skip
    return timeline


def describe(path: str | Path) -> dict[str, Any]:
    """Return what a recipe holds, as plain data; raises InputError as `open_recipe` does."""
    recipe = open_recipe(path)
    body, info = recipe.body, recipe.info
    arrays = [entry[1] for part in ("buffers", "symbols", "expect") for entry in body[part]]
    summary = body.get("summary") or {}
    return {
        "file": str(path),
        "recipe_format": FORMAT,
        "bytes": os.path.getsize(path),
        **{name: info[name] for name in INFO if isinstance(info[name], (str, int)) and name not in ("name", "launch_toml")},
        "compilation": words_of_run(info["parameters"]) or "off",
        "design_files": list(design_origin.kept(info["design_spec"])),
        "cycles": recipe.cycles,
        "keyframe_sums": len(recipe.sums),
        "arrays": len(arrays),
        "array_bytes": sum(len(data) for _, _, data in arrays),
        "finished": body["finished"],
        "verified": summary.get("verified"),
        "fault": body["fault"],
    }
