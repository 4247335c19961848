"""The import hook for the frameworks, and what their drivers share: launches, names, modelled time."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rfview.capture.client import Client, CudaError, Stopped

Extent = tuple[int, int, int]


class Machine:
    """The server's machine as the frameworks use it. leave: called when the program is to end after a launch."""

    def __init__(self, client: Client, leave: Callable[[], None] | None = None) -> None:
        self.client = client
        self.cycles = 0
        self._leave = leave
        self._named: dict[int, tuple[str, str, tuple[int, ...]]] = {}
        self.sizes: dict[int, int] = {}
        self._modules: dict[str, int] = {}

    @functools.cached_property
    def facts(self) -> dict[str, int]:
        """Return the device's properties; the first use of the device in this process."""
        khz, warps, threads, ctas, shared, registers, bandwidth, capability, capacity_mb, l2, _ = self.client.properties
        return {"khz": khz, "warps": warps, "threads": threads, "ctas": ctas, "shared": shared, "registers": registers,
                "bandwidth": bandwidth, "capability": capability, "bytes": capacity_mb << 20, "l2": l2}

    @property
    def capability(self) -> tuple[int, int]:
        """Return the compute capability, (8, 6) for 8.6."""
        return divmod(self.facts["capability"], 10)

    @property
    def now_ms(self) -> float:
        """Return the milliseconds of machine time that kernels have taken so far."""
        return self.cycles / self.facts["khz"] if self.cycles else 0.0

    def module(self, ptx: str) -> int:
        """Return the number of a module, loaded on first use."""
        if ptx not in self._modules:
            self._modules[ptx] = self.client.load(ptx)
        return self._modules[ptx]

    def malloc(self, size: int, kind: int = 0) -> int:
        """Allocate device memory; return its address."""
        address = self.client.malloc(max(size, 1), kind)
        self.sizes[address] = size
        return address

    def free(self, address: int) -> None:
        """Free an allocation; errors are ignored, since a program may free memory after the server has ended."""
        self.sizes.pop(address, None)
        self._named.pop(address, None)
        try:
            self.client.free(address)
        except (CudaError, OSError):
            return

    def name(self, address: int, name: str, dtype: str, shape: Sequence[int]) -> None:
        """Set an allocation's name and contents; does nothing if they are known, or `address` is not the start of one."""
        what = (name, dtype, tuple(shape))
        if address not in self.sizes or self._named.get(address) == what:
            return
        try:
            self.client.describe(address, *what)
        except CudaError:       # a type that launch files do not support, or a shape too long
            self.client.describe(address, name)
        self._named[address] = what

    def launch(self, module: int, kernel: str, grid: Extent, block: Extent, shared: int, values: list[bytes | int], *,
               cooperative: bool = False) -> None:
        """Run a kernel to its end; raises CudaError."""
        try:
            self.cycles += self.client.launch(module, kernel, grid, block, shared, values, cooperative=cooperative)
        except Stopped:
            if self._leave is not None:
                self._leave()
            raise


def leave() -> None:
    """Flush the output and end the process at once."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def three(size: Any) -> Extent:
    """Return an extent as (x, y, z)."""
    parts = tuple(int(one) for one in size) if hasattr(size, "__len__") else (int(size),)
    padded = (*parts, 1, 1, 1)
    return padded[0], padded[1], padded[2]


class AfterImport(importlib.abc.MetaPathFinder):
    """Runs a hook right after a module is imported. hooks: by module name."""

    def __init__(self, hooks: dict[str, Callable[[], None]]) -> None:
        self._hooks = dict(hooks)
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the module's own spec with a loader that runs the hook; None for other modules. Finding it runs nothing."""
        if name not in self._hooks or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy.discard(name)
        if spec is None or spec.loader is None:
            return None
        plain = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            plain(module)
            self._run(name)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def run_imported(self) -> None:
        """Run the hooks of modules that are imported already."""
        for name in [name for name in self._hooks if name in sys.modules]:
            self._run(name)

    def _run(self, name: str) -> None:
        """Run a hook once; one that raises stays, for the next attempt."""
        if name in self._hooks:
            self._hooks[name]()
            del self._hooks[name]
