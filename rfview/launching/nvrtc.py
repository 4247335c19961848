"""Compiles CUDA C++ to PTX by NVRTC, the library of NVIDIA's wheel, called through ctypes."""

from __future__ import annotations

import ctypes
import sys
from importlib import metadata
from pathlib import Path

from rfview.engine.errors import InputError

PACKAGE, HEADERS = "nvidia-cuda-nvrtc", "nvidia-cuda-runtime"
ARCHITECTURE = "compute_80"


def available() -> bool:
    """Say whether the wheel is installed in this Python."""
    return _library() is not None


def compile_ptx(text: str, file: Path, instances: tuple[str, ...] = ()) -> tuple[str, dict[str, str]]:
    """Return the PTX of a source file and the mangled names of `instances`, kernels as written in C++ (scal<float>).

    Raises InputError with the compiler's error, or if there is no compiler.
    """
    path = _library()
    if path is None:
        raise InputError(f"{file}: CUDA C++ takes nvcc, or the wheel {PACKAGE} in this Python ({sys.executable}): "
                         "pip install 'rfview[cuda]'")
    library = ctypes.CDLL(str(path))
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), str(file).encode(), 0, None, None))
    try:
        for name in instances:
            _check(library, library.nvrtcAddNameExpression(program, name.encode()))
        words = [f"--gpu-architecture={ARCHITECTURE}", "--generate-line-info", "--std=c++17",
                 *(f"--include-path={folder}" for folder in (file.resolve().parent, *_headers()))]
        flags = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
        if library.nvrtcCompileProgram(program, len(words), flags):
            raise InputError(f"{file}: {_said(_text(library, 'Program', program, 'Log'), file)}")
        names = {name: _lowered(library, program, name) for name in instances}
        return _text(library, "PTX", program, ""), names
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _lowered(library: ctypes.CDLL, program: ctypes.c_void_p, name: str) -> str:
    lowered = ctypes.c_char_p()
    _check(library, library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered)))
    return (lowered.value or b"").decode()


def _text(library: ctypes.CDLL, what: str, program: ctypes.c_void_p, suffix: str) -> str:
    """Return the program's log or PTX."""
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}{suffix}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}{suffix}")(program, buffer))
    return buffer.value.decode("utf-8", "replace")


def _said(log: str, file: Path) -> str:
    """Return the compiler's first error, and what to do about a program's host code."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line), lines[0] if lines else "cannot be compiled")
    if "cannot open source file" in first or "undefined" in first:
        first += ("; NVRTC compiles kernels alone: put them in a file of their own, or have nvcc in PATH, or compile the "
                  "program and name its launch (rfview debug --launch KERNEL ./app)")
    return first.removeprefix(str(file))


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        raise InputError(f"NVRTC: {library.nvrtcGetErrorString(code).decode()}")


def _library() -> Path | None:
    """Return the library of the wheel, None if it is not installed."""
    libraries = [path for path in _files(PACKAGE) if path.name.startswith("libnvrtc.so")]
    return libraries[0] if libraries else None


def _headers() -> list[Path]:
    """Return the folders of CUDA headers installed by wheels."""
    return sorted({path.parent for path in _files(HEADERS) if path.name == "cuda_fp16.h"})


def _files(package: str) -> list[Path]:
    """Return the files of a package, under its current or an older, versioned name."""
    for name in (package, f"{package}-cu13", f"{package}-cu12"):
        try:
            return [Path(str(file.locate())) for file in metadata.files(name) or ()]
        except metadata.PackageNotFoundError:
            continue
    return []
