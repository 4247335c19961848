"""`rfview debug`: run a kernel live in the terminal, forwards and backwards."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import RfviewError
from rfview import startup
from rfview.commands import options, screen

if TYPE_CHECKING:
    from rfview.sessions import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="FILE|NAME",
                        help="a launch file (.toml), a recipe (.rfr) or a bundled kernel (see `rfview kernels`)")
    options.add_machine(parser)
    parser.add_argument("--check", action="store_true",
                        help="first look for races, unwritten reads, wrong barriers and lane masks; u shows them again")
    screen.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen on a live session; on a terminal the first frame comes before the machine is ready."""
    if args.check and (args.plain or not screen.is_terminal()):
        args.command = f"{args.command}; check" if args.command else "check"
    if args.plain:
        return screen.plain_text(options.open_target(args), args)
    if not screen.is_terminal():
        with options.open_target(args) as session:
            return screen.show_text(session, args, args.target)
    from rfview import keymap

    keys = keymap.load()
    name, path, machine = recipe_of(args) if options.is_recipe(args.target) else kernel_of(args)
    start = startup.Startup(args)
    if args.check:
        start.later.append("check")     # with the first frame: its window opens over that
    failures: list[RfviewError] = []

    def opener(report: Callable[..., None]) -> Session:
        from rfview.sessions import open_session

        try:
            session = start.apply(open_session(path, progress=report, **machine), report)
        except RfviewError as error:
            failures.append(error)
            raise
        return session

    from rfview.app import run_app

    code = run_app(opener, title=name, ascii_only=args.ascii, target=args.target, keymap=keys,
                   begin=start.begin, command=options.command_of("debug", args))
    if failures:
        raise failures[0]   # the screen showed it; say it once more where it stays
    return code


def kernel_of(args: argparse.Namespace) -> tuple[str, str, dict[str, Any]]:
    """Return name, path and machine options of a kernel; what is wrong with the files is said before the screen opens."""
    machine = options.machine_of(args)
    name = options.load_target(args.target).name
    options.check_names(machine)
    return name, str(options.launch_path(args.target)), machine


def recipe_of(args: argparse.Namespace) -> tuple[str, str, dict[str, Any]]:
    """Return name and path of a recipe, which brings its machine."""
    from rfview.sessions.timeline.recipe import open_recipe

    options.refuse_machine(args, args.target)
    return open_recipe(args.target).info["name"], args.target, {}
