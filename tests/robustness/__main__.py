"""Fuzzing: each target generates inputs from seeds, tries them and counts their outcomes.

    python -m tests.robustness                          a thousand of each target
    python -m tests.robustness --only dap --count 20000 --seed 7

Case N of a seed is always the same: `--from N` continues where an earlier run ended, and the line of a bad case names the
seed and number that reproduce it (`--seed S --from N --count 1`). Exit code 0 if there was no bad case.
All designs are compiled first if necessary: a case that waits for a compilation would count as slow.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rfview.commands import warm
from tests.robustness import cache, control_flow, dap, keys, kills, launch, machine_code, processes, ptx, recordings, screens, words
from tests.robustness.found import GOOD, Keeping

# name -> function that tries the cases [first, first + count) of a seed and yields (number, outcome, detail)
TARGETS: dict[str, Callable[[int, int, int], Iterator[tuple[int, str, str]]]] = {
    "cache": cache.cases, "control_flow": control_flow.cases, "dap": dap.cases, "keys": keys.cases,
    "keys_live": keys.live_cases, "kills": kills.cases, "launch": launch.cases, "machine_code": machine_code.cases,
    "cubins": machine_code.cubin_cases, "processes": processes.cases, "ptx": ptx.cases,
    "recordings": recordings.cases, "screens": screens.cases, "words": words.cases,
}
SHOWN = 20          # bad cases printed per target


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the cases and print the number of cases per outcome for each target; return 1 if any was bad."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(TARGETS), help="one target (default: all)")
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="cases of each target (default 1000)")
    parser.add_argument("--minutes", type=float, metavar="M", help="stop each target after this time")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the seed that all cases are made from (default 1)")
    parser.add_argument("--from", type=int, default=0, metavar="N", dest="first", help="the first case (default 0)")
    parser.add_argument("--sums", type=Path, metavar="FILE.json",
                        help="add the counts to those of earlier runs in this file, and print both")
    parser.add_argument("--keep", action="store_true", help="write bad recordings, modules and launch files to found/")
    args = parser.parse_args(arguments)
    Keeping.on = args.keep
    warm.run(argparse.Namespace(designs=["sram"] if args.only == "processes" else []))
    bad = 0
    for name in [args.only] if args.only else sorted(TARGETS):
        outcomes, following = tally(name, args.seed, args.first, args.count, args.minutes)
        bad += sum(count for outcome, count in outcomes.items() if outcome not in GOOD)
        parts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{name}: {sum(outcomes.values()):,} tried: {parts}   (seed {args.seed}, continue with --from {following})")
        if args.sums is not None:
            print(f"{name}, all runs: {added(args.sums, name, outcomes)}")
    return 1 if bad else 0


def added(path: Path, name: str, outcomes: Counter[str]) -> str:
    """Add a target's counts to those in a file, and return the sums as text."""
    sums = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    total = Counter(sums.get(name, {})) + outcomes
    path.write_text(json.dumps({**sums, name: total}, indent=1), encoding="utf-8")
    return f"{sum(total.values()):,} tried: {', '.join(f'{count:,} {outcome}' for outcome, count in sorted(total.items()))}"


def tally(name: str, seed: int, first: int, count: int, minutes: float | None) -> tuple[Counter[str], int]:
    """Try cases of a target; return the number of cases per outcome, and the number after the last case."""
    outcomes: Counter[str] = Counter()
    began, number, shown = time.monotonic(), first - 1, 0
    for number, outcome, detail in TARGETS[name](seed, first, count):
        outcomes[outcome] += 1
        if outcome not in GOOD and shown < SHOWN:
            shown += 1
            print(f"{name}: {outcome}: --seed {seed} --from {number} --count 1: {detail[:300]}", file=sys.stderr, flush=True)
        if minutes is not None and time.monotonic() - began > 60 * minutes:
            break
    return outcomes, number + 1


if __name__ == "__main__":
    sys.exit(main())
