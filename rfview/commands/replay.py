"""`rfview replay`: open a recorded session in the terminal; numba is never imported."""

from __future__ import annotations

import argparse

from engine.errors import InputError
from rfview.commands import options, screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.rfs", help="the session file")
    screen.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen on the recording."""
    if not options.is_session(args.file) and args.file.endswith((".toml", ".ptx")):
        raise InputError(f"{args.file}: not a session; to run it live: rfview debug {args.file}")
    from sessions import open_session

    return screen.show(open_session(args.file), args, target=args.file)
