"""`rfview check`: look for undefined behaviour while a kernel runs: races, unwritten reads, barriers, lane masks."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import TYPE_CHECKING

from rfview.commands import options, programs, progress
from rfview.engine.errors import InputError
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.check.findings import Findings

TAKES_PROGRAM = True
EPILOG = """exit codes: 0 nothing found (of a program: its own), 1 something found (a fault counts), 2 bad input
examples:
  rfview check gemm
  rfview check my_kernel.toml --json
  rfview check run.rfs             the recorded run, simulated again
  rfview check ./app 100           every launch of a CUDA program, or of a script with numba-cuda or Triton
`rfview help check` says exactly what is reported, and what counts as a race"""
FOUND = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="TARGET", nargs="?",
                        help="a launch file, a bundled kernel's name, a recording, a recipe, or a program")
    programs.add_words(parser)
    options.add_machine(parser)
    words.add_arguments(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check the run; return 0 if nothing is found, else 1."""
    if programs.names_program(args):
        return of_program(args)
    if args.target is None:
        raise InputError("check: expected a launch file, a bundled kernel's name, a recording, a recipe, or a program")
    with words.as_launch_file(args):
        return checked_run(args)


def of_program(args: argparse.Namespace) -> int:
    """Check all launches of a program; return 1 if something is found, else the program's own exit code."""
    from rfview.capture.checked import CAPACITY, Checked
    from rfview.engine.check.machine import CheckedSimulator

    checked = Checked()
    code, device = programs.captured(args, kind=CheckedSimulator, ran=checked, capacity=CAPACITY, tracks=True)
    if args.json:
        found = [one.as_dict() for one in checked.defects]
        print(json.dumps({"findings": found, "more": checked.more, "launches": device.launches.total, "ran": checked.ran,
                          "cycles": device.launches.cycles, "exit_code": code}))
    else:
        print(checked.text(device.launches.total, device.launches.cycles))
        if checked.defects:
            first = checked.defects[0]
            words = [*options.machine_words(args), *(["--python", args.python] if args.python else [])]
            words += ["--launch", str(first.entry.number), "--goto", str(first.finding.cycle)]
            print(f"see: {shlex.join(['rfview', 'debug', *words, '--', *programs.words_of(args)])}")
    return FOUND if checked.defects else code


def checked_run(args: argparse.Namespace) -> int:
    """Check the run of an existing target."""
    if options.is_session(args.target) or options.is_recipe(args.target):
        from rfview.sessions.check import check

        with options.open_target(args) as session, progress.bar(1.0) as report:
            found = check(session, lambda seconds: report(None, f"checking {args.target}: {seconds:.0f} s"))
    else:
        machine = options.machine_of(args)
        spec = options.load_target(args.target)
        with progress.bar() as report:
            from rfview.engine.check import machine as checked

            found = checked.run(checked.CheckedSimulator(spec, progress=report, **machine))
    print(json.dumps(found.as_dict()) if args.json else text_of(found, args))
    return FOUND if found.found else 0


def text_of(found: Findings, args: argparse.Namespace) -> str:
    """Return the findings as text, and how to debug the first."""
    from rfview.sessions.commands.check import text_of

    text = text_of(found)
    if not found.found:
        return text
    command = options.command_of("replay" if options.is_session(args.target) else "debug", args)
    return f"{text}\nsee: {command} --goto {found.found[0].cycle}"
