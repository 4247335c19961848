"""The device's memory: one sparse file that both server and program map, and the allocations in it.

The file has no name, so that nothing is left of it once both processes have ended, however they ended. The program maps
the device's part at the addresses that kernels use: device pointers are valid on the host, and copies are plain copies.
The server also maps the machine's scratch memory, in front of that part; the two form one arena.
"""

from __future__ import annotations

import math
import mmap
import os
from bisect import bisect_left, insort
from dataclasses import dataclass, replace

import numpy as np

from rfview.capture.messages import BASE, CAPACITY, SCRATCH
from rfview.engine.check.undefined_map import copy_bits, set_bits, words_for
from rfview.engine.errors import InputError
from rfview.engine.launch.arrays import DTYPES
from rfview.engine.launch.given import GivenMemory
from rfview.engine.launch.placement import Variable

GRAIN = 512                     # bytes: alignment of allocations, and the least gap left unmapped between two of them
GLOBAL_WORD = SCRATCH // 4
GPU_PAGE = 2 << 20              # bytes that a GPU maps, and checks, as a whole
TOP = 1 << 63                   # addresses are signed in the machine


@dataclass(frozen=True)
class Allocation:
    """Allocated bytes. address: where kernels see them; at: their offset in the device's part of the file.

    kind: 'buffer', 'symbol' or 'texture' (a header). number: identifies unnamed ones, in order of allocation.
    dtype, shape: of the array in it, if the program described one.
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
    """The memory of one device, until it is closed."""

    def __init__(self, capacity: int = CAPACITY, *, tracks: bool = False) -> None:
        """capacity: bytes, a multiple of GRAIN. tracks: remember which bytes nothing has written.

        Raises InputError if the system has not so much address space for it.
        """
        self.capacity = capacity
        self.descriptor = os.memfd_create("rfview-device", os.MFD_CLOEXEC)
        try:
            self.undefined = np.frombuffer(mmap.mmap(-1, 4 * words_for(capacity)), np.uint32) if tracks else None
            os.fchmod(self.descriptor, 0o600)
            os.ftruncate(self.descriptor, SCRATCH + capacity)
            self._map = mmap.mmap(self.descriptor, SCRATCH + capacity)
        except OSError as error:
            os.close(self.descriptor)
            raise InputError(f"a program's device memory needs {SCRATCH + capacity >> 20:,} MiB of address space, of which "
                             f"only what it uses takes up memory: {error.strerror or error}; is a limit set (ulimit -v)?"
                             ) from None
        self.arena = np.frombuffer(self._map, np.uint32)
        self.bytes = np.frombuffer(self._map, np.uint8)[SCRATCH:]
        self.live: dict[int, Allocation] = {}
        self._starts: list[int] = []
        self._free: list[tuple[int, int]] = [(0, capacity)]     # (first byte, size), sorted, no two adjoining
        self._extents: dict[int, tuple[int, int]] = {}          # by address: first byte and size with the gap after it
        self._count = 0
        self._image: GivenMemory | None = None

    def close(self) -> None:
        """Close the file and return its pages to the system, whoever still maps them; views that are left read zeros."""
        self._map.madvise(mmap.MADV_REMOVE)
        os.close(self.descriptor)

    def allocate(self, size: int, *, name: str = "", kind: str = "buffer", page: bool = False, written: bool = True) -> int:
        """Allocate `size` zeroed bytes; return their address, 0 if there is no room. page: whole pages of their own.

        written: False if reading them before something is written there is a mistake.
        """
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
        self.note(BASE + start, size, undefined=not written)
        return BASE + start

    def note(self, address: int, size: int, *, undefined: bool) -> None:
        """Note that bytes of device memory are undefined, or have been written; no effect unless that is tracked.

        Raises ValueError if they are not in the device's memory.
        """
        self._check_inside(address, size)
        if self.undefined is not None:
            set_bits(self.undefined, address - BASE, size, undefined)

    def note_copy(self, address: int, source: int, size: int) -> None:
        """Note a copy to device memory: what was undefined is so at the new place; other memory is taken to be written."""
        self._check_inside(address, size)
        if self.undefined is None:
            return
        if source >= BASE and source + size <= BASE + self.capacity:
            copy_bits(self.undefined, address - BASE, source - BASE, size)
        else:
            set_bits(self.undefined, address - BASE, size, False)

    def _check_inside(self, address: int, size: int) -> None:
        if address < BASE or address + size > BASE + self.capacity:
            raise ValueError(f"{size:,} bytes at 0x{address:x} are not in the device's memory")

    def alias(self, address: int, device: int, size: int) -> bool:
        """Make the bytes at `device` visible to kernels at another address as well; return False if that is impossible."""
        known = self.find(device)
        if known is None or device - known.address + size > known.size or address % 4 or device % 4:
            return False
        if address + size >= TOP or self._overlaps(address, size):
            return False
        self._count += 1
        self._add(Allocation(address, size, known.at + device - known.address, "", "buffer", self._count))
        return True

    def unalias(self, address: int) -> bool:
        """End an alias; return whether there was one at this address."""
        if address not in self.live or self.owns(address):
            return False
        self._remove(address)
        return True

    def owns(self, address: int) -> bool:
        """Return whether an allocation begins at this address that is not an alias of another one's bytes."""
        return address in self._extents

    def free(self, address: int) -> bool:
        """Free an allocation, end its aliases, and zero it; return whether there was one at this address."""
        if not self.owns(address):
            return False
        held = self.live[address]
        start, size = self._extents.pop(address)
        for other in [one.address for one in self.live.values() if start <= one.at < start + size]:
            self._remove(other)
        self._zero(held.at, held.size)
        self._give_back(start, size)
        return True

    def describe(self, address: int, name: str, dtype: str, shape: str) -> bool:
        """Set an allocation's name and array; return whether there is one at this address that can hold this array.

        dtype: as NumPy writes it; shape: lengths separated by commas; "" if unknown.
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
        """Return the allocation that contains an address, None if there is none."""
        place = bisect_left(self._starts, address + 1) - 1
        held = self.live[self._starts[place]] if place >= 0 else None
        return held if held is not None and address < held.address + max(held.size, 1) else None

    def may_go_unnoticed(self, address: int) -> bool:
        """Return whether an address is so close behind an allocation that a GPU may have it mapped."""
        place = bisect_left(self._starts, address + 1) - 1
        held = self.live[self._starts[place]] if place >= 0 else None
        return held is not None and held.address + held.size <= address < held.address + held.size + GPU_PAGE

    def view(self, held: Allocation) -> np.ndarray:
        """Return a writable view of an allocation's bytes, (size,) u1."""
        return self.bytes[held.at : held.at + held.size]

    def image(self) -> GivenMemory:
        """Return the memory in the form the machine takes; the same object until something is allocated, freed or named."""
        if self._image is None:
            found = tuple(Variable(held.name or f"m{held.number}", held.kind, held.address, GLOBAL_WORD + held.at // 4,
                                   held.size, np.dtype("u1"), (held.size,))
                          for held in map(self.live.__getitem__, self._starts) if held.size)
            self._image = GivenMemory(self.arena, GLOBAL_WORD, found, {}, self.undefined)
        return self._image

    def private_image(self, image: GivenMemory) -> GivenMemory:
        """Return an image of the memory as it is now, to which writes are private and lost with the image."""
        size = SCRATCH + self.capacity
        flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
        private = mmap.mmap(self.descriptor, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        return replace(image, arena=np.frombuffer(private, np.uint32), undefined=None)

    @property
    def used(self) -> int:
        """Return the number of bytes that are not free."""
        return self.capacity - sum(size for _, size in self._free)

    def _add(self, held: Allocation) -> None:
        self.live[held.address] = held
        insort(self._starts, held.address)
        self._image = None

    def _remove(self, address: int) -> None:
        del self.live[address]
        self._starts.remove(address)
        self._image = None

    def _overlaps(self, address: int, size: int) -> bool:
        inside = address + size > BASE - GRAIN and address < BASE + self.capacity
        place = bisect_left(self._starts, address + size)
        before = self.live[self._starts[place - 1]] if place else None
        return inside or (before is not None and before.address + before.size > address)

    def _give_back(self, start: int, size: int) -> None:
        """Return bytes to the free list, merged with free neighbours."""
        place = bisect_left(self._free, (start, 0))
        if place < len(self._free) and self._free[place][0] == start + size:
            size += self._free.pop(place)[1]
        if place and sum(self._free[place - 1]) == start:
            place -= 1
            start, before = self._free.pop(place)
            size += before
        self._free.insert(place, (start, size))

    def _zero(self, start: int, size: int) -> None:
        """Zero bytes; long runs of whole pages are returned to the system."""
        page = mmap.PAGESIZE
        first, last = -(-start // page) * page, (start + size) // page * page
        if last - first < 64 * page:
            self.bytes[start : start + size] = 0
            return
        self.bytes[start:first] = 0
        self.bytes[last : start + size] = 0
        self._map.madvise(mmap.MADV_REMOVE, SCRATCH + first, last - first)
