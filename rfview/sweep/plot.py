"""A figure's bars as a chart of the terminal, and the run behind a bar as a command line that opens it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from rfview import charts
from rfview.engine.errors import InputError
from rfview.sweep import dataset, rows
from rfview.sweep.columns import BY_NAME
from rfview.sweep.grouping import Groups, group


def chart_of(groups: Groups) -> charts.Chart:
    """Return the bars, labelled by place and series, with the line of the base at 1."""
    request = groups.request
    pairs = [(place, name) for place in groups.places for name in groups.series if (place, name) in groups.cells]
    labels = [" ".join(filter(None, (place, f"{name}, energy assumed" if name in groups.hatched else name)))
              for place, name in pairs]
    values = [groups.cells[pair].value for pair in pairs]
    for name, value in groups.means.items():
        labels.append(f"geo. mean {name}")
        values.append(value)
    whole = not request.base and (max(values) >= 1000 or all(value == int(value) for value in values))
    by = f" and {'+'.join(request.by)}" if request.by else ""
    notes = "; ".join(note for note in groups.notes if note)
    return charts.of(f"{groups.quantity} by {'+'.join(request.x)}{by} ({notes})", labels, values,
                     form=",.0f" if whole else ".2f" if request.base else ",.4g",
                     line=(1.0, request.base) if request.base else None)


def run_of(folder: Path, text: str, keys: Collection[str] | None = None) -> list[str]:
    """Return the words of `rfview debug` for the run that "kernel=gemm,design=hrf" names.

    Raises InputError unless exactly one row has these values.
    """
    wanted = dict(part.partition("=")[::2] for part in text.split(","))
    for name, value in wanted.items():
        if not name.strip() or not value.strip():
            raise InputError(f"--open {text}: expected NAME=VALUE,.., as in kernel=gemm,design=hrf")
    table = dataset.read(folder, [column for column in BY_NAME if column not in ("stalls", "counts", "finished")])
    ran = [row for row in table.to_pylist(maps_as_pydicts="strict")
           if row["outcome"] != rows.FAILED and (keys is None or row["key"] in keys)]
    found = [row for row in ran if all(str(group(row, name.strip())) == value.strip() for name, value in wanted.items())]
    if not found:
        there = {name: list(dict.fromkeys(str(group(row, name.strip())) for row in ran)) for name in wanted}
        unknown = next((name for name in wanted if wanted[name].strip() not in there[name]), None)
        known = f"; {unknown.strip()} is {', '.join(sorted(there[unknown]))}" if unknown is not None else ""
        raise InputError(f"--open {text}: {folder} has no run with these values{known}")
    if len(found) > 1:
        names = [*("kernel", "design", "scheduler", "preset", "engine"), *dict.fromkeys(
            name for row in found for name in row["settings"] or {})]
        differ = [f"{name} ({', '.join(sorted({str(group(row, name)) for row in found}))})" for name in names
                  if len({str(group(row, name)) for row in found}) > 1]
        raise InputError(f"--open {text}: {len(found):,} runs have these values; add {' or '.join(differ)}")
    return debug_words(found[0])


def debug_words(row: Mapping[str, Any]) -> list[str]:
    """Return the words of `rfview debug` that run a row again."""
    words = ["debug", row["launch"], "--design", row["design"], "--scheduler", row["scheduler"], "--preset", row["preset"]]
    for name, value in {**(row["level"] or {}), **(row["settings"] or {})}.items():
        words += ["--set", f"{name}={value}"]
    return words


def command_of(row: Mapping[str, Any]) -> str:
    """Return the same as a line to type."""
    return shlex.join(["rfview", *debug_words(row)])
