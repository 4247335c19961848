"""`rfview debug`: run a kernel live in the terminal, forwards and backwards."""

from __future__ import annotations

import argparse

from rfview.commands import options, screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_target(parser)
    options.add_machine(parser)
    screen.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen on a live session."""
    machine = options.machine_of(args)
    path = options.launch_path(args.target)
    from sessions import open_session

    with options.progress() as report:
        session = open_session(str(path), progress=report, **machine)
    return screen.show(session, args, target=args.target)
