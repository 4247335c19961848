"""`rfview record`: run a kernel and write a session file: keyframes, and every cycle as long as a budget lasts."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.wording import plural, whole
from rfview.commands import options, programs, progress
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.capture.launches import Taken
    from rfview.engine.info import Run
    from rfview.engine.progress import Progress
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import Budget, RecordResult

TAKES_PROGRAM = True
EPILOG = """every cycle is stored up to a budget; cycles after it are simulated again, from keyframes, when they are shown:
  rfview record gemm --budget 2GB          more of a long run; --full: all of it; --budget 0: keyframes only
  rfview record --fill gemm.rfs            store every cycle of that run in the file, too, compared with its keyframes
                                           on the way; with --from and --to these cycles, in no time
every cycle of a part of a run:
  rfview record bfs --from 'launch 2' --to 'launch 3'
  rfview record hotspot --from 5,000 --to 'stall.barrier > 8'"""

# so that recording 100 million cycles takes 1.3 times as long as running them, and a few million half as long as storing all
BUDGET_CYCLES, BUDGET_BYTES = 2_000_000, 200_000_000

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
                        help="the file to write (default NAME.rfs)")
    parser.add_argument("--from", metavar="PLACE", default="", dest="begin",
                        help="store every cycle from a cycle on, from 'launch N' (from 0 on) or from where a condition "
                             "first holds; others are simulated again when they are shown")
    parser.add_argument("--to", metavar="PLACE", default="", dest="end",
                        help="up to such a place after that one")
    parser.add_argument("--budget", type=budget, metavar="CYCLES|SIZE",
                        help="store every cycle of only so many, or as long as the file is smaller, as 2GB; 0: none "
                             f"(default {BUDGET_CYCLES:,} cycles and {BUDGET_BYTES // 1_000_000}MB)")
    parser.add_argument("--full", action="store_true", help="store every cycle, however many there are")
    parser.add_argument("--fill", metavar="FILE.rfs",
                        help="store more cycles of a recording's run in its file, or with -o in another one: all, within "
                             "--budget, or --from and --to")
    options.add_check(parser)
    options.add_json(parser)


def budget(text: str) -> Any:
    """Read a number of cycles, as 5,000,000, or a size, as 2GB."""
    from rfview.sessions.file.writer import Budget

    number = re.fullmatch(r"(\d[\d,_]{0,18})\s*(?:([KMGT])i?B)?", text.strip(), re.IGNORECASE)
    if number is None:
        raise argparse.ArgumentTypeError(f"expected cycles, as 5,000,000, or a size, as 2GB, not {text!r}")
    value = whole(number[1])
    return Budget(bytes=value * 1000 ** (1 + "KMGT".index(number[2].upper()))) if number[2] else Budget(cycles=value)


def run(args: argparse.Namespace) -> int:
    """Record the run; on a fault, what ran before it is kept, and the exit code is the fault's."""
    is_part, is_fill = bool(args.begin or args.end), args.fill is not None
    if args.full and args.budget is not None:
        raise InputError("record: --full stores every cycle, --budget not; leave out one of them")
    if is_part and (args.full or args.budget is not None):
        raise InputError("record: --from and --to choose what is stored; leave out --full and --budget")
    if args.check and (is_part or is_fill or args.budget is not None):
        raise InputError("record --check: needs a recording of the whole run; rfview check TARGET checks any")
    if is_fill:
        return fill(args)
    if programs.is_program(args):
        if args.check:
            raise InputError("record --check: needs a launch file or a kernel; rfview check checks a program's launches")
        return of_program(args)
    if args.target is None:
        raise InputError("record: expected a launch file or a bundled kernel's name, or --fill FILE.rfs")
    with words.as_launch_file(args):
        return recording(args)


def budget_of(args: argparse.Namespace) -> Budget:
    """Return how much is stored as chunks."""
    from rfview.sessions.file.writer import Budget

    return Budget() if args.full else args.budget or Budget(BUDGET_CYCLES, BUDGET_BYTES)


def of_program(args: argparse.Namespace) -> int:
    """Record one launch of a program; return the program's exit code."""
    if args.begin or args.end:
        raise InputError("record --launch: the whole launch is recorded; leave out --from and --to")
    stem, launch = Path(programs.words_of(args)[0]).stem, args.launch.replace(":", ".")
    name = launch if not launch.isdecimal() else stem if launch == programs.FIRST else f"{stem}.{launch}"
    output = output_of(args, f"{files.stem_of(name)}.rfs")
    made = OfProgram(args, output)
    programs.check_core(args)
    code, device = programs.captured(args, stops=args.stop, by_values=not args.every_cycle, records=made.record)
    if made.error is not None:
        raise made.error
    taken = programs.taken_of(device)
    if made.result is None:     # it ran by its values
        with progress.bar() as report:
            made.record(taken, report)
    assert made.result is not None
    say(args, output, made.result, made.info)
    return code


