"""The compiled loops of the writer: a chunk's changes into the order of storing, and numbers into byte planes.

Only recording imports this module, and with it numba. The entry points are kept on disk by a hash of this file, because
numba looks at no more than an entry point's own file and forgets nothing when the engine changes. They hold no lock.
Indices are unsigned where a loop is long: for signed ones numba must allow for those that count from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import chunk
from rfview.engine.chunk import AFFINE, RAW
from rfview.engine.compile import bits, jit
from rfview.engine.compile.bits import bit64, ctz64, popcount

# whether the least and the greatest value of a word are wanted: no, of the word, of each byte; the last also: a warp's state
NOT_WATCHED, WHOLE, BYTES, STATE = range(4)
WIDTH, PLANES = 32, 4

SOURCES = tuple(Path(str(module.__file__)) for module in (bits, chunk)) + (Path(__file__),)
FOLDER = jit.CACHE_FOLDER / f"recorder-{jit.source_hash(SOURCES)}"


def entry(function: Callable[..., Any]) -> Any:
    """Compile an entry point that makes no arrays, as the engine's are, but kept in the recorder's own folder."""
    if jit.OFF:
        return jit.lean_entry(function)
    config: Any = jit.numba.config
    usual, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
    try:
        return jit.lean_entry(function)
    finally:
        config.CACHE_DIR = usual


@entry
def number_blocks(first, slot_of, block_first, block_events):
    """Number the blocks (slots) as they come up and count their events; return how many blocks there are.

    first: of chunk.Blocks. slot_of: (words,) i4, -1 for words that begin no block.
    """
    count = np.int64(0)
    for event in range(np.uint64(len(first))):
        word = np.uint64(first[event])
        slot = np.int64(slot_of[word])
        if slot < 0:
            slot = count
            count += 1
            slot_of[word] = slot
            block_first[np.uint64(slot)] = word
            block_events[np.uint64(slot)] = 0
        block_events[np.uint64(slot)] += 1
    return count


@entry
def sort_events(end, first, mask, slot_of, next_place, masks, cycles, values_at):
    """Bring the events into the order of their blocks, in order of time in each.

    end, first, mask: of chunk.Blocks. next_place: (slots,) i8 where each block's events begin. masks, cycles: u4 of the
    events in the new order; values_at: where in chunk.Blocks.value the new values of each begin.
    """
    event, at = np.uint64(0), np.uint64(0)
    for cycle in range(np.uint64(len(end))):
        stop = np.uint64(end[cycle])
        while event < stop:
            slot = np.uint64(slot_of[np.uint64(first[event])])
            place = np.uint64(next_place[slot])
            next_place[slot] = place + np.uint64(1)
            masks[place] = mask[event]
            cycles[place] = cycle
            values_at[place] = at
            at += np.uint64(popcount(mask[event]))
            event += np.uint64(1)
    return 0


@entry
def number_masks(block_group, block_events, masks, cycles, table, gaps, ranks, dictionary, uses, group_masks, columns):
    """Write each event's gap (cycles since its block's event before) and rank (its mask's number in its group's dictionary).

    block_group, block_events: of the blocks in the order of storing. table: i4 zeros, a power of 2 and at least twice as
    many as events. dictionary, uses: u4 get the masks, group after group, and how often each occurs; group_masks: u4 how
    many of them each group has. columns: (groups * 32,) u4 gets how many codes each column has. Returns how many masks.
    """
    most, one = np.uint64(len(table) - 1), np.uint64(1)
    event, count, begin = np.uint64(0), np.int64(0), np.int64(0)
    for block in range(np.uint64(len(block_group))):
        group = np.uint64(block_group[block])
        if block == 0 or block_group[block - one] != block_group[block]:
            begin = count
        before, last, rank = np.uint32(0), np.uint32(0), np.uint32(0)
        for _ in range(np.uint64(block_events[block])):
            mask = masks[event]
            if mask != last:
                hashed = (np.uint64(mask) ^ (group << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
                place = (hashed >> np.uint64(40)) & most
                number = np.int64(table[place]) - 1
                while number >= 0 and (number < begin or dictionary[np.uint64(number)] != mask):
                    place = (place + one) & most
                    number = np.int64(table[place]) - 1
                if number < 0:
                    number = count
                    count += 1
                    table[place] = count
                    dictionary[np.uint64(number)] = mask
                    uses[np.uint64(number)] = 0
                    group_masks[group] += np.uint32(1)
                rank, last = np.uint32(number - begin), mask
            uses[np.uint64(begin) + np.uint64(rank)] += np.uint32(1)
            gaps[event] = cycles[event] - before
            ranks[event] = rank
            before = cycles[event]
            event += one
    number = np.uint64(0)
    for group in range(np.uint64(len(group_masks))):
        for _ in range(np.uint64(group_masks[group])):
            left = np.uint64(dictionary[number])
            while left != 0:
                columns[group * np.uint64(WIDTH) + np.uint64(ctz64(left))] += uses[number]
                left &= left - one
            number += one
    return count


@jit.jit
def zigzag(difference):
    """Return a u4 difference as 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return np.uint32(difference << np.uint32(1)) ^ np.uint32(np.uint32(0) - (difference >> np.uint32(31)))


