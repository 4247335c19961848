"""Shared by commands that answer a question about a session: options, the session at a cycle, the answer as text or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rfview.commands import options
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.sessions import Session


def add_arguments(parser: argparse.ArgumentParser, goto: str = "") -> None:
    """Declare TARGET, --json, the machine and a user's kernel. goto: also --goto, with this default."""
    options.add_openable(parser)
    if goto:
        parser.add_argument("--goto", metavar="WHERE", default=goto,
                            help="the cycle, such as 1234 or 50%% (default %(default)s)")
    options.add_json(parser)
    options.add_machine(parser)
    words.add_arguments(parser)


@contextmanager
def session_at(args: argparse.Namespace, where: str) -> Iterator[Session]:
    """Open TARGET and go to a place in it, to which a kernel is run; 50% and "end" run it to its end."""
    with words.as_launch_file(args), options.open_target(args) as session:
        session.goto(where)
        yield session


def answer(args: argparse.Namespace, text: str, data: Any) -> int:
    """Print the text, or with --json the data; return exit code 0."""
    print(json.dumps(data) if args.json else text)
    return 0