class OfProgram:
    """Records a launch that was taken from a program. error: why it could not; result, info: as `say` takes them."""

    def __init__(self, args: argparse.Namespace, output: Path) -> None:
        self._args, self._output = args, output
        self.error: InputError | None = None
        self.result: RecordResult | None = None
        self.info: Any = None

    def record(self, taken: Taken, report: Progress) -> Simulator:
        """Record it from its beginning; return its machine, at the end. Raises InputError."""
        from rfview.capture.folder import write
        from rfview.engine.launch import load_launch_file
        from rfview.engine.simulator import Simulator
        from rfview.sessions.file.writer import record

        name = taken.entry.kernel
        with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
            try:
                spec = load_launch_file(write(taken, Path(folder), programs.folders_of(self._args)))
                simulator = Simulator(replace(spec, name=name), progress=report, **options.machine_of(self._args))
                self.info = simulator.info
                self.result = record(simulator, self._output, compiling=report, budget=budget_of(self._args),
                                     progress=lambda cycle: report(None, f"recording {name}: cycle {cycle:,}"))
            except InputError as error:
                self.error = error
                raise
        return simulator


def recording(args: argparse.Namespace) -> int:
    """Record a run, or a part of it."""
    machine = options.machine_of(args)
    spec = options.load_target(args.target)
    output = output_of(args, f"{spec.name}.rfs")
    with progress.bar() as report:
        from rfview.engine.simulator import Simulator
        from rfview.sessions.branches.capture import part_of
        from rfview.sessions.file.writer import record
        from rfview.sessions.timeline.live import LiveTimeline

        if args.check:
            from rfview.engine.check.machine import CheckedSimulator

        simulator = (CheckedSimulator if args.check else Simulator)(spec, progress=report, **machine)
        reached = lambda cycle: report(None, f"recording {spec.name}: cycle {cycle:,}")
        is_part = bool(args.begin or args.end)
        budget = part_of(LiveTimeline(simulator), args.begin, args.end, reached) if is_part else budget_of(args)
        result = record(simulator, output, progress=reached, compiling=report, budget=budget, has_keyframes=not args.check)
    findings = options.print_findings(simulator, args, fault=True)
    is_bad = options.print_reports(simulator) or (findings is not None and bool(findings.found))
    return say(args, output, result, simulator.info) or int(is_bad)


def fill(args: argparse.Namespace) -> int:
    """Store all cycles of a recording's run, or a part of it, or what another budget allows, in its file or another one."""
    if args.target is not None:
        raise InputError(f"record --fill: the recording contains its kernel; leave out {args.target}")
    options.refuse_machine(args, "record --fill")
    from rfview.sessions.branches.capture import part_of
    from rfview.sessions.timeline.filling import fill, fill_part, hull
    from rfview.sessions.timeline.opening import open_recording

    recording = open_recording(args.fill)
    output = output_of(args, str(recording.path))
    args.replaces = args.replaces and args.output is not None
    options.warn(recording.warnings)
    with progress.bar() as report:
        def reached(cycle: int) -> None:
            report(cycle / max(1, recording.last), f"recording {recording.info.name}: cycle {cycle:,} of {recording.last:,}")

        recording.compiling = report
        if args.begin or args.end:
            part = part_of(recording, args.begin, args.end, reached)
            result = fill_part(recording, output, part if args.output else hull(recording, part), reached)
        else:
            result = fill(recording, output, reached, args.budget)
    recording.close()
    return say(args, output, result, recording.info)


def output_of(args: argparse.Namespace, default: str) -> Path:
    """Return the file to write."""
    output = files.check_target(args.output or default, is_recording=True)
    args.replaces = output.exists()
    return output


def held(info: Run) -> str:
    """Return which design files' texts the output contains, "" for none: not everyone wants to publish theirs."""
    from rfview.engine.plugin import origin

    names = list(origin.texts_of(info.design_spec))
    return f"; it contains the text of {', '.join(names)}" if names else ""


def rest(result: RecordResult) -> str:
    """Return which cycles are not stored, "" if all are."""
    if result.stored == result.cycles:
        return ""
    which = f"after the first {plural(result.stored, 'cycle')}, cycles" if result.stored else "cycles"
    if result.begun:
        which = f"cycles {result.begun:,} to {result.begun + result.stored:,} are stored, others"
    return f"; {which} are simulated again from {plural(result.keyframes, 'keyframe')}"


def notes(info: Run) -> str:
    """Return a line for each number that follows from a setting, and each thing that compiling could not do."""
    return "".join(f"  {note}\n" for name in ("setting_notes", "compile_notes") for note in getattr(info, name, ()))


def replaced(args: argparse.Namespace) -> str:
    """Return a note that an existing file was replaced, "" if there was none."""
    return "; it replaces the file of that name" if args.replaces else ""


def say(args: argparse.Namespace, output: Path, result: RecordResult, info: Run) -> int:
    """Report what was recorded; a fault becomes the command's error."""
    if args.json:
        say_json(output, result, info, chunks=result.chunks, stored_cycles=result.stored, keyframes=result.keyframes,
                 bytes_per_cycle=round(result.bytes_per_cycle, 2))
    else:
        print(f"{output}: {plural(result.cycles, 'cycle')} in {result.file_bytes:,} bytes, "
              f"{result.bytes_per_cycle:.1f} per cycle{rest(result)}{held(info)}{replaced(args)}\n{notes(info)}"
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
