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
    from rfview.capture.launches import Entry, Extent, Launches

EPILOG = f"""{programs.EPILOG}

Of more than 200 launches, those of a kernel share a line, and only those that failed have one of their own.

--quick computes only the values of launches, many times faster. Cycles marked ~ are estimates: warp instructions times the
cycles of one, from the first 20,000 cycles of a kernel, whose caches are still cold. Results are those of every launch
simulated, unless they depend on the order in which warps execute: races, float atomics, what an atomic returns, clocks."""
TAKES_PROGRAM = True
LISTED = 200            # launches: of more, the table has a line for each kernel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="PROGRAM", nargs="?", help="a CUDA program, followed by its arguments")
    programs.add_words(parser)
    options.add_machine(parser)
    programs.add_python(parser)
    parser.add_argument("--only", metavar="KERNEL[:NTH]|NUMBER", help="list only this launch and keep nothing of the others")
    parser.add_argument("--quick", action="store_true",
                        help="compute values only; list warp instructions, and estimated cycles")
    parser.add_argument("--json", metavar="FILE", help="also write the list as JSON, every launch of it")


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
    """Return the launches as lines, one each, or of more than LISTED one for each kernel; then their total."""
    is_long = len(launches.entries) > LISTED
    lines = by_kernel(launches) if is_long else each(launches, launches.entries)
    if is_long and (failed := [entry for entry in launches.entries if entry.result]):
        lines += ["", *each(launches, failed[:LISTED])]
    left_out = launches.total - len(launches.entries)
    executed = f", {plural(launches.instructions, 'warp instruction')}" if launches.estimates else ""
    lines.append(f"{plural(launches.total, 'launch')}{executed}, {launches.cycles_text}"
                 + (f"; {left_out:,} not listed" if left_out else "")
                 + ("; a line for each kernel, as there are so many: --json FILE has every launch" if is_long else ""))
    return "\n".join(lines)


def each(launches: Launches, entries: list[Entry]) -> list[str]:
    """Return launches as lines: number, kernel, grid, block, cycles, result; if useful, process, instructions."""
    several = len({entry.process for entry in launches.entries}) > 1
    quick = launches.estimates > 0
    rows = [(str(entry.number), *([str(entry.process)] if several else []), visible(entry.label), extent(entry.grid),
             extent(entry.block), *([f"{entry.instructions:,}"] if quick else []),
             f"{'~' if entry.is_estimate else ''}{entry.cycles:,}", visible(entry.result) or "fine")
            for entry in entries]
    head = ("launch", *(["process"] if several else []), "kernel", "grid", "block", *(["instructions"] if quick else []),
            "cycles", "result")
    return _aligned(head, rows, ("launch", "process", "instructions", "cycles"))


def by_kernel(launches: Launches) -> list[str]:
    """Return a line for each kernel, the one with the most cycles first; a template's instances are kernels of their own."""
    groups: dict[str, list[Entry]] = {}
    for entry in launches.entries:
        groups.setdefault(entry.label.rpartition(":")[0], []).append(entry)
    every = sum(entry.cycles for entry in launches.entries) or 1
    rows: list[tuple[str, ...]] = []
    for name, ones in sorted(groups.items(), key=lambda group: -sum(entry.cycles for entry in group[1])):
        cycles, bad = sum(entry.cycles for entry in ones), sum(bool(entry.result) for entry in ones)
        rows.append((visible(name), f"{len(ones):,}", f"{ones[0].number:,}", _sizes([entry.grid for entry in ones]),
                     _sizes([entry.block for entry in ones]), f"{sum(entry.instructions for entry in ones):,}",
                     f"{'~' if any(entry.is_estimate for entry in ones) else ''}{cycles:,}", f"{cycles / every:.0%}",
                     f"{bad:,} not fine" if bad else "fine"))
    head = ("kernel", "launches", "first", "grid", "block", "instructions", "cycles", "share", "result")
    return _aligned(head, rows, ("launches", "first", "instructions", "cycles", "share"))


def _aligned(head: tuple[str, ...], rows: list[tuple[str, ...]], numbers: tuple[str, ...]) -> list[str]:
    """Return a table's lines, the columns of numbers flush right."""
    return aligned([head, *rows], left=tuple(column for column, name in enumerate(head) if name not in numbers))


def _sizes(sizes: list[Extent]) -> str:
    """Return the size of grids or blocks, or how many different ones there are."""
    different = set(sizes)
    return extent(sizes[0]) if len(different) == 1 else f"{len(different):,} sizes"


def extent(size: Extent) -> str:
    """Return a grid or block as text: 8, 8 x 4."""
    used = max([k for k in range(3) if size[k] != 1], default=0) + 1
    return " x ".join(f"{n:,}" for n in size[:used])
