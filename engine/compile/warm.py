"""What the disk cache contains, and compiling into it in a child process (child.py) with progress.

numba's type inference holds the interpreter lock for seconds, so a program that must stay responsive compiles in a child
process and then loads from the cache.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rfview.engine import IMPORT_ROOT
from rfview.engine.compile import cache, jit, stored
from rfview.engine.progress import Progress

TYPICAL_SECONDS = 20.0
POLL_SECONDS = 0.1


def marker(spec_dtype: np.dtype) -> Path:
    """Return the file that marks the step for this parameter record as cached."""
    digest = hashlib.sha256(repr(spec_dtype).encode()).hexdigest()[:16]
    return cache.CACHE_FOLDER / f"{digest}.ready"


def is_ready(spec_dtype: np.dtype) -> bool:
    """Return whether nothing needs to be compiled for this parameter record."""
    return jit.OFF or stored.is_marked(marker(spec_dtype))


def note_ready(spec_dtype: np.dtype, name: str) -> None:
    """Note that the step for this parameter record is in the cache, in the file `name`."""
    stored.mark(marker(spec_dtype), [name])


def compile_in_child(design: str, progress: Progress, preset: str = "") -> bool:
    """Compile a design in a child process; see `in_child`. preset: of the sub-core, "" = of Fermi's core."""
    text = f"compiling the machine for {design} (first run only)"
    return in_child(text, ["rfview.engine.compile.child", design, *filter(None, (preset,))], progress)


def in_child(text: str, words: list[str], progress: Progress) -> bool:
    """Run a module that compiles, with its arguments, and report progress as `text`, estimated from the usual time.

    Return whether the child succeeded; otherwise the caller compiles itself. An exception from `progress` ends the child.
    """
    progress(0.0, text)
    try:
        command = [sys.executable, "-m", *words]
        with subprocess.Popen(command, cwd=IMPORT_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            try:
                succeeded = watch(child, lambda part: progress(part, text)) == 0
            except BaseException:
                child.kill()
                raise
    except OSError:
        succeeded = False
    progress(1.0, text)
    return succeeded


def watch(child: subprocess.Popen, report: Callable[[float], None], typical_s: float = TYPICAL_SECONDS) -> int:
    """Wait for a compiling child and return its exit code. report: gets 75 % after the typical time, never 100 %."""
    began = time.monotonic()
    while True:
        try:
            return child.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            elapsed = time.monotonic() - began
            report(elapsed / (elapsed + typical_s / 3))


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Let one process at a time compile something: concurrent runs wait for the first and load its result."""
    try:
        import fcntl

        file = (cache.CACHE_FOLDER / f"{name}.lock").open("w")
    except (ImportError, OSError):     # no locks on this system, or no place for one: it is compiled more than once
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
