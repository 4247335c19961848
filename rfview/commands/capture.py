"""`rfview capture`: write one launch of an unmodified GPU program, or a user's kernel, as a self-contained folder."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from rfview.commands import options, programs
from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.launching import words

EPILOG = f"{programs.EPILOG}\n\n{words.EPILOG}"
TAKES_PROGRAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="PROGRAM", nargs="?",
                        help="a CUDA program, followed by its arguments; or FILE::KERNEL")
    programs.add_words(parser)
    options.add_machine(parser)
    programs.add_launch(parser)
    words.add_arguments(parser)
    parser.add_argument("-o", "--output", metavar="DIR",
                        help="the folder to write (default KERNEL.NTH; for FILE::KERNEL, FILE without its suffix)")


def run(args: argparse.Namespace) -> int:
    """Write the folder; end with the program's exit code."""
    if words.is_meant(args, args.target or ""):
        return of_kernel(args)
    if not programs.is_program(args):
        raise InputError(f"capture: expected a program or FILE::KERNEL, got {args.target or 'nothing'}")
    from rfview.capture.folder import files_of, write

    code, device = programs.captured(args, stops=args.stop, by_values=not args.every_cycle)
    taken = programs.taken_of(device)
    folder = Path(args.output or f"{taken.entry.kernel}.{taken.entry.nth}")
    file = write(taken, folder, programs.folders_of(args))
    fate = f"; {taken.entry.result}" if taken.entry.result else ""
    entry = taken.entry
    ran = plural(entry.instructions, "warp instruction") if entry.is_estimate else plural(entry.cycles, "cycle")
    tell(file, f"launch {entry.number}, {ran}, {size_of(files_of(file)):,} bytes{fate}")
    return code


def of_kernel(args: argparse.Namespace) -> int:
    """Write the launch of a kernel of the user's own."""
    folder = Path(args.output or Path(args.target.partition("::")[0]).stem)
    made = words.written(args, args.target, folder)
    tell(made[-1], f"{size_of(made):,} bytes")
    return 0


def size_of(made: Sequence[Path]) -> int:
    """Return the bytes of files."""
    return sum(path.stat().st_size for path in made)


def tell(file: Path, facts: str) -> None:
    """Print what was written, and what can be done with it."""
    print(f"{file}: {facts}\ntry: rfview run {shlex.quote(str(file))}\n     rfview debug {shlex.quote(str(file))}")
