"""`rfview sweep`: every kernel on every machine of a sweep file, one row each in a growing Parquet dataset.

    2,048 jobs: 2,040 ok, 8 failed; 512 had rows already
    results: 2,048 rows
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.batch import pool_of
from rfview.engine.errors import InputError
from rfview import charts, ending
from rfview.commands import options, progress
from rfview.engine.wording import plural
from rfview.sweep import columns, dataset, doing, drawing, grouping, plan, plot, tables

USUAL = "kernel,speed,design"
FIGURE = ("geomean", "where", "mean", "facet", "svg", "pdf", "table")

EPILOG = f"""a sweep file:
{(plan.__doc__ or "").partition("means.")[2].rpartition("A sweep file is hostile")[0].strip(chr(10)).rstrip()}

The folder holds part-NNNNNN.parquet files, which pandas.read_parquet("results") and, in DuckDB,
read_parquet('results/*.parquet') read as one table, even while the sweep is running. A job that has a row is not run again:
a sweep that is restarted resumes where it was stopped or killed, and picks up jobs added to its file. A failed job has a row
as well; delete its part file to retry it. In DuckDB a map is read as settings['sm.num_collectors']; pandas returns a list of
pairs: dict(row.settings)['sm.num_collectors']. Columns:
{columns.documentation()}

Designs are compared on one machine, as in `rfview compare`: what a design's paper requires of the machine, all get (column
level); `level = false` in the file leaves each its own, and every figure says so.

--plot draws bars from the folder and runs nothing: of the rows of this file's jobs, or of all rows if a folder is given
instead of the file. x and by are columns or parameters, several joined by +; y is a number: kernel,ipc,design;
sm.num_collectors,cycles,kernel; kernel,energy_pj,design+my_rf.write_cycles. Nothing is averaged
unless --mean names it; --facet NAME draws a figure for each of its values.
  rfview sweep FILE.toml --relative-to sram --geomean --svg figure.svg      speed-up by kernel and design, and its mean
  rfview sweep FILE.toml --relative-to sram --geomean --table latex
  rfview sweep FILE.toml --open kernel=gemm,design=hrf                      that run, live

--cluster gives the jobs to a Dask cluster (pip install 'rfview[cluster]'); its workers read launch files by the same
paths and have the same rfview; one thread each is best. They compile what their machines lack (or `rfview warm` does).
On this machine, where Dask has the jobs' cores, without its profiler and with fewer of its health checks:
  export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=500ms
  dask scheduler --port 8786 &
  dask worker tcp://127.0.0.1:8786 --nworkers 4 --nthreads 1 &
  rfview sweep FILE.toml --cluster tcp://127.0.0.1:8786
Under SLURM (others alike: PBSCluster, LSFCluster, SGECluster), with dask-jobqueue, in a Python process that keeps running:
  from dask_jobqueue import SLURMCluster
  cluster = SLURMCluster(cores=8, processes=8, memory="16GB", walltime="04:00:00")
  cluster.scale(jobs=20)
  print(cluster.scheduler_address)      # what --cluster takes
  input()

