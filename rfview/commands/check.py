"""`rfview check`: look for what PTX leaves open while a kernel runs: races, unwritten reads, barriers, lane masks."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import TYPE_CHECKING

from rfview.commands import options
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.check.findings import Findings

EPILOG = """exit codes: 0 nothing found, 1 something found (a fault counts), 2 bad input
examples:
  rfview check gemm
  rfview check my_kernel.toml --json
  rfview check run.rfs             the recorded run, simulated again
`rfview help check` says exactly what is reported, and what counts as a race"""
FOUND = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="TARGET", help="a launch file, a bundled kernel's name, a recording or a recipe")
    options.add_machine(parser)
    words.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    """Check the run; return 0 where nothing is found, else 1."""
    with words.as_launch_file(args):
        return checked_run(args)


def checked_run(args: argparse.Namespace) -> int:
    """Check the run of a target that is there."""
    if options.is_session(args.target) or options.is_recipe(args.target):
        from rfview.sessions.check import check

        if options.is_session(args.target):
            options.refuse_machine(args, args.target)
        with options.open_target(args) as session, options.progress(1.0) as report:
            found = check(session, lambda seconds: report(None, f"checking {args.target}: {seconds:.0f} s"))
    else:
        machine = options.machine_of(args)
        spec = options.load_target(args.target)
        with options.progress() as report:
            from rfview.engine.check import machine as checked

            found = checked.run(checked.CheckedSimulator(spec, progress=report, **machine))
    print(json.dumps(found.as_dict()) if args.json else text_of(found, args))
    return FOUND if found.found else 0


def text_of(found: Findings, args: argparse.Namespace) -> str:
    """Return the findings for people, and how to look at the first."""
    from rfview.sessions.commands.check import text_of

    text = text_of(found)
    if not found.found:
        return text
    how = "replay" if options.is_session(args.target) else "debug"
    typed = shlex.join(getattr(args, "typed", [args.target]))
    return f"{text}\nsee: rfview {how} {typed} --goto {found.found[0].cycle}"
