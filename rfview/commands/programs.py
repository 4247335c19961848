"""Shared by commands that run programs: options, the program's command line, and messages about it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.commands import options, progress
from rfview.ending import Ended
from rfview.engine.errors import InputError
from rfview.engine.wording import plural

if TYPE_CHECKING:
    from rfview.capture.device import Device
    from rfview.capture.launches import Taken
    from rfview.capture.launches import Launches

EPILOG = """the program is an unmodified CUDA program built by nvcc, or an unmodified Python script with numba-cuda 0.30 or
Triton 3.8 or 3.9. Its kernels run here, without a GPU, and it carries on with their results. torch tensors stay in CPU
memory even if the script says device='cuda'; Triton's autotuner takes the first configuration that runs. Each process
that the program starts has a device of its own, and its launches are in the same list. A program without PTX runs by the
values of its machine code, and cycles are estimates. Each launch begins with empty caches, where a GPU's L2 still has what
the launch before used: the first accesses of short launches cost more here. rfview's options stand before the program:
everything behind its name is the program's own:
  rfview record --launch softmax_kernel --stop -o softmax.rfs softmax.py
  nvcc app.cu -o app
  rfview launches ./app 100
  rfview record --launch matmul:1 --stop -o m.rfs ./app 100
  rfview launches --design stt ./app --size 100 -o out.txt"""


FIRST = "0"


def add_words(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the program that is the command's target."""
    parser.add_argument("words", metavar="ARGUMENT", nargs="*", help="the program's arguments")


def add_launch(parser: argparse.ArgumentParser) -> None:
    """Declare --launch and --stop."""
    parser.add_argument("--launch", metavar="KERNEL[:NTH]|NUMBER",
                        help="which launch of a program: a number from 0 on (default 0), or a kernel's name and the number "
                             "of its launch, from 0 on")
    parser.add_argument("--stop", action="store_true", help="end the program after that launch")
    parser.add_argument("--every-cycle", action="store_true",
                        help="simulate the program's other launches cycle by cycle, too, instead of computing only their "
                             "values: much slower, but the times that the program measures are simulated, and results that "
                             "depend on the order of warps (races, atomics) are those of `rfview launches`")
    add_python(parser)


def add_python(parser: argparse.ArgumentParser) -> None:
    """Declare --python."""
    parser.add_argument("--python", metavar="PYTHON",
                        help="the Python that runs a script (default: the one in its #! line, else the active "
                             "environment's, else this one)")


def split(parser: argparse.ArgumentParser, words: list[str]) -> tuple[list[str], list[str] | None]:
    """Return rfview's own words, and the command line of the program that they name, None if they name none.

    A program begins at its name, or behind `--`, and everything from there on is its own.
    """
    place = _first_argument(parser, words)
    if place is not None and (_chooses(words[:place]) or starts_program(words[place:]) or parser.prog.endswith(" launches")):
        known = {text for action in parser._actions for text in action.option_strings if text.startswith("--")} - {"--help"}
        ours = next((word for word in words[place + 1 :] if word.partition("=")[0] in known), None)
        if ours is not None:
            say(f"{ours} stands behind {words[place]} and goes to the program; rfview's options stand before it")
        return words[:place], words[place:]
    if "--" in words:
        return words[: words.index("--")], words[words.index("--") + 1 :]
    return words, None


def _first_argument(parser: argparse.ArgumentParser, words: list[str]) -> int | None:
    """Return the place of the first word that is neither an option nor an option's value; None behind `--` or if none is."""
    takes_value = {text: action.nargs != 0 for action in parser._actions for text in action.option_strings}
    place = 0
    while place < len(words) and words[place] != "--":
        if not words[place].startswith("-") or words[place] == "-":
            return place
        place += 2 if takes_value.get(words[place]) else 1
    return None


def _chooses(words: list[str]) -> bool:
    """Return whether options of rfview choose a program's launch: what follows them is a program."""
    return any(word.partition("=")[0] in ("--launch", "--stop") for word in words)


def starts_program(words: list[str]) -> bool:
    """Return whether a command line is a program's: an executable, a script, or a Python with a script."""
    name = words[0]
    if "::" in name:
        return False
    if name.endswith(".py") or options.is_program(name):
        return True
    if re.fullmatch(r"python[\d.]*", os.path.basename(name)):
        return any(word.endswith(".py") for word in words[1:2])
    if not os.path.isfile(name) or not os.access(name, os.X_OK):
        return False
    with open(name, "rb") as file:
        return file.read(2) == b"#!"


