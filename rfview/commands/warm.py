"""`rfview warm`: compile the designs and the recorder in child processes, so that no later run has to wait."""

from __future__ import annotations

import argparse
import functools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import engine
from engine.errors import RfviewError
from rfview.commands import options

TYPICAL_SECONDS = 45.0  # of one design's compile, for the bar's pace only


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help="designs to compile (default: all)")


def run(args: argparse.Namespace) -> int:
    """Compile the designs named, or all and the recorder, one child process each; exit 70 when a compile fails."""
    names = args.designs or design_names()
    for name in names:
        check_design(name)
    jobs = [(name, ["engine.warm", absolute(name)]) for name in names]
    if not args.designs:
        jobs.append(("the recorder", ["sessions.warm"]))
    with options.progress() as bar:
        for number, (name, module) in enumerate(jobs):
            text = f"compiling {name} ({number + 1} of {len(jobs)})"
            share = functools.partial(_report, bar, text, number, len(jobs))
            code, output = compile_in_child(module, share)
            if code:
                lines = output.strip().splitlines() or [f"exit code {code}"]
                raise WarmError(f"compiling {name} failed: {lines[-1]}")
    print(f"{len(names)} design{'s' if len(names) > 1 else ''} ready: {', '.join(names)}")
    return 0


def _report(bar: options.Progress, text: str, number: int, count: int, part: float) -> None:
    """Show how far compile `number` of `count` is."""
    bar((number + part) / count, text)


class WarmError(RfviewError):
    """A compile that failed: ours to mend, not the user's."""

    exit_code = 70


def design_names() -> list[str]:
    """Return the designs there are."""
    from engine import designs

    return list(designs.names())


def check_design(text: str) -> None:
    """Raise InputError where a design does not exist or is not spelt as one."""
    from engine import designs

    designs.find(designs.parse_variant(text)[0])


def absolute(text: str) -> str:
    """Return a variant as a child process in another folder understands it."""
    from engine.designs import files

    return files.absolute(text)


def compile_in_child(module: list[str], report: Callable[[float], None]) -> tuple[int, str]:
    """Run a module that compiles in a child process, reporting progress; return its exit code and output."""
    began = time.monotonic()
    root = Path(str(engine.__file__)).parent.parent
    child = subprocess.Popen([sys.executable, "-m", *module], cwd=root, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while True:
            elapsed = time.monotonic() - began
            report(elapsed / (elapsed + TYPICAL_SECONDS / 3))   # 75 % after the typical time, never 100 %
            try:
                output, _ = child.communicate(timeout=0.2)
                return child.returncode, output
            except subprocess.TimeoutExpired:
                continue
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
