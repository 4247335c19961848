"""Programs of several processes: every way to start one, in C++ and in Python, with every process's results checked by itself.

A case runs a program of tests/capture in a random way. Right is its exit code 0, one sentence if a process is refused and
none otherwise, and a list that holds the launches of all processes. Without nvcc only Python programs are run, without
numba-cuda only CUDA programs.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rfview.capture.device import Device
from rfview.capture.program import run

CAPTURE = Path(__file__).resolve().parents[1] / "capture"
LONGEST_S = 300
SENTENCE = "CUDA contexts do not survive fork"
# way -> launches: of the parent, and per round of the children
CUDA = {"system": (3, 1), "tool": (3, 0), "popen": (3, 1), "spawn": (3, 1), "fork_exec": (3, 1), "vfork_exec": (3, 1),
        "fork_after": (3, 0), "fork_idle": (3, 0), "registered": (5, 0), "exec": (5, 0), "fork_first": (0, 4), "thread": (0, 0)}
PYTHON = {"fork": 4, "spawn": 4, "forkserver": 4, "futures": 4, "refused": 1, "subprocess": 3, "os_fork": 1, "tool": 1}
REFUSED = ("fork_after",)


def is_compilable() -> bool:
    """Return whether CUDA programs can be compiled here."""
    return shutil.which("nvcc") is not None and shutil.which("g++") is not None


def has_numba() -> bool:
    """Return whether scripts can use numba-cuda here."""
    return importlib.util.find_spec("numba_cuda") is not None


@functools.cache
def program(shared: bool) -> Path:
    """Compile the CUDA program, with the shared runtime or with the one that nvcc links by default."""
    path = Path(tempfile.mkdtemp(prefix="rfview-processes-")) / "app"
    runtime = ["-cudart", "shared"] if shared else []
    subprocess.run(["nvcc", "-std=c++17", *runtime, CAPTURE / "processes.cu", "-o", path], check=True, capture_output=True)
    return path


class Hangs(Exception):
    """A case took longer than LONGEST_S."""


def _alarm(number: int, frame: Any) -> None:
    raise Hangs


def tried(words: list[str], launches: int, sentences: int) -> tuple[str, str]:
    """Run a program; return "done" or what is wrong, and details. launches: -1 if their number depends on timing."""
    said: list[str] = []
    device = Device({})
    before = signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(LONGEST_S)
    try:
        with tempfile.TemporaryFile() as errors, redirected(errors.fileno()):
            code = run(words, device, said.append, lambda fraction, text: None)
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")
    except Hangs:
        return "hang", " ".join(words)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    shown = text + "\n".join(said)
    made, results = device.launches.total, {entry.result for entry in device.launches.entries}
    if "Traceback" in shown:
        return "traceback", shown
    if code or "WRONG" in shown or results - {""} or launches not in (-1, made):
        return "wrong", f"{words}: exit code {code}, {made} launches of {launches}, {results}: {shown}"
    return ("done", "") if shown.count(SENTENCE) == sentences else ("sentence", f"{words}: {shown}")


@contextmanager
def redirected(descriptor: int) -> Iterator[None]:
    """Let standard output and error of this process and its children go to a file while the context lasts."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    try:
        for number in (1, 2):
            os.dup2(descriptor, number)
        yield
    finally:
        for number, before in zip((1, 2), kept):
            os.dup2(before, number)
            os.close(before)


def case(chance: random.Random) -> tuple[str, str]:
    """Try one random case."""
    cuda = is_compilable() and (not has_numba() or chance.random() < 0.95)       # Python starts slowly
    if not cuda and not has_numba():
        return "nothing", "neither nvcc and g++ nor numba-cuda are here"
    if cuda:
        way, rounds = chance.choice(list(CUDA)), chance.randint(1, 4)
        own, each = CUDA[way]
        launches = -1 if way == "thread" else own + each * rounds
        return tried([str(program(chance.random() < 0.5)), way, str(rounds)], launches, int(way in REFUSED))
    way = chance.choice(list(PYTHON))
    return tried([str(CAPTURE / "scripts" / "processes.py"), way], PYTHON[way], 0)


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try cases first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    for number in range(first, first + count):
        yield number, *case(random.Random(f"processes {seed} {number}"))
