"""The compiled loops that keep what chunks come to: the newest values, marks of what changes, ends; they hold no lock."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64, ctz64, popcount
from rfview.engine.chunk import AFFINE, RAW
from rfview.engine.compile.jit import jit
from rfview.sessions.codec.codec import PLANES
from rfview.sessions.codec.compiled import array_entry, entry
from rfview.sessions.codec.extent import LINE_BITS, LINE_WORDS


@entry
def put_rows(values, marks, seen, chunk, index, kind, word):
    """Write a chunk's rows of 32 lanes, as rfview.engine.chunk.Rows says them, in order, and mark them: a bit for each.

    seen: (rows,) u8 gets the chunk's bit where one is written.
    """
    at = np.uint64(0)
    for which in range(np.uint64(len(index))):
        row = np.uint64(index[which])
        marks[row >> np.uint64(6)] |= bit64(row & np.uint64(63))
        seen[row] |= bit64(chunk)
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
def put_words(values, marks, seen, chunk, index, value):
    """Write a chunk's words, in order, and mark them: a bit for each; seen: (LINE_BITS,) u8, likewise for their lines."""
    for at in range(np.uint64(len(index))):
        word = np.uint64(index[at])
        marks[word >> np.uint64(6)] |= bit64(word & np.uint64(63))
        seen[word // np.uint64(LINE_WORDS) % np.uint64(LINE_BITS)] |= bit64(chunk)
        values[word] = value[at]
    return 0


@array_entry
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

    key: state before or behind. watched: its watched words; slot: (words,) which of them, -1 = none. words, least, most: of
    an Extent. low, high: of each watched word; changed: (words,) u8.
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


@jit
def pack_marks(words, marks, chunks, at, out):
    """Write the low bits of the marks of words, as many as chunks, in whole bytes; returns the place behind."""
    for word in words:
        left = np.uint64(marks[np.uint64(word)])
        for _ in range((chunks + 7) // 8):
            out[at] = left & np.uint64(255)
            left >>= np.uint64(8)
            at += np.uint64(1)
    return at


@jit
def pack_ends(words, slot, marks, chunks, low, high, at, out):
    """Write the ends of watched words as format.py says of `parts`; returns the place behind.

    Those of a word without a mark are what they were in the first chunk, and so all other differences are zero.
    """
    size = np.uint64(len(words)) * np.uint64(chunks)
    behind = at + np.uint64(2 * PLANES) * size
    out[at:behind] = 0
    for word in words:
        place = np.uint64(slot[np.uint64(word)])
        before = np.uint32(0)
        for chunk in range(np.uint64(chunks if marks[np.uint64(word)] != 0 else 1)):
            step = np.uint32(low[chunk, place] - before)
            width = np.uint32(high[chunk, place] - low[chunk, place])
            before = low[chunk, place]
            for plane in range(np.uint64(PLANES)):
                shift = np.uint32(8) * np.uint32(plane)
                out[at + chunk + plane * size] = (step >> shift) & np.uint32(255)
                out[at + chunk + (plane + np.uint64(PLANES)) * size] = (width >> shift) & np.uint32(255)
        at += np.uint64(chunks)
    return behind


@entry
def pack_parts(words, begin, slot, marks, chunks, low, high, out, which, end):
    """Write the parts of a summary (see format.py) one behind the other; returns how many there are.

    words, begin: of WordKinds. slot, low, high: as in sum_up; marks: its `changed`. which, end: (kinds,) get the kind of
    each part and the place behind it.
    """
    parts = np.uint64(0)
    at = np.uint64(0)
    for kind in range(np.uint64(len(begin) - 1)):
        of_kind = words[begin[kind] : begin[kind + np.uint64(1)]]
        is_watched = slot[np.uint64(of_kind[0])] >= 0
        changes = np.uint64(0)
        for word in of_kind:
            changes |= marks[np.uint64(word)]
        if not is_watched and changes == 0:
            continue
        at = pack_marks(of_kind, marks, chunks, at, out)
        if is_watched:
            at = pack_ends(of_kind, slot, marks, chunks, low, high, at, out)
        which[parts] = kind
        end[parts] = at
        parts += np.uint64(1)
    return parts
