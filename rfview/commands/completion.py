"""`rfview completion`: a script with which a shell completes commands, options and files, made by shtab."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from rfview import cli

SHELLS = ("bash", "zsh", "fish", "tcsh")
OF_FILES = ("TARGET", "PROGRAM", "FILE", "FOLDER", "DIR")       # metavars, FILE.rfs too, whose values are mostly files
EPILOG = """where shells look for it:
  rfview completion bash > ~/.local/share/bash-completion/completions/rfview
  rfview completion zsh > ~/.zfunc/_rfview          # with fpath+=~/.zfunc before compinit in ~/.zshrc
  rfview completion fish > ~/.config/fish/completions/rfview.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab        # start-up: no other command needs it

    print(shtab.complete(whole_parser(shtab.FILE), args.shell))
    return 0


def whole_parser(of_files: dict[str, Any]) -> argparse.ArgumentParser:
    """Return one parser of all commands with their options; of_files: what says that an argument is a file."""
    parser = argparse.ArgumentParser(prog="rfview", description="A time-travelling visual debugger for GPU register files.")
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command")
    for name, what in cli.COMMANDS.items():
        one = commands.add_parser(name, help=what)
        cli.declare(name, importlib.import_module(f"rfview.commands.{name}"), one)
        for action in one._actions:         # argparse has no other way to what was declared, and shtab asks for this
            if str(action.metavar).partition(".")[0] in OF_FILES:
                action.complete = of_files  # type: ignore[attr-defined]
    return parser
