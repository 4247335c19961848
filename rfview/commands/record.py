"""`rfview record`: run a kernel and write a session file, or only the recipe from which it can be simulated again."""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.wording import plural
from rfview.commands import options, programs, progress
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.engine.info import Run
    from rfview.sessions.file.writer import RecordResult

TAKES_PROGRAM = True
EPILOG = """a recipe is small and takes no longer than `rfview run`: the launch with its PTX and data, the machine, and
checksums of the state at intervals. It can be opened live on any computer, or filled in later:
  rfview record gemm --recipe -o gemm.rfr
  rfview debug gemm.rfr
  rfview record --fill gemm.rfr -o gemm.rfs
part of a long run: rfview record bfs --from 'launch 2' --to 'launch 3'; --from 5,000 --to 'stall.barrier > 8'"""

# what the run's constants say of settings and of compiling, in the JSON object too
RUN_FACTS = ("setting_notes", "compile_notes", "spilled_words", "register_limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="FILE|NAME|PROGRAM", nargs="?",
                        help="a launch file (.toml), a bundled kernel (see `rfview kernels`), or a CUDA program")
    programs.add_words(parser)
    options.add_machine(parser)
    programs.add_launch(parser)
    words.add_arguments(parser)
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the file to write (default NAME.rfs; with --recipe, NAME.rfr)")
    parser.add_argument("--from", metavar="PLACE", default="", dest="begin",
                        help="start recording at a cycle, at 'launch N' (from 0 on) or where a condition first holds; "
                             "earlier cycles run unrecorded")
    parser.add_argument("--to", metavar="PLACE", default="", dest="end",
                        help="stop recording at such a place after the start")
    parser.add_argument("--recipe", action="store_true", help="write a recipe (.rfr) instead of every cycle")
    parser.add_argument("--fill", metavar="FILE.rfr", help="simulate a recipe again and write its session file")
    options.add_check(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Record the run; on a fault, what ran before it is kept, and the exit code is the fault's."""
    if (args.begin or args.end) and (args.recipe or args.fill is not None):
        raise InputError("record: --from and --to choose what is recorded; a recipe always covers the whole run")
    if args.check and (args.begin or args.end or args.recipe or args.fill is not None):
        raise InputError("record --check: needs a recording of the whole run; rfview check TARGET checks any")
    if args.fill is not None:
        return fill(args)
    if programs.is_program(args):
        if args.check:
            raise InputError("record --check: needs a launch file or a kernel; rfview check checks a program's launches")
        return of_program(args)
    if args.target is None:
        raise InputError("record: expected a launch file or a bundled kernel's name, or --fill FILE.rfr")
    with words.as_launch_file(args):
        return recipe(args) if args.recipe else recording(args)


def of_program(args: argparse.Namespace) -> int:
    """Record one launch of a program; return the program's exit code."""
    if args.recipe or args.begin or args.end:
        raise InputError("record --launch: the whole launch is recorded; leave out --recipe, --from and --to")
    stem, launch = Path(programs.words_of(args)[0]).stem, args.launch.replace(":", ".")
    name = launch if not launch.isdecimal() else stem if launch == programs.FIRST else f"{stem}.{launch}"
    output = output_of(args, f"{files.stem_of(name)}.rfs", ".rfs")
    from rfview.capture.folder import write

    code, device = programs.captured(args, stops=args.stop, by_values=not args.every_cycle)
    taken = programs.taken_of(device)
    with tempfile.TemporaryDirectory(prefix="rfview-") as folder, progress.bar() as report:
        from rfview.engine.launch import load_launch_file
        from rfview.engine.simulator import Simulator
        from rfview.sessions.file.writer import record

        spec = load_launch_file(write(taken, Path(folder)))
        simulator = Simulator(replace(spec, name=taken.entry.kernel), progress=report, **options.machine_of(args))
        result = record(simulator, output, compiling=report,
                        progress=lambda cycle: report(None, f"recording {taken.entry.kernel}: cycle {cycle:,}"))
    say(args, output, result, simulator.info)
    return code


def recording(args: argparse.Namespace) -> int:
    """Write every cycle of a run."""
    machine = options.machine_of(args)
    spec = options.load_target(args.target)
    output = output_of(args, f"{spec.name}.rfs", ".rfs")
    with progress.bar() as report:
        from rfview.engine.simulator import Simulator
        from rfview.sessions.branches.capture import record_part
        from rfview.sessions.file.writer import record

        if args.check:
            from rfview.engine.check.machine import CheckedSimulator

        simulator = (CheckedSimulator if args.check else Simulator)(spec, progress=report, **machine)
        reached = lambda cycle: report(None, f"recording {spec.name}: cycle {cycle:,}")
        if args.begin or args.end:
            result = record_part(simulator, output, args.begin, args.end, reached, report)
        else:
            result = record(simulator, output, progress=reached, compiling=report)
    findings = options.print_findings(simulator, args, fault=True)
    is_bad = options.print_reports(simulator) or (findings is not None and bool(findings.found))
    return say(args, output, result, simulator.info) or int(is_bad)


def recipe(args: argparse.Namespace) -> int:
    """Write a recipe, from which the run can be simulated again."""
    machine = options.machine_of(args)
    spec = options.load_target(args.target)
    output = output_of(args, f"{spec.name}.rfr", ".rfr")
    with progress.bar() as report:
        from rfview.engine.simulator import Simulator
        from rfview.sessions.timeline.recipe_writing import write_recipe

        simulator = Simulator(spec, progress=report, **machine)
        result = write_recipe(simulator, output, lambda cycle: report(None, f"running {spec.name}: cycle {cycle:,}"))
    verdict = {None: "nothing to verify", True: "verified", False: "NOT VERIFIED"}[result.verified]
    if args.json:
        say_json(output, result, simulator.info, sums=result.sums, verified=result.verified)
    else:
        print(f"{output}: recipe of {plural(result.cycles, 'cycle')} in {result.file_bytes:,} bytes, "
              f"{plural(result.sums, 'state')} summed; {verdict}{held(simulator.info)}{replaced(args)}\n"
              f"{notes(simulator.info)}"
              f"try: rfview debug {shlex.quote(str(output))}\n     rfview record --fill {shlex.quote(str(output))}")
    raise_fault(output, result.fault)
    return 1 if result.verified is False else 0


def fill(args: argparse.Namespace) -> int:
    """Simulate a recipe and write every cycle."""
    if args.target is not None or args.recipe:
        raise InputError("record --fill: the recipe contains its kernel; leave out "
                         f"{'--recipe' if args.recipe else args.target}")
    options.refuse_machine(args, "record --fill")
    from rfview.sessions.timeline.recipe import open_recipe
    from rfview.sessions.timeline.recipe_filling import fill

    recipe = open_recipe(args.fill)
    output = output_of(args, f"{Path(args.fill).stem}.rfs", ".rfs")

    with progress.bar() as report:
        def reached(cycle: int) -> None:
            report(cycle / max(1, recipe.cycles), f"recording {recipe.info.name}: cycle {cycle:,} of {recipe.cycles:,}")

        result = fill(recipe, output, reached, report)
    return say(args, output, result, recipe.info)


def output_of(args: argparse.Namespace, default: str, suffix: str) -> Path:
    """Return the file to write; recordings and recipes differ in their suffixes."""
    output = files.check_target(args.output or default, is_recording=True)
    args.replaces = output.exists()
    if (output.suffix == ".rfr") != (suffix == ".rfr"):
        hint = "a recipe is written with --recipe; a recording's name ends in .rfs"
        raise InputError(f"-o {args.output}: {hint if suffix == '.rfs' else 'the name of a recipe ends in .rfr'}")
    return output


def held(info: Run) -> str:
    """Return which design files' texts the output contains, "" for none: not everyone wants to publish theirs."""
    from rfview.engine.plugin import origin

    names = list(origin.texts_of(info.design_spec))
    return f"; it contains the text of {', '.join(names)}" if names else ""


def notes(info: Run) -> str:
    """Return a line for each number that follows from a setting, and each thing that compiling could not do."""
    return "".join(f"  {note}\n" for name in ("setting_notes", "compile_notes") for note in getattr(info, name, ()))


def replaced(args: argparse.Namespace) -> str:
    """Return a note that an existing file was replaced, "" if there was none."""
    return "; it replaces the file of that name" if args.replaces else ""


def say(args: argparse.Namespace, output: Path, result: RecordResult, info: Run) -> int:
    """Report what was recorded; a fault becomes the command's error."""
    if args.json:
        say_json(output, result, info, chunks=result.chunks, bytes_per_cycle=round(result.bytes_per_cycle, 2))
    else:
        print(f"{output}: {plural(result.cycles, 'cycle')} in {result.file_bytes:,} bytes, "
              f"{result.bytes_per_cycle:.1f} per cycle{held(info)}{replaced(args)}\n{notes(info)}"
              f"try: rfview replay {shlex.quote(str(output))}")
    raise_fault(output, result.fault)
    return 0


def say_json(output: Path, result: Any, info: Run, **more: Any) -> None:
    """Print one JSON object."""
    more |= {name: getattr(info, name) for name in ("registers_per_thread", *RUN_FACTS) if hasattr(info, name)}
    print(json.dumps({"file": str(output), "cycles": result.cycles, "bytes": result.file_bytes, **more,
                      "finished": result.finished, "fault": result.fault, "wall_s": round(result.wall_s, 6)}))


def raise_fault(output: Path, fault: str | None) -> None:
    """Raise the fault that ended a run, if one did."""
    if fault is not None:
        raise KernelFault(f"{fault} (what ran before is in {output})")