def words_of(args: argparse.Namespace) -> list[str]:
    """Return the program's command line; raises InputError if none is given."""
    words = [*([args.target] if args.target is not None else []), *args.words, *(getattr(args, "program", None) or [])]
    if not words:
        raise InputError("expected a program and its arguments, such as ./app 100")
    return words


def captured(args: argparse.Namespace, *, runs_choice: bool = True, stops: bool = False,
             only: str | None = None, interrupted: Callable[[Launches], None] | None = None,
             **more: Any) -> tuple[int, Device]:
    """Run the program of a command line on its machine; return its exit code and its device.

    interrupted: called with what has run so far if Ctrl-C or a signal ends rfview. more: further options of Device.
    """
    from rfview.capture.device import Device
    from rfview.capture.launches import choice_of
    from rfview.capture.program import run

    machine = options.machine_of(args)
    options.check_names(machine)
    launch = getattr(args, "launch", None)
    choice = choice_of(launch) if launch is not None else None
    with progress.bar(patience_s=2.0) as report:
        device = Device(machine, choice=choice, runs_choice=runs_choice, progress=report,
                        only=choice_of(only) if only is not None else None, **more)
        try:
            code = run(words_of(args), device, say, report, stops=stops, python=args.python)
        except (KeyboardInterrupt, Ended):
            report.close()
            if interrupted is not None and device.launches.total:
                interrupted(device.launches)
            raise
    if device.launches.estimates and not device.estimates.samples:
        ran = plural(device.launches.estimates, "launch")
        why = "machine code has no cycles on Fermi's core" if device.launches.without_cycles else \
            "--every-cycle simulates every launch"
        say(f"{ran} ran by values only, at an assumed cycle per warp instruction: times that the program measures are "
            f"estimates ({why})")
    taken = device.launches.taken
    if device.keeps_l2 and device.launches.estimates and taken is not None and taken.entry.number:
        say("L2 is empty when the chosen launch begins: those before it ran by their values; --every-cycle keeps what "
            "they leave there")
    return code, device


def check_core(args: argparse.Namespace) -> None:
    """Raise InputError, before the program runs, if its launch could not be simulated: machine code on Fermi's core."""
    from rfview.capture.modules import configuration
    from rfview.engine.compilation import PTX

    machine = options.machine_of(args)
    options.check_names(machine)
    config = configuration(machine)
    isa = config["kernel.isa"]
    if isa != PTX and config.core == "collector":
        raise InputError(f"--isa {isa}: machine code does not run on Fermi's core, that of preset {config.preset}; add "
                         f"--preset ampere, or take `rfview launches --isa {isa}` for its values only")


def taken_of(device: Device) -> Taken:
    """Return the chosen launch; raises InputError, which lists the others, if it was never made."""
    from rfview.capture.launches import missing

    if device.launches.taken is None:
        assert device.launches.choice is not None
        raise missing(device.launches.choice, device.launches.entries, device.launches.total)
    return device.launches.taken


def folders_of(args: argparse.Namespace) -> list[Path]:
    """Return where a program's sources may be: the folders of the script or program, and this one."""
    files = [Path(word) for word in words_of(args)[:2] if Path(word).is_file()]
    return [*dict.fromkeys([*(file.parent for file in reversed(files)), Path()])]


def say(text: str) -> None:
    """Show a message from the server."""
    print(f"rfview: {text}", file=sys.stderr, flush=True)


def is_program(args: argparse.Namespace) -> bool:
    """Return whether a command that also takes launch files was given a program; its first launch is then the default."""
    if args.launch is not None:
        return True
    if args.stop or names_program(args):
        words_of(args)
        args.launch = FIRST
        say("using the program's first launch; --launch chooses another one, and `rfview launches` lists them")
        return True
    return False


def names_program(args: argparse.Namespace) -> bool:
    """Return whether a target is a program or script, with or without arguments."""
    return bool(args.words or getattr(args, "program", None)) or starts_program([args.target or ""])


def rows_of(launches: Launches) -> list[dict[str, Any]]:
    """Return the launches as plain data."""
    return [entry.row() for entry in launches.entries]
