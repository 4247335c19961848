"""Finds and runs NVIDIA's ptxas and nvdisasm: from their wheels, from PATH, or from Triton's wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from rfview.engine.errors import SassError

WHEELS = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}
OTHERS = ("{}-cu13", "{}-cu12", "triton")       # packages that bring the tools, too
TARGET = re.compile(r"^(\s*\.target\s+sm_)(\d{1,4})[af]?\b", re.MULTILINE)
# timeouts: optimising a kernel of 100,000 instructions takes minutes; disassembling takes seconds, but never ends for some
# damaged files
LIMITS_S = {"ptxas": 600.0, "nvdisasm": 60.0}
FMAD = "false"      # PTX says where a product and a sum are rounded once (fma) or twice (mul, add): compiled as written


@lru_cache
def tool(name: str) -> str:
    """Return the path of ptxas or nvdisasm; raises SassError, which says how to get it."""
    wheel = WHEELS[name]
    found = (_in_package(wheel, name) or shutil.which(name)     # the wheel may be newer than a toolkit in PATH
             or next(filter(None, (_in_package(other.format(wheel), name) for other in OTHERS)), None))
    if found:
        return found
    raise SassError(f"{name} is neither in PATH nor among the packages of this Python ({sys.executable}): machine code "
                    "takes NVIDIA's ptxas and nvdisasm: pip install 'rfview[sass]'")


def _in_package(package: str, name: str) -> str | None:
    """Return the path of a tool in an installed package."""
    try:
        files = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == name and Path(str(file.locate())).is_file()), None)


def assemble(ptx: str, sm: int, path: str) -> bytes:
    """Return the cubin that ptxas makes of PTX for an architecture. Raises SassError with the tool's first error.

    PTX for a later architecture is tried for this one: ptxas refuses instructions that it does not have.
    """
    ptx = TARGET.sub(lambda match: f"{match[1]}{sm}" if int(match[2]) > sm else match[0], ptx)
    with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
        source, out = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx, encoding="utf-8")
        _run([tool("ptxas"), f"-arch=sm_{sm}", "-fmad", FMAD, "-lineinfo", "-o", str(out), str(source)], path, folder)
        return out.read_bytes()


def disassembled(cubin: bytes, path: str) -> str:
    """Return the JSON that nvdisasm writes of a cubin. Raises SassError with the tool's first error."""
    with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        return _run([tool("nvdisasm"), "-json", str(file)], path, folder)


def _run(words: list[str], path: str, folder: str) -> str:
    name = Path(words[0]).name
    limit_s = LIMITS_S[Path(name).stem]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise SassError(f"{path}: {name} did not finish within {limit_s:.0f} s") from None
    except OSError as problem:
        raise SassError(f"{path}: {words[0]} cannot be run: {problem.strerror or problem}") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr + done.stdout).replace(f"{folder}/", "").splitlines() if line.strip()]
        said = next((line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else "failed")
        if "Unsupported .version" in said:
            said += "; a newer ptxas is in: pip install -U 'rfview[sass]'"
        raise SassError(f"{path}: {name}: {said}")
    return done.stdout
