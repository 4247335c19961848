"""`rfview capture`: run an unmodified GPU program and write one of its launches as a self-contained folder."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from rfview.commands import options, programs

EPILOG = programs.EPILOG
TAKES_PROGRAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="PROGRAM", nargs="?", help="a CUDA program, followed by its arguments")
    parser.add_argument("words", metavar="ARGUMENT", nargs="*", help="the program's arguments")
    options.add_machine(parser)
    programs.add_launch(parser, required=True)
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder to write (default KERNEL.NTH)")


def run(args: argparse.Namespace) -> int:
    """Run the program, write the folder, and end with the program's exit code."""
    from rfview.capture.folder import write

    code, device = programs.captured(args, stops=args.stop)
    taken = programs.taken_of(device)
    folder = Path(args.output or f"{taken.entry.kernel}.{taken.entry.nth}")
    file = write(taken, folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    fate = f"; {taken.entry.result}" if taken.entry.result else ""
    print(f"{file}: launch {taken.entry.number}, {taken.entry.cycles:,} cycles, {size:,} bytes{fate}\n"
          f"try: rfview run {shlex.quote(str(file))}\n     rfview debug {shlex.quote(str(file))}")
    return code
