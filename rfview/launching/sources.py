"""Finds the kernel that a user names (in PTX, CUDA C++ or Python, or as a kernel object), and its PTX."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.launching import nvrtc, python_kernels
from rfview.launching.arguments import Argument
from rfview.launching.signature import Formal, formals
from rfview.launching.text import in_order

if TYPE_CHECKING:
    from rfview.engine.program import Kernel

COMPILE_S = 300.0       # timeout for a user's file and its compiler


@dataclass(frozen=True, eq=False)
class Source:
    """A module's PTX, or its listing of machine code, and the kernel named.

    name: for titles. arguments: in the kernel's order.

    file: the PTX file's name. shared_bytes, threads: the launch parameters that the compiler reports, 0 if none.
    folder: where the PTX is, None if it was compiled just now; source files that it names are looked for there.
    """

    name: str
    ptx: str
    file: str
    kernel: Kernel
    formals: tuple[Formal, ...]
    arguments: tuple[Argument, ...]
    shared_bytes: int = 0
    threads: int = 0
    folder: Path | None = None


def source_of(target: Any, given: Sequence[Argument], *, entry: str | None = None, python: str | None = None,
          options: dict[str, Any] | None = None, tell: Callable[[str], object] = str) -> Source:
    """Return the kernel that `target` names, compiled if necessary, and its arguments in order.

    target: PTX as text; FILE.ptx, FILE.cubin, FILE.sass, FILE.cu or FILE.py, followed by ::KERNEL; or a kernel of numba-cuda
    or Triton.
    entry: the kernel's name if `target` does not contain it. python: the interpreter for FILE.py.
    tell: called with what is done if it takes seconds. Raises InputError.
    """
    if python_kernels.framework_of(target):
        try:
            return _of_python(python_kernels.compiled(target, _plain(given), options), given)
        except python_kernels.NotCompiled as error:
            raise InputError(f"{getattr(target, '__name__', 'the kernel')} {error}") from None
    if not isinstance(target, str | Path):
        raise InputError(f"expected PTX, a file's name or a kernel, got a {type(target).__name__}")
    if isinstance(target, str) and "\n" in target:
        return _of_ptx(target, "kernel.ptx", entry, given, tell)
    path, name = split(str(target))
    name = name or entry
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; expected FILE.ptx::KERNEL, FILE.cu::KERNEL or FILE.py::KERNEL")
    if path.suffix == ".py":
        return _of_python(_asked(path, name, given, python), given)
    if path.suffix == ".cu":
        ptx, name = compiled(path, name)
        return _of_ptx(ptx, f"{path.stem}.ptx", name, given, tell)
    from rfview.engine.modules import load_module

    file = path.with_suffix(".sass").name if path.suffix == ".cubin" else path.name
    return replace(_of_ptx(load_module(path).text, file, name, given, tell), folder=path.parent)


def split(target: str) -> tuple[Path, str | None]:
    """Return file and kernel of FILE::KERNEL."""
    file, colons, name = target.partition("::")
    return Path(file), name if colons else None


def compiled(path: Path, name: str | None) -> tuple[str, str | None]:
    """Return a CUDA file's PTX and its kernel's name, mangled for an instance of a template compiled by NVRTC.

    Compiled by nvcc if available, else by NVRTC; instances of templates by NVRTC if available. Raises InputError.
    """
    try:
        text = files.read(path).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    instances = (name,) if name is not None and "<" in name else ()
    nvcc = shutil.which("nvcc")
    if nvcc is None or (instances and nvrtc.available()):
        ptx, names = nvrtc.compile_ptx(text, path, instances)
        return ptx, names.get(name or "", name)
    with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
        out = Path(folder) / "kernel.ptx"
        words = [nvcc, "-ptx", f"-arch={nvrtc.ARCHITECTURE}", "-lineinfo", "-o", str(out), str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line]
            raise InputError(f"{path}: nvcc: {errors[0].strip() if errors else 'cannot be compiled'}")
        return out.read_text(encoding="utf-8"), name


def _of_ptx(text: str, file: str, name: str | None, given: Sequence[Argument], tell: Callable[[str], object]) -> Source:
    from rfview.engine.launch.kernel_names import kernel_named
    from rfview.engine.launch.mangling import cpp_name
    from rfview.engine.modules import decode_module
    from rfview.engine.ptx import takes_seconds

    if takes_seconds(text):
        tell(f"loading {file}: {text.count(chr(10)):,} lines of PTX")
    module = decode_module(text, file)
    kernel = kernel_named(name, module, f"{file}: kernel")
    expected = formals(kernel, text)
    called = (cpp_name(kernel.name) or [kernel.name])[-1]
    return Source(called, text, file, kernel, expected, in_order(given, expected, called))


def _plain(given: Sequence[Argument]) -> list[dict[str, Any]]:
    return [{"name": one.name, "kind": one.kind, "dtype": one.dtype, "rank": len(one.shape), "value": one.value}
            for one in given]


def _asked(path: Path, name: str | None, given: Sequence[Argument], python: str | None) -> dict[str, Any]:
    """Return the answer of the user's Python, which compiles a kernel of a file; raises InputError if it cannot."""
    from rfview.capture.interpreter import python_of

    if name is None:
        raise InputError(f"{path}: no kernel is named; expected {path}::KERNEL")
    request = json.dumps({"file": str(path), "kernel": name, "arguments": _plain(given)})
    try:
        done = subprocess.run([python_of(path, python), python_kernels.__file__], input=request, text=True, check=False,
                              stdout=subprocess.PIPE, timeout=COMPILE_S)
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: not imported and compiled after {COMPILE_S:.0f} s; code that runs kernels belongs under "
                         "if __name__ == '__main__':") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the Python that compiles {name} did not answer: {error}") from None
    if "error" in answer:
        raise InputError(answer["error"])
    return dict(answer)


def _of_python(answer: dict[str, Any], given: Sequence[Argument]) -> Source:
    """Return the source of a kernel that its own framework has compiled."""
    from rfview.engine.ptx import decode_module

    file = f"{files.stem_of(answer['name'])}.ptx"
    module = decode_module(answer["ptx"], file)
    kernel = module.kernels[next(iter(module.kernels))]
    expected: list[Formal] = []
    arguments: list[Argument] = []
    at = 0
    for place, one in zip(answer["order"], answer["formals"]):
        if one["kind"] != "constant":
            expected.append(Formal(one["kind"], one["name"], one["dtype"], at, one["count"], one["rank"]))
            arguments.append(given[place])
        at += one["count"]
    expected += [Formal("scratch", "", "", place) for place in range(at, len(kernel.params))]
    return Source(answer["name"], answer["ptx"], file, kernel, tuple(expected), tuple(arguments), answer["shared"],
                  answer["threads"])
