"""Which allocations a launch can reach by following pointers from its parameters and its module's symbols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rfview.capture.memory import GRAIN, Allocation, DeviceMemory

if TYPE_CHECKING:
    from rfview.capture.modules import Loaded

Before = dict[int, tuple[Allocation, bytes]]    # by address: an allocation and what it held


def reached(memory: DeviceMemory, module: Loaded, params: bytes) -> list[int]:
    """Return the addresses of the allocations that a launch may touch, in ascending order.

    A value that merely looks like an address adds an allocation that is not needed. One that points slightly before or
    after an allocation counts as well: kernels index from there.
    """
    starts = np.array(sorted(memory.live), np.uint64)
    ends = np.array([int(start) + max(memory.live[int(start)].size, 1) for start in starts], np.uint64)
    waiting = [address for address in module.addresses.values() if address in memory.live]
    waiting += _pointed(np.frombuffer(params[: len(params) // 4 * 4], np.uint32), starts, ends, unaligned=True)
    found: set[int] = set()
    while waiting:
        address = waiting.pop()
        if address not in found:
            found.add(address)
            held = memory.live[address]
            words = memory.view(held)[: held.size // 4 * 4].view(np.uint32)
            waiting += _pointed(words, starts, ends, unaligned=held.size <= 1 << 20)
            if held.kind == "texture":
                waiting += _pointed(words[4:6].copy(), starts, ends, unaligned=False)
    return sorted(found)


def _pointed(words: np.ndarray, starts: np.ndarray, ends: np.ndarray, unaligned: bool) -> list[int]:
    """Return the allocations to which words, (n,) u4, point; unaligned: addresses at any multiple of 4, not only of 8."""
    if len(starts) == 0 or len(words) < 2:
        return []
    forms = [words[: len(words) // 2 * 2]] + ([words[1 : 1 + (len(words) - 1) // 2 * 2]] if unaligned else [])
    found: set[int] = set()
    slack = np.uint64(GRAIN)
    for form in forms:
        values = np.frombuffer(form.tobytes(), np.uint64) if form.ctypes.data % 8 else form.view(np.uint64)
        values = np.unique(values[(values >= starts[0] - slack) & (values < ends.max() + slack)])
        places = np.searchsorted(starts, values, "right")
        for value, place in zip(values, places):
            if place and value < ends[place - 1] + slack:
                found.add(int(starts[place - 1]))
            if place < len(starts) and value + slack > starts[place]:
                found.add(int(starts[place]))
    return list(found)


def copied(memory: DeviceMemory, addresses: Iterable[int]) -> Before:
    """Return allocations with copies of their current contents."""
    return {address: (memory.live[address], memory.view(memory.live[address]).tobytes()) for address in addresses}


def put_back(memory: DeviceMemory, kept: Before) -> None:
    """Restore the contents of allocations."""
    for held, content in kept.values():
        memory.view(held)[:] = np.frombuffer(content, np.uint8)
