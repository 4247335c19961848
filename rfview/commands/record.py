"""`rfview record`: run a kernel with the journal on and write a session file."""

from __future__ import annotations

import argparse
import json

from engine.errors import KernelFault
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
        from engine.simulator import Simulator
        from sessions.record import record

        simulator = Simulator(spec, progress=report, **machine)
        result = record(simulator, output,
                        progress=lambda cycle: report(None, f"recording {spec.name}: cycle {cycle:,}"))
    if args.json:
        print(json.dumps({
            "file": str(output), "cycles": result.cycles, "chunks": result.chunks, "bytes": result.file_bytes,
            "bytes_per_cycle": round(result.bytes_per_cycle, 2), "finished": result.finished, "fault": result.fault,
            "wall_s": round(result.wall_s, 6),
        }))
    else:
        print(f"{output}: {result.cycles:,} cycles in {result.file_bytes:,} bytes, "
              f"{result.bytes_per_cycle:.1f} per cycle\ntry: rfview replay {output}")
    if result.fault is not None:
        raise KernelFault(f"{result.fault} (what ran before is in {output})")
    return 0
