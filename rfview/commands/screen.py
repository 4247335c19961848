"""Show a session: on a terminal with the Textual screens, otherwise the same screen once as text."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rfview import startup, streams
from rfview.engine.errors import InputError
from rfview.commands import options

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.view import View
    from rfview.sessions import Session

TEXT_SIZE = (120, 40)
NO_SCREEN = ("", "dumb", "unknown")     # values of TERM for terminals that cannot draw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of commands that open the screen."""
    parser.add_argument("--goto", metavar="WHERE", help="start at a cycle, such as 1234, 50%% or end")
    parser.add_argument("--warp", type=int, default=0, metavar="N", help="focus this warp")
    parser.add_argument("--overlay", metavar="B.rfs", help="underline what differs in another run of the same kernel")
    parser.add_argument("--plain", action="store_true", help="print sentences instead of a screen (`rfview help plain`)")
    parser.add_argument("--ascii", action="store_true", default=streams.is_ascii(),
                        help="draw with ASCII characters only")
    startup.add_arguments(parser)


def defaults(**given: object) -> argparse.Namespace:
    """Return the screen's default options, with the given ones replaced."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return argparse.Namespace(**{**vars(parser.parse_args([])), **given})


def is_terminal() -> bool:
    """Return whether a person can see and type: on a terminal, or where Textual draws elsewhere, such as in a browser."""
    if is_page():
        return True
    used = (sys.stdin, sys.stdout, sys.stderr)      # the screen is drawn on standard error
    return all(stream.isatty() for stream in used) and os.environ.get("TERM", "") not in NO_SCREEN


def is_page() -> bool:
    """Return whether Textual draws elsewhere than on a terminal, such as in a browser: what is printed is not seen there."""
    return bool(os.environ.get("TEXTUAL_DRIVER"))


def no_terminal() -> str:
    """Return why the screen cannot be drawn."""
    if sys.stdin.isatty() and sys.stdout.isatty() and not sys.stderr.isatty():
        return "the screen is drawn on standard error, which is not a terminal here"
    return "there is no terminal here"


def show_recording(file: str, args: argparse.Namespace, view: View | None = None) -> int:
    """Show a recording and return the exit code.

    view: restored at the beginning, saved at the end; None for a recording that comes with rfview, next to which nothing is
    written.
    """
    from rfview import keymap
    from rfview.sessions.targets import open_bundled, open_session

    keys = keymap.load()
    session = open_session(file) if view is not None else open_bundled(Path(file))
    if args.plain:
        return plain_text(session, args)
    if not is_terminal():
        options.warn(session.warnings)
        with session:
            return show_text(session, args, file)
    start = startup.Startup(args)
    if view is not None:
        view.apply(session)
    session = start.apply(session)
    from rfview.app import run_app

    def begin(main: Desk) -> None:
        if view is not None:
            view.begin(main)
        start.begin(main)

    command = f"rfview replay {shlex.quote(file)}"
    code = run_app(session, ascii_only=args.ascii, target=file, keymap=keys, begin=begin, command=command)
    if view is not None:
        view.keep()
    return code


def plain_text(session: Session, args: argparse.Namespace) -> int:
    """Run the linear mode over a session."""
    from rfview import plain

    no_overlay(args)
    options.warn(session.warnings)
    start = startup.Startup(args)
    with session:
        session = start.apply(session)
        start.tell()
        return plain.run(session, warp=args.warp, first=start.later)


def no_overlay(args: argparse.Namespace) -> None:
    """Raise InputError if another run is to be laid over text: only the screen does that."""
    if args.overlay is not None:
        raise InputError("--overlay: only the screen shows it; leave --plain out, in a terminal, or use `rfview compare`")


def show_text(session: Session, args: argparse.Namespace, target: str) -> int:
    """Print the session's screen as text, then suggestions of what to try next."""
    from rfview.app import render_text
    from rfview.sessions.warps import check_warp

    no_overlay(args)
    start = startup.Startup(args)
    session = start.apply(session)
    start.tell()
    check_warp(args.warp, session.info.num_warps, "--warp")
    width, height = shutil.get_terminal_size(TEXT_SIZE) if sys.stdout.isatty() else TEXT_SIZE
    print(render_text(session, max(width, 80), max(height, 24), ascii_only=args.ascii, warp=args.warp))
    commands = f'rfview script {target} -c "goto 50%; print warp[0].pc"'
    if hasattr(args, "chosen"):
        commands = f"rfview record -o run.rfs {target}     a recording of it, for script, replay and export"
    print(f"""
This is {target}, as text because {no_terminal()}. In a terminal it can be stepped through.
try: rfview                             a recorded run, with keys; ? lists them
     rfview run vectoradd               a kernel on the cycle-level machine
     rfview debug gemm --design stt     a live run, forwards and backwards
     {commands}
""".rstrip())
    return 0
