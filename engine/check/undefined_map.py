"""The map of global memory: a bit per byte, set until something writes the byte; it outlives launches and machines.

Kernels' writes are noted by compiled code (memory.py), all others here: allocations, copies and fills by the host.
"""

from __future__ import annotations

import numpy as np

CHUNK = 1 << 20     # bytes of memory whose bits are unpacked at once


def words_for(size: int) -> int:
    """Return the length of the map, in u4, for `size` bytes of memory."""
    return -(-size // 32)


def set_bits(words: np.ndarray, first: int, size: int, value: bool) -> None:
    """Make bytes of memory undefined, or defined. words: (n,) u4, the map; first: the first byte's offset in the memory."""
    bits = words.view(np.uint8)
    head, tail = -(-first // 8), (first + size) // 8
    if head > tail:
        _set_within(bits, head - 1, first % 8, first % 8 + size, value)
        return
    if first % 8:
        _set_within(bits, head - 1, first % 8, 8, value)
    if value or bits[head:tail].any():      # most pages of the map are never touched
        bits[head:tail] = 255 if value else 0
    if (first + size) % 8:
        _set_within(bits, tail, 0, (first + size) % 8, value)


def copy_bits(words: np.ndarray, to: int, source: int, size: int) -> None:
    """Make bytes of memory undefined where those that are copied there are; the two ranges do not overlap."""
    bits = words.view(np.uint8)
    if not bits[source // 8 : -(-(source + size) // 8)].any():
        set_bits(words, to, size, False)
        return
    for done in range(0, size, CHUNK):
        count = min(CHUNK, size - done)
        copied = _unpacked(bits, source + done, count)
        first = (to + done) // 8
        last = -(-(to + done + count) // 8)
        whole = np.unpackbits(bits[first:last], bitorder="little")
        whole[(to + done) % 8 : (to + done) % 8 + count] = copied
        bits[first:last] = np.packbits(whole, bitorder="little")


def _unpacked(bits: np.ndarray, first: int, size: int) -> np.ndarray:
    """Return (size,) u1: the bits of bytes of memory from `first` on."""
    held = np.unpackbits(bits[first // 8 : -(-(first + size) // 8)], bitorder="little")
    return held[first % 8 : first % 8 + size]


def _set_within(bits: np.ndarray, place: int, first: int, end: int, value: bool) -> None:
    """Set the bits first..end - 1 of one byte of the map."""
    mask = ((1 << end) - (1 << first)) & 255
    bits[place] = int(bits[place]) | mask if value else int(bits[place]) & ~mask
