"""Show a session: the Textual screens on a terminal, otherwise the same screen once as text."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions import Session

TEXT_SIZE = (120, 40)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of commands that open the screen."""
    parser.add_argument("--goto", metavar="WHERE", help="start at a cycle, as 1234, 50%% or end")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")


def show(session: Session, args: argparse.Namespace, target: str) -> int:
    """Open the screen and return the exit code; without a terminal print the screen and what to try next."""
    if args.goto:
        session.goto(args.goto)
    if is_terminal():
        from rfview.app import run_app

        return run_app(session, ascii_only=args.ascii) or 0
    print_screen(session, target, args.ascii)
    return 0


def is_terminal() -> bool:
    """Say whether a person can see and type."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def print_screen(session: Session, target: str, ascii_only: bool = False) -> None:
    """Print the session's screen as text, then what to try next."""
    from rfview.app import render_text

    width, height = shutil.get_terminal_size(TEXT_SIZE) if sys.stdout.isatty() else TEXT_SIZE
    print(render_text(session, width=max(width, 80), height=max(height, 24), ascii_only=ascii_only))
    print(f"\nThis is {target} as text, because there is no terminal here. In a terminal it can be stepped through.")
    print("try: rfview                                    the same in a terminal, with keys (? for help)")
    print("     rfview run vectoradd                      a kernel on the cycle-level machine")
    print("     rfview debug gemm --design stt            live, forwards and backwards")
    print(f'     rfview script {target} -c "goto 50%; print warp[0].pc"')