exit codes: 0 all jobs have rows, failed ones too; 2 bad input; 130, 143 stopped by Ctrl-C, SIGTERM, finished rows kept"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="FILE.toml", help="a sweep file; with --plot, a dataset's folder too")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="the dataset's folder (default: the file's output)")
    parser.add_argument("--workers", type=options.positive, default=2, metavar="N", help="worker processes (default 2)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="run on a Dask cluster: its scheduler's address or file")
    options.add_nudge(parser)
    parser.add_argument("--causes", action="store_true", help="also run each with a journal, to say which line held up most "
                        "(columns causes_line, causes_share)")
    options.add_json(parser)
    figures = parser.add_argument_group("figures, from the dataset instead of running jobs")
    figures.add_argument("--plot", metavar="X,Y,BY", help=f"draw bars (default with the options below: {USUAL})")
    figures.add_argument("--relative-to", metavar="DESIGN", help="as ratios to this design on the same kernel and machine")
    figures.add_argument("--geomean", action="store_true", help="with the geometric mean over x of each series")
    figures.add_argument("--where", metavar="NAME=VALUE", action="append", default=[], help="only rows with this value")
    figures.add_argument("--mean", metavar="NAME", action="append", default=[],
                         help="average over this column or parameter, with whiskers from smallest to largest")
    figures.add_argument("--facet", metavar="NAME", help="a figure for each value of this column or parameter; files get "
                         "-VALUE added to their names")
    figures.add_argument("--svg", metavar="FILE.svg", help="also write the figure as SVG")
    figures.add_argument("--pdf", metavar="FILE.pdf", help="also write it as PDF (pip install 'rfview[figures]')")
    figures.add_argument("--table", choices=tables.FORMATS, help="print a table instead of bars")
    figures.add_argument("--open", metavar="NAME=VALUE,..", help="open one run, as in kernel=gemm,design=hrf")


def run(args: argparse.Namespace) -> int:
    """Run the jobs that have no row yet, or draw a chart."""
    dataset.require()
    if args.open is not None:
        return open_run(args)
    given = [name for name in FIGURE if getattr(args, name.replace("-", "_"))]
    if given and not args.plot and not args.relative_to:
        raise InputError(f"--{given[0]}: belongs to a figure; give --plot X,Y,BY or --relative-to DESIGN too")
    if args.plot or args.relative_to:
        return draw(args)
    planned = plan.load(args.target, args.nudge or None, args.causes)
    folder = folder_of(args, planned)
    try:
        facts = sweep(args, planned, folder)
    except ending.Ended as ended:
        print("rfview: error: terminated; finished rows are kept, the same command continues from here", file=sys.stderr)
        return int(ended.code or 0)
    print(json.dumps(facts) if args.json else text_of(facts))
    return 0


def folder_of(args: argparse.Namespace, planned: plan.Plan) -> Path:
    """Return the dataset's folder; raises InputError if neither the file nor an option names one."""
    folder = Path(args.output) if args.output is not None else planned.output
    if folder is None:
        raise InputError(f"{args.target}: names no output; add output = \"results\", or give --output FOLDER")
    return folder


def sweep(args: argparse.Namespace, planned: plan.Plan, folder: Path) -> dict[str, Any]:
    """Run the jobs that have no row yet and return the facts."""
    with dataset.writing(folder) as held, progress.bar() as bar:
        todo = [one for one in planned.jobs if one.key not in held.keys]
        outcomes: Counter[str] = Counter()
        if todo:
            with pool_of(args.workers, args.cluster) as pool:
                outcomes = doing.do_all(todo, held, pool, bar)
        return {"notes": list(planned.notes),
                "jobs": len(planned.jobs), "same": planned.same, "already": len(planned.jobs) - len(todo),
                "outcomes": dict(outcomes), "folder": str(folder), "rows": len(held.keys)}


def text_of(facts: dict[str, Any]) -> str:
    """Return the facts of a sweep as text."""
    parts = [f"{number:,} {name}" for name, number in facts["outcomes"].items()]
    done = ", ".join(parts) or "nothing to run"
    already = f"; {facts['already']:,} already had rows" if facts["already"] else ""
    same = f"; {facts['same']:,} combinations are the same run as another" if facts["same"] else ""
    notes = "".join(f"{note}\n" for note in facts["notes"])
    return f"{notes}{plural(facts['jobs'], 'job')}: {done}{already}{same}\n{facts['folder']}: {plural(facts['rows'], 'row')}"


def place_of(args: argparse.Namespace) -> tuple[Path, list[str] | None]:
    """Return the dataset's folder and the keys of the rows meant, those of a file's jobs in its order; None: all rows."""
    target = Path(args.target)
    if target.is_dir():
        return target, None
    planned = plan.load(target, args.nudge or None, args.causes)
    return folder_of(args, planned), [one.key for one in planned.jobs]


def draw(args: argparse.Namespace) -> int:
    """Draw a figure of a sweep's rows, or of all rows of a folder; with --facet one for each value."""
    for file in filter(None, (args.svg, args.pdf)):
        files.check_target(file)        # what cannot be written is said before the rows are read
    if args.pdf:
        drawing.require_pdf()
    request = grouping.parse(args.plot or USUAL, where=args.where, means=args.mean, base=args.relative_to or "",
                             geomean=args.geomean)
    folder, keys = place_of(args)
    values: list[str | None] = [None] if args.facet is None else [*grouping.facets_of(folder, args.facet, keys)]
    names = [[None if file is None else _named(file, value) for file in (args.svg, args.pdf)] for value in values]
    written = [file for pair in names for file in pair if file is not None]
    if len({*written}) < len(written):
        raise InputError(f"--facet {args.facet}: two values give files of one name; draw each with --where")
    for file in written:
        files.check_target(file)
    requests = [request if value is None else replace(request, where=(*request.where, (args.facet, value)))
                for value in values]
    figures = [grouping.groups_of(folder, one, keys) for one in requests]      # all of them before anything is written
    for value, (svg, pdf), groups in zip(values, names, figures, strict=True):
        if not args.json:
            title = "" if value is None else f"{args.facet} = {value}\n"
            print(title + (tables.table(groups, args.table).rstrip() if args.table else charts.text(plot.chart_of(groups))))
        if svg is not None:
            files.write(svg, drawing.svg(drawing.figure_of(groups)))
        if pdf is not None:
            files.write(pdf, drawing.pdf(drawing.figure_of(groups)))
    if args.json:
        facts = [{**data_of(groups), **({} if value is None else {"facet": {args.facet: value}})}
                 for value, groups in zip(values, figures, strict=True)]
        print(json.dumps(facts[0] if args.facet is None else {"facets": facts}))
    return 0


def _named(file: str, value: str | None) -> str:
    """Return the name of a facet's file: figure.svg becomes figure-4.svg."""
    path = Path(file)
    return file if value is None else str(path.with_name(f"{path.stem}-{re.sub('[^0-9A-Za-z.]+', '_', value)}{path.suffix}"))


def data_of(groups: grouping.Groups) -> dict[str, Any]:
    """Return a figure as data; command: what opens the run of a bar that stands for one."""
    chart = plot.chart_of(groups)
    bars = [{"label": bar.label, "value": bar.value} for bar in chart.bars]
    cells = [{"x": place, "series": name, "value": cell.value, "low": cell.low, "high": cell.high, "runs": len(cell.rows),
              "energy_assumed": name in groups.hatched,
              "command": plot.command_of(cell.rows[0]) if len(cell.rows) == 1 else None}
             for (place, name), cell in groups.cells.items()]
    return {"title": chart.title, "bars": bars, "quantity": groups.quantity, "cells": cells,
            "geometric_means": dict(groups.means), "base": dict(groups.base), "notes": list(groups.notes)}


def open_run(args: argparse.Namespace) -> int:
    """Open the run behind a cell as a live session; return the exit code."""
    from rfview import cli

    folder, keys = place_of(args)
    words = plot.run_of(folder, args.open, keys)
    print(f"rfview: {shlex.join(['rfview', *words])}", file=sys.stderr)
    return cli.main(words)
