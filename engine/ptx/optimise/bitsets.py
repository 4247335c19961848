"""Sets of variables as Python integers, bit `v` for variable v: conversion to and from lists, fast for wide sets too."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

# up to this many bits, going bit by bit is faster
NARROW = 256


def members(mask: int) -> list[int]:
    """List the bits set, in order."""
    if mask.bit_length() > NARROW:  # wide sets are sparse, and each operation on one would copy it
        words = np.frombuffer(mask.to_bytes(-(-mask.bit_length() // 64) * 8, "little"), "<u8")
        used = np.flatnonzero(words)
        places = np.flatnonzero(np.unpackbits(words[used].view(np.uint8), bitorder="little"))
        listed: list[int] = (used[places >> 6] * 64 + (places & 63)).tolist()
        return listed
    numbers = []
    while mask:
        low = mask & -mask
        numbers.append(low.bit_length() - 1)
        mask ^= low
    return numbers


def bits_of(variables: Collection[int], size: int) -> int:
    """Return the bit set of these variables, all below `size`."""
    if size <= NARROW:
        mask = 0
        for var in variables:
            mask |= 1 << var
        return mask
    flags = np.zeros(size, np.uint8)
    flags[list(variables)] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
