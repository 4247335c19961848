"""Options shared by several commands: what to run, and on which machine."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.commands import progress
from rfview.engine import defaults, files
from rfview.engine.errors import InputError
from rfview.engine.wording import suggest, whole

if TYPE_CHECKING:
    from rfview.engine.launch import LaunchSpec
    from rfview.sessions import Session


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the positional kernel: a launch file or a bundled kernel's name."""
    parser.add_argument("target", metavar="FILE|NAME",
                        help="a launch file (.toml) or a bundled kernel (see `rfview kernels`)")


def add_openable(parser: argparse.ArgumentParser) -> None:
    """Declare the positional target of commands that look at a session: what `open_target` opens."""
    parser.add_argument("target", metavar="TARGET", help="a session file, a launch file or a bundled kernel's name")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Declare the machine options, the same for every command that runs a kernel."""
    group = parser.add_argument_group("machine")
    group.add_argument("--design", default=defaults.DESIGN, metavar="D",
                       help="register file, with parameters as in 'stt[stall=bank]' (default %(default)s)")
    add_scheduler(group, "--scheduler", "S", "the design's own")
    group.add_argument("--preset", default=defaults.PRESET, metavar="P",
                       help=f"{', '.join(defaults.preset_names())}, or paper for the design's own "
                       "(default %(default)s)")
    group.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", dest="settings",
                       help="change a number of the preset, as sm.num_warps, memory.l1_enabled or core.read_ports, or of "
                            "the design")
    add_compile(group)
    group.add_argument("--isa", action="append", default=[], type=isa, metavar="ptx|sm_NN", dest="settings",
                       help="execute PTX, or the machine code that ptxas makes of it for an architecture, such as sm_80 "
                            "(default: what the preset has); short for --set kernel.isa")
    group.add_argument("--on-fault", action="append", default=[], type=on_fault, metavar="stop|report", dest="settings",
                       help="whether a bad memory access ends the run (default), or is dropped and reported: the store "
                            "writes nothing, the load gives 0, and the run goes on; short for --set kernel.on_fault")
    group.add_argument("--max-cycles", type=positive, default=defaults.MAX_CYCLES, metavar="N",
                       help=f"stop with exit 3 after this many cycles (default {defaults.MAX_CYCLES:,})")


class SchedulerNames:
    """The names of all schedulers; looked up when a help text is printed, since that imports NumPy."""

    def __str__(self) -> str:
        from rfview.engine.machine.schedulers import SCHEDULERS

        return ", ".join(SCHEDULERS)


def add_scheduler(group: Any, option: str, metavar: str, whose: str) -> None:
    """Declare an option that takes schedulers. whose: the one that the word `paper` means."""
    added = group.add_argument(option, default=defaults.SCHEDULER, metavar=metavar,
                               help=f"%(names)s, or paper for {whose} (default %(default)s)")
    added.names = SchedulerNames()      # argparse formats a help text with its option's attributes


def isa(text: str) -> str:
    """Return the setting that --isa stands for."""
    from rfview.engine.compilation import ISAS      # start-up: imports NumPy

    if text not in ISAS:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(ISAS)}, not {text}")
    return f"kernel.isa={text}"


def on_fault(text: str) -> str:
    """Return the setting that --on-fault stands for."""
    if text not in ("stop", "report"):
        raise argparse.ArgumentTypeError(f"expected stop or report, not {text}")
    return f"kernel.on_fault={text}"


def add_compile(parser: Any) -> None:
    """Declare --compile."""
    parser.add_argument("--compile", default=None, metavar="OPTIONS",
                        help="how PTX is compiled, such as schedule,registers=24; off ignores what the launch file says "
                             "(`rfview help compile`)")


def add_check(parser: Any) -> None:
    """Declare --check."""
    parser.add_argument("--check", action="store_true",
                        help="also look for races, uninitialised reads, wrong barriers and lane masks; exit with 1 "
                             "if there are any")


def print_reports(simulator: Any) -> bool:
    """Print the bad accesses that were dropped (--on-fault report); return whether there are any."""
    for one in simulator.reports:
        print(f"rfview: {one}", file=sys.stderr)
    return bool(simulator.reports)


def print_findings(simulator: Any, args: argparse.Namespace, fault: bool) -> Any:
    """Return what a checked run found, None without --check, and print it; with --json only if there was a fault.

    In that case nothing else reports it, and it goes to standard error.
    """
    if not args.check:
        return None
    from rfview.sessions.commands.check import text_of

    findings = simulator.findings()
    if not args.json or fault:
        print(text_of(findings), file=sys.stderr if args.json else sys.stdout)
    return findings


def add_nudge(parser: argparse.ArgumentParser, default: int = 0) -> None:
    """Declare --nudge."""
    from rfview.engine.batch import nudge

    parser.add_argument("--nudge", type=nudges, default=default, metavar="N", help="also make N nudged runs of each: what "
                        f"comes by chance; {nudge.WHAT} (default {default}, at most {nudge.MOST})")


def nudges(text: str) -> int:
    """Read a number of nudged runs."""
    from rfview.engine.batch import nudge

    if not text.isdecimal() or int(text) > nudge.MOST:
        raise argparse.ArgumentTypeError(f"expected 0 to {nudge.MOST}, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number of at least 1, as in 5000, 5_000 or 5,000."""
    try:
        value = whole(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return value


def settings_of(pairs: list[str]) -> dict[str, str]:
    """Turn SECTION.KEY=VALUE texts into a dict; the last of equal keys wins. Raises InputError for other forms."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        section, dot, key = name.strip().partition(".")
        if not (equals and dot and section and key and value.strip()):
            raise InputError(f"--set {pair}: expected SECTION.KEY=VALUE, for example sm.num_collectors=8")
        settings[name.strip()] = value.strip()
    return settings


def given_settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the settings given by --compile and --set; raises InputError for unknown options and settings."""
    given = settings_of(args.settings)
    if args.compile is None:
        return given
    from rfview.engine import compilation       # start-up: imports NumPy

    return {**compilation.settings_of(args.compile), **given}


def machine_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parsed machine options as keyword arguments for Simulator and sessions.open_session."""
    check_scheduler(args.scheduler)
    return {
        "design": args.design, "scheduler": args.scheduler, "preset": args.preset,
        "settings": given_settings(args), "max_cycles": args.max_cycles,
    }


def refuse_machine(args: argparse.Namespace, command: str) -> None:
    """Raise InputError if machine options are given although the recording contains its machine."""
    standard = argparse.ArgumentParser()
    add_machine(standard)
    for name, value in vars(standard.parse_args([])).items():
        if getattr(args, name) != value:
            option = "--set" if name == "settings" else f"--{name.replace('_', '-')}"
            raise InputError(f"{command}: the recording fixes its machine; leave out {option}, or run the kernel itself")


def command_of(name: str, args: argparse.Namespace) -> str:
    """Return the command line that runs the same kernel on the same machine again, without defaults.

    args.chosen: the launch of a program, and the program, behind whose name there are no options of rfview.
    """
    if hasattr(args, "chosen"):
        return shlex.join(["rfview", name, *machine_words(args), *args.chosen])
    return shlex.join(["rfview", name, *getattr(args, "typed", [args.target]), *machine_words(args)])


def machine_words(args: argparse.Namespace) -> list[str]:
    """Return the options for the same machine, without defaults."""
    words: list[str] = []
    for option, default in defaults.MACHINE.items():
        if getattr(args, option) != default:
            words += [f"--{option}", getattr(args, option)]
    if args.compile is not None:
        words += ["--compile", args.compile]
    for pair in args.settings:
        words += ["--set", pair]
    return words


def check_names(machine: dict[str, Any]) -> None:
    """Raise InputError for an unknown design, scheduler or preset; cheap, without building the machine."""
    from rfview.engine import config, plugin as designs

    designs.find(designs.parse_variant(machine["design"])[0])
    if machine["preset"] != defaults.PAPER:
        config.load_preset(machine["preset"])
    check_scheduler(machine["scheduler"])


def check_scheduler(name: str) -> None:
    """Raise InputError for an unknown scheduler, with the nearest known one."""
    from rfview.engine.machine.schedulers import SCHEDULERS     # start-up: imports NumPy

    known = (*SCHEDULERS, defaults.OF_CORE, defaults.PAPER)
    if name not in known:
        raise InputError(f"--scheduler {name}: expected one of {', '.join(known)}{suggest(name, known)}")


def is_session(target: str) -> bool:
    """Return whether the target is meant as a recording."""
    return target.endswith(".rfs")


def launch_path(target: str) -> Path:
    """Return the launch file that a target names; raises InputError, which says what to type instead, if it names none."""
    path = Path(target)
    if path.suffix not in (".cubin", ".sass") and is_program(target):
        raise InputError(not_a_kernel(target))
    if is_session(target):
        raise InputError(f"{target}: a recorded session is not a kernel; open it with: rfview replay {shlex.quote(target)}")
    if path.suffix in (".cubin", ".sass"):
        raise InputError(f"{target}: machine code alone does not say grid, block and arguments; --grid, --block and --arg "
                         f"do ({target}::KERNEL; see rfview run --help)")
    if path.suffix == ".ptx":
        beside = path.with_suffix(".toml")
        how = (f"run {shlex.quote(str(beside))}" if beside.is_file() else
               f"--grid, --block and --arg do ({target}::KERNEL; see rfview run --help), or a launch file: rfview kernels "
               f"--new {shlex.quote(target)} writes one to start from")
        raise InputError(f"{target}: PTX alone does not say grid, block and arguments; {how}")
    if path.suffix in (".cu", ".py"):
        raise InputError(f"{target}: name a kernel and its arguments, as in {target}::KERNEL --grid 4 --block 128 "
                         f"--arg NAME=VALUE (rfview run --help){_as_program(path)}")
    if path.is_dir():
        held = path / "launch.toml"
        raise InputError(f"{target}: is a folder; " + (f"its launch file is {shlex.quote(str(held))}" if held.is_file() else
                         "expected a launch file (.toml) or a bundled kernel's name"))
    if path.suffix == ".toml" or os.sep in target or path.is_file():
        return path
    from rfview.engine import kernels

    return kernels.path(target)


def _as_program(path: Path) -> str:
    """Return how the launches of a source file's own main function are run; "" if it has none."""
    try:
        has_main = path.suffix == ".cu" and re.search(rb"^\s*int\s+main\s*\(", files.read(path), re.MULTILINE)
    except OSError:
        return ""
    program = shlex.quote(path.stem)
    return (f"; its main function's launches: nvcc -lineinfo {shlex.quote(str(path))} -o {program}, then "
            f"rfview debug ./{program}") if has_main else ""


def not_a_kernel(target: str) -> str:
    """Return what to do with a program instead of giving it to a command for kernels."""
    return (f"{target}: a program is not a kernel; rfview launches {shlex.quote(target)} runs it and lists its launches; "
            "rfview capture makes a folder of one of them, and rfview record a recording, for this command")


def is_program(target: str) -> bool:
    """Return whether a target is a compiled program."""
    try:
        path = Path(target)
        if not path.is_file():          # opening a pipe would block until its other end opens
            return False
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except (OSError, ValueError):       # it does not exist, or its name has a null byte
        return False


def load_target(target: str) -> LaunchSpec:
    """Read the launch file that a target names."""
    path = launch_path(target)
    from rfview.engine.launch import load_launch_file

    spec = load_launch_file(path)
    if spec.is_template:
        warn([f"{target}: its sizes and data are made up; put in yours and remove `template = true`"])
    return spec


def warn(warnings: list[str]) -> None:
    """Print the warnings of a session that can be shown despite them."""
    for text in warnings:
        print(f"rfview: warning: {text}", file=sys.stderr)


def open_target(args: argparse.Namespace) -> Session:
    """Open the session file, launch file or bundled kernel `args.target`, the latter two with machine options."""
    from rfview.sessions import open_session

    if is_session(args.target):
        refuse_machine(args, args.target)
        session = open_session(args.target)
        warn(session.warnings)
        return session
    machine = machine_of(args)
    path = str(launch_path(args.target))
    with progress.bar() as report:
        session = open_session(path, progress=report, **machine)
    session.origin = getattr(args, "origin", None)      # where words.as_launch_file made the target
    return session


def writable_folder(path: str) -> Path:
    """Return a folder to write into, created if necessary, after checking that it is writable."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be created: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written: permission denied")
    return folder


def bundled(text: str) -> list[str]:
    """Return the named bundled kernels; raises InputError for unknown names."""
    from rfview.engine import kernels

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        kernels.path(name)
    if not names:
        raise InputError(f"--kernels {text!r}: expected names, see `rfview kernels`")
    return names
