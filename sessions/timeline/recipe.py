"""The recipe file (.rfr): everything needed to simulate a run again, and checksums of its states, instead of its cycles.

This module reads it; recipe_writing writes one, recipe_filling simulates it. `Recipe.simulator` is the machine at cycle 0.

    file   := magic frame(RCPE)                            frames as in sessions/file/framing.py, each under a CRC
    magic  := 89 52 46 52 0D 0A 1A 0A                      ("\\x89RFR\\r\\n\\x1a\\n")

RCPE payload, a msgpack map; `blob` is zstd over msgpack; unknown names are ignored
    format       1; increases when a field changes its meaning, and readers refuse higher ones
    body         blob of a map:
      info         of Simulator.info: name, kernel, launch_toml, ptx, design, design_spec, scheduler, preset, parameters (all
                   in effect, including those given with --set and as file contents), seed, engine_version,
                   source_hash; in addition max_cycles
      buffers, symbols   [[name, array], ..] before the run; array := [dtype, shape, bytes], little endian
      expect       [[name, array, rtol, atol, reason], ..]
      cycles       number of cycles that ran; state sums cover them
      finished, fault, summary   like `end` of a session file; finished is false if the run was interrupted
      sums         [[cycle, state, rows, memory], ..] CRC32 of the recorded state [sm | rf], of the recorded value rows and
                   of the memory as in a snapshot; at cycle 0, at every multiple of some number of cycles, and
                   after the last one
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.compilation import words_of_run
from rfview.engine.plugin import origin as design_origin
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.engine.wording import shortened
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import framing
from rfview.sessions.file.run_info import RecipeBody, RecipeRun, array_of, recipe_body

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.engine.launch import LaunchSpec

FORMAT = 1
MAGIC = files.RECIPE
RECIPE = b"RCPE"
SUFFIX = ".rfr"
SHOWN = ("kernel", "design", "scheduler", "preset", "seed", "engine_version", "source_hash")


@dataclass(frozen=True)
class Recipe:
    """A recipe as read. body: what the file format above describes, checked, with arrays as stored."""

    path: Path
    body: RecipeBody

    @property
    def info(self) -> RecipeRun:
        """Return the constants of the run."""
        return self.body.info

    @property
    def cycles(self) -> int:
        """Return the number of cycles that ran."""
        return self.body.cycles

    @property
    def sums(self) -> list[tuple[int, int, int, int]]:
        """Return (cycle, state, rows, memory) for each state with checksums, ascending."""
        return self.body.sums

    def spec(self) -> LaunchSpec:
        """Return the launch file with its arrays; raises InputError if they do not match."""
        from rfview.engine.launch import Expect, launch_of_text     # start-up: describing a recipe does not need it

        body, info = self.body, self.info
        buffers, symbols = ({name: array_of(stored, name) for name, stored in part}
                            for part in (body.buffers, body.symbols))
        spec = launch_of_text(info.launch_toml, info.name, buffers, symbols)
        memory = {**spec.buffers, **spec.symbols}
        expect: dict[str, Expect] = {}
        for name, stored, rtol, atol, reason in body.expect:
            array, held = array_of(stored, name), memory.get(name)
            if held is None or (held.array.dtype, held.array.size) != (array.dtype, array.size):
                raise InputError(f"its contents: expect.{name}: expected the name of a buffer or symbol, and an array "
                                 "like it")
            expect[name] = Expect(name, array, rtol, atol, reason)
        return replace(spec, expect=expect, max_bytes=limits.Limit.bytes // limits.ARRAYS,
                       more_bytes="; --limit SIZE allows more")

    def simulator(self, progress: Progress | None = None) -> Simulator:
        """Return a simulator at cycle 0; imports numba. Raises InputError if this version lacks what the run needs."""
        from rfview.sessions.timeline.simulate import simulator_like     # imports numba

        try:
            return simulator_like(self.info, self.spec(), "simulating it again", max_cycles=self.info.max_cycles,
                                  progress=progress)
        except InputError as error:         # of the launch file, PTX or machine in it, which do not know this file
            raise InputError(f"{self.path}: {shortened(str(error))}") from None

    def origin(self, machine: Simulator) -> str:
        """Return which version wrote the recipe and which version this is, as part of a sentence."""
        mine = machine.info
        return shortened(f"it is from rfview {self.info.engine_version} ({self.info.source_hash}), this is "
                         f"{mine.engine_version} ({mine.source_hash})")


def is_recipe(path: str | Path) -> bool:
    """Return whether a file begins like a recipe or, if it does not exist, is named like one."""
    try:
        with files.opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return Path(path).suffix == SUFFIX


def open_recipe(path: str | Path) -> Recipe:
    """Read a recipe; raises InputError if it is missing, not a recipe, cut off, damaged or of a newer format."""
    path = Path(path)
    try:
        with files.opened(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{path}: not an rfview recipe, or its first bytes are damaged")
            frame = framing.read_frame(file, len(MAGIC), RECIPE)
            if file.read(1):
                raise framing.Damage(f"unexpected data after its end at byte {frame.end:,}")
    except OSError as error:
        raise InputError(f"{path}: cannot open the recipe ({error.strerror})") from None
    except framing.Damage as error:
        raise InputError(f"{path}: the recipe is damaged or cut off ({error}); write it again") from None
    try:
        outer = limits.unpacked(frame.payload, "the recipe", limits.ARRAYS)
        number = outer.get("format")
        if number != FORMAT:
            raise InputError(f"{path}: recipe format {str(number)[:20]}, this rfview reads format {FORMAT}; update it")
        return Recipe(path, recipe_body(streams.decompress_map(outer["body"], f"{path}: the recipe", limits.ARRAYS)))
    except streams.DAMAGE as error:
        raise InputError(f"{path}: the recipe cannot be used ({shortened(streams.reason(error))}); write it again") from None


def describe(path: str | Path) -> dict[str, Any]:
    """Return the contents of a recipe as plain data; raises InputError like `open_recipe`."""
    recipe = open_recipe(path)
    body, info = recipe.body, recipe.info
    arrays = [entry[1] for part in (body.buffers, body.symbols, body.expect) for entry in part]
    return {
        "file": str(path),
        "recipe_format": FORMAT,
        "bytes": os.path.getsize(path),
        **{name: getattr(info, name) for name in SHOWN},
        "compilation": words_of_run(info.parameters) or "off",
        "design_files": list(design_origin.texts_of(info.design_spec)),
        "cycles": recipe.cycles,
        "keyframe_sums": len(recipe.sums),
        "arrays": len(arrays),
        "array_bytes": sum(len(data) for _, _, data in arrays),
        "finished": body.finished,
        "verified": (body.summary or {}).get("verified"),
        "fault": body.fault,
    }
