"""The property set: every bundled kernel on every design under every scheduler, with invariants checked in each run.

    python -m tests.properties                        all of it
    python -m tests.properties --small                first launches with a few CTAs each
    python -m tests.properties --small --pairs        the same, each kernel once per design: what the tests run
    python -m tests.properties --kernels gemm,bfs --designs 'sram;hrf[power_gating=true]' --schedulers lrr --json

For every complete run: final memory equals sram's bit for bit (except for approximate eDRAM and kernels marked
order_dependent), warp-cycles balance, energy is the sum over its counted events. In every cycle of the watched parts: a
read returns the register's newest value (no write is lost; an exchanged HC-RF pair keeps both; the RFC drops only what is
not read again), a port has one grant, events match what was observed, buffers never overflow, racetrack accesses only
with the tape aligned, every eDRAM row is refreshed when due. Exit code 0 if everything holds, else 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from rfview.engine import defaults, kernels
from rfview.engine.batch import Pool, compile_machines, pool_of, share_out
from rfview.engine.config import load_preset
from rfview.engine.machine.schedulers import SCHEDULERS
from tests.properties.runs import DESIGNS, MAPPED, Case, Outcome, is_exact, run

REFERENCE = "sram"
FULL_WINDOWS, SMALL_WINDOWS = (800, 400), (200, 60)       # cycles watched from the first one on, and from three quarters of the run on


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the set and print a line per design and scheduler."""
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", metavar="LIST", help="bundled kernels, by commas (default: all)")
    parser.add_argument("--designs", metavar="LIST", help="by semicolons (default: all; +mapping: of a profiling run)")
    parser.add_argument("--schedulers", metavar="LIST", help="by commas (default: all)")
    parser.add_argument("--preset", default=defaults.PRESET, metavar="P",
                        help="on a sub-core, each kernel runs once per design, memory, sums and causes are checked, not cycles")
    parser.add_argument("--small", action="store_true", help="only the first launches, with a few CTAs each")
    parser.add_argument("--pairs", action="store_true", help="each kernel on each design under one scheduler, each in its turn")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    args = parser.parse_args(arguments)
    began = time.monotonic()
    outcomes = check(
        split(args.kernels, ",", kernels.names()), split(args.designs, ";", DESIGNS),
        split(args.schedulers, ",", SCHEDULERS), small=args.small, pairs=args.pairs, workers=args.workers,
        say=progress, preset=args.preset,
    )
    seconds = time.monotonic() - began
    if args.json:
        print(json.dumps({"seconds": round(seconds, 1), "runs": [asdict(outcome) for outcome in outcomes]}))
    else:
        print("\n".join(summary(outcomes, small=args.small)))
        print(f"{seconds:.0f} s")
    return 1 if any(outcome.wrong for outcome in outcomes) else 0


def split(text: str | None, at: str, default: Iterable[str]) -> list[str]:
    """Return the items of a list, or the default."""
    return [part.strip() for part in text.split(at) if part.strip()] if text else list(default)


def progress(text: str) -> None:
    """Report progress on stderr."""
    if sys.stderr.isatty():
        print(f"\r{text[:100]:<100}", end="" if not text.startswith("done") else "\n", file=sys.stderr, flush=True)


