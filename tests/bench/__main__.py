"""`python -m tests.bench`: measure speed, size, opening, seeks, searches, start-up, keys, registers; print one JSON object.

`rows` has each number with its goal and whether it is met; the rest is the data behind them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rfview.engine.launch import load_launch_file
from tests.bench import by_default, checking, designs, functional, measure, peer, rewinding, screen, searching, writers
from tests.bench.judge import judge

PARTS = ("workloads", "designs", "bundled", "long", "live", "writers", "start", "screen", "check", "registers", "peer",
         "functional", "by_default")
USUAL = PARTS[:-1]      # the last takes a quarter of an hour


def main() -> int:
    """Run the requested measurements, with progress on stderr."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs per measurement; their median counts")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=USUAL,
                        help="what to measure (default: all but by_default, a hundred million cycles)")
    parser.add_argument("--only", nargs="*", choices=sorted(measure.PEER), help="workloads (default: all)")
    parser.add_argument("--no-cold", action="store_true", help="skip the cold start, which compiles everything")
    parser.add_argument("--long", metavar="FILE.rfs", type=Path,
                        help="measure an earlier long recording of this bench instead of making one")
    parser.add_argument("--rounds", type=int, default=searching.ROUNDS, help="rounds of the long run, 0.6 million cycles each")
    args = parser.parse_args()
    names = args.only or list(measure.PEER)
    result: dict[str, Any] = {"machine": measure.machine(), "load_before": searching.load()}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        if "workloads" in args.parts:
            result["workloads"] = workloads(names, Path(folder), args.runs)
        if "designs" in args.parts:
            say("designs (the first run of each compiles)")
            rows += designs.rows(args.runs)
        if "bundled" in args.parts:
            say("sizes of recordings of all bundled kernels")
            result["bundled_bytes_per_cycle"] = measure.bundled(Path(folder), "fermi")
            result["subcore_bytes_per_cycle"] = measure.bundled(Path(folder), "ampere", ["gemm"])
        if "long" in args.parts:
            rows += long(Path(folder), args)
        if "by_default" in args.parts:
            say("running and recording a hundred million cycles")
            rows += by_default.rows(Path(folder), args.runs)
        if "live" in args.parts:
            say("live runs and keyframed recordings")
            rows += rewinding.rows(Path(folder), args.runs, args.rounds)
        if "writers" in args.parts:
            say("who wrote a register, in every design and scheduler")
            rows += writers.rows(Path(folder))
        if "start" in args.parts:
            say("starting")
            result["start"] = measure.starting(measure.some_recording(Path(folder)), not args.no_cold)
        if "screen" in args.parts:
            say("the screen")
            rows += screen.rows(measure.some_recording(Path(folder)), args.runs)
    if "functional" in args.parts:
        say("the functional mode beside the cycle mode")
        rows += functional.rows(args.runs)
    if "check" in args.parts:
        say("checked runs compared with unchecked ones")
        rows += checking.rows(args.runs)
    if "peer" in args.parts:
        say("cycles beside GPGPU-Sim's")
        rows += peer.rows()
    if "registers" in args.parts:
        say("registers")
        result["registers"] = measure.registers()
    result["rows"] = judge(result) + rows
    result["load_after"] = searching.load()
    print(json.dumps(result, indent=1))
    return 0


def workloads(names: list[str], folder: Path, runs: int) -> dict[str, Any]:
    """Measure the workloads that were also measured on the peer, GPGPU-Sim."""
    say("compiling, or loading compiled code")
    measure.warm_up(load_launch_file(measure.WORKLOADS / f"{names[0]}.toml"))
    say("recordings, alternating with plain runs")
    recorded = measure.recordings(names, folder, runs)
    found = {}
    for name in names:
        say(name)
        found[name] = measure.workload(name, recorded[name], folder, runs)
    return found


def long(folder: Path, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure opening, seeking in and searching a long recording."""
    path: Path | None = args.long
    rows: list[dict[str, Any]] = []
    if path is None:
        say("recording ten million cycles: a few minutes")
        path, rows = searching.record_long(folder, args.rounds)
    for name in ("opening", "seeking", "searching"):
        say(name)
        part = getattr(searching, name)
        rows += part(path, folder, args.runs) if name == "opening" else part(path, args.runs)
    return rows


def say(text: str) -> None:
    """Report progress on stderr."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
