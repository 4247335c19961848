"""`rfview replay`: open a recording in the terminal; numba is imported only for cycles that it does not store."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from rfview.engine.errors import InputError
from rfview.commands import screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.rfs", help="the session file; rfview debug runs a kernel live")
    parser.add_argument("--fresh", action="store_true", help="open it afresh instead of as you left it")
    screen.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen on the recording."""
    from rfview.sessions.timeline.opening import is_recording       # start-up, like those below
    from rfview.start.items import opened
    from rfview.view import View

    file = Path(args.file)
    if file.suffix != ".rfs" and not (file.is_file() and is_recording(file)):
        raise InputError(f"{args.file}: not a session file (.rfs); for a kernel or a launch file (.toml), to "
                         f"run it live: rfview debug {shlex.quote(args.file)}")

    if screen.is_terminal():
        opened(args.file)
    return screen.show_recording(args.file, args, View(args.file, fresh=args.fresh))
