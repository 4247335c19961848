"""Charts of a sweep's dataset: a bar for each pair of values of x and by, with the mean of y over its rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rfview import charts
from rfview.engine.errors import InputError
from rfview.engine.wording import did_you_mean
from rfview.sweep import dataset, rows
from rfview.sweep.columns import BY_NAME

NUMBERS = ("int", "float")
GROUPS = ("kernel", "design", "scheduler", "preset", "outcome", "version", "engine")
MAPS = ("counts", "stalls")
MAX_BARS = 400


def parse(text: str) -> tuple[str, str, str]:
    """Split "x,y,by" or "x,y" into x, y and by, which may be "". Raises InputError."""
    names = [name.strip() for name in text.split(",")]
    if len(names) not in (2, 3) or not all(names):
        raise InputError(f"--plot {text}: expected x,y,by, for example kernel,ipc,design or sm.num_collectors,ipc,design")
    x, y, by = (*names, "")[:3]
    for name in filter(None, (x, by)):
        if name not in GROUPS and "." not in name and BY_NAME.get(name, ("", "", ""))[1] != "int":
            raise InputError(f"--plot {text}: cannot group by {name}{did_you_mean(name, GROUPS)}; expected "
                             f"{', '.join(GROUPS)}, a whole number such as max_cycles, or a parameter such as "
                             "sm.num_collectors")
    column = BY_NAME.get(y)
    if not (column and column.kind in NUMBERS) and not any(y.startswith(f"{name}.") for name in MAPS):
        known = [one.name for one in BY_NAME.values() if one.kind in NUMBERS]
        raise InputError(f"--plot {text}: {y} is not a number of a run{did_you_mean(y, known)}; expected one of "
                         f"{', '.join(known)}, counts.NAME or stalls.NAME")
    return x, y, by


def chart_of(folder: Path, text: str, keys: Collection[str] | None = None) -> charts.Chart:
    """Return the chart "x,y,by" of a folder. keys: of the rows to include (default: all). Raises InputError.

    Rows of runs that misbehaved or failed are left out.
    """
    x, y, by = parse(text)
    table = dataset.read(folder, ["key", "outcome", *_columns(x, y, by)])
    sums: dict[tuple[Any, Any], list[float]] = {}
    total = 0
    used = [row for row in table.to_pylist(maps_as_pydicts="strict")
            if row["outcome"] in (rows.OK, rows.WRONG) and (keys is None or row["key"] in keys)]
    for name in filter(None, (x, by, y)):
        _require(used, name, text)
    for row in used:
        value = _value(row, y)
        if value is not None and math.isfinite(value):
            sums.setdefault((_group(row, x), _group(row, by) if by else ""), []).append(value)
            total += 1
    if not sums:
        raise InputError(f"--plot {text}: {folder} has no rows with these columns")
    if len(sums) > MAX_BARS:
        raise InputError(f"--plot {text}: these are {len(sums):,} bars, but at most {MAX_BARS} are drawn")
    order = sorted(sums, key=lambda pair: (_sortable(pair[0]), _sortable(pair[1])))
    labels = [" ".join(filter(None, (_label(x, pair[0]), _label(by, pair[1])))) for pair in order]
    means = [sum(sums[pair]) / len(sums[pair]) for pair in order]
    averaged = f", mean of {total:,} runs" if total > len(sums) else ""
    whole = max(means) >= 1000 or all(mean == int(mean) for mean in means)
    return charts.of(f"{y} by {x}{f' and {by}' if by else ''}{averaged}", labels, means, form=",.0f" if whole else ",.4g")


def _require(used: Sequence[Mapping[str, Any]], name: str, text: str) -> None:
    """Raise InputError if a name of --plot is an event, a stall or a parameter that no row has."""
    column, _, key = (name if name.split(".")[0] in MAPS else f"settings.{name}").partition(".")
    known = {word for row in used for word in row.get(column) or ()} if name not in BY_NAME else {key}
    if used and key not in known:
        raise InputError(f"--plot {text}: no row has {name}{did_you_mean(key, sorted(known))}")


def _columns(*names: str) -> list[str]:
    """Return the distinct columns that contain the names."""
    read = (name if name in BY_NAME else name.split(".")[0] if name.split(".")[0] in MAPS else "settings"
             for name in names if name)
    return list(dict.fromkeys(read))


def _value(row: dict[str, Any], name: str) -> float | None:
    """Return a number of a row; an event that is not listed is 0 only if the run's design has that event."""
    column, dot, key = name.partition(".")
    value = (row[column] or {}).get(key) if dot else row[column]
    return None if value is None else float(value)


def _group(row: dict[str, Any], name: str) -> Any:
    """Return the value by which a row is grouped: a column's or a parameter's, "-" if it has none."""
    value = row[name] if name in BY_NAME else (row["settings"] or {}).get(name)
    return "-" if value is None else value


def _label(name: str, value: Any) -> str:
    """Return a group as a label; numbers with the last part of their name."""
    return f"{name.rpartition('.')[2]}={value}" if name and name not in GROUPS else str(value)


def _sortable(value: Any) -> tuple[int, float, str]:
    """Return a sort key that orders numbers numerically, and before words."""
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, str(value)
