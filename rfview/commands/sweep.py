"""`rfview sweep`: every kernel on every machine of a sweep file, one row each in a growing Parquet dataset.

    2,048 jobs: 2,040 ok, 8 failed; 512 had rows already
    results: 2,048 rows
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.batch import pool_of
from rfview.engine.errors import InputError
from rfview import charts, ending
from rfview.commands import options, progress
from rfview.engine.wording import plural
from rfview.sweep import columns, dataset, doing, plan, plot

EPILOG = f"""a sweep file:
{(plan.__doc__ or "").partition("means.")[2].rpartition("A sweep file is hostile")[0].strip(chr(10)).rstrip()}

The folder holds part-NNNNNN.parquet files, which pandas.read_parquet("results") and, in DuckDB,
read_parquet('results/*.parquet') read as one table, even while the sweep is running. A job that has a row is not run again:
a sweep that is restarted resumes where it was stopped or killed, and picks up jobs added to its file. A failed job has a row
as well; delete its part file to retry it. In DuckDB a map is read as settings['sm.num_collectors']; pandas returns a list of
pairs: dict(row.settings)['sm.num_collectors']. Columns:
{columns.documentation()}

--plot draws bars from the folder and runs nothing: of the rows of this file's jobs, or of all rows if a folder is given
instead of the file. x and by are columns or parameters, y is a number, as in kernel,ipc,design;
sm.num_collectors,cycles,kernel; design,counts.rf_reads.

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
    parser.add_argument("--plot", metavar="X,Y,BY", help="draw bars from the dataset instead of running jobs")
    parser.add_argument("--svg", metavar="FILE.svg", help="with --plot: also write the bars as SVG")
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the jobs that have no row yet, or draw a chart."""
    dataset.require()
    if args.svg is not None:
        if args.plot is None:
            raise InputError("--svg: writes what --plot draws; give --plot too")
        files.check_target(args.svg)
    if args.plot is not None:
        return draw(args)
    planned = plan.load(args.target)
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
        return {"jobs": len(planned.jobs), "same": planned.same, "already": len(planned.jobs) - len(todo),
                "outcomes": dict(outcomes), "folder": str(folder), "rows": len(held.keys)}


def text_of(facts: dict[str, Any]) -> str:
    """Return the facts of a sweep as text."""
    parts = [f"{number:,} {name}" for name, number in facts["outcomes"].items()]
    done = ", ".join(parts) or "nothing to run"
    already = f"; {facts['already']:,} already had rows" if facts["already"] else ""
    same = f"; {facts['same']:,} combinations are the same run as another" if facts["same"] else ""
    return f"{plural(facts['jobs'], 'job')}: {done}{already}{same}\n{facts['folder']}: {plural(facts['rows'], 'row')}"


def draw(args: argparse.Namespace) -> int:
    """Draw a chart of a sweep's rows, or of all rows of a folder."""
    plot.parse(args.plot)
    target = Path(args.target)
    if target.is_dir():
        chart = plot.chart_of(target, args.plot)
    else:
        planned = plan.load(target)
        chart = plot.chart_of(folder_of(args, planned), args.plot, {one.key for one in planned.jobs})
    bars = [{"label": bar.label, "value": bar.value} for bar in chart.bars]
    print(json.dumps({"title": chart.title, "bars": bars}) if args.json else charts.text(chart))
    if args.svg is not None:
        files.write(args.svg, charts.svg(chart))
    return 0
