"""The device's memory: one sparse file that server and program both map, and what is allocated in it.

The file has no name, so that nothing is left of it once the last of both has gone, however it went. The program maps the
device's part at the address at which kernels see it: a device pointer is valid on the host, and copies are plain copies.
The server maps scratch memory of the machine in front of it, which makes one arena of both.
"""

from __future__ import annotations

import math
import mmap
import os
from bisect import bisect_left, insort
from dataclasses import dataclass, replace

import numpy as np

from rfview.capture.protocol import BASE, CAPACITY, SCRATCH
from rfview.engine.launch.arrays import DTYPES
from rfview.engine.launch.given import GivenMemory
from rfview.engine.launch.placement import Variable

GRAIN = 512                     # of addresses, and at least so much lies unmapped between two allocations
GLOBAL_WORD = SCRATCH // 4
TOP = 1 << 63                   # addresses are signed in the machine


@dataclass(frozen=True)
class Allocation:
    """Bytes of the device: where kernels see them, and where they lie in the device's part of the file.

    kind: 'buffer', 'symbol' or 'texture' (a header). number: by which unnamed ones are told apart, in order.
    dtype, shape: of the array that it is, where the program said so.
    """

    address: int
    size: int
    at: int
    name: str
    kind: str
    number: int
    dtype: str = ""
    shape: tuple[int, ...] = ()


class DeviceMemory:
    """Memory of one device, as long as it is open."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """capacity: bytes, a multiple of GRAIN. Raises OSError if the system gives no such file."""
        self.capacity = capacity
        self.descriptor = os.memfd_create("rfview-device", os.MFD_CLOEXEC)
        os.fchmod(self.descriptor, 0o600)
        os.ftruncate(self.descriptor, SCRATCH + capacity)
        self._map = mmap.mmap(self.descriptor, SCRATCH + capacity)
        self.arena = np.frombuffer(self._map, np.uint32)
        self.bytes = np.frombuffer(self._map, np.uint8)[SCRATCH:]
        self.live: dict[int, Allocation] = {}
        self._starts: list[int] = []
        self._free: list[tuple[int, int]] = [(0, capacity)]     # (first byte, size), sorted, no two adjoining
        self._extents: dict[int, tuple[int, int]] = {}          # by address: first byte and size with the gap behind
        self._count = 0
        self._image: GivenMemory | None = None

    def close(self) -> None:
        """Give the memory back; views of it must be gone."""
        os.close(self.descriptor)

    def allocate(self, size: int, *, name: str = "", kind: str = "buffer", page: bool = False) -> int:
        """Return the address of `size` bytes of zeros, 0 if there is no room. page: beginning and ending with pages."""
        grain = mmap.PAGESIZE if page else GRAIN
        needed = -(-(max(size, 1) + GRAIN) // grain) * grain
        fits = ((place, start) for place, (first, room) in enumerate(self._free)
                if (start := -(-first // grain) * grain) + needed <= first + room)
        place, start = next(fits, (-1, 0))
        if place < 0:
            return 0
        first, room = self._free[place]
        rest = [(first, start - first), (start + needed, first + room - start - needed)]
        self._free[place : place + 1] = [part for part in rest if part[1]]
        self._extents[BASE + start] = (start, needed)
        self._count += 1
        self._add(Allocation(BASE + start, size, start, name, kind, self._count))
        return BASE + start

    def alias(self, address: int, device: int, size: int) -> bool:
        """Have kernels see what lies at `device` at another address too; says whether that address is free."""
        known = self.find(device)
        if known is None or device - known.address + size > known.size:
            return False
        if address + size >= TOP or self._overlaps(address, size):
            return False
        self._count += 1
        self._add(Allocation(address, size, known.at + device - known.address, "", "buffer", self._count))
        return True

    def free(self, address: int) -> bool:
        """Give an allocation back and zero it; says whether there was one at this address."""
        held = self.live.pop(address, None)
        if held is None:
            return False
        self._starts.remove(address)
        self._image = None
        if address in self._extents:        # the bytes of an alias are somebody else's
            self._zero(held.at, held.size)
            self._give_back(*self._extents.pop(address))
        return True

    def describe(self, address: int, name: str, dtype: str, shape: str) -> bool:
        """Name an allocation and say what array it is; says whether there is one at this address that can be this array.

        dtype: as NumPy writes it, shape: lengths with commas; "" where unknown.
        """
        held = self.live.get(address)
        if held is None or (dtype and dtype not in DTYPES):
            return False
        sizes = tuple(int(part) for part in shape.split(",") if part)
        if dtype and (not sizes or min(sizes) < 1 or np.dtype(dtype).itemsize * math.prod(sizes) > held.size):
            return False
        self.live[address] = replace(held, name=name, dtype=dtype, shape=sizes)
        self._image = None
        return True

    def find(self, address: int) -> Allocation | None:
        """Return the allocation that an address lies in, None if it lies in none."""
        place = bisect_left(self._starts, address + 1) - 1
        held = self.live[self._starts[place]] if place >= 0 else None
        return held if held is not None and address < held.address + max(held.size, 1) else None

    def view(self, held: Allocation) -> np.ndarray:
        """Return an allocation's bytes, (size,) u1, to be read and written."""
        return self.bytes[held.at : held.at + held.size]

    def image(self) -> GivenMemory:
        """Return the memory as the machine is given it; the same object for as long as nothing is allocated or freed."""
        if self._image is None:
            found = tuple(Variable(held.name or f"m{held.number}", held.kind, held.address, GLOBAL_WORD + held.at // 4,
                                   held.size, np.dtype("u1"), (held.size,))
                          for held in map(self.live.__getitem__, self._starts) if held.size)
            self._image = GivenMemory(self.arena, GLOBAL_WORD, found, {})
        return self._image

    @property
    def used(self) -> int:
        """Return the bytes that are not free."""
        return self.capacity - sum(size for _, size in self._free)

    def _add(self, held: Allocation) -> None:
        self.live[held.address] = held
        insort(self._starts, held.address)
        self._image = None

    def _overlaps(self, address: int, size: int) -> bool:
        inside = address + size > BASE - GRAIN and address < BASE + self.capacity
        place = bisect_left(self._starts, address + size)
        before = self.live[self._starts[place - 1]] if place else None
        return inside or (before is not None and before.address + before.size > address)

    def _give_back(self, start: int, size: int) -> None:
        """Join bytes with the free ones beside them."""
        place = bisect_left(self._free, (start, 0))
        if place < len(self._free) and self._free[place][0] == start + size:
            size += self._free.pop(place)[1]
        if place and sum(self._free[place - 1]) == start:
            place -= 1
            start, before = self._free.pop(place)
            size += before
        self._free.insert(place, (start, size))

    def _zero(self, start: int, size: int) -> None:
        """Zero bytes; whole pages are given back to the system."""
        page = mmap.PAGESIZE
        first, last = -(-start // page) * page, (start + size) // page * page
        if last - first < 64 * page:
            self.bytes[start : start + size] = 0
            return
        self.bytes[start:first] = 0
        self.bytes[last : start + size] = 0
        self._map.madvise(mmap.MADV_REMOVE, SCRATCH + first, last - first)
