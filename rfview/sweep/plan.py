"""Read and check a sweep file, and plan the jobs that it means.

    output = "results"                         # folder of the dataset; paths are relative to this file
    kernels = ["vectoradd", "./mine.toml"]     # bundled kernels or launch files; "all": all bundled ones
    size = "small"                             # of bundled kernels: small (default) or full
    designs = ["sram", "stt[stall=bank]"]      # "all": all built-in ones
    schedulers = ["gto", "lrr"]                # default ["gto"]; "all"
    presets = ["fermi"]                        # default ["fermi"]
    max_cycles = 1000000                       # default 100,000,000
    nudge = 8                                  # nudged runs beside each, for the range of chance (default 0; --nudge N)
    causes = true                              # run each again to say which line held up most (default false; --causes)
    level = true                               # one machine for all designs, as in `rfview compare` (default); false: of
                                               # each design's own paper. Preset "paper" is never levelled.
    [parameters]                               # every combination; a design's parameter applies to that design only
    "sm.num_collectors" = [4, 8, 16]
    "stt.write_cycles" = [6, 10]

A sweep file is hostile until read: anything unknown, of the wrong type or out of range is one error with file and place.
"""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfview.engine import defaults, kernels, plugin as designs
from rfview.engine.batch import Job, keys, nudge
from rfview.engine.config import load_preset, ptx_presets
from rfview.engine.defaults import preset_names
from rfview.engine.defaults import PAPER
from rfview.engine.errors import InputError
from rfview.engine.launch.table import Table, read_toml, shown
from rfview.engine.machine.schedulers import SCHEDULERS
from rfview.engine.wording import did_you_mean
from rfview.commands import fair

Level = tuple[tuple[str, Any], ...] | None     # the settings that all designs share; None: each has its paper's
MAX_JOBS = 1_000_000
ALL = "all"
VALUE = (int, float, str, bool)
KEYS = ("output", "kernels", "size", "designs", "schedulers", "presets", "max_cycles", "level", "nudge", "causes",
        "parameters")


@dataclass(frozen=True)
class Planned:
    """A job of a sweep. stamp: a hash of the files it reads. given: the values of the sweep's parameters.

    level: the settings that some design's paper requires and all designs get; None: each has its own. causes: whether it is
    also said which line held up most.
    """

    job: Job
    key: str
    stamp: str
    design: str
    given: tuple[tuple[str, Any], ...]
    level: tuple[tuple[str, Any], ...] | None = None
    causes: bool = False


@dataclass(frozen=True)
class Plan:
    """A sweep file's contents. output: the dataset's folder, None if the file names none. same: number of duplicate jobs.

    notes: how the machines of the designs were made the same.
    """

    path: Path
    output: Path | None
    jobs: tuple[Planned, ...]
    same: int
    notes: tuple[str, ...] = ()


def load(path: str | Path, nudged: int | None = None, causes: bool = False) -> Plan:
    """Read a sweep file and plan its jobs; nudged: replaces the file's nudge; causes: whatever the file says.

    Raises InputError with file, key and what was expected.
    """
    path = Path(path)
    keys.forget()
    table = Table(str(path), "", read_toml(path, "sweep file")[0])
    table.allow(*KEYS)
    folder = path.resolve().parent
    output = table.text("output", None)
    if output is not None and "\0" in output:
        table.fail("output", f"expected the path of a folder, got {shown(output)}")
    launches = _launches(table, folder)
    variants = _variants(table, folder)
    schedulers = _words(table, "schedulers", (*SCHEDULERS, defaults.OF_CORE, PAPER), tuple(SCHEDULERS), [defaults.SCHEDULER])
    presets = _words(table, "presets", (*preset_names(), PAPER), ptx_presets(), [defaults.PRESET])
    max_cycles = table.integer("max_cycles", 1, 1 << 62, defaults.MAX_CYCLES)
    in_file = table.integer("nudge", 0, nudge.MOST, 0)
    parameters = _parameters(table, presets, variants)
    number = math.prod(map(len, (launches, variants, schedulers, presets, *parameters.values())))
    if number > MAX_JOBS:
        table.fail("", f"makes {number:,} jobs; a sweep has at most {MAX_JOBS:,}")
    causes = table.take("causes", (bool,), "true or false", False) or causes
    jobs: dict[str, Planned] = {}
    levels, notes = _levels(table, presets, variants, parameters)
    for one in _jobs(launches, variants, schedulers, levels, parameters, max_cycles,
                     in_file if nudged is None else nudged, causes):
        jobs.setdefault(one.key, one)
    return Plan(path, folder / output if output is not None else None, tuple(jobs.values()), number - len(jobs), notes)


