"""Runs the program of a session again, after an edit, up to the launch that the session shows."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from rfview.commands import options, programs
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.launching import words

LOOK_S = 0.2        # between two looks at whether the user has cancelled it


class Rerun(words.Again):
    """A program and its launch as an `Origin` of their session. file: the program or script."""

    def __init__(self, args: argparse.Namespace):
        """Take the command line as it was typed."""
        super().__init__(args)
        self.words = programs.words_of(args)
        starts_script = re.match(r"python[\d.]*\Z", Path(self.words[0]).name) and len(self.words) > 1
        self.file = Path(self.words[1 if starts_script else 0])

    def said_of(self, file: Path) -> str:
        """Return what to say of a file that was written: a program must be built from its sources first."""
        is_built = file != self.file and self.file.suffix != ".py"
        return f"{file.name} was saved: build {self.file.name}" if is_built else super().said_of(file)

    def launch_file(self, target: str = "", report: Progress | None = None) -> Path:
        """Run the program up to its launch, or make another target, and return the launch file.

        The program's own output is not shown, which would be written over the screen, and its input is empty.
        Raises InputError if the launch is not reached, and what `report` raises, after the program has been ended.
        """
        from rfview.capture.folder import LAUNCH    # for a fast start: few run a program

        if target:
            return super().launch_file(target, report)
        folder, args = self.folder(), self.args
        command = [sys.executable, "-m", "rfview", "capture", *options.machine_words(args), "--launch", args.launch,
                   "--stop", *["--every-cycle"] * args.every_cycle, *(["--python", args.python] if args.python else []),
                   "--output", str(folder), "--", *self.words]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True, errors="replace")
        try:
            errors = _errors_of(child, report, f"running {self.file.name}")
        finally:
            child.terminate()       # which ends the program as well; nothing if it has ended
            child.communicate()
        if not (made := folder / LAUNCH).is_file():
            last = (errors.strip().splitlines() or [f"{self.file.name} ended with code {child.returncode}"])[-1]
            raise InputError(re.sub(r"^rfview: (error: )?", "", last))
        return made


def _errors_of(child: subprocess.Popen[str], report: Progress | None, text: str) -> str:
    """Return what a process writes to its standard error until it ends, reporting meanwhile."""
    while True:
        try:
            return child.communicate(timeout=LOOK_S)[1]
        except subprocess.TimeoutExpired:
            if report is not None:
                report(None, text)
