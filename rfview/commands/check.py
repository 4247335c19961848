"""`rfview check`: look for undefined behaviour while a kernel runs: races, unwritten reads, barriers, lane masks."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rfview.commands import options, programs, progress
from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.check.findings import Finding
    from rfview.engine.check.selection import Filters, Key, Selection

TAKES_PROGRAM = True
EPILOG = """exit codes: 0 nothing new found (of a program: its own), 1 something found (a fault counts), 2 bad input
examples:
  rfview check gemm                values only; --every-cycle simulates, and says in which cycle
  rfview check my_kernel.toml --json
  rfview check run.rfs             the recorded run, simulated again
  rfview check ./app 100           every launch of a CUDA program, or of a script with numba-cuda or Triton
  rfview check --kernel '!thrust::*' --kernel '!cub::*' -- ./app     not what libraries do
  rfview check --write-baseline known.json -- ./app                  later: --baseline known.json shows only what is new
`rfview help check` says exactly what is reported, and what counts as a race"""
FOUND = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="TARGET", nargs="?",
                        help="a launch file, a bundled kernel's name, a recording, or a program")
    programs.add_words(parser)
    options.add_machine(parser)
    parser.add_argument("--every-cycle", action="store_true",
                        help="simulate cycle by cycle, several times slower; findings then name cycles instead of a warp's "
                             "instructions. Recordings always are. Of machine code, with --preset ampere, it also finds the "
                             "wrong values that hazards give")
    words.add_arguments(parser)
    options.add_json(parser)
    chosen = parser.add_argument_group("which findings are shown (each may be given several times)")
    for aspect, what in (("kernel", "kernels of this name"), ("file", "code from this source file, inlined code included"),
                         ("function", "code of this inlined function"), ("kind", "this kind, such as race-global")):
        chosen.add_argument(f"--{aspect}", action="append", metavar="PATTERN",
                            help=f"only {what}; * and ? stand for any text, ! in front leaves out what matches")
    known = parser.add_argument_group("known findings")
    known.add_argument("--baseline", metavar="FILE", help="keep the findings that this file lists silent; list those of it "
                                                         "that no longer occur")
    known.add_argument("--write-baseline", metavar="FILE", help="write the findings that are shown to a file; they count as "
                                                               "known")


def run(args: argparse.Namespace) -> int:
    """Check the run; return 0 if nothing is found, else 1."""
    if programs.names_program(args):
        return of_program(args)
    if args.target is None:
        raise InputError("check: expected a launch file, a bundled kernel's name, a recording, or a program")
    with words.as_launch_file(args):
        return checked_run(args)


def of_program(args: argparse.Namespace) -> int:
    """Check all launches of a program; return 1 if something new is found, else the program's own exit code."""
    from rfview.capture.checked import CAPACITY, Checked
    from rfview.engine.check.functional import CheckedFunctionalSimulator
    from rfview.engine.check.machine import CheckedSimulator

    filters, known = selected_by(args)
    checked = Checked()
    code, device = programs.captured(args, kind=CheckedSimulator, values_kind=CheckedFunctionalSimulator,
                                     by_values=not args.every_cycle, ran=checked, capacity=CAPACITY, tracks=True)
    selection = sorted_out([one.finding for one in checked.defects], filters, known, args)
    shown = [checked.defects[at] for at in selection.shown]
    launches = device.launches
    if args.json:
        print(json.dumps({"findings": [one.as_dict() for one in shown], "more": checked.more, "ran": checked.ran,
                          "launches": launches.total, "cycles": launches.cycles if args.every_cycle else -1,
                          "instructions": launches.instructions, "exit_code": code, **selection.as_dict()}))
    else:
        length = plural(launches.cycles, "cycle") if args.every_cycle else plural(launches.instructions, "warp instruction")
        text = checked.text(shown, launches.total, length)
        print("\n".join([text, *selection.as_text(filters, args.baseline)]))
        if shown and shown[0].finding.words():
            first = shown[0]
            words = [*options.machine_words(args), *(["--python", args.python] if args.python else [])]
            words += ["--launch", str(first.entry.number), *first.finding.words()]
            print(f"see: {shlex.join(['rfview', 'debug', *words, '--', *programs.words_of(args)])}")
    return FOUND if shown else code


def checked_run(args: argparse.Namespace) -> int:
    """Check the run of an existing target."""
    filters, known = selected_by(args)
    if options.is_session(args.target):
        from rfview.sessions.check import check

        with options.open_target(args) as session, progress.bar(1.0) as report:
            findings = check(session, lambda seconds: report(None, f"checking {args.target}: {seconds:.0f} s"))
    else:
        machine = options.machine_of(args)
        spec = options.load_target(args.target)
        with progress.bar() as report:
            from rfview.engine.check.functional import CheckedFunctionalSimulator
            from rfview.engine.check.machine import CheckedSimulator, run

            kind = CheckedSimulator if args.every_cycle else CheckedFunctionalSimulator
            findings = run(kind(spec, progress=report, **machine))
    selection = sorted_out(findings.found, filters, known, args)
    shown = replace(findings, found=tuple(findings.found[at] for at in selection.shown))
    if args.json:
        print(json.dumps({**shown.as_dict(), **selection.as_dict()}))
    else:
        from rfview.sessions.commands.check import text_of

        print("\n".join([text_of(shown), *selection.as_text(filters, args.baseline)]))
        if shown.found and shown.found[0].words():
            command = options.command_of("replay" if options.is_session(args.target) else "debug", args)
            print(f"see: {command} {shlex.join(shown.found[0].words())}")
    return FOUND if shown.found else 0


def selected_by(args: argparse.Namespace) -> tuple[Filters, list[Key]]:
    """Return the filters and the known findings that the command line names. Raises InputError, before anything runs."""
    from rfview.engine.check.selection import ASPECTS, Filters, read_baseline

    filters = Filters({aspect: given for aspect in ASPECTS if (given := getattr(args, aspect))})
    if args.write_baseline is not None:
        files.check_target(args.write_baseline)
    return filters, read_baseline(args.baseline) if args.baseline is not None else []


def sorted_out(findings: Sequence[Finding], filters: Filters, known: list[Key], args: argparse.Namespace) -> Selection:
    """Decide what to show; write the baseline that the command line asks for, whose findings then count as known."""
    from rfview.engine.check.selection import key_of, select, write_baseline

    if args.write_baseline is None:
        return select(findings, filters, known)
    selection = select(findings, filters, [])
    shown = [findings[at] for at in selection.shown]
    write_baseline(args.write_baseline, shown)
    print(f"{plural(len(shown), 'finding')} written to {args.write_baseline}", file=sys.stderr)
    return select(findings, filters, [*known, *map(key_of, shown)])
