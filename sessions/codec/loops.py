"""The compiled loops of the writer: putting a chunk's changes in storage order, and numbers into byte planes.

Only recording imports this module, and with it numba. The entry points are cached on disk by a hash of this file, because
numba considers only an entry point's own file and would not notice changes of the engine. They hold no lock.
Long loops use unsigned indices: for signed ones numba must handle negative indices.
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
from rfview.engine.compile.device import device

WIDTH, PLANES = 32, 4

SOURCES = tuple(Path(str(module.__file__)) for module in (bits, chunk)) + (Path(__file__),)
CONTENT = jit.source_hash(SOURCES)


def entry(function: Callable[..., Any]) -> Any:
    """Compile an entry point that creates no arrays, like the engine's; its arguments carry no hash of what is compiled."""
    return jit.lean_entry(function, CONTENT)


@entry
def number_blocks(first, slot_of, block_first, block_events):
    """Number the blocks (slots) in order of appearance and count their events; return how many blocks there are.

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
    """Sort the events by block, in order of time in each.

    end, first, mask: of chunk.Blocks. next_place: (slots,) i8 where each block's events begin. masks, cycles: u4 for the
    events in the new order. values_at: where in chunk.Blocks.value the new values of each begin.
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
def number_masks(block_group, block_events, masks, cycles, table, gaps, ranks, dictionary, group_masks):
    """Write each event's gap (cycles since its block's last event) and rank (its mask's number in its group's dictionary).

    block_group, block_events: of the blocks in storage order. table: i4 zeros, a power of 2 and at least twice as
    many as events. dictionary: u4 gets the masks, group after group. group_masks: u4 how many of them each group has.
    Returns how many masks there are.
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
                    group_masks[group] += np.uint32(1)
                rank, last = np.uint32(number - begin), mask
            gaps[event] = cycles[event] - before
            ranks[event] = rank
            before = cycles[event]
            event += one
    return count


@device
def widen(low, high, k, values, begin, end, is_packed):
    """Update the smallest and largest value of a word or, if it is packed, of each of its bytes."""
    step = 8 if is_packed else 32
    least, most = np.uint32(0), np.uint32(0)
    for shift in range(0, 32, step):
        ones = np.uint32(((1 << step) - 1) << shift)
        bottom, top = np.uint32(low[k] & ones), np.uint32(high[k] & ones)
        for at in range(begin, end):
            part = np.uint32(values[at] & ones)
            bottom, top = min(bottom, part), max(top, part)
        least, most = np.uint32(least | bottom), np.uint32(most | top)
    low[k] = least
    high[k] = most
    return 0


@entry
def code_values(block_first, block_group, block_events, masks, values_at, value, next_code, begins, codes, state,
                chunk_bit, changed, watched, packed, low, high, shift, sets):
    """Move every new value to its column, update `state` to that after the chunk, and fill in Seen.

    next_code: u8 next place of each column. begins: (32,) u8 working memory. chunk_bit and the rest: see encode.Seen.
    """
    event, one = np.uint64(0), np.uint64(1)
    for block in range(np.uint64(len(block_first))):
        first, column = np.uint64(block_first[block]), np.uint64(block_group[block]) * np.uint64(WIDTH)
        for place in range(np.uint64(WIDTH)):
            begins[place] = next_code[column + place]
        touched = np.uint64(0)
        for _ in range(np.uint64(block_events[block])):
            at, left = np.uint64(values_at[event]), np.uint64(masks[event])
            touched |= left
            event += one
            while left != 0:
                place = column + np.uint64(ctz64(left))
                left &= left - one
                codes[next_code[place]] = value[at]
                next_code[place] += one
                at += one
        # the values of each word are contiguous now: short loops over whole vectors
        while touched != 0:
            place = np.uint64(ctz64(touched))
            touched &= touched - one
            word, begin, end = first + place, begins[place], next_code[column + place]
            state[word] = codes[end - one]
            changed[word] |= chunk_bit
            number = watched[word]
            if number >= 0:
                widen(low, high, np.uint64(number), codes, begin, end, number < packed)
                if number < len(sets):
                    for at in range(begin, end):
                        sets[np.uint64(number)] |= bit64((codes[at] >> shift) & np.uint32(63))
    return 0


@device
def put_planes(values, begin, end, out, at):
    """Write u4 numbers as byte planes to out[at..], as many as the largest needs; return how many."""
    union = np.uint32(0)
    for k in range(begin, end):
        union = np.uint32(union | values[k])
    width = np.uint64(0)
    while width < np.uint64(PLANES) and union >> (np.uint64(8) * width) != 0:
        for k in range(begin, end):
            out[at + (k - begin)] = np.uint8((values[k] >> (np.uint64(8) * width)) & np.uint64(255))
        at += end - begin
        width += np.uint64(1)
    return width


@entry
def put_stream(values, out, at, sizes):
    """Write u4 numbers as a stream (streams.py) to out[at..]; return the place after it. sizes: (2,) u4 gets its size."""
    count = np.uint64(len(values))
    width = put_planes(values, np.uint64(0), count, out, np.uint64(at))
    sizes[0] = count
    sizes[1] = width
    return np.int64(np.uint64(at) + count * width)


@entry
def put_columns(begin, end, codes, widths, out, at):
    """Write the codes of each column like those of a stream, column after column; return the place after them."""
    to = np.uint64(at)
    for column in range(np.uint64(len(begin))):
        width = put_planes(codes, begin[column], end[column], out, to)
        widths[column] = width
        to += (end[column] - begin[column]) * width
    return np.int64(to)


@entry
def split_rows(kind, word, base, step, raw):
    """Split the words of chunk.Rows into bases, steps and raw lanes; return how many of each there are."""
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
            step[steps] = word[at]
            steps += one
            at += one
    return bases, steps, raws
