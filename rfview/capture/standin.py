"""The stand-in for libcudart: compiled on first use with the user's g++ and CUDA headers, and kept in the cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rfview.capture.messages import cpp_header
from rfview.engine.compile.cache import CACHE_FOLDER, distrust
from rfview.engine.errors import InputError

SOURCES = Path(__file__).parent / "runtime"
SONAME = "libcudart.so.13"
DRIVER = "libcuda.so.1"         # a link to the library, for programs that use the driver API
SUM = "sha256"                  # the file with the library's checksum
TESTED = 13                     # the CUDA release whose headers and programs the stand-in is tested with
FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden")
NOT_SUPPORTED = 'extern "C" __attribute__((visibility("default"))) int {0}() {{ return rfview_not_supported("{0}"); }}'
PER_THREAD = re.compile(r"_pt(?:sz|ds)$")
DEFINED = re.compile(r"^(?:API\((\w+)\)|API_OTHER\([^,]+, (\w+)\)|(?:IGNORED|WAITS)\((\w+))", re.MULTILINE)


def library(say: Callable[[float | None, str], None]) -> Path:
    """Return the path of the stand-in, compiled now if it is not cached yet; say: shows progress, as this takes seconds.

    Raises InputError if this is not x86-64 Linux, or g++ or CUDA 13's headers are missing.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise InputError(f"CUDA programs can be captured only on x86-64 Linux, not on {sys.platform}, "
                         f"{platform.machine()}; Python programs can be captured anywhere")
    compiler, headers = shutil.which("g++"), include_folder()
    if compiler is None:
        raise InputError("to run CUDA programs, a library is compiled once with g++, which was not found: install it "
                         "(apt install g++ or similar)")
    if headers is None:
        raise InputError("to run CUDA programs, a library is compiled once with CUDA's headers, but cuda_runtime_api.h was "
                         "not found: set CUDA_HOME to the toolkit's folder")
    release = release_of(headers)
    if release // 1000 != TESTED:
        raise InputError(f"the CUDA headers in {headers} are of release {release // 1000}; only programs of CUDA {TESTED} "
                         "can be captured: set CUDA_HOME to another toolkit's folder")
    content = "".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.iterdir()) if path.is_file())
    key = hashlib.sha256(f"{content}{cpp_header()}{FLAGS}{release}".encode()).hexdigest()[:16]
    folder = CACHE_FOLDER / f"cudart-{key}"
    if not is_intact(folder):
        say(None, "compiling the stand-in for CUDA's runtime, once")
        _compile(compiler, headers, folder)
        say(1.0, "compiled")
    return folder / SONAME


def is_intact(folder: Path) -> bool:
    """Return whether a folder holds a complete library that only this user can have written."""
    try:
        if any(distrust(path.lstat()) or path.is_symlink() for path in (folder, folder / SONAME, folder / SUM)):
            return False
        return (folder / SUM).read_text(encoding="ascii") == hashlib.sha256((folder / SONAME).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return False


def include_folder() -> Path | None:
    """Return the folder with CUDA's headers: in CUDA_HOME, next to the nvcc in PATH, or where toolkits usually are."""
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    places = [Path(named)] if named else []
    nvcc = shutil.which("nvcc")
    places += [Path(nvcc).resolve().parents[1]] if nvcc else []
    places += [Path("/usr/local/cuda"), Path("/opt/cuda"), Path("/usr")]
    return next((place / "include" for place in places if (place / "include" / "cuda_runtime_api.h").is_file()), None)


def release_of(headers: Path) -> int:
    """Return CUDART_VERSION of a folder of headers, 13000 for 13.0; 0 if it is not defined."""
    text = (headers / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^#define CUDART_VERSION\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def rest() -> str:
    """Return C++ for the runtime's functions that the sources lack: each reports its name and returns cudaErrorNotSupported.

    Variants for a per-thread default stream jump to the plain functions, since all streams are the same here.
    """
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.cpp")))
    have = {next(filter(None, found)) for found in DEFINED.findall(text)}
    lines = ['extern "C" int rfview_not_supported(const char *);']
    for name in (SOURCES / "names.txt").read_text(encoding="utf-8").split():
        base = PER_THREAD.sub("", name)
        if name in have:
            continue
        if base in have:
            lines.append(f'__asm__(".text\\n.globl {name}\\n.type {name},@function\\n{name}: jmp {base}@PLT\\n");')
        else:
            lines.append(NOT_SUPPORTED.format(name))
    return "\n".join(lines) + "\n"


def rest_of_driver(headers: Path) -> str:
    """Return the same for the driver API's functions that cuda.h declares, by the names that programs are linked with."""
    text = (headers / "cuda.h").read_text(encoding="utf-8", errors="replace")
    linked = dict(re.findall(r"^#define (cu\w+)\s+(?:__CUDA_API_PT\w+\()?(cu\w+)", text, re.MULTILINE))
    have = set(re.findall(r"^DRIVER\((\w+)\)", (SOURCES / "driver.cpp").read_text(encoding="utf-8"), re.MULTILINE))
    declared = set(re.findall(r"^CUresult CUDAAPI\s+(cu\w+)\(", text, re.MULTILINE)) - have
    names = {linked.get(name, name) for name in declared} - have
    return "".join(f"{NOT_SUPPORTED.format(name)}\n" for name in sorted(names))


def _compile(compiler: str, headers: Path, folder: Path) -> None:
    """Compile everything into a temporary folder, and move the library into `folder` once it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="cudart-new-", ignore_cleanup_errors=True) as name:
        made = Path(name)
        (made / "messages.h").write_text(cpp_header(), encoding="utf-8")
        (made / "rest.cpp").write_text(rest() + rest_of_driver(headers), encoding="utf-8")
        (made / "exports").write_text(f"{SONAME} {{ global: *; }};\n", encoding="utf-8")
        sources = [*sorted(SOURCES.glob("*.cpp")), made / "rest.cpp"]
        links = ("-shared", "-Wl,-z,initfirst", f"-Wl,-soname,{SONAME}", f"-Wl,--version-script={made / 'exports'}")
        folders = (f"-I{headers}", f"-I{made}")
        command = [compiler, *FLAGS, *folders, *links, *map(str, sources), "-ldl", "-o", str(made / SONAME)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
            raise InputError(f"g++ cannot compile the stand-in for CUDA's runtime with the headers in {headers}: {first}")
        if folder.is_symlink() or folder.exists() and distrust(folder.lstat()):
            folder.rename(made / "distrusted")
        folder.mkdir(mode=0o700, exist_ok=True)
        (made / SUM).write_text(hashlib.sha256((made / SONAME).read_bytes()).hexdigest(), encoding="ascii")
        (made / DRIVER).symlink_to(SONAME)
        os.replace(made / DRIVER, folder / DRIVER)
        for name in (SONAME, SUM):      # the sum last: it vouches for the library
            (made / name).chmod(0o700)
            with (made / name).open("rb") as file:
                os.fsync(file.fileno())
            os.replace(made / name, folder / name)