def _levels(table: Table, presets: Sequence[str], variants: Mapping[str, str],
            parameters: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Level], tuple[str, ...]]:
    """Return preset -> the settings that all designs share on it, None if they are not levelled; and notes about them."""
    is_levelled = table.take("level", (bool,), "true or false", True)
    levels: dict[str, Level] = {}
    notes: list[str] = []
    for preset in presets:
        if is_levelled and preset != PAPER:
            shared, said = fair.shared_settings(list(variants.values()), preset, parameters)
            levels[preset] = tuple(sorted(shared.items()))
            notes += said
        else:
            levels[preset] = None
    if None in levels.values():
        notes.append("not levelled: each design runs with the schedulers and banks a cycle of its own paper")
    return levels, tuple(dict.fromkeys(notes))


def _jobs(launches: Sequence[Path], variants: Mapping[str, str], schedulers: Sequence[str],
          levels: Mapping[str, Level], parameters: Mapping[str, Sequence[Any]], max_cycles: int,
          nudged: int, causes: bool) -> Iterator[Planned]:
    """Yield all combinations, grouped by design."""
    for written, variant in variants.items():
        own = keys.parameters(variant)
        chain = {name.split(".")[0] for name in own} | {designs.parse_variant(variant)[0]}
        mine = {name: values for name, values in parameters.items() if _is_machines(name) or name.split(".")[0] in chain}
        for launch, preset, scheduler, *values in itertools.product(launches, levels, schedulers, *mine.values()):
            given, level = tuple(sorted(zip(mine, values))), levels[preset]
            job = Job(str(launch), variant, scheduler, preset, tuple(sorted((*given, *(level or ())))), max_cycles,
                      nudge=nudged)
            key = keys.key_of(job) + ("+causes" if causes else "")
            yield Planned(job, key, keys.stamp_of(job), written, given, level, causes)


def _list(table: Table, key: str, default: Any = ...) -> list[str]:
    """Return a list of distinct strings, or `all`."""
    expected = f'a list of strings, or "{ALL}"'
    value = table.take(key, (list, str), expected, default)
    if value == ALL:
        return [ALL]
    if isinstance(value, str) or not value or any(type(item) is not str or not item for item in value):
        table.fail(key, f"expected {expected}, got {shown(value)}")
    for place, item in enumerate(value):
        if item in value[:place]:
            table.fail(f"{key}[{place}]", f"{item!r} appears twice")
    return list(value)


def _words(table: Table, key: str, known: Sequence[str], every: Sequence[str], default: list[str]) -> list[str]:
    """Return a list of known words."""
    words = _list(table, key, default)
    if words == [ALL]:
        return list(every)
    for place, word in enumerate(words):
        if word not in known:
            table.fail(f"{key}[{place}]",
                       f"expected one of {', '.join(known)}, got {shown(word)}{did_you_mean(word, known)}")
    return words


