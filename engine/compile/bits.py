"""Helpers with faster versions for compiled code (intrinsics.py): bits, arrays, 32 words at once, prefetching."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

ALL_BITS = 2**64 - 1
U4 = np.dtype("u4")


def ctz64(x: Any) -> int:
    """Return the index of the lowest set bit of a non-zero 64-bit mask."""
    value = int(x)
    return (value & -value).bit_length() - 1


def set_bits(mask: Any) -> Iterator[int]:
    """Yield the index of each set bit of a mask of at most 64 bits, the lowest first; later changes of it do not matter."""
    left = int(mask) & ALL_BITS
    while left != 0:
        yield ctz64(left)
        left &= left - 1


def highest64(x: Any) -> int:
    """Return the index of the highest set bit of a non-zero 64-bit mask."""
    return int(x).bit_length() - 1


def popcount(x: Any) -> int:
    """Return the number of set bits of a mask of at most 64 bits."""
    return int(x).bit_count()


def bit64(index: Any) -> Any:
    """Return the 64-bit mask with only bit `index` (0..63) set, as an unsigned number."""
    return np.uint64(1 << int(index))


def array_at(address: Any, count: Any, dtype: Any) -> Any:
    """Return `count` numbers or records in memory as an array that does not own them; the caller keeps their owner alive."""
    memory = (ctypes.c_char * (int(count) * dtype.itemsize)).from_address(int(address))
    return np.frombuffer(memory, dtype).view(np.recarray if dtype.names else np.ndarray)


def words_at(address: Any, count: Any) -> Any:
    """Return `count` u4 words of memory, as array_at does."""
    return array_at(address, count, U4)


def copy32(source: Any, target: Any) -> int:
    """Copy a row of 32 words, as one vector in compiled code."""
    target[:] = source
    return 0


def blend32(source: Any, target: Any, mask: Any) -> int:
    """Copy the words of a mask from one row of 32 to another."""
    for lane in range(32):
        if (int(mask) >> lane) & 1:
            target[lane] = source[lane]
    return 0


def prefetch(array: Any, index: Any) -> int:
    """Ask the processor to fetch array[index] into its cache; an index out of bounds is harmless."""
    return 0


def changed32(words: Any, shadow: Any, first: Any) -> Any:
    """Return the mask of words first..first + 31 in which two u4 arrays differ; the caller checks the bounds."""
    mask = 0
    for bit in range(32):
        if words[int(first) + bit] != shadow[int(first) + bit]:
            mask |= 1 << bit
    return mask


def take32(words: Any, shadow: Any, first: Any, mask: Any, target: Any, at: Any) -> int:
    """Append the words first + bit of `mask` to target[at..] and copy them to the shadow.

    The caller keeps words first..first + 31 and target[at..at + 31] in bounds: what follows the appended words is undefined.
    """
    for bit in range(32):
        if (int(mask) >> bit) & 1:
            shadow[int(first) + bit] = target[int(at)] = words[int(first) + bit]
            at = int(at) + 1
    return 0


def keep_changed(firsts: Any, masks: Any, entry: Any, count: Any, first: Any, stride: Any) -> Any:
    """Keep those of `count` blocks whose mask, in masks[entry..], is not 0; returns the place after them.

    firsts: gets the first word of each of these blocks; the blocks begin at `first`, first + stride, ... The caller keeps
    16 places after all blocks in bounds: what follows them is undefined.
    """
    to = np.uint64(entry)
    for block in range(int(count)):
        mask = masks[np.uint64(entry) + np.uint64(block)]
        firsts[to] = np.uint64(first) + np.uint64(block) * np.uint64(stride)
        masks[to] = mask
        to += np.uint64(mask != 0)
    return to
