"""`python -m tests.bench`: measure speed, size, seeks, start-up and registers, and print one JSON object."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from engine.launch import load_launch_file
from tests.bench import measure


def main() -> int:
    """Run the measurements that are asked for, saying on stderr which one runs."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs per measurement, of which the median counts")
    parser.add_argument("--only", nargs="*", choices=sorted(measure.PEER), help="workloads (default: all)")
    parser.add_argument("--no-cold", action="store_true", help="leave out the start that compiles everything")
    args = parser.parse_args()
    names = args.only or list(measure.PEER)
    result: dict[str, object] = {"machine": measure.machine(), "workloads": {}}
    with tempfile.TemporaryDirectory() as folder:
        say("compiling, or loading what is compiled")
        measure.warm_up(load_launch_file(measure.WORKLOADS / f"{names[0]}.toml"))
        workloads = {}
        for name in names:
            say(name)
            workloads[name] = measure.workload(name, Path(folder), args.runs)
        result["workloads"] = workloads
        say("starting")
        result["start"] = measure.starting(Path(folder) / f"{names[0]}.rfs", not args.no_cold)
    say("registers")
    result["registers"] = measure.registers()
    print(json.dumps(result, indent=1))
    return 0


def say(text: str) -> None:
    """Say on stderr what is going on."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