def _launches(table: Table, folder: Path) -> list[Path]:
    """Return the launch files of the kernels, after reading each once to check it."""
    names = _list(table, "kernels")
    size = table.text("size", kernels.SIZES[0])
    if size not in kernels.SIZES:
        table.fail("size", f"expected one of {', '.join(kernels.SIZES)}, got {shown(size)}")
    paths = []
    for place, name in enumerate(kernels.names() if names == [ALL] else names):
        if "::" in name:
            table.fail(f"kernels[{place}]", f"{name}: expected a launch file; rfview capture {shlex.quote(name)} "
                                            "--grid 4 --block 128 --arg NAME=VALUE writes one")
        is_path = name.endswith(".toml") or "/" in name
        with _at(table, f"kernels[{place}]"):
            paths.append((folder / name).absolute() if is_path else kernels.path(name, size))
            keys.launch_hash(str(paths[-1]))
    return paths


def _variants(table: Table, folder: Path) -> dict[str, str]:
    """Return design as written -> variant that means the same in any folder."""
    written = _list(table, "designs")
    variants = {}
    for place, text in enumerate(designs.BUILT_IN if written == [ALL] else written):
        name, bracket, rest = text.partition("[")
        is_file = designs.files.is_file(name.strip())
        with _at(table, f"designs[{place}]"):
            variants[text] = f"{folder / name.strip()}{bracket}{rest}" if is_file else text
            keys.parameters(variants[text])
    return variants


def _parameters(table: Table, presets: Sequence[str], variants: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the parameter lists by name, after trying every value on every preset or design that has the parameter."""
    outer = Table(table.file, "parameters", table.take("parameters", (dict,), "a table [parameters]", {}))
    parameters: dict[str, list[Any]] = {}
    for name, value in _flat(outer, "", outer.values):
        values = value if isinstance(value, list) else [value]
        if not values:
            outer.fail(name, "expected a value or a list of values, got an empty list")
        if name in parameters:
            outer.fail(name, "appears twice")
        for place, one in enumerate(values):
            where = f"{name}[{place}]" if isinstance(value, list) else name
            if type(one) not in VALUE:
                outer.fail(where, f"expected a number, a string, true or false, got {shown(one)}")
            if any(type(one) is type(other) and one == other for other in values[:place]):
                outer.fail(where, f"{shown(one)} appears twice")
            _try(outer, where, name, one, presets, variants)
        parameters[name] = values
    return parameters


def _flat(table: Table, prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) however tables are nested: "sm.num_banks" = and sm.num_banks = mean the same."""
    for key, value in values.items():
        name = f"{prefix}.{key}" if prefix else key
        if not isinstance(value, dict):
            yield name, value
        elif prefix:
            table.fail(name, "expected SECTION.KEY = a value or a list of values, got a table")
        else:
            yield from _flat(table, name, value)


def _is_machines(name: str) -> bool:
    """Return whether a parameter belongs to a section of the machine rather than to a design."""
    return any(name.split(".")[0] in load_preset(preset).sections for preset in preset_names())     # a core adds its own


def _try(table: Table, where: str, name: str, value: Any, presets: Sequence[str], variants: Mapping[str, str]) -> None:
    """Check that a parameter exists and may have a value."""
    with _at(table, where):
        if _is_machines(name):
            for preset in presets:
                names = ptx_presets() if preset == PAPER else [preset]
                for one in names:
                    load_preset(one).with_setting(name, value)
            return
        having = [variant for variant in variants.values() if name in keys.parameters(variant)]
        if not having:
            known = [*load_preset(defaults.PRESET).numbers,
                     *(key for one in variants.values() for key in keys.parameters(one))]
            raise InputError("neither the machine nor a design of this sweep has such a parameter"
                             f"{did_you_mean(name, known)}")
        for variant in having:
            keys.parameters(variant, ((name, value),))


class _at:
    """Adds file and place to every InputError raised within it, and replaces words that refer to options."""

    def __init__(self, table: Table, place: str) -> None:
        self._table, self._place = table, place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            text = str(error)
            for option in ("--set ", "--design "):
                text = text.removeprefix(option)
            try:
                self._table.fail(self._place, text)
            except InputError as problem:
                raise problem from None
