"""`rfview debug`: run a kernel live in the terminal, forwards and backwards."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import InputError, RfviewError
from rfview import startup
from rfview.commands import options, programs, screen
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.sessions import Session


TAKES_PROGRAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="FILE|NAME|PROGRAM", nargs="?",
                        help="a launch file (.toml), a bundled kernel (see `rfview kernels`), "
                             "or a CUDA program")
    programs.add_words(parser)
    options.add_machine(parser)
    parser.add_argument("--check", action="store_true",
                        help="first look for races, uninitialised reads, wrong barriers and lane masks; ! shows them again")
    programs.add_launch(parser)
    words.add_arguments(parser)
    screen.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen on a live session; on a terminal the first frame appears before the machine is ready."""
    if programs.is_program(args):
        return of_program(args)
    if args.target is None:
        raise InputError("debug: expected a launch file, a bundled kernel's name, or a program with --launch")
    with words.as_launch_file(args):
        return shown(args)


def of_program(args: argparse.Namespace) -> int:
    """Run a program up to the chosen launch, stop it there, and open the launch."""
    from rfview.capture.folder import write
    from rfview.commands.rerun import Rerun     # like the above, only a program needs it

    programs.check_core(args)
    _code, device = programs.captured(args, runs_choice=False, stops=True, by_values=not args.every_cycle)
    with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
        file = write(programs.taken_of(device), Path(folder), programs.folders_of(args))
        chosen = ["--launch", args.launch, *(["--python", args.python] if args.python else []), *programs.words_of(args)]
        return shown(argparse.Namespace(**{**vars(args), "target": str(file), "chosen": chosen, "origin": Rerun(args)}))


def shown(args: argparse.Namespace) -> int:
    """Open the screen on a kernel."""
    if args.check and (args.plain or not screen.is_terminal()):
        args.command = f"{args.command}; check" if args.command else "check"
    if args.plain:
        return screen.plain_text(options.open_target(args), args)
    if not screen.is_terminal():
        with options.open_target(args) as session:
            return screen.show_text(session, args, shlex.join(getattr(args, "chosen", [args.target])))
    from rfview import keymap

    keys = keymap.load()
    name, path, machine = target_of(args)
    start = startup.Startup(args)
    if args.check:
        start.later.append("check")     # with the first frame, since its window opens on top of it
    failures: list[RfviewError] = []

    def opener(report: Callable[..., None]) -> Session:
        from rfview.sessions import open_session

        try:
            opened = open_session(path, progress=report, **machine)
            opened.origin = args.origin
            session = start.apply(opened, report)
        except RfviewError as error:
            failures.append(error)
            raise
        return session

    from rfview.app import run_app

    code = run_app(opener, title=name, ascii_only=args.ascii, target=args.target, keymap=keys,
                   begin=start.begin, command=options.command_of("debug", args))
    if failures:
        raise failures[0]   # the screen showed it; repeat it on stderr, where it remains
    return code


def target_of(args: argparse.Namespace) -> tuple[str, str, dict[str, Any]]:
    """Return name, path and machine options of a target; raises InputError."""
    # errors in files are reported before the screen opens
    machine = options.machine_of(args)
    name = options.load_target(args.target).name
    options.check_names(machine)
    return name, str(options.launch_path(args.target)), machine
