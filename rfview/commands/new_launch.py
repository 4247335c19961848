"""Writes a launch file to begin from, beside the PTX of a kernel of one's own: its parameters in order, sizes assumed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rfview.engine import files
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.engine.program import Kernel, Param

HEAD = """\
# Runs {kernel} of {file}. What PTX does not say is assumed: change grid, block, values and buffers.
# `rfview help launch` explains what else there is. Then: rfview debug {launch}
module = "{file}"

[[launch]]
kernel = "{kernel}"
grid = [{grid}]
block = [{threads}]
args = [
"""
BUFFER = """
[buffers.{name}]
shape = [{count}]
dtype = "float32"
random = {{seed = {seed}, low = 0.0, high = 1.0}}     # or zeros = true, arange = true, file = "{name}.npy"
"""
GRID, THREADS = 4, 128


def write(path: str) -> tuple[Path, str, list[str]]:
    """Write FILE.toml for FILE.ptx; return it, the kernel that it runs, and the module's other kernels.

    Raises InputError for a file that is no PTX or has no kernel, and where the launch file is there already.
    """
    from rfview.engine.launch.placement import cpp_name
    from rfview.engine.ptx import load_module

    source = Path(path)
    if source.suffix != ".ptx":
        raise InputError(f"--new {path}: expected PTX, a file such as kernel.ptx; nvcc -ptx writes it")
    kernels = list(load_module(source).kernels.values())
    if not kernels:
        raise InputError(f"--new {path}: the module has no kernel (.entry)")
    called = ["::".join(cpp_name(kernel.name)) or kernel.name for kernel in kernels]
    called = [name if called.count(name) == 1 else kernel.name for name, kernel in zip(called, kernels, strict=True)]
    target = source.with_suffix(".toml")
    if target.exists():
        raise InputError(f"--new {path}: {target} is there already; nothing was changed")
    files.write(target, text_of(kernels[0], called[0], source.name, target.name), replaces=False)
    return target, called[0], called[1:]


def text_of(kernel: Kernel, called: str, file: str, launch: str) -> str:
    """Return the launch file: 64-bit integers are taken for pointers to buffers, others for the number of elements."""
    block = kernel.required_threads if any(kernel.required_threads) else (min(THREADS, kernel.max_threads or THREADS),)
    count = GRID * math.prod(block)
    buffers: list[str] = []
    text = HEAD.format(kernel=called, file=file, launch=launch, grid=GRID, threads=", ".join(map(str, block)))
    for param in kernel.params:
        name = f"b{len(buffers)}"
        if param.type == "u64":
            buffers.append(name)
        text += f"  {_argument(param, name, count)}\n"
    return text + "]\n" + "".join(BUFFER.format(name=name, seed=seed, count=count) for seed, name in enumerate(buffers, 1))


def _argument(param: Param, buffer: str, count: int) -> str:
    """Return one line of args, with what the PTX says of it."""
    if param.type == "u64":
        value, what = f'{{buffer = "{buffer}"}},', f"a pointer, or {{value = {count}}} if a number"
    elif param.type.startswith("b") and param.size > 8:
        value, what = f'{{bytes = "{"00" * param.size}"}},', f"a struct of {param.size} bytes"
    else:
        value, what = f"{{value = {'1.0' if param.type.startswith('f') else count}}},", f"a number, {param.type}"
    return f"{value:<20} # {param.name}: {what}"
