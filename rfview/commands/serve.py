"""`rfview serve`: the screens in a browser; each page is a session of its own."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any
from urllib.parse import urlsplit

from rfview import cli
from rfview.engine.errors import InputError

SHOWN = ("replay", "debug", "compare", "learn")     # commands that have a screen
OWN = ("--host", "--port", "--public-url")          # serve's own options, which none of these commands has
EPILOG = """serves the start screen, a recording, a kernel, or any command that has a screen
  rfview serve run.rfs
  rfview serve debug gemm --design hrf
  rfview serve --port 8080 learn drain

The address contains a secret: anyone who has it can run whatever rfview can, as you. From another machine, forward the
port:
  ssh -L 8080:127.0.0.1:8080 MACHINE"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("words", metavar="FILE|NAME|COMMAND ...", nargs=argparse.REMAINDER, help="what to show")
    parser.add_argument("--host", default="127.0.0.1", help="listen on this address (default 127.0.0.1: this machine only)")
    parser.add_argument("--port", type=int, default=0, help="listen on this port (default: any free port)")
    parser.add_argument("--public-url", default="", metavar="URL",
                        help="the address of a proxy in front of it, with https:// or http://")


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if not 0 <= args.port < 65536:
        raise InputError(f"--port {args.port}: expected 0 to 65535")
    public = urlsplit(args.public_url)
    if args.public_url and (public.scheme not in ("http", "https") or not public.hostname):
        raise InputError(f"--public-url {args.public_url}: expected an address such as https://machine.example")
    words = command_of(args.words)
    check(words)
    server: Any = _web()
    if args.host not in server.LOOPBACK:
        print(f"rfview: warning: {args.host} can be reached from other machines; anyone with the address can act as "
              "you, and without https it can be read in transit", file=sys.stderr)
    try:
        server.serve(server.Server(words, args.host, args.public_url), args.host, args.port)
    except OSError as error:
        where = f"--host {args.host} --port {args.port}"
        raise InputError(f"{where}: cannot listen there: {error.strerror or error}") from None
    return 0


def command_of(words: list[str]) -> list[str]:
    """Return the rfview command line that the words mean."""
    late = next((word.partition("=")[0] for word in words if word.partition("=")[0] in OWN), None)
    if late is not None:
        raise InputError(f"serve: {late} must come before what is served: rfview serve {late} ... {shlex.quote(words[0])}")
    if not words or words[0] in SHOWN:
        return words
    if words[0] in cli.COMMANDS:
        raise InputError(f"serve: {words[0]} has no screen; expected a recording, a kernel, or one of {', '.join(SHOWN)}")
    return ["replay" if words[0].endswith(".rfs") else "debug", *words]


def check(words: list[str]) -> None:
    """Raise RfviewError for a bad command line now, instead of showing it to the first page."""
    if not words:
        return
    module, args = cli.parsed(words[0], words[1:])
    if words[0] == "replay":
        from rfview.sessions import open_session

        open_session(args.file).close()
    elif words[0] == "debug":
        from rfview.commands import programs
        from rfview.launching.words import as_launch_file

        if not programs.is_program(args):
            if args.target is None:
                raise InputError("serve debug: expected what to debug; plain rfview serve shows what there is")
            with as_launch_file(args):
                module.target_of(args)
    elif words[0] == "learn":
        if args.tour is None:
            raise InputError("serve learn: expected a tour; plain rfview serve lists them")
        from rfview.learn import tours

        tours.tour(args.tour)
    elif not (module.compare_recordings.is_meant(args.targets) or args.open):
        raise InputError(f"serve {shlex.join(words)}: a table of designs has no screen; expected two runs, such as "
                         f"{words[1]}@hrf {words[1]}@sram")


def _web() -> Any:
    """Return the server module; raises InputError if its package is missing."""
    try:
        from rfview.web import server
    except ModuleNotFoundError as error:
        if error.name in ("textual_serve", "aiohttp"):
            raise InputError("serve: needs textual-serve; pip install 'rfview[web]', or in rfview's folder "
                             "pip install '.[web]'") from None
        raise
    return server
