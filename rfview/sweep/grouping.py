"""Groups the rows of a dataset into the bars of a figure: what is on its axes, fixed, averaged on request, or relative.

No number is ever averaged over a dimension that nobody named: rows of one bar that differ in another one are an error.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from rfview.engine.config import load_preset
from rfview.engine import defaults
from rfview.engine.errors import InputError
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.wording import did_you_mean
from rfview.sweep import dataset, rows
from rfview.sweep.columns import BY_NAME

NUMBERS = ("int", "float")
GROUPS = ("kernel", "design", "scheduler", "preset", "outcome", "version", "engine")
MAPS = ("counts", "stalls")
IN_WORDS = {"ipc": "IPC", "energy_pj": "register file energy, pJ", "energy_dynamic_pj": "dynamic energy, pJ",
            "energy_leakage_pj": "leakage energy, pJ", "energy_refresh_pj": "refresh energy, pJ"}
SPEED = "speed"                 # cycles of the base / cycles
DIMENSIONS = ("kernel", "launch", "design", "scheduler", "preset", "max_cycles", "level", "version", "engine")
MAX_BARS = 400
NONE = "-"                      # a run's value of a parameter that its design lacks
Member = tuple[tuple[float, float, float], Mapping[str, Any]]      # a run's value, the range of its nudged runs, its row


@dataclass(frozen=True)
class Request:
    """What a figure shows. x, by: columns or parameters, several joined by +. where: (name, value) that rows must have.

    means: dimensions averaged over. base: the design that values are relative to, "" for none. geomean: add geometric means.
    """

    x: tuple[str, ...]
    y: str
    by: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    means: tuple[str, ...] = ()
    base: str = ""
    geomean: bool = False
    text: str = "--plot"


@dataclass(frozen=True)
class Cell:
    """One bar. low, high: the range of what it averages, equal to its value for a single run. rows: of its runs."""

    value: float
    low: float
    high: float
    rows: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Groups:
    """The bars of a figure. places, series: their labels along x and in the legend, in order.

    base: absolute values by place. means: geometric means by series.
    hatched: series whose energy is assumed. notes: what machine ran, what was averaged or left out.
    """

    request: Request
    places: tuple[str, ...]
    series: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    base: Mapping[str, float] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    hatched: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def quantity(self) -> str:
        """What the bars are, in words."""
        one = self.request
        if not one.base:
            return one.y
        return f"speed, cycles of {one.base} ÷ cycles" if one.y == SPEED else f"{one.y} ÷ {one.y} of {one.base}"

    @property
    def in_words(self) -> str:
        """What the bars are, in a paper's words."""
        name, base = IN_WORDS.get(self.request.y, ""), self.request.base
        if not name:
            return self.quantity
        return f"{name.partition(',')[0]} ÷ that of {base}" if base else name


def parse(text: str, *, where: Iterable[str] = (), means: Iterable[str] = (), base: str = "",
          geomean: bool = False) -> Request:
    """Return the request of `--plot x,y,by` (or x,y) with its other options. Raises InputError."""
    names = [name.strip() for name in text.split(",")]
    if len(names) not in (2, 3) or not all(names):
        raise InputError(f"--plot {text}: expected x,y,by, for example kernel,ipc,design or sm.num_collectors,ipc,design")
    x, y, by = (*names, "")[:3]
    request = Request(_parts(x), y, _parts(by) if by else (), tuple(_fixed(one) for one in where), tuple(means), base,
                      geomean, f"--plot {text}")
    for name in (*request.x, *request.by):
        _check_group(request.text, name)
    for name in (*request.means, *(name for name, _ in request.where)):
        _check_group("--mean or --where", name)
    column = BY_NAME.get(y)
    if y == SPEED and not base:
        raise InputError(f"{request.text}: speed is relative; add --relative-to DESIGN, for example --relative-to sram")
    if y != SPEED and not (column and column.kind in NUMBERS) and not any(y.startswith(f"{name}.") for name in MAPS):
        known = [SPEED, *(one.name for one in BY_NAME.values() if one.kind in NUMBERS)]
        raise InputError(f"{request.text}: {y} is not a number of a run{did_you_mean(y, known)}; expected one of "
                         f"{', '.join(known)}, counts.NAME or stalls.NAME")
    if geomean and not base:
        raise InputError("--geomean: a geometric mean is of ratios; add --relative-to DESIGN")
    return request


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("+"))


