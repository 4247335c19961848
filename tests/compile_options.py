"""Checks that every bundled kernel's small size has the right results under each compilation option, and under all.

    python -m tests.compile_options                       all kernels, all sets of options, on sram
    python -m tests.compile_options --kernels gemm,bfs --designs sram,hcrf --options schedule
    python -m tests.compile_options --corpus              the corpus as well

One line per kernel: cycles and registers per thread under each set. Exit code 0 if all results are right, else 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rfview.engine import compilation, kernels
from rfview.engine.launch import load_launch_file, verify
from rfview.engine.simulator import Simulator
from tests.reference.cases import CASES, path_of

# arguments of `--compile`; the last combines several
SETS = ("off", "schedule", "addresses=32", "numbering=banks", "registers=14", "registers=32",
        "schedule,addresses=32,numbering=banks,registers=32")


def outcome(path: Path, words: str, design: str = "sram", scheduler: str = "gto") -> tuple[int, int, list[str]]:
    """Run a launch file with these options; return cycles, registers per thread, and which of its results are wrong."""
    spec = load_launch_file(path)
    machine = Simulator(spec, design=design, scheduler=scheduler, settings=compilation.settings_of(words))
    machine.run()
    wrong = [str(miss) for miss in verify(spec, {**machine.symbols(), **machine.buffers()})]
    return machine.cycle, max(placed.registers for placed in machine.placement.launches), wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all kernels and print a line for each; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.compile_options", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", metavar="LIST", help="bundled kernels, by commas (default: all)")
    parser.add_argument("--designs", metavar="LIST", default="sram", help="by commas (default sram)")
    parser.add_argument("--options", metavar="LIST", help="sets of options, by semicolons (default: each alone, and all)")
    parser.add_argument("--corpus", action="store_true", help="the corpus as well")
    args = parser.parse_args(arguments)
    sets = args.options.split(";") if args.options else SETS
    names = args.kernels.split(",") if args.kernels else kernels.names()
    failed = 0
    print(f"{'cycles, registers':<28}", *(f"{words:>26}" for words in sets))
    for name in [*names, *(CASES if args.corpus else ())]:
        path = path_of(name) if name in CASES else kernels.path(name)
        for design in args.designs.split(","):
            cells = []
            for words in sets:
                cycles, registers, wrong = outcome(path, words, design)
                failed += bool(wrong)
                cells.append(f"{'WRONG ' if wrong else ''}{cycles:,} {registers:3}")
                for text in wrong[:3]:
                    print(f"{name} {design} {words}: {text}", file=sys.stderr)
            print(f"{name + ' ' + design:<28}", *(f"{cell:>26}" for cell in cells), flush=True)
    print(f"{failed} wrong" if failed else "all right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
