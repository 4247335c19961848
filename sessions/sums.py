"""The compiled loops that keep what chunks come to: the newest values, marks of what changes, ends; they hold no lock."""

from __future__ import annotations

import numpy as np

from engine.bits import bit64, ctz64, popcount
from engine.chunk import AFFINE, RAW
from sessions.codec import PLANES
from sessions.compiled import entry


@entry
def put_rows(values, marks, index, kind, word):
    """Write rows of 32 lanes, as engine.chunk.Rows says them, in order, and mark them: a bit for each."""
    at = np.uint64(0)
    for which in range(np.uint64(len(index))):
        row = np.uint64(index[which])
        marks[row >> np.uint64(6)] |= bit64(row & np.uint64(63))
        if kind[which] == RAW:
            for lane in range(np.uint64(32)):
                values[row, lane] = word[at + lane]
            at += np.uint64(32)
            continue
        first, step = word[at], np.uint32(0)
        at += np.uint64(1)
        if kind[which] == AFFINE:
            step = word[at]
            at += np.uint64(1)
        for lane in range(np.uint64(32)):
            values[row, lane] = np.uint32(first + np.uint32(lane) * step)
    return 0


@entry
def put_words(values, marks, index, value):
    """Write words, in order, and mark them: a bit for each."""
    for at in range(np.uint64(len(index))):
        word = np.uint64(index[at])
        marks[word >> np.uint64(6)] |= bit64(word & np.uint64(63))
        values[word] = value[at]
    return 0


@entry
def move_up(marks, above):
    """Move the marks to those of the level above; return (n,) u4, the places that they stand for, ascending."""
    count = np.uint64(0)
    for group in range(np.uint64(len(marks))):
        count += np.uint64(popcount(marks[group]))
    found = np.empty(count, np.uint32)
    at = np.uint64(0)
    for group in range(np.uint64(len(marks))):
        left = np.uint64(marks[group])
        if left == 0:
            continue
        above[group] |= left
        marks[group] = 0
        while left != 0:
            found[at] = group * np.uint64(64) + np.uint64(ctz64(left))
            left &= left - np.uint64(1)
            at += np.uint64(1)
    return found


@entry
def sum_up(key, watched, slot, words, least, most, low, high, changed, bit):
    """Set a bit in `changed` of a chunk's changed words, and write down the ends of all watched ones.

    key: state before. watched: its watched words; slot: (words,) which of them, -1 = none. words, least, most: of an Extent.
    low, high: of each watched word; changed: (words,) u8.
    """
    for at in range(np.uint64(len(watched))):
        value = key[np.uint64(watched[at])]
        low[at] = value
        high[at] = value
    for at in range(np.uint64(len(words))):
        word = np.uint64(words[at])
        changed[word] |= bit64(bit)
        if slot[word] >= 0:
            place = np.uint64(slot[word])
            low[place] = least[at]
            high[place] = most[at]
    return 0


@entry
def mark_places(index, share, marks, bit):
    """Set a bit in the marks of the places written: (n,) u8, each for `share` places that follow one another, and on."""
    size, each = np.uint32(len(marks)), np.uint32(share)
    for at in range(np.uint64(len(index))):
        marks[np.uint64(index[at] // each % size)] |= bit64(bit)
    return 0


@entry
def pack_marks(words, marks, chunks, out):
    """Write the low bits of the marks of words, as many as chunks, in whole bytes; return how many bytes."""
    at = np.uint64(0)
    for k in range(np.uint64(len(words))):
        left = np.uint64(marks[np.uint64(words[k])])
        for _ in range((chunks + 7) // 8):
            out[at] = left & np.uint64(255)
            left >>= np.uint64(8)
            at += np.uint64(1)
    return at


@entry
def pack_ends(slots, chunks, low, high, to, out):
    """Write the ends of watched words as format.py says of `parts`; low, high: (chunks, slots). Returns the place behind."""
    size = np.uint64(len(slots)) * np.uint64(chunks)
    at = np.uint64(to)
    for k in range(np.uint64(len(slots))):
        slot = np.uint64(slots[k])
        before = np.uint32(0)
        for chunk in range(np.uint64(chunks)):
            step = np.uint32(low[chunk, slot] - before)
            width = np.uint32(high[chunk, slot] - low[chunk, slot])
            before = low[chunk, slot]
            for plane in range(np.uint64(PLANES)):
                shift = np.uint32(8) * np.uint32(plane)
                out[at + plane * size] = (step >> shift) & np.uint32(255)
                out[at + (plane + np.uint64(PLANES)) * size] = (width >> shift) & np.uint32(255)
            at += np.uint64(1)
    return np.uint64(to) + np.uint64(2 * PLANES) * size
