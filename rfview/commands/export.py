"""`rfview export`: write a session for other viewers: Konata, Perfetto, waveform viewers, spreadsheets, SQL, data frames."""

from __future__ import annotations

import argparse
from pathlib import Path

from rfview.engine import files
from rfview.commands import options
from rfview.launching import words

EPILOG = """examples:
  rfview export run.rfs --to kanata -o run.kanata
  rfview export gemm --design stt --to csv --columns "stall.stt_write; event.rf_writes" -o writes.csv
  rfview export run.rfs --to sqlite && sqlite3 run.db "SELECT state, sum(cycles) FROM waits GROUP BY state"
  rfview export run.rfs --to parquet && duckdb -c "SELECT state, sum(cycles) FROM 'run_tables/waits.parquet' GROUP BY state"
what happens in cycle c is stamped c; only --columns are at_cycle, as `print` shows them there: it shows at c + 1
`rfview help expressions` lists what a column can be, `rfview help sql` the tables"""
SUFFIX = {"kanata": ".kanata", "perfetto": ".json", "vcd": ".vcd", "sqlite": ".db", "parquet": "_tables", "csv": ".csv"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_openable(parser)
    parser.add_argument("--to", required=True, metavar="FORMAT", help=f"one of {', '.join(SUFFIX)}")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the file to write, for parquet the folder (default: named after TARGET)")
    parser.add_argument("--first", type=int, metavar="CYCLE", help="first cycle (default: the session's)")
    parser.add_argument("--last", type=int, metavar="CYCLE", help="last cycle (default: the session's)")
    parser.add_argument("--columns", metavar="EXPR;EXPR", default="",
                        help="csv only: columns for these expressions instead of warps per state")
    options.add_machine(parser)
    words.add_arguments(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Write the file and report its contents; a kernel is first run to its end."""
    from rfview.sessions import export

    form = export.ALIASES.get(args.to, args.to)
    name = args.output or f"{Path(args.target).stem}{SUFFIX.get(form, '.out')}"
    if form == "parquet":
        export.arrow.pyarrow()
    target = Path(name) if form == "parquet" else files.check_target(name)
    columns = [part.strip() for part in args.columns.split(";") if part.strip()]
    with options.open_target(args) as session:
        if not session.timeline.closed and args.last is None:
            session.goto("end")
        elif args.last is not None:
            session.goto(args.last)
        first, last = export.export(session.timeline, form, target, args.first, args.last, columns)
    size = sum(path.stat().st_size for path in ([*target.iterdir()] if target.is_dir() else [target]))
    print(f"{target}: cycles {first:,} to {last:,}, {size:,} bytes: {export.FORMATS[form][0]}")
    return 0
