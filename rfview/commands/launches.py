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

EPILOG = programs.EPILOG
TAKES_PROGRAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="PROGRAM", nargs="?", help="a CUDA program, followed by its arguments")
    programs.add_words(parser)
    options.add_machine(parser)
    programs.add_python(parser)
    parser.add_argument("--only", metavar="KERNEL[:NTH]|NUMBER", help="list only this launch and keep nothing of the others")
    parser.add_argument("--json", metavar="FILE", help="also write the list as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the program, print the table after the program's own output, and return its exit code.

    A program that ends with 0 although one of its kernels faulted gives 1. An interruption shows the table so far.
    """
    output = files.check_target(args.json) if args.json else None

    def show(launches: Launches, code: int | None) -> None:
        print(table(launches))
        if output is not None:
            total = {"launches": launches.total, "cycles": launches.cycles, "exit_code": code}
            files.write(output, json.dumps({**total, "list": programs.rows_of(launches)}, indent=1) + "\n")

    code, device = programs.captured(args, only=args.only, interrupted=lambda launches: show(launches, None))
    show(device.launches, code)
    if device.launches.faults and not code:
        programs.say(f"the program ended with code 0 although {plural(device.launches.faults, 'launch')} ended in a fault")
        return 1
    return code


def table(launches: Launches) -> str:
    """Return the launches as lines: number, kernel, grid, block, cycles, result; and process if several launched kernels."""
    several = len({entry.process for entry in launches.entries}) > 1
    rows = [(str(entry.number), *([str(entry.process)] if several else []), visible(entry.label), extent(entry.grid),
             extent(entry.block), f"{entry.cycles:,}", visible(entry.result) or "fine") for entry in launches.entries]
    head = ("launch", *(["process"] if several else []), "kernel", "grid", "block", "cycles", "result")
    lines = aligned([head, *rows], left=tuple(column for column, name in enumerate(head)
                                              if name not in ("launch", "process", "cycles")))
    left_out = launches.total - len(launches.entries)
    lines.append(f"{plural(launches.total, 'launch')}, {plural(launches.cycles, 'cycle')}"
                 + (f"; {left_out:,} not listed" if left_out else ""))
    return "\n".join(lines)


def extent(size: Extent) -> str:
    """Return a grid or block as text: 8, 8 x 4."""
    used = max([k for k in range(3) if size[k] != 1], default=0) + 1
    return " x ".join(f"{n:,}" for n in size[:used])
