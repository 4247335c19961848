"""Write a launch file to start from, next to your kernel's PTX: its parameters in order, with assumed sizes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rfview.engine import files
from rfview.engine.errors import InputError, PtxError
from rfview.launching.pointees import body_of, pointees
from rfview.launching.signature import Formal, formals

if TYPE_CHECKING:
    from rfview.engine.program import Kernel, Module

HEAD = """\
# Runs {kernel} of {file}. What PTX does not say is assumed: change grid, block, values and buffers.
# `rfview help launch` explains what else is possible. Then: rfview debug {launch}
module = "{file}"
template = true     # sizes and data are made up; remove this line once they are yours

[[launch]]
kernel = "{kernel}"
grid = [{grid}]
block = [{threads}]
{shared}args = [
"""
SHARED = "shared_bytes = {size}     # dynamic shared memory: what your launch requests{triton}\n"
BUFFER = """
[buffers.{name}]
shape = [{shape}]
dtype = "{dtype}"{assumed}
random = {{seed = {seed}, low = 0.0, high = 1.0}}     # or zeros = true, arange = true, file = "{name}.npy"
"""
INTEGERS = """
[buffers.{name}]
shape = [{shape}]
dtype = "{dtype}"
zeros = true     # or arange = true, random = {{seed = {seed}, low = 0, high = 100}}, file = "{name}.npy"
"""
GRID, THREADS, SIDE = 4, 128, 32
SHARED_BYTES = 16_384
UNKNOWN = "float32"


def write(path: str) -> tuple[Path, str, list[str], list[str]]:
    """Write FILE.toml for FILE.ptx; return it, the kernel it runs, the other kernels, and why some cannot run.

    It runs the longest kernel. Raises InputError if the file is not PTX or has no kernel that can run, and if the
    launch file already exists.
    """
    from rfview.engine.launch.mangling import cpp_name
    from rfview.engine.ptx import load_module

    source = Path(path)
    if source.suffix != ".ptx":
        raise InputError(f"--new {path}: expected PTX, a file such as kernel.ptx (nvcc -ptx writes it); from CUDA C++ or "
                         "Python, `rfview capture FILE::KERNEL --grid 4 --block 128 --arg NAME=VALUE` writes a launch file")
    module = load_module(source)
    if not module.kernels:
        raise InputError(f"--new {path}: the module has no kernel (.entry)")
    kernels, refused = _decoded(module)
    if not kernels:
        raise InputError(f"--new {path}: none of its kernels can run; {refused[0]}")
    kernels.sort(key=lambda kernel: -len(kernel.insts))
    called = ["::".join(cpp_name(kernel.name)) or kernel.name for kernel in kernels]
    called = [name if called.count(name) == 1 else kernel.name for name, kernel in zip(called, kernels, strict=True)]
    target = source.with_suffix(".toml")
    if target.exists():
        raise InputError(f"--new {path}: {target} already exists; nothing was changed")
    files.write(target, text_of(kernels[0], called[0], module.text, source.name, target.name), replaces=False)
    return target, called[0], called[1:], refused


def _decoded(module: Module) -> tuple[list[Kernel], list[str]]:
    """Return the kernels that can run, and for each of the others the reason why it cannot."""
    kernels: list[Kernel] = []
    refused: list[str] = []
    for name in module.kernels:
        try:
            kernels.append(module.kernels[name])
        except PtxError as error:
            refused.append(f"{name} cannot run: {error}")
    return kernels, refused


def text_of(kernel: Kernel, called: str, text: str, file: str, launch: str) -> str:
    """Return the launch file. text: the kernel's module."""
    block = kernel.required_threads if any(kernel.required_threads) else (min(THREADS, kernel.max_threads or THREADS),)
    count = GRID * math.prod(block)
    body = body_of(text, kernel.name)
    types = pointees(body)
    expected = formals(kernel, text)
    triton = '; Triton: "shared" of its .json' if any(formal.kind == "scratch" for formal in expected) else ""
    has_dynamic = ".extern .shared" in text
    shared = SHARED.format(size=SHARED_BYTES, triton=triton) if has_dynamic else ""
    out = HEAD.format(kernel=called, file=file, launch=launch, grid=GRID, threads=", ".join(map(str, block)), shared=shared)
    buffers = ""
    number = 0
    for formal in expected:
        name = formal.name if formal.name.isidentifier() else f"b{number}"
        lines, buffer = _argument(formal, kernel, types, name, count, number + 1)
        number += bool(buffer)
        buffers += buffer
        out += "".join(f"  {line}\n" for line in lines)
    return out + "]\n" + buffers


def _argument(formal: Formal, kernel: Kernel, types: dict[str, str], name: str, count: int,
              seed: int) -> tuple[list[str], str]:
    """Return an argument's lines in args, with what is known about it, and its buffer's table, "" if it has none."""
    param = kernel.params[formal.first]
    what = formal.name or f"parameter {formal.first}"
    if formal.kind == "scratch":
        return ["{null = true},       # Triton's own memory, which kernels seldom use"], ""
    if formal.kind == "bytes":
        return [f'{{bytes = "{"00" * param.size}"}},   # {what}: a struct of {param.size} bytes'], ""
    if formal.kind == "array":
        return _array(formal, name, count, seed)
    if formal.kind == "number":
        number = 1.0 if formal.dtype.startswith("float") else count if param.size > 1 else 1
        value = f"{{value = {number}}},"
        return [f"{value:<20} # {what}: a number, {formal.dtype}"], ""
    if param.name not in types:
        return [f"{{null = true}},       # {what}: the kernel never reads this pointer"], ""
    dtype = formal.dtype or types[param.name]
    meaning = f"a pointer to {dtype}" if dtype else f"a pointer, or {{value = {count}}} if a number"
    value = f'{{buffer = "{name}"}},'
    return [f"{value:<20} # {what}: {meaning}"], _buffer(name, str(count), dtype, seed)


def _array(formal: Formal, name: str, count: int, seed: int) -> tuple[list[str], str]:
    """Return numba's parameters for an array in C order."""
    import numpy as np

    shape = (count,) if formal.rank == 1 else (SIDE,) * formal.rank
    size = np.dtype(formal.dtype).itemsize
    strides = [size * math.prod(shape[axis + 1 :]) for axis in range(formal.rank)]
    numbers = ", ".join(f"{{value = {value}}}" for value in (*shape, *strides))
    head = f"{{null = true}}, {{null = true}}, {{value = {math.prod(shape)}}}, {{value = {size}}}"
    line = f'{head}, {{buffer = "{name}"}}, {numbers},'
    note = f"# an array of {formal.dtype}, {formal.rank}-D: two nulls, items, bytes of one, data, shape, strides"
    return [note, line], _buffer(name, ", ".join(map(str, shape)), formal.dtype, seed)


def _buffer(name: str, shape: str, dtype: str, seed: int) -> str:
    """Return a buffer's table."""
    if dtype and not dtype.startswith("float"):
        return INTEGERS.format(name=name, shape=shape, dtype=dtype, seed=seed)
    assumed = "" if dtype else "     # assumed"
    return BUFFER.format(name=name, shape=shape, dtype=dtype or UNKNOWN, assumed=assumed, seed=seed)
