"""A module loaded into the device's memory: decoded once, its symbols at fixed addresses until the program ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rfview.capture.memory import DeviceMemory
from rfview.engine import defaults
from rfview.engine.compilation import PTX
from rfview.engine.config import Config
from rfview.engine.errors import InputError
from rfview.engine.launch.given import GivenMemory
from rfview.engine.launch.mangling import cpp_name
from rfview.engine.launch.placement import function_addresses, initial_bytes
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.modules import check_tools, decode_module
from rfview.engine.plugin.selection import select
from rfview.engine.program import HEAP, MAX_REGS, Kernel, Module
from rfview.engine.ptx.link import link
from rfview.engine.progress import Progress
from rfview.engine.sass.listing import is_listing
from rfview.engine.simulator import Simulator

MACHINES = 24       # kept ready for the kernels of one module, 1 MB each


class Loaded:
    """A module: of PTX, linked from its parts, or of a listing of machine code.

    options: for the Simulator, for all launches; kind: the Simulator class; progress: called while it compiles.
    """

    def __init__(self, texts: Sequence[str], name: str, memory: DeviceMemory, options: dict[str, Any],
                 kind: type[Simulator] = Simulator, progress: Progress | None = None) -> None:
        """Raises PtxError if a text is not PTX, InputError if there is no room for its symbols."""
        self.text, self.name = link(texts), name
        target = re.search(r"^\s*\.target\s+sm_(\d{1,4})", self.text, re.MULTILINE)
        self.target = int(target[1]) if target else 0
        self._memory, self._kind, self._progress = memory, kind, progress
        self.configure(options)
        self._image: tuple[GivenMemory, GivenMemory] | None = None
        self.addresses: dict[str, int] = {}
        self._functions: dict[tuple[str, int], bytes] = {}      # written by point_to_functions, by variable and offset
        for symbol in self.module.symbols.values():
            address = memory.allocate(symbol.size, name=symbol.name, kind="symbol", written=symbol.name != HEAP)
            if not address:
                raise InputError(f"{name}: its symbol {symbol.name} of {symbol.size:,} bytes does not fit "
                                 "in the device's memory")
            self.addresses[symbol.name] = address
        self.reset()

    def configure(self, options: dict[str, Any]) -> None:
        """Decode it for a machine with these options; symbols stay where they are."""
        how = configuration(options)
        self._options = options
        self.is_machine_code = how["kernel.isa"] != PTX or is_listing(self.text)
        self.module: Module = decode_module(self.text, self.name, how=how.compilation())
        self._kind.prepare_module(self.module)
        self.warp_registers = int(how["sm.num_banks"]) * int(how["sm.rows_per_bank"])     # of the whole machine
        self._spilled: dict[int, Module] = {}
        self._machines: dict[tuple[str, int, type[Simulator]], Simulator] = {}

    def reset(self) -> None:
        """Give every symbol its initial bytes."""
        self._functions.clear()
        for name, symbol in self.module.symbols.items():
            held = self._memory.live[self.addresses[name]]
            content, view = initial_bytes(symbol, self.addresses), self._memory.view(held)
            view[: len(content)], view[len(content) :] = content, 0
            self._memory.note(held.address, held.size, undefined=name == HEAP)

    def point_to_functions(self, kernel: Kernel) -> None:
        """Write the addresses of functions in a kernel's machine code to the variables that begin with them.

        Each kernel has copies of the functions that it may call, at places of its own. What the program has changed stays.
        """
        known = function_addresses([(kernel, 0)]) if kernel.architecture else {}
        for name, symbol in self.module.symbols.items():
            for offset, function, addend in symbol.relocs:
                if not known or function in self.addresses:
                    continue
                held = self._memory.view(self._memory.live[self.addresses[name]])[offset : offset + 8]
                if held.tobytes() == self._functions.get((name, offset), bytes(8)):
                    raw = (known[function] + addend if function in known else 0).to_bytes(8, "little")
                    held[:], self._functions[name, offset] = np.frombuffer(raw, np.uint8), raw

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by its mangled name; raises KeyError if there is none, PtxError if it cannot be decoded."""
        return self.module.kernels[name]

    def image(self) -> GivenMemory:
        """Return the device's memory as this module's kernels see it."""
        base = self._memory.image()
        if self._image is None or self._image[0] is not base:
            self._image = (base, replace(base, addresses=self.addresses))
        return self._image[1]

    def machine(self, spec: LaunchSpec, kernel: Kernel, image: GivenMemory, limit: int = 0,
                kind: type[Simulator] | None = None) -> Simulator:
        """Return a machine at cycle 0 of a launch of `kernel`; an earlier machine for the kernel is reused if there is one.

        limit: registers per thread that the kernel is limited to, 0 for the preset's limit. kind: the Simulator class if it
        is not the module's. Raises InputError if the launch does not fit on the machine.
        """
        limit = min(limit, MAX_REGS)    # a program's limit may be that of a machine with more registers
        kind = kind or self._kind
        key = (kernel.name, limit, kind)
        found = self._machines.pop(key, None)
        if found is None:
            found = self.separate_machine(spec, image, limit, kind)
        else:
            found.renew(spec, image)
        self._machines[key] = found
        if len(self._machines) > MACHINES:
            del self._machines[next(iter(self._machines))]
        return found

    def separate_machine(self, spec: LaunchSpec, image: GivenMemory, limit: int = 0,
                         kind: type[Simulator] = Simulator) -> Simulator:
        """Return a new machine at cycle 0 of a launch, which no other launch uses; raises InputError if it does not fit."""
        options = dict(self._options)
        if limit:
            options["settings"] = {**options.get("settings", {}), "kernel.max_registers": limit}
        return kind(spec, module=self._within(limit), memory=image, progress=self._progress, **options)

    def _within(self, limit: int) -> Module:
        if not limit:
            return self.module
        if limit not in self._spilled:
            how = replace(configuration(self._options).compilation(), max_registers=limit)
            self._spilled[limit] = decode_module(self.text, self.name, how=how)
        return self._spilled[limit]


def short_name(mangled: str) -> str:
    """Return a kernel's C++ name without namespaces, or the name unchanged if it is not mangled."""
    return (cpp_name(mangled) or [mangled])[-1]


def configuration(options: dict[str, Any]) -> Config:
    """Return the configuration of the machine that Simulator options select. Raises SassError if it takes missing tools."""
    given = {**defaults.MACHINE, "settings": {}, **options}
    config = select(given["design"], given["scheduler"], given["preset"], given["settings"]).config
    check_tools(config.compilation())       # before any of the program's kernels could be loaded
    return config
