"""Commands run when a session is opened: your start-up file's, then those of -x FILE and -c COMMANDS.

The file is $XDG_CONFIG_HOME/rfview/startup.txt, by default ~/.config/rfview/startup.txt: one command a line, or several
separated by ;, # begins a comment. `rfview debug` and `rfview replay` read it, on the screen and with --plain; scripts do
not, so that they do the same everywhere. --no-startup leaves it out.

    break stall > 200          # every session stops when a warp has waited this long
    format hex                 # commands of the screen (format, panel, zoom, timeline ...) run with the first frame
    panel 6

An invalid line is reported once and skipped; an invalid line of -x or -c ends the program with exit code 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rfview.engine.errors import InputError, RfviewError

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.session import Session

FILE = "startup.txt"
SCREEN_WORDS = ("warp", "format", "panel", "explain", "verbose")     # in addition to the commands of actions.py


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of commands that open a session interactively."""
    parser.add_argument("-x", "--commands", metavar="FILE", help="run the commands in a file first")
    parser.add_argument("-c", "--command", metavar="COMMANDS", help="then run these, separated by ;")
    parser.add_argument("--no-startup", action="store_true", help="skip your start-up file (`rfview help startup`)")


def path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the start-up file, which is next to the key file."""
    from rfview import keymap

    return keymap.path(environ).with_name(FILE)


class Startup:
    """The commands of one start. answers: of the commands; the screen shows the last. wrong: lines that were skipped.

    later: commands that only a screen or the linear mode can execute.
    """

    def __init__(self, args: argparse.Namespace):
        """Read all files now; raises InputError for one that cannot be read."""
        self.args = args
        self.commands: list[tuple[str, str, bool]] = []     # place, command, whether it comes from this command line
        self.answers: list[str] = []
        self.wrong: list[str] = []
        self.later: list[str] = []
        if not args.no_startup and path().is_file():
            self.commands += [(where, text, False) for where, text in _read(str(path()))]
        if args.commands:
            self.commands += [(where, text, True) for where, text in _read(str(args.commands))]
        if args.command:
            from rfview.sessions.commands.script import commands

            self.commands += [("-c", text, True) for _, text in commands(args.command)]

    def apply(self, session: Session, report: Callable[[str], object] | None = None) -> Session:
        """Execute the commands that a session can execute, then --goto; return the session to show, perhaps a branch.

        report takes a text during a long command. Raises InputError for an invalid line of -x or -c.
        """
        from rfview.sessions.commands.script import problem_of
        from rfview.sessions.commands.table import ALIASES, execute

        for where, command, wanted in self.commands:
            word = command.partition(" ")[0]
            if report is not None:
                session.progress = lambda cycle, text=command: report(f"{text}: cycle {cycle:,}") and None  # type: ignore
            try:
                if word not in ALIASES and (word in SCREEN_WORDS or command in _screen_commands()):
                    self.later.append(command)
                    continue
                answer = execute(session, command)
            except RfviewError as error:
                text = f"{where}, `{command}`: {problem_of(error, command)}"
                if wanted:
                    raise InputError(text) from None
                self.wrong.append(text)
                continue
            session = answer.session or session
            self.answers.append(answer.text)
        session.progress = None
        if self.args.goto:
            session.goto(self.args.goto)
        return session

    def begin(self, main: Desk) -> None:
        """Execute the screen's commands with its first frame, and show the last answer or error."""
        from rfview.screens.handlers import focus, prompt       # start-up: --plain comes here without Textual

        for command in self.later:
            prompt.entered(main, ":", command)
        if self.args.warp:
            focus.choose_warp(main, self.args.warp)
        if self.args.overlay:
            main.overlay(self.args.overlay)
        if self.wrong:
            main.say(self.wrong[0], "error")
        elif self.answers and not self.later:
            main.say(self.answers[-1].splitlines()[0] if self.answers[-1] else "")

    def tell(self) -> None:
        """Print the answers, and the errors on stderr, when there is no screen."""
        for text in self.answers:
            print(text)
        for text in self.wrong:
            print(f"rfview: {text}", file=sys.stderr)


def _screen_commands() -> set[str]:
    """Return the commands in the screens' table of actions."""
    from rfview.actions import ACTIONS

    return {action.command for action in ACTIONS if action.command}


def _read(name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, command) of a command file; - is standard input."""
    from rfview.sessions.commands.script import commands, read_commands

    yield from ((f"{name}: line {number}", command) for number, command in commands(read_commands(name)))
