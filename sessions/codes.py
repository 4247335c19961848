"""The compiled loops that bring values into codes, and find out how; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64
from engine.jit import jit
from sessions.codec import DIFFERENCE, NEW, NUM_MODES, PLANES, STAMP, XOR
from sessions.compiled import entry
from sessions.extent import BYTES, WHOLE

# of a long column, so many codes tell how it is coded best
LEARN_CODES = 256


@jit
def zigzag(difference):
    """Return a u4 difference as 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return np.uint32(difference << np.uint32(1)) ^ np.uint32(np.uint32(0) - (difference >> np.uint32(31)))


@jit
def code_columns(begin, column_next, runs, run_word, run_begin, run_column, modes, key, values, cycles, base_cycle, codes):
    """Write the codes of the values of each column under its mode (see format.py); key: (words,) u4 state before.

    A column is coded as if it were one word's values, and then the first value of each run anew: runs are short.
    """
    one = np.uint64(1)
    for column in range(np.uint64(len(begin))):
        low, high = np.uint64(begin[column]), np.uint64(column_next[column])
        mode = modes[column]
        if mode == XOR:
            for at in range(low + one, high):
                codes[at] = values[at] ^ values[at - one]
        elif mode == NEW:
            for at in range(low, high):
                codes[at] = values[at]
        elif mode == STAMP:
            for at in range(low, high):
                codes[at] = zigzag(np.uint32(values[at] - (base_cycle + np.uint32(cycles[at]))))
        else:
            for at in range(low + one, high):
                codes[at] = zigzag(np.uint32(values[at] - values[at - one]))
    for run in range(np.uint64(runs)):
        mode = modes[run_column[run]]
        at, old = np.uint64(run_begin[run]), key[run_word[run]]
        if mode == XOR:
            codes[at] = values[at] ^ old
        elif mode == DIFFERENCE:
            codes[at] = zigzag(np.uint32(values[at] - old))
    return 0


@jit
def widen_runs(runs, run_word, run_begin, run_end, key, values, watch, low, high, state_of, state_shift, states):
    """Write the least and greatest value of each run's word, the one before included; widen the states' sets.

    watch: (words,) WHOLE, BYTES (each of a word's four by itself), or not at all. state_of: (words,) which warp slot's state
    lies in a word, -1 = none; state_shift: where in it.
    """
    ones = np.uint32(0xFF)
    for run in range(np.uint64(runs)):
        word = run_word[run]
        begin, end = np.uint64(run_begin[run]), np.uint64(run_end[run])
        least = most = key[word]
        if watch[word] == WHOLE:
            for at in range(begin, end):
                least = min(least, values[at])
                most = max(most, values[at])
        elif watch[word] == BYTES:
            for shift in (np.uint32(0), np.uint32(8), np.uint32(16), np.uint32(24)):
                least_byte, most_byte = (least >> shift) & ones, (most >> shift) & ones
                for at in range(begin, end):
                    least_byte = min(least_byte, (values[at] >> shift) & ones)
                    most_byte = max(most_byte, (values[at] >> shift) & ones)
                least = (least & ~(ones << shift)) | (least_byte << shift)
                most = (most & ~(ones << shift)) | (most_byte << shift)
        low[run] = least
        high[run] = most
        if state_of[word] >= 0:
            for at in range(begin, end):
                states[state_of[word]] |= bit64((values[at] >> state_shift[word]) & np.uint32(63))
    return 0


@jit
def sameness(codes, begin, count, growth, table):
    """Return by how much the bytes of some codes are shorter than if all in a plane were different, where each takes as
    many bits as its share of the plane says.

    growth: what one more of a byte that occurs so often brings. table: (4, 256) working space.
    """
    table[:] = 0
    total = np.int64(0)
    for at in range(begin, begin + count):
        for plane in range(np.uint64(PLANES)):
            byte = (np.uint64(codes[at]) >> (np.uint64(8) * plane)) & np.uint64(255)
            before = table[plane, byte]
            total += growth[np.uint64(before)]
            table[plane, byte] = before + np.uint32(1)
    return total


@entry
def learn(begin, column_next, runs, run_word, run_begin, run_end, run_column, key, values, cycles, first_cycle, codes,
          growth, modes):  # fmt: skip
    """Choose for each column that has codes the mode that codes it shortest; of a long one the first codes tell."""
    table = np.empty((PLANES, 256), np.uint32)
    best = np.full(len(begin), -1, np.int64)
    trial = np.empty(len(modes), np.uint8)
    for mode in range(NUM_MODES):
        trial[:] = mode
        code_columns(begin, column_next, runs, run_word, run_begin, run_column, trial, key, values, cycles,
                     np.uint32(first_cycle), codes)  # fmt: skip
        for column in range(np.uint64(len(begin))):
            low = np.uint64(begin[column])
            count = min(np.uint64(column_next[column]) - low, np.uint64(len(growth)))
            if count != 0:
                total = sameness(codes, low, count, growth, table)
                if total > best[column]:
                    best[column] = total
                    modes[column] = mode
    return 0
