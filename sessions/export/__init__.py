"""Writes a session for other viewers: one small writer per format, all over the reading interface of a timeline.

Time in every format is the machine's cycle: what happens in cycle c has the time stamp c, as in `info` and on the screens.
Only csv with columns uses the stamps of `print`: the state at the beginning of cycle c, under the heading at_cycle.

    kanata  perfetto  vcd  csv            one format each, a line in FORMATS
    tables  sqlite  arrow                 tables of everything; as a database; as Parquet and for data frames
    instructions                          every instruction's way through the pipeline, which several formats use
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.export import arrow, csv, kanata, perfetto, sqlite, vcd
from rfview.sessions.guard import consistent
from rfview.sessions.timeline.base import Timeline

Writer = Callable[[Timeline, int, int, Any], None]     # the last argument is an open text file, for tables a path
FORMATS: dict[str, tuple[str, Writer]] = {
    "kanata": ("pipeline rows of every instruction, for Konata", kanata.write),
    "perfetto": ("warp states and instructions as trace events, for ui.perfetto.dev and chrome://tracing", perfetto.write),
    "vcd": ("warp states, program counters and bank queues as waveforms, for GTKWave and Surfer", vcd.write),
    "sqlite": ("cycles, stalls, waits, events, instructions and accesses as tables for SQL", sqlite.write),
    "parquet": ("the same tables as a folder of files, for DuckDB, pandas and Polars", arrow.write),
    "csv": ("one row per cycle: warps per state, or the expressions asked for", csv.write),
}
ALIASES = {"konata": "kanata"}      # the program Konata reads the Kanata format
TABLES = {"sqlite": sqlite.write, "parquet": arrow.write}       # these open their output themselves


def export(timeline: Timeline, form: str, target: Path, first: int | None = None, last: int | None = None,
           columns: Sequence[str] = ()) -> tuple[int, int]:
    """Write cycles first..last of a session (default: all that has run) to a file; return the range.

    form: a key of FORMATS or ALIASES. columns: expressions, for csv only. Raises InputError for an unknown format, a range
    outside the session, or columns for another format.
    """
    form = ALIASES.get(form, form)
    if form not in FORMATS:
        raise InputError(f"export to {form}: there are {', '.join(FORMATS)}{suggest(form, FORMATS)}")
    if columns and form != "csv":
        raise InputError(f"export to {form}: only csv takes columns")
    start, stop = stretch(timeline, first, last)
    inputs = [path] if (path := getattr(timeline, "path", None)) is not None else []
    if form in TABLES:
        with consistent(timeline):
            TABLES[form](timeline, start, stop, target, inputs)
        return start, stop
    with consistent(timeline), files.writing_text(target, inputs=inputs) as out:
        if columns:
            csv.write_columns(timeline, start, stop, out, columns)
        else:
            FORMATS[form][1](timeline, start, stop, out)
    return start, stop


def stretch(timeline: Timeline, first: int | None = None, last: int | None = None) -> tuple[int, int]:
    """Return the requested cycles; None stands for an end of what has run. Raises InputError if outside the session."""
    start = timeline.first if first is None else first
    stop = timeline.last if last is None else last
    timeline.require(start)
    timeline.require(stop)
    if stop <= start:
        raise InputError(f"export: the first cycle, {start:,}, is not before the last, {stop:,}")
    return start, stop