@jit.jit
def bytes_reach(a, b):
    """Say whether each byte of a u4 is at least that of another one, all four at once."""
    tops, rest = np.uint32(0x80808080), np.uint32(0x7F7F7F7F)
    differences = np.uint32((a | tops) - (b & rest))
    return ((a & ~b) | (~(a ^ b) & differences)) & tops == tops


@jit.jit
def widen(watch, low, high, word, new):
    """Take a new value into the least and greatest of its word, or of each of its bytes, which seldom changes these."""
    if watch == WHOLE:
        low[word] = min(low[word], new)
        high[word] = max(high[word], new)
        return 0
    if bytes_reach(new, low[word]) and bytes_reach(high[word], new):
        return 0
    least, most = np.uint32(0), np.uint32(0)
    for shift in (np.uint32(0), np.uint32(8), np.uint32(16), np.uint32(24)):
        ones = np.uint32(0xFF) << shift
        least |= min(low[word] & ones, new & ones)
        most |= max(high[word] & ones, new & ones)
    low[word] = least
    high[word] = most
    return 0


@entry
def code_values(block_first, block_group, block_events, masks, cycles, values_at, value, stamps, next_code, codes, used,
                first_cycle, state, low, high, changed, chunk_bit, watch, state_of, shift_of, sets):  # fmt: skip
    """Write the code of every new value to its column, where next_code says, and bring `state` to that behind the chunk.

    stamps: u4 of each group, the places whose codes are differences to the cycle; used: u4 of each column gets the bits
    that its codes have between them. low, high: u4 of each word, what it was and became. changed: u8 of each word, gets
    chunk_bit where it changes. watch, state_of, shift_of: of each word, see Watch; sets: u8 of each warp slot, gets a bit
    for each state.
    """
    event, one = np.uint64(0), np.uint64(1)
    for block in range(np.uint64(len(block_first))):
        begin, group = np.uint64(block_first[block]), np.uint64(block_group[block])
        column_begin, stamped = group * np.uint64(WIDTH), np.uint64(stamps[group])
        touched = np.uint64(0)
        for _ in range(np.uint64(block_events[block])):
            at, left = np.uint64(values_at[event]), np.uint64(masks[event])
            now = np.uint32(np.uint32(first_cycle) + np.uint32(cycles[event]))
            touched |= left
            event += one
            while left != 0:
                place = np.uint64(ctz64(left))
                left &= left - one
                word, column, new = begin + place, column_begin + place, value[at]
                at += one
                code = zigzag(np.uint32(new - now)) if (stamped >> place) & one else new
                to = np.uint64(next_code[column])
                next_code[column] = to + one
                codes[to] = code
                used[column] |= code
                state[word] = new
                if watch[word] != NOT_WATCHED:
                    widen(watch[word], low, high, word, new)
                    if watch[word] == STATE:
                        sets[np.uint64(state_of[word])] |= bit64((new >> np.uint32(shift_of[word])) & np.uint32(63))
        while touched != 0:
            changed[begin + np.uint64(ctz64(touched))] |= np.uint64(chunk_bit)
            touched &= touched - one
    return 0


@entry
def put_planes(begin, counts, widths, codes, out, at):
    """Write the codes of the columns as byte planes: first the low bytes of all columns of width 1 or more, then the second
    bytes of those of width 2 or more, and so on, column by column in each; returns the place behind.
    """
    to = np.uint64(at)
    for plane in range(PLANES):
        shift = np.uint32(8 * plane)
        for column in range(np.uint64(len(counts))):
            if widths[column] > plane:
                low, count = np.uint64(begin[column]), np.uint64(counts[column])
                for k in range(count):
                    out[to + k] = np.uint8((codes[low + k] >> shift) & np.uint32(255))
                to += count
    return np.int64(to)


@entry
def split_rows(kind, word, base, step, raw):
    """Split the words of chunk.Rows by what they say, steps as zigzag differences; return how many of each there are."""
    bases, steps, raws, at, one = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(1)
    for row in range(np.uint64(len(kind))):
        if kind[row] == RAW:
            for lane in range(np.uint64(32)):
                raw[raws + lane] = word[at + lane]
            raws += np.uint64(32)
            at += np.uint64(32)
            continue
        base[bases] = word[at]
        bases += one
        at += one
        if kind[row] == AFFINE:
            step[steps] = zigzag(word[at])
            steps += one
            at += one
    return bases, steps, raws


@entry
def put_stream(values, out, at, sizes):
    """Write u4 numbers as a stream of width 0, 1, 2 or 4 (see streams.py) to out[at..]; returns the place behind.

    sizes: (2,) u4 gets count and width.
    """
    size, to, found = np.uint64(len(values)), np.uint64(at), np.uint32(0)
    for k in range(size):
        found |= values[k]
    width = 0 if found == 0 else 1 if found < 1 << 8 else 2 if found < 1 << 16 else PLANES
    for plane in range(width):
        shift = np.uint32(8 * plane)
        for k in range(size):
            out[to + k] = np.uint8((values[k] >> shift) & np.uint32(255))
        to += size
    sizes[0] = size
    sizes[1] = width
    return np.int64(to)