def check(names: Sequence[str], designs: Sequence[str], schedulers: Sequence[str], *, small: bool = False,
          pairs: bool = False, workers: int = 2, say: Callable[[str], None] = lambda text: None,
          preset: str = defaults.PRESET) -> list[Outcome]:
    """Do all runs and return their outcomes, sram's first. workers = 1: in this process.

    pairs: except on sram, a kernel runs on a design under only one scheduler; every design and every kernel still meets
    all schedulers.
    """
    is_subcore = load_preset(preset).core == "subcore"
    if is_subcore:
        schedulers = [defaults.SCHEDULER]
    variants = dict.fromkeys([REFERENCE, *designs])
    compile_machines(((variant.removesuffix(MAPPED), preset) for variant in variants), workers, lambda share, text: say(text))
    early, late = SMALL_WINDOWS if small else FULL_WINDOWS

    def watched(*windows: tuple[int, int]) -> tuple[tuple[int, int], ...]:
        return () if is_subcore else windows        # what is observed from outside are collectors and a scoreboard

    with pool_of(workers) as pool:
        plain = [Case(name, REFERENCE, scheduler, watched((0, early)), small, "", preset) for name in names for scheduler in schedulers]
        first = done(pool, plain, say)
        lengths = {(one.case.kernel, one.case.scheduler): one.cycles for one in first}
        memory = {name: next(one.memory for one in first if one.case.kernel == name) for name in names}
        for one in first:       # the memory of sram under one scheduler is the reference for all runs
            compare(one, memory[one.case.kernel])
        cases = [
            Case(name, design, scheduler, watched((0, early), (lengths[name, scheduler] * 3 // 4, late)), small, memory[name],
                 preset)
            for row, design in enumerate(designs) if design != REFERENCE
            for column, scheduler in enumerate(schedulers) for place, name in enumerate(names)
            if not pairs or (row + column + place) % len(schedulers) == 0
        ]
        return (first if REFERENCE in designs else []) + done(pool, cases, say)


def compare(outcome: Outcome, memory: str) -> None:
    """Compare the memory of a run on sram with that under the first scheduler."""
    outcome.case = replace(outcome.case, memory=memory)
    outcome.same = outcome.memory == memory
    if not outcome.same:
        outcome.wrong.append("final memory differs between schedulers")


def done(pool: Pool, cases: Sequence[Case], say: Callable[[str], None]) -> list[Outcome]:
    """Run cases and return their outcomes in order."""
    found: dict[Case, Outcome] = {}
    for arrived in share_out(pool, run, cases, lambda case: case.kernel):
        for one in arrived:
            found[one.item] = one.value()
            case = one.item
            say(f"{len(found)} of {len(cases)} runs: {case.kernel} on {case.design} under {case.scheduler}")
    return [found[case] for case in cases]


def summary(outcomes: Sequence[Outcome], *, small: bool) -> list[str]:
    """Return a line per design and scheduler, a line for all, and what is wrong."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.case.design, outcome.case.scheduler), []).append(outcome)
    lines = [f"{'design':<33} {'scheduler':<16} {'kernels':>7} {'cycles':>11} {'same memory':>11} {'watched':>8} "
             f"{'reads':>8} {'results':>8}  all holds"]
    for (design, scheduler), group in groups.items():
        bad = sum(bool(one.wrong) for one in group)
        lines.append(row(design, scheduler, group) + ("  yes" if not bad else f"  NO: {bad} runs"))
    bad = sum(bool(one.wrong) for one in outcomes)
    lines.append(row("all", f"{len(groups)} lines", outcomes) + ("  yes" if not bad else f"  NO: {bad} runs"))
    lines.append(f"watched: cycles stepped one by one with every value, port, buffer, tape and refresh checked"
                 f"{'; small: first launches with a few CTAs' if small else ''}")
    for outcome in outcomes:
        case = outcome.case
        for text in (*outcome.wrong[:3], *outcome.notes):
            lines.append(f"  {case.kernel} on {case.design} under {case.scheduler}: {text}")
    return lines


def row(design: str, scheduler: str, group: Sequence[Outcome]) -> str:
    """Return the figures of several runs in one line."""
    same = f"{sum(one.same is True for one in group)}" if any(is_exact(one.case.design) for one in group) else "-"
    total: Callable[[Any], int] = lambda key: sum(getattr(one, key) for one in group)
    return (f"{design:<33} {scheduler:<16} {len(group):>7} {total('cycles'):>11,} {same:>11} {total('watched'):>8,} "
            f"{total('reads'):>8,} {total('writes'):>8,}")


if __name__ == "__main__":
    sys.exit(main())
