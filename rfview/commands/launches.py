"""`rfview launches`: run an unmodified GPU program and list its kernel launches."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from rfview.commands import options, programs
from rfview.engine import files
from rfview.engine.escapes import visible
from rfview.engine.wording import aligned, plural

if TYPE_CHECKING:
    from rfview.capture.launches import Extent, Launches

EPILOG = f"""{programs.EPILOG}

--quick computes only the values of launches, many times faster. Cycles marked ~ are estimates: warp instructions times the
cycles of one, from the first 20,000 cycles of a kernel, whose caches are still cold. Results are those of every launch
simulated, unless they depend on the order in which warps execute: races, float atomics, what an atomic returns, clocks."""
TAKES_PROGRAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="PROGRAM", nargs="?", help="a CUDA program, followed by its arguments")
    programs.add_words(parser)
    options.add_machine(parser)
    programs.add_python(parser)
    parser.add_argument("--only", metavar="KERNEL[:NTH]|NUMBER", help="list only this launch and keep nothing of the others")
    parser.add_argument("--quick", action="store_true",
                        help="compute values only; list warp instructions, and estimated cycles")
    parser.add_argument("--json", metavar="FILE", help="also write the list as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the program, print the table after the program's own output, and return its exit code.

    A program that ends with 0 although one of its kernels faulted gives 1. An interruption shows the table so far.
    """
    output = files.check_target(args.json) if args.json else None

    def show(launches: Launches, code: int | None) -> None:
        print(table(launches))
        if output is not None:
            total = {"launches": launches.total, "cycles": launches.cycles, "instructions": launches.instructions,
                     "estimates": launches.estimates, "exit_code": code}
            files.write(output, json.dumps({**total, "list": programs.rows_of(launches)}, indent=1) + "\n")

    code, device = programs.captured(args, only=args.only, by_values=args.quick, samples=args.quick,
                                     interrupted=lambda launches: show(launches, None))
    show(device.launches, code)
    if device.launches.faults and not code:
        programs.say(f"the program ended with code 0 although {plural(device.launches.faults, 'launch')} ended in a fault")
        return 1
    return code


def table(launches: Launches) -> str:
    """Return the launches as lines: number, kernel, grid, block, cycles, result; if useful, process, instructions."""
    several = len({entry.process for entry in launches.entries}) > 1
    quick = launches.estimates > 0
    rows = [(str(entry.number), *([str(entry.process)] if several else []), visible(entry.label), extent(entry.grid),
             extent(entry.block), *([f"{entry.instructions:,}"] if quick else []),
             f"{'~' if entry.is_estimate else ''}{entry.cycles:,}", visible(entry.result) or "fine")
            for entry in launches.entries]
    head = ("launch", *(["process"] if several else []), "kernel", "grid", "block", *(["instructions"] if quick else []),
            "cycles", "result")
    lines = aligned([head, *rows], left=tuple(column for column, name in enumerate(head)
                                              if name not in ("launch", "process", "instructions", "cycles")))
    left_out = launches.total - len(launches.entries)
    executed = f", {plural(launches.instructions, 'warp instruction')}" if quick else ""
    lines.append(f"{plural(launches.total, 'launch')}{executed}, {launches.cycles_text}"
                 + (f"; {left_out:,} not listed" if left_out else ""))
    return "\n".join(lines)


def extent(size: Extent) -> str:
    """Return a grid or block as text: 8, 8 x 4."""
    used = max([k for k in range(3) if size[k] != 1], default=0) + 1
    return " x ".join(f"{n:,}" for n in size[:used])
