"""`rfview record`: run a kernel with the journal on and write a session file."""

from __future__ import annotations

import argparse
import json

from rfview.commands import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_target(parser)
    options.add_machine(parser)
    parser.add_argument("-o", "--output", metavar="FILE.rfs", help="the session file to write (default NAME.rfs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    """Record the run; what ran before a fault is kept, and the fault is the exit code."""
    machine = options.machine_of(args)
    spec = options.load_target(args.target)
    output = options.writable_file(args.output or f"{spec.name}.rfs")
    with options.progress() as report:
        from sessions.record import record

        result = record(spec, output, progress=report, **machine)
    if args.json:
        print(json.dumps(result))
    else:
        size = result["bytes"]
        per_cycle = size / max(result["cycles"], 1)
        print(f"{output}: {result['cycles']:,} cycles in {size:,} bytes, {per_cycle:.1f} per cycle")
        print(f"try: rfview replay {output}")
    return 0
