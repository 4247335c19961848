"""The reference interpreter's memory: buffers and symbols in one address space, shared and local windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from rfview.engine.launch import LaunchSpec
from rfview.engine.program import Module
from tests.reference.operations import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES

FIRST_ADDRESS = 0x7000_0000_0000
ALIGN = GAP = 512


class Fault(Exception):
    """The kernel misbehaved: the reference interpreter's error for what the machine reports with exit code 3."""


class Area:
    """A block of bytes at an address; accesses outside it or misaligned raise Fault."""

    def __init__(self, name: str, address: int, data: bytearray) -> None:
        self.name, self.address, self.data = name, address, data

    def read(self, address: int, size: int) -> int:
        """Return `size` bytes as an unsigned number."""
        at = self.place(address, size)
        return int.from_bytes(self.data[at:at + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Store the low `size` bytes of a number."""
        at = self.place(address, size)
        self.data[at:at + size] = (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")

    def place(self, address: int, size: int) -> int:
        """Return the offset of an access into the area."""
        at = address - self.address
        if not 0 <= at <= len(self.data) - size:
            raise Fault(f"{size} bytes at {address:#x} are outside {self.name}")
        if address % size:
            raise Fault(f"{size} bytes at {address:#x} are misaligned")
        return at


class Memory:
    """All buffers and symbols: buffers in the launch file's order, then symbols in the module's."""

    def __init__(self, spec: LaunchSpec, module: Module) -> None:
        self.areas: list[Area] = []
        self.addresses: dict[str, int] = {}
        self._next = FIRST_ADDRESS
        for name, buffer in spec.buffers.items():
            self._place(name, bytearray(buffer.array.tobytes()))
        for name, symbol in module.symbols.items():
            self._place(name, bytearray(symbol.init.ljust(symbol.size, b"\0")))
        self._relocate(module)
        for name, given in spec.symbols.items():
            area = self.area(name)
            raw = given.array.tobytes()
            area.data[:len(raw)] = raw
        self._last = self.areas[0] if self.areas else Area("nothing", 0, bytearray())

    def _place(self, name: str, data: bytearray) -> None:
        self.areas.append(Area(name, self._next, data))
        self.addresses[name] = self._next
        self._next = -(-(self._next + len(data) + GAP) // ALIGN) * ALIGN

    def _relocate(self, module: Module) -> None:
        for name, symbol in module.symbols.items():
            for offset, target, addend in symbol.relocs:
                if target in self.addresses:
                    self.area(name).data[offset:offset + 8] = (self.addresses[target] + addend).to_bytes(8, "little")

    def area(self, name: str) -> Area:
        """Return the area of a buffer or symbol."""
        return next(area for area in self.areas if area.name == name)

    def find(self, address: int) -> Area:
        """Return the area that holds an address."""
        last = self._last
        if last.address <= address < last.address + len(last.data):
            return last
        for area in self.areas:
            if area.address <= address < area.address + len(area.data):
                self._last = area
                return area
        raise Fault(f"no buffer holds {address:#x}")

    def arrays(self, spec: LaunchSpec, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Return areas as arrays: buffers and given symbols in their own type and shape, other symbols as bytes."""
        given: Mapping[str, np.ndarray] = {**{name: b.array for name, b in spec.buffers.items()},
                                           **{name: s.array for name, s in spec.symbols.items()}}
        found = {}
        for name in names:
            raw = np.frombuffer(bytes(self.area(name).data), "u1")
            if name in given:
                array = given[name]
                raw = raw[:array.nbytes].view(array.dtype).reshape(array.shape)
            found[name] = raw
        return found


def generic(memory: Memory, shared: Area, local: Area, params: Area, address: int) -> tuple[Area, int]:
    """Resolve a generic address: return its area and the address inside it."""
    if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
        return shared, address - SHARED_WINDOW
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
        return local, address - LOCAL_WINDOW
    if PARAM_WINDOW <= address < PARAM_WINDOW + WINDOW_BYTES:
        return params, address - PARAM_WINDOW
    return memory.find(address), address
