"""`rfview learn [TOUR]`: the guided tours, on the screen or as text; each uses a small bundled recording."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview import listing, streams
from rfview.commands import screen

if TYPE_CHECKING:
    from rfview.learn.tour import Shown

EPILOG = """each page shows the machine at one cycle, asks what comes next, and lets you step there;
without a terminal, or with --plain, the tour is printed as text"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("tour", nargs="?", metavar="TOUR", help="a tour's name, or a design's (default: list all)")
    parser.add_argument("--plain", action="store_true",
                        help="take the tour as text; on a terminal it still asks its questions")
    parser.add_argument("--ascii", action="store_true", default=streams.is_ascii(),
                        help="draw with ASCII characters only")


def run(args: argparse.Namespace) -> int:
    """List the tours, or run one."""
    if args.tour is None:
        print(list_text())
        return 0
    from rfview import keymap
    from rfview.learn import tours
    from rfview.sessions import open_session

    tour = tours.tour(args.tour)
    if not screen.is_terminal() or args.plain:
        from rfview.learn.tour import Lesson, run_text

        with open_session(tour.recording) as session:
            print(f"{tour.title}\n{tour.sentence}\n")
            run_text(Lesson(tour, session), print, asker() if sys.stdin.isatty() else None)
        return 0
    from rfview.learn.window import run_tour

    return run_tour(tour, ascii_only=args.ascii, keymap=keymap.load())


def list_text() -> str:
    """Return the tours, name, title and sentence."""
    from rfview.learn.tours import TOURS

    rows = [(tour.name, tour.title, tour.sentence) for tour in TOURS.values()]
    return f"{listing.columns(rows)}\n\n`rfview learn first` starts the first tour; each takes about five minutes"


def asker() -> Callable[[Shown], int]:
    """Return a function that asks for a choice at a terminal: its number, or Enter for the answer."""

    def ask(shown: Shown) -> int:
        while True:
            try:
                text = input(f"your answer, 1 to {len(shown.choices)} (Enter: tell me): ").strip()
            except EOFError:
                return 0
            if not text:
                return 0
            if text.isdecimal() and 1 <= int(text) <= len(shown.choices):
                return int(text)

    return ask
