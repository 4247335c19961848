"""Starts a program with the stand-in for its CUDA runtime, and serves it until it ends; its exit code becomes rfview's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from rfview.capture import messages as wire
from rfview.capture.device import Device
from rfview.capture.interpreter import is_script, python_of
from rfview.capture.processes import Processes
from rfview.engine.errors import InputError

Report = Callable[[float | None, str], None]
GRACE_S = 5.0                   # from the chosen launch to the end of a program that is to stop
PYTHON = Path(__file__).with_name("python")     # holds sitecustomize.py, for each Python that a program starts
SECTION = struct.Struct("<IIQQQQIIQQ")
PAST_THE_RUNTIME = re.compile(rb"lib(?:cublas|cublasLt|curand|cufft|cusparse|cusolver|cudnn|nccl|nvjpeg|npp\w*)\.so")


def run(words: list[str], device: Device, say: Callable[[str], None], report: Report, *, stops: bool = False,
        python: str | None = None) -> int:
    """Start a program with its arguments, serve its processes, and return its exit code, 128 + N if signal N ended it.

    say: shows a message; report: progress. stops: end the program after the chosen launch, with code 0. python: the one
    to run a script with.
    Raises InputError if the program cannot be captured.
    """
    argv, environment = prepared(words, report, python)
    if environment and (beside := libraries(Path(argv[0]))):
        say(f"{words[0]} is linked with {' and '.join(beside)}: what such a library does on a GPU is not captured, and "
            "its calls fail; kernels launched through CUDA's runtime are captured")
    with closing(Processes(device, say, stops=stops)) as processes:
        try:
            child = subprocess.Popen(argv, env={**os.environ, **environment, wire.LINK: processes.name})
        except OSError as error:
            raise InputError(f"{words[0]}: cannot be started: {error.strerror or error}") from None
        try:
            processes.serve(child)
            is_done = stops and device.launches.taken is not None
            returned = child.wait(GRACE_S if is_done else None)
            if is_done:
                return 0
            if returned < 0:
                say(f"{words[0]} was ended by signal {-returned}, {signal.strsignal(-returned)}")
            return _code(returned)
        except subprocess.TimeoutExpired:
            return 0
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                child.wait()


def _code(returned: int) -> int:
    return returned if returned >= 0 else 128 - returned


def prepared(words: list[str], report: Report, python: str | None = None) -> tuple[list[str], dict[str, str]]:
    """Return the command line of a program to capture, and the variables to add to its environment.

    A Python script is named alone or after its Python; it is run by `python` if that is given. Programs whose first line
    names a Python, as installed by pip (pytest), are such scripts too.
    Raises InputError if it cannot be captured.
    """
    if re.match(r"python[\d.]*\Z", Path(words[0]).name) and len(words) > 1 and words[1].endswith(".py"):
        python, words = python or words[0], words[1:]
    if words[0].endswith(".py"):
        return _script(words, python), {}
    program = shutil.which(words[0]) or shutil.which(os.path.join(os.curdir, words[0]))
    if program is not None and is_script(Path(program)):
        return _script([program, *words[1:]], python), {}
    if python is not None:
        raise InputError(f"--python {python}: runs scripts; {words[0]} is not one (they end in .py)")
    from rfview.capture.standin import library      # Python scripts do not need it

    if program is None:
        raise InputError(f"{words[0]}: {_no_program(Path(words[0]))}; expected a CUDA program as nvcc compiles it, such as "
                         "./app")
    check(Path(program))
    standin = library(report)
    preload = " ".join(filter(None, [str(standin), os.environ.get("LD_PRELOAD", "")]))
    paths = os.pathsep.join(filter(None, [str(standin.parent), os.environ.get("LD_LIBRARY_PATH", "")]))
    pythons = os.pathsep.join(filter(None, [str(PYTHON), os.environ.get("PYTHONPATH", "")]))
    return [program, *words[1:]], {"LD_PRELOAD": preload, "LD_LIBRARY_PATH": paths, "PYTHONPATH": pythons}


def _no_program(path: Path) -> str:
    """Return why a path is not a program."""
    if path.is_dir():
        return "is a folder"
    if path.suffix in (".cu", ".cpp", ".cc") and path.is_file():
        return f"is source text; compile it first: nvcc {shlex.quote(str(path))} -o {shlex.quote(path.stem)}"
    return "cannot be run as a program (is it executable?)" if path.exists() else "there is no such program"


def _script(words: list[str], python: str | None) -> list[str]:
    """Return the command line that runs a script with its launches captured; raises InputError if there is no such file."""

    if not Path(words[0]).is_file():
        raise InputError(f"{words[0]}: there is no such script")
    return [python_of(Path(words[0]), python), str(PYTHON / "start.py"), *words]


def check(path: Path) -> None:
    """Raise InputError for a CUDA program that cannot be captured: stripped, or for another CUDA release or processor.

    Files other than ELF pass: a shell script may start a program that can be captured.
    """
    known, strings = _sections(path)
    if b".nv_fatbin" not in known:
        return
    found = [name for name in strings if name.startswith(b"libcudart.so")]
    if found and found[0] != b"libcudart.so.13":
        raise InputError(f"{path}: is linked with {found[0].decode('ascii', 'replace')}; only programs of CUDA 13 can be "
                         "captured: recompile it with nvcc 13")
    if not found and b".symtab" not in known:
        raise InputError(f"{path}: is stripped and contains CUDA's runtime: leave it unstripped, or link it with "
                         "nvcc -cudart shared")


def libraries(path: Path) -> list[str]:
    """Return the libraries a program is linked with that use a GPU directly, bypassing CUDA's runtime."""
    return [name.decode("ascii", "replace") for name in _sections(path)[1] if PAST_THE_RUNTIME.match(name)]


def _sections(path: Path) -> tuple[set[bytes], list[bytes]]:
    """Return the names of a program's sections and its dynamic strings; none if it is not an ELF file.

    Raises InputError for a program for another processor.
    """
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            return set(), []
        if head[4] != 2 or head[18:20] != b"\x3e\x00":
            raise InputError(f"{path}: is compiled for another processor; only programs for x86-64 can be captured")
        first, = struct.unpack_from("<Q", head, 40)
        size, count, names_at = struct.unpack_from("<HHH", head, 58)
        table = _bytes_at(file, first, min(size * count, 1 << 20))
        sections = [SECTION.unpack_from(table, k * size) for k in range(count)
                    if size >= SECTION.size and (k + 1) * size <= len(table)]
        if names_at >= len(sections):
            return set(), []
        names = _bytes_at(file, sections[names_at][4], min(sections[names_at][5], 1 << 20))
        known = {names[one[0] : names.find(b"\0", one[0])]: one for one in sections}
        strings = b""
        if b".dynstr" in known:
            strings = _bytes_at(file, known[b".dynstr"][4], min(known[b".dynstr"][5], 16 << 20))
    return set(known), strings.split(b"\0")


def _bytes_at(file: BinaryIO, at: int, size: int) -> bytes:
    """Return the bytes there; b"" if the offset is invalid: a program runs even with a damaged section table."""
    try:
        file.seek(at)
    except (OSError, ValueError):
        return b""
    return file.read(size)
