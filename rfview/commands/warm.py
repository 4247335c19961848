"""`rfview warm`: compile designs, recorder, functional modes, checker and a sub-core in child processes, ahead of time."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from rfview.engine import IMPORT_ROOT, defaults
from rfview.engine.errors import RfviewError
from rfview.engine.wording import plural
from rfview.commands import progress

SUBCORE_PRESET = "ampere"       # the code is that of every preset with sub-cores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help="designs to compile (default: all)")


def run(args: argparse.Namespace) -> int:
    """Compile the named designs, or everything, in one child process each; exit 70 if a compilation fails."""
    names = args.designs or design_names()
    for name in names:
        check_design(name)
    jobs = [(name, ["rfview.engine.compile.child", absolute(name)]) for name in names]
    if not args.designs:
        jobs += [("the recorder", ["rfview.sessions.file.warm"]), ("the functional mode", ["rfview.engine.functional.warm"]),
                 ("machine code", ["rfview.engine.functional.warm", "machine_values"]),
                 ("the checker", ["rfview.engine.check.warm"]),
                 (f"{defaults.DESIGN} on a sub-core", ["rfview.engine.compile.child", defaults.DESIGN, SUBCORE_PRESET])]
    with progress.bar() as bar:
        board = Board(bar, len(jobs))
        board.compile(*jobs[0])     # first on its own: it compiles what all the others share
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            for done in [pool.submit(board.compile, *job) for job in jobs[1:]]:
                done.result()
        finally:
            pool.shutdown(cancel_futures=True)
    print(f"{plural(len(names), 'design')} ready: {', '.join(names)}")
    return 0


class Board:
    """The progress of several compilations, shown as one bar."""

    def __init__(self, bar: progress.Progress, count: int):
        self._bar, self._count = bar, count
        self._parts: dict[str, float] = {}

    def compile(self, name: str, module: list[str]) -> None:
        """Run a compiling module in a child process; raises WarmError if it fails."""
        code, output = compile_in_child(module, lambda part: self._report(name, part))
        self._report(name, 1.0)
        if code:
            lines = output.strip().splitlines() or [f"exit code {code}"]
            raise WarmError(f"compiling {name} failed: {lines[-1]}")

    def _report(self, name: str, part: float) -> None:
        self._parts[name] = part
        running = ", ".join(name for name, part in self._parts.items() if part < 1.0)
        done = sum(part == 1.0 for part in self._parts.values())
        self._bar(sum(self._parts.values()) / self._count, f"compiling {running} ({done} of {self._count} done)")


class WarmError(RfviewError):
    """A failed compilation: a defect of rfview, not of the input."""

    exit_code = 70


def design_names() -> list[str]:
    """Return the names of all designs."""
    from rfview.engine import plugin as designs

    return list(designs.names())


def check_design(text: str) -> None:
    """Raise InputError if a design does not exist or is misspelt."""
    from rfview.engine import plugin as designs

    designs.find(designs.parse_variant(text)[0])


def absolute(text: str) -> str:
    """Return a variant in a form that is valid in a child process in another folder."""
    from rfview.engine.plugin import files

    return files.absolute(text)


def compile_in_child(module: list[str], report: Callable[[float], None]) -> tuple[int, str]:
    """Run a compiling module in a child process and report its progress; return its exit code and output."""
    from rfview.engine.compile.warm import watch

    report(0.0)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        child = subprocess.Popen([sys.executable, "-m", *module], cwd=IMPORT_ROOT, stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT)
        try:
            code = watch(child, report)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        output.seek(0)
        return code, output.read()
