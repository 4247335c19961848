"""Sets of variables as Python integers, bit `v` for variable v: between them and lists, however wide they are."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

# up to so many bits one bit after the other is faster
NARROW = 256


def members(mask: int) -> list[int]:
    """List the bits set, in order."""
    if mask.bit_length() > NARROW:  # few bits of a wide set are set, and each shift of it would copy it
        words = np.frombuffer(mask.to_bytes(-(-mask.bit_length() // 64) * 8, "little"), "<u8")
        used = np.flatnonzero(words)
        places = np.flatnonzero(np.unpackbits(words[used].view(np.uint8), bitorder="little"))
        listed: list[int] = (used[places >> 6] * 64 + (places & 63)).tolist()
        return listed
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def bits_of(variables: Collection[int], size: int) -> int:
    """Give the set of these variables, all below `size`."""
    if size <= NARROW:
        mask = 0
        for var in variables:
            mask |= 1 << var
        return mask
    flags = np.zeros(size, np.uint8)
    flags[list(variables)] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
