"""A launch over given memory: in an arena shared with others, at addresses that they chose.

A launch file's memory is laid out and filled for each run (placement.py). Here others own the contents and layout of
global memory: the arena is used in place, never copied, and all that kernels write is visible to the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rfview.engine.config import Config
from rfview.engine.errors import InputError
from rfview.engine.launch.kernel_names import kernel_of
from rfview.engine.launch.placement import (Placement, Variable, function_addresses, linked, param_words, placed_launch,
                                            with_constants)
from rfview.engine.launch.spec import Arg, Launch, LaunchSpec
from rfview.engine.program import Kernel, Module


@dataclass(frozen=True, eq=False)
class GivenMemory:
    """Global memory in an arena.

    arena: (words,) u4; the words below `global_word` are for shared, parameter and local memory. variables: what is mapped,
    sorted by address. addresses: of the module's symbols and of textures, by name. undefined: (words,) u4 with a bit per
    byte of global memory, set until something writes it; None if that is not known.
    """

    arena: np.ndarray
    global_word: int
    variables: tuple[Variable, ...]
    addresses: dict[str, int]
    undefined: np.ndarray | None = None


def spec_of(kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int, params: bytes,
            name: str, l2_lines: tuple[int, ...] = ()) -> LaunchSpec:
    """Return one launch as if from a launch file, without memory; params: the parameter block, padded with zeros."""
    size = max((param.offset + param.size for param in kernel.params), default=0)
    raw = params.ljust(size, b"\0")
    args = tuple(Arg("bytes", raw[param.offset : param.offset + param.size]) for param in kernel.params)
    launch, suffix = Launch(kernel.name, grid, block, shared_bytes, args), "sass" if kernel.architecture else "ptx"
    return LaunchSpec(path=Path(name), name=name, module_path=Path(f"{name}.{suffix}"), launches=(launch,), buffers={},
                      symbols={}, expect={}, order_dependent=False, metric="rmse", description="",
                      registers_per_thread=None, l2_lines=l2_lines)


def place_given(spec: LaunchSpec, module: Module, config: Config, num_rows: int, memory: GivenMemory,
                insts: np.ndarray | None = None) -> Placement:
    """Lay out a launch over given memory; num_rows: see `place`. Raises InputError if something does not fit.

    insts: the kernel's instructions, if an earlier launch has linked them: a module's addresses do not change.
    """
    (launch,) = spec.launches
    kernel = kernel_of(spec, module, launch)
    width = 8 if re.search(r"^\s*\.address_size\s+64\b", module.text, re.MULTILINE) else 4
    addresses = {**memory.addresses, **function_addresses([(kernel, 0)])}
    ready = placed_launch(spec, kernel, launch, 0, config, num_rows, addresses, width)
    ready = with_constants(ready, memory.variables, memory.arena, addresses)
    shared_words = max(ready.resident_ctas * -(-ready.shared_bytes // 4), config["sm.shared_bytes"] // 4)
    shared_words = -(-shared_words // 32) * 32
    local_words = -(-kernel.local_bytes // 4)
    local_word = shared_words + param_words([kernel])
    end = local_word + int(config["sm.num_warps"]) * local_words * 32
    if end > memory.global_word:
        raise InputError(f"{spec.name}: shared and local memory take {4 * end:,} bytes, but there is room for only "
                         f"{4 * memory.global_word:,}")
    memory.arena[:end] = 0
    insts = linked([(kernel, 0)], addresses) if insts is None else insts
    return Placement(insts, ((kernel, 0),), (ready,), memory.variables, memory.arena,
                     shared_words, shared_words, local_word, local_words, memory.global_word)
