"""A launch file as data: launches, their arguments, buffers, symbols, textures and expected results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rfview.engine.launch.pointers import Pointer
from rfview.engine.textures import Texture


@dataclass(frozen=True)
class Arg:
    """One kernel argument.

    kind: 'value' | 'buffer' | 'symbol' | 'texture' | 'null' | 'bytes'.
    value: int, float, bool or bytes (None for addresses).
    name: of the buffer, symbol or texture, else ''. offset: bytes added to its address. pointers: addresses among bytes.
    """

    kind: str
    value: int | float | bool | bytes | None = None
    name: str = ""
    offset: int = 0
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One kernel launch; kernel is None if the module has a single entry. grid and block are (x, y, z)."""

    kernel: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    args: tuple[Arg, ...]

    @property
    def num_ctas(self) -> int:
        """Return the CTAs of the grid."""
        return math.prod(self.grid)

    @property
    def num_threads_per_cta(self) -> int:
        """Return the threads of one CTA, 1..1024."""
        return math.prod(self.block)


@dataclass(frozen=True, eq=False)
class Buffer:
    """Initial contents of a buffer or module symbol: a C-contiguous array in native byte order, and addresses in it.

    undefined: the launch file says that it is uninitialised, as after cudaMalloc; it contains zeros nevertheless.
    address: its address, None for any free place.
    """

    name: str
    array: np.ndarray = field(repr=False)
    pointers: tuple[Pointer, ...] = ()
    undefined: bool = False
    address: int | None = None


@dataclass(frozen=True, eq=False)
class Expect:
    """Expected contents of a buffer or symbol after the last launch, within |got - want| <= atol + rtol * |want|."""

    name: str
    array: np.ndarray = field(repr=False)
    rtol: float
    atol: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class LaunchSpec:
    """A whole launch file. buffers and symbols keep file order and share one namespace; compile: settings of [kernel].

    is_template: its sizes and data are placeholders. l2_lines: numbers of the lines of memory (addresses / 128) that lie in
    L2 at first, the newest last. max_bytes: of all memory of the run;
    more_bytes: how to allow more, in the error about it. text: the TOML that it was read from; "" if it was not read from a
    file, in which case `path` is only a name for errors.
    """

    path: Path
    name: str
    module_path: Path
    launches: tuple[Launch, ...]
    buffers: dict[str, Buffer]
    symbols: dict[str, Buffer]
    expect: dict[str, Expect]
    order_dependent: bool
    metric: str
    description: str
    registers_per_thread: int | None
    textures: dict[str, Texture] = field(default_factory=dict)
    compile: dict[str, str] = field(default_factory=dict)
    is_template: bool = False
    l2_lines: tuple[int, ...] = ()
    text: str = ""
    max_bytes: int = 4 << 30
    more_bytes: str = ""
