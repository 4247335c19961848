"""Everything that a run depends on, as a hash: two jobs with the same key have the same result, however they are written.

The key covers the launch file with its module and arrays, all numbers of the machine and the design's parameters in effect,
the scheduler, the sources of the designs, and those of the engine. It contains no path, time or process.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from rfview.engine import plugin as designs
from rfview.engine.batch.jobs import KEPT_LAUNCHES, Job, loaded
from rfview.engine.errors import InputError
from rfview.engine.plugin.selection import select

ROOT = Path(__file__).parents[1]
BESIDE_THE_MACHINE = ("batch", "designs", "kernels", "papers")     # hashed separately, or without influence on results
RESOLVED = ("path", "design", "scheduler", "preset", "settings", "outputs")


def key_of(job: Job) -> str:
    """Return the job's key, 32 hexadecimal digits. Raises InputError if the launch file or the design cannot be read."""
    rest = {one.name: getattr(job, one.name) for one in fields(job) if one.name not in RESOLVED}
    return _digest(stamp_of(job), _machine(job.design, job.scheduler, job.preset, job.settings), rest)[:32]


def stamp_of(job: Job) -> str:
    """Return a hash over a job's files and the engine, which tells whether two processes would run the same."""
    return _digest(engine_hash(), launch_hash(job.path), _sources(job.design))


def forget() -> None:
    """Clear the caches of what was read from files, which may have changed."""
    for cached in (loaded, launch_hash, _machine, _sources):
        cached.cache_clear()


@lru_cache
def engine_hash() -> str:
    """Return a short hash over all sources of the engine that influence a run, 16 hexadecimal digits."""
    files = [file for file in sorted(ROOT.rglob("*.py")) if file.relative_to(ROOT).parts[0] not in BESIDE_THE_MACHINE]
    return _digest(*([file.relative_to(ROOT).as_posix(), _content(file)] for file in files))[:16]


def parameters(design: str, settings: tuple[tuple[str, Any], ...] = ()) -> dict[str, Any]:
    """Return a design's parameters in effect ("design.name" to value), with its main file's. Raises InputError."""
    return dict(designs.build(design, dict(settings), "").values)


@lru_cache(maxsize=4096)
def _machine(design: str, scheduler: str, preset: str, settings: tuple[tuple[str, Any], ...]) -> str:
    """Return a hash over the machine in effect; if it cannot be built, over its description."""
    try:
        chosen = select(design, scheduler, preset, dict(settings))
        built = chosen.built
        return _digest(chosen.config.preset, chosen.scheduler, chosen.config.values(), built.chain, dict(built.values))
    except InputError:
        return _digest("cannot be built", design, scheduler, preset, settings)


@lru_cache(maxsize=KEPT_LAUNCHES)
def launch_hash(path: str) -> str:
    """Return a hash over a launch file, its module, and all its initial and expected arrays."""
    spec = loaded(path)
    arrays = [[part, name, held.array.dtype.str, held.array.shape, hashlib.sha256(held.array.tobytes()).hexdigest()]
              for part in ("buffers", "symbols", "expect") for name, held in getattr(spec, part).items()]
    return _digest(spec.text, _content(spec.module_path), arrays)


@lru_cache(maxsize=256)
def _sources(design: str) -> str:
    """Return a hash over the sources of a design and of its main file."""
    chain = designs.build(design, {}, "").chain
    return _digest(*([name, _content(Path(str(designs.find(name).__file__)))] for name in chain))


def _content(file: Path) -> str:
    """Return a hash over a file; raises InputError if it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None


def _digest(*parts: Any) -> str:
    """Return a hash over plain data, which is the same for equal data in any process."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
