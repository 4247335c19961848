"""The launch file of one kernel with its arguments, as text."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.wording import plural
from rfview.launching.arguments import Argument
from rfview.launching.signature import Formal

if TYPE_CHECKING:
    from rfview.engine.program import Kernel

Extent = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A launch: extents, dynamic shared memory in bytes, arguments in the kernel's order."""

    grid: Extent
    block: Extent
    shared_bytes: int
    arguments: tuple[Argument, ...]


def in_order(given: Sequence[Argument], expected: Sequence[Formal], kernel: str) -> tuple[Argument, ...]:
    """Return arguments in the kernel's order: by name if its parameters have names, else as given.

    Raises InputError for too many or too few arguments, or for names that it does not have.
    """
    wanted = [formal for formal in expected if formal.kind != "scratch"]
    listed = ", ".join(formal.name or _described(formal) for formal in wanted) or "none"
    if len(given) != len(wanted):
        raise InputError(f"{kernel} takes {plural(len(wanted), 'argument')} ({listed}), got {len(given)}: "
                         f"{', '.join(argument.name for argument in given) or 'none'}")
    names = [argument.name for argument in given]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"{kernel}: {', '.join(sorted(twice))} is given twice")
    if wanted and all(formal.name for formal in wanted):
        known = {argument.name: argument for argument in given}
        if not {formal.name for formal in wanted} <= known.keys():
            if any(formal.name in known for formal in wanted) or not all(re.fullmatch(r"arg\d+", name) for name in names):
                wrong = [name for name in names if name not in {formal.name for formal in wanted}]
                raise InputError(f"{kernel} has no argument {', '.join(wrong)}; its arguments: {listed}")
        else:
            return tuple(known[formal.name] for formal in wanted)
    return tuple(given)


def _described(formal: Formal) -> str:
    types = {"pointer": f"a pointer to {formal.dtype}" if formal.dtype else "a pointer",
             "array": f"an array of {formal.dtype}, {formal.rank}-D", "bytes": "a struct"}
    return types.get(formal.kind, formal.dtype)


def launch_text(call: Call, kernel: Kernel, expected: Sequence[Formal], module: str, head: str = "") -> str:
    """Return the launch file; module: the PTX file's name. An array given as such gets an empty [buffers.NAME] table.

    Raises InputError if an argument is not of the kind or type that the kernel takes there.
    """
    lines = [*([head] if head else []), f"module = {json.dumps(module)}", "", "[[launch]]",
             f"kernel = {json.dumps(kernel.name)}", f"grid = {list(call.grid)}", f"block = {list(call.block)}",
             f"shared_bytes = {call.shared_bytes}", "args = ["]
    waiting = list(call.arguments)
    for formal in expected:
        if formal.kind == "scratch":
            lines.append("    {null = true},      # Triton's own memory, which this kernel does not use")
            continue
        lines.append(f"    {_words(waiting.pop(0), formal, kernel)}")
    lines.append("]")
    tables: dict[str, str] = {}
    for argument in call.arguments:
        if argument.kind == "array" and argument.name not in tables:
            tables[argument.name] = _table(argument)
    return "\n".join(lines) + "\n" + "".join(tables.values())


def _table(argument: Argument) -> str:
    head = f"\n[buffers.{json.dumps(argument.name)}]\n"
    if argument.array is not None:
        return f"{head}# {argument.dtype}, {' x '.join(map(str, argument.shape))}: given as an array\n"
    return f'{head}shape = {list(argument.shape)}\ndtype = "{argument.dtype}"\n{argument.fill}\n'


def _words(argument: Argument, formal: Formal, kernel: Kernel) -> str:
    """Return the entries in `args` for one argument."""
    what = f"{kernel.name}: {argument.name}" if len(kernel.name) < 60 else argument.name
    if formal.kind == "array":
        return _numba_array(argument, formal, what)
    if argument.kind == "null":
        return "{null = true},"
    if formal.kind == "bytes":
        raise InputError(f"{what}: the kernel takes a struct there; write a launch file with {{bytes = ...}}: "
                         "rfview kernels --new begins one")
    if argument.kind == "array":
        if formal.kind != "pointer":
            raise InputError(f"{what} is an array where the kernel takes {_described(formal)}")
        wanted = np.dtype(formal.dtype).itemsize if formal.dtype else 0
        if wanted > 1 and np.dtype(argument.dtype).itemsize != wanted:
            raise InputError(f"{what} is an array of {argument.dtype} where the kernel takes {_described(formal)}")
        return f"{{buffer = {json.dumps(argument.name)}}},"
    if formal.kind == "pointer" and formal.dtype:
        raise InputError(f"{what} is a number where the kernel takes {_described(formal)}")
    return _number(argument.value, formal, kernel)


def _number(value: int | float | bool, formal: Formal, kernel: Kernel) -> str:
    """Return a number's entry; a float for a parameter that PTX declares as bits (__half is .b8[2]) becomes bytes."""
    if isinstance(value, bool):
        return f"{{value = {int(value)}}},"
    if formal.dtype.startswith("float"):
        value = float(value)
        declared = kernel.params[formal.first]
        if declared.type[0] != "f":
            code = {2: "<e", 4: "<f", 8: "<d"}[declared.size]
            return f'{{bytes = "{struct.pack(code, value).hex()}"}},'
    return f"{{value = {value!r}}},"


def _numba_array(argument: Argument, formal: Formal, what: str) -> str:
    """Return the entries of the parameters that numba makes of one array: head, data, shape and strides, in C order."""
    if argument.kind != "array":
        raise InputError(f"{what} is a number where the kernel takes {_described(formal)}")
    if argument.dtype != formal.dtype and np.dtype(argument.dtype).itemsize != np.dtype(formal.dtype).itemsize:
        raise InputError(f"{what} is an array of {argument.dtype} where the kernel takes {_described(formal)}")
    if len(argument.shape) != formal.rank:
        raise InputError(f"{what} has {len(argument.shape)} dimensions where the kernel takes {_described(formal)}")
    size = np.dtype(argument.dtype).itemsize
    strides = [size * math.prod(argument.shape[k + 1 :]) for k in range(len(argument.shape))]
    numbers = lambda values: ", ".join(f"{{value = {value}}}" for value in values)
    return (f"{{null = true}}, {{null = true}}, {numbers([math.prod(argument.shape), size])}, "
            f"{{buffer = {json.dumps(argument.name)}}}, {numbers([*argument.shape, *strides])},")