def _fixed(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise InputError(f"--where {text}: expected NAME=VALUE, as in scheduler=gto or my_rf.write_cycles=4")
    return name.strip(), value.strip()


def _check_group(option: str, name: str) -> None:
    """Raise InputError unless rows can be grouped by a name."""
    if name not in (*GROUPS, "launch", "level") and "." not in name and BY_NAME.get(name, ("", "", ""))[1] != "int":
        raise InputError(f"{option}: cannot group by {name or 'nothing'}{did_you_mean(name, GROUPS)}; expected "
                         f"{', '.join(GROUPS)}, a whole number such as max_cycles, or a parameter such as sm.num_collectors")


def groups_of(folder: Path, request: Request, keys: Collection[str] | None = None) -> Groups:
    """Return the bars of a request from a folder's rows. keys: of the rows to include, whose order they keep (default: all).

    Rows of runs that misbehaved or failed are left out. Raises InputError, also for rows of one bar that differ in a
    dimension that is neither shown, fixed nor averaged.
    """
    used = [row for row in _rows(folder, keys) if row["outcome"] in (rows.OK, rows.WRONG)]
    if not used:
        raise InputError(f"{request.text or '--plot'}: {folder} has no row of a finished run yet; without the options of "
                         "figures, `rfview sweep FILE.toml` runs the jobs")
    if keys is not None:
        places = {key: at for at, key in enumerate(keys)}
        used.sort(key=lambda row: places[row["key"]])
    for name in (*request.x, *request.by, request.y, *request.means, *(name for name, _ in request.where)):
        _require(used, name, request.text)
    used = [row for row in used if all(_has(row, name, value, request.base) for name, value in request.where)]
    if request.y.startswith("energy"):
        _check_energy(used, request)
    bases = _bases(used, request) if request.base else {}
    parts: dict[tuple[tuple[Any, ...], tuple[Any, ...]], list[Member]] = {}
    absolute: dict[str, list[float]] = {}
    for row in used:
        value, ends = _value(row, "cycles" if request.y == SPEED else request.y), _nudged(row, request)
        if request.base:
            base = bases.get(_machine(row))
            value = _relative(value, base, request)
            ends = [_relative(end, base, request) for end in ends]
            if base is not None:
                absolute.setdefault(_label(request.x, _named(row, request.x)), []).append(base)
            if row["design"] == request.base and ("design" in request.by or NONE in [
                    group(row, name) for name in (*request.x, *request.by)]):
                continue        # its bars would all be 1
        if value is not None and math.isfinite(value):
            known = [value, *(end for end in ends if end is not None)]
            member = (value, min(known), max(known)), row
            parts.setdefault((_named(row, request.x), _named(row, request.by)), []).append(member)
    if not parts:
        raise InputError(f"{request.text}: {folder} has no rows with these columns")
    if len(parts) > MAX_BARS:
        raise InputError(f"{request.text}: these are {len(parts):,} bars, but at most {MAX_BARS} are drawn")
    alone = {place: values[0] for place, values in absolute.items() if len({*values}) == 1}
    return _made(request, parts, used, keys is not None, alone)


def _rows(folder: Path, keys: Collection[str] | None) -> list[Mapping[str, Any]]:
    """Return a folder's rows, with the columns that a figure may show. keys: of the rows to include (default: all)."""
    table = dataset.read(folder, [column for column in BY_NAME if column not in ("finished", "message")])
    return [row for row in table.to_pylist(maps_as_pydicts="strict") if keys is None or row["key"] in keys]


def _nudged(row: Mapping[str, Any], request: Request) -> list[float | None]:
    """Return the fewest and the most cycles of a run's nudged runs, if cycles or speeds are drawn; [] without any."""
    ends = [row["cycles_lowest"], row["cycles_highest"]] if request.y in (SPEED, "cycles") and row["nudges"] else []
    return [float(end) for end in ends if end is not None]


def facets_of(folder: Path, name: str, keys: Collection[str] | None = None) -> list[str]:
    """Return the values that a dimension has in a folder's rows, each of which gets a figure. Raises InputError for none."""
    _check_group("--facet", name)
    used = _rows(folder, keys)
    _require(used, name, "--facet")
    values = {str(value): value for row in used if (value := group(row, name)) != NONE}
    if not values:
        raise InputError(f"--facet {name}: {folder} has no row with a value of it")
    return [str(value) for (value,) in _ordered(((value,) for value in values.values()), False)]


def _made(request: Request, parts: Mapping[Any, list[Member]], used: Sequence[Mapping[str, Any]],
          keeps: bool, base: Mapping[str, float]) -> Groups:
    """Return the bars, their order, means and notes. keeps: words keep the order of the rows, else that of the alphabet."""
    xs, series = (_ordered((pair[at] for pair in parts), keeps) for at in (0, 1))
    cells = {}
    averages = geometric_mean if request.base else mean
    for (x, by), members in parts.items():
        _check_one(request, x, by, [row for _, row in members])
        values, lows, highs = zip(*(figures for figures, _ in members), strict=True)
        cells[_label(request.x, x), _label(request.by, by)] = Cell(averages(values), min(lows), max(highs),
                                                                   tuple(row for _, row in members))
    places, names = [_label(request.x, x) for x in xs], [_label(request.by, by) for by in series]
    complete = [place for place in places if all((place, name) in cells for name in names)]
    means = {name: geometric_mean([cells[place, name].value for place in complete]) for name in names} if (
        request.geomean and complete) else {}
    notes = _notes(request, used)
    if request.geomean:
        left = [place for place in places if place not in complete]
        without = f", without {', '.join(left)}, which lack a bar" if left else ""
        notes.append(f"geometric mean of {len(complete)}{without}")
    if request.means:
        kind = "geometric" if request.base else "arithmetic"
        notes.append(f"{kind} mean over {', '.join(request.means)}; whiskers: smallest and largest")
    nudges = {cell.rows[0]["nudges"] for cell in cells.values() if len(cell.rows) == 1 and cell.high > cell.low}
    if nudges and not request.means:
        notes.append(f"whiskers: range of the run and its {', '.join(map(str, sorted(nudges)))} nudged ones")
    hatched = frozenset(name for name in names if request.y.startswith("energy") and any(
        row["energy_assumed"] for place in places if (place, name) in cells for row in cells[place, name].rows))
    return Groups(request, tuple(places), tuple(names), cells, base, means, hatched, tuple(notes))


def _check_one(request: Request, x: tuple[Any, ...], by: tuple[Any, ...], members: Sequence[Mapping[str, Any]]) -> None:
    """Raise InputError if the rows of a bar differ in a dimension that nobody named."""
    names = [*DIMENSIONS, *dict.fromkeys(name for row in members for name in row["settings"] or {})]
    if "kernel" in (*request.x, *request.by, *request.means):
        names.remove("launch")      # a kernel's path says no more than its name, but for its size
    for name in names:
        values = sorted({str(group(row, name)) for row in members})
        if len(values) > 1 and name not in request.means:
            shown = f"{', '.join(values[:4])}{' ..' if len(values) > 4 else ''}"
            where = " ".join(filter(None, (_label(request.x, x), _label(request.by, by))))
            raise InputError(f"{request.text}: {name} has {len(values)} values for {where} ({shown}): fix it with --where "
                             f"{name}=.., show it in x or by ({'+'.join((*(request.by or request.x), name))}), draw "
                             f"a figure for each with --facet {name}, or average over it with --mean {name}")


def _has(row: Mapping[str, Any], name: str, value: str, base: str) -> bool:
    """Return whether a row has a value; a row of the base need not have a parameter that only other designs have."""
    own = str(group(row, name))
    return own == value or (own == NONE and bool(base) and row["design"] == base)


def _check_energy(used: Sequence[Mapping[str, Any]], request: Request) -> None:
    """Raise InputError for energies relative to others that they cannot be compared with."""
    if not request.base:
        return
    nodes = {row["node_nm"] for row in used}
    if len(nodes) > 1:
        names = sorted(f"{node} nm" if node else "an unknown node" for node in nodes)
        raise InputError(f"{request.text}: energies at {', '.join(names)} cannot be compared; leave --relative-to out, or "
                         "fix the designs with --where")
    assumed = sorted({row["design"] for row in used if row["energy_assumed"]})
    if assumed:
        raise InputError(f"{request.text}: energies of {', '.join(assumed)} are {ASSUMED}, so that they are no gain; leave "
                         "--relative-to out to show them beside the others")


def _bases(used: Sequence[Mapping[str, Any]], request: Request) -> dict[Any, float]:
    """Return the base's value by machine and kernel. Raises InputError if it did not run, or not on the same machine."""
    base: dict[Any, float] = {}
    for row in used:
        if row["design"] == request.base:
            value = _value(row, "cycles" if request.y == SPEED else request.y)
            if value is not None:
                base.setdefault(_machine(row), value)
    designs = sorted({row["design"] for row in used})
    if not base:
        raise InputError(f"--relative-to {request.base}: no row of this design{did_you_mean(request.base, designs)}; there "
                         f"are {', '.join(designs)}")
    if any(row["level"] is None for row in used):
        raise InputError(f"--relative-to {request.base}: these runs are not levelled: each design ran with the schedulers "
                         "and banks a cycle of its own paper, so no ratio is one of register files; sweep again without "
                         "level = false and preset paper")
    return base


def _relative(value: float | None, base: float | None, request: Request) -> float | None:
    if value is None or base is None:
        return None
    top, bottom = (base, value) if request.y == SPEED else (value, base)
    return top / bottom if bottom else None


def _machine(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a run has in common with its base: kernel, scheduler, preset, settings of the machine."""
    sections = load_preset(defaults.PRESET).sections
    own = tuple(sorted((name, value) for name, value in (row["settings"] or {}).items() if name.split(".")[0] in sections))
    return (*(row[name] for name in ("launch", "scheduler", "preset", "max_cycles", "engine")), str(row["level"]), own)


def _notes(request: Request, used: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which machine ran, and how many runs a bar stands for."""
    levels = {str(row["level"]): row["level"] for row in used}
    parts = [", ".join(sorted({str(row[name]) for row in used})) for name in ("scheduler", "preset")
             if name not in request.x]
    if None in levels.values():
        parts.append("not levelled: each design with the schedulers and banks a cycle of its own paper")
    else:
        shared = dict.fromkeys(f"{name} = {value}" for level in levels.values() for name, value in level.items())
        parts += shared or ["one machine for all"]
    parts += [f"{name} = {value}" for name, value in request.where]
    return [", ".join(parts), f"rfview {', '.join(sorted({row['version'] for row in used if row['version']}))}".strip()]


def _require(used: Sequence[Mapping[str, Any]], name: str, text: str) -> None:
    """Raise InputError if a name of a request is an event, a stall or a parameter that no row has."""
    column, _, key = (name if name.split(".")[0] in MAPS else f"settings.{name}").partition(".")
    known = {word for row in used for word in row.get(column) or ()} if name not in (*BY_NAME, SPEED) else {key}
    if used and key not in known:
        raise InputError(f"{text}: no row has {name}{did_you_mean(key, sorted(known))}")


def _value(row: Mapping[str, Any], name: str) -> float | None:
    """Return a number of a row; an event that is not listed is 0 only if the run's design has that event."""
    column, dot, key = name.partition(".")
    value = (row[column] or {}).get(key) if dot else row[column]
    return None if value is None else float(value)


def group(row: Mapping[str, Any], name: str) -> Any:
    """Return the value by which a row is grouped: a column's or a parameter's, NONE if it has none."""
    value = row[name] if name in BY_NAME else (row["settings"] or {}).get(name)
    return NONE if value is None else str(value) if isinstance(value, dict) else value


class Lacking(str):
    """A run's design, where it has no value of the one parameter by which runs are grouped."""


def _named(row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    values = tuple(group(row, name) for name in names)
    return (Lacking(row["design"]),) if values == (NONE,) else values


def _label(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """Return a group as a label; numbers with the last part of their name, parameters that a design lacks left out."""
    parts = [f"{name.rpartition('.')[2]}={value}" if name not in (*GROUPS, "launch") and not isinstance(value, Lacking) else
             str(value) for name, value in zip(names, values, strict=True) if value != NONE]
    return " ".join(parts)


def _ordered(groups: Iterable[tuple[Any, ...]], keeps: bool) -> list[tuple[Any, ...]]:
    """Return groups without repetitions: numbers in their order and before words; words as they come, or by the alphabet."""
    unique = list(dict.fromkeys(groups))
    words = dict.fromkeys(str(value) for group in unique for value in group)
    places = {word: at for at, word in enumerate(words if keeps else sorted(words))}

    def key(value: Any) -> tuple[int, float]:
        try:
            return 0, float(value)
        except ValueError:
            return 1, places[str(value)]

    return sorted(unique, key=lambda group: tuple(map(key, group)))
