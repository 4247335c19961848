"""The compiled loops that bring values into codes, and find out how; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64
from engine.jit import jit
from sessions.codec import NEW, NUM_MODES, PLANES, STAMP, XOR
from sessions.compiled import entry
from sessions.extent import BYTES, WHOLE

# of a long column, so many codes tell how it is coded best
LEARN_CODES = 256


@jit
def code_runs(runs, run_word, run_begin, run_end, run_column, modes, key, values, cycles, base_cycle, codes):
    """Write the codes of the values of each run under its column's mode (see format.py); key: (words,) u4 state before."""
    one = np.uint32(1)
    for run in range(np.uint64(runs)):
        mode = modes[run_column[run]]
        low, high = np.uint64(run_begin[run]), np.uint64(run_end[run])
        old = key[run_word[run]]
        if mode == XOR:
            codes[low] = values[low] ^ old
            for at in range(low + np.uint64(1), high):
                codes[at] = values[at] ^ values[at - np.uint64(1)]
        elif mode == NEW:
            for at in range(low, high):
                codes[at] = values[at]
        elif mode == STAMP:
            for at in range(low, high):
                found = np.uint32(values[at] - (base_cycle + np.uint32(cycles[at])))
                codes[at] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
        else:
            found = np.uint32(values[low] - old)
            codes[low] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
            for at in range(low + np.uint64(1), high):
                found = np.uint32(values[at] - values[at - np.uint64(1)])
                codes[at] = np.uint32(found << one) ^ np.uint32(np.uint32(0) - (found >> np.uint32(31)))
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
def byte_bits(codes, begin, count, logs, table):
    """Return how many bits the bytes of some codes take, by how often each occurs in each plane.

    logs: log2 of every number up to the largest count. table: (256,) zeros, left as such.
    """
    high = begin + count
    total = logs[count] * np.float64(np.uint64(PLANES) * count)
    for plane in range(PLANES):
        shift = np.uint32(8 * plane)
        for at in range(begin, high):
            table[(codes[at] >> shift) & np.uint32(255)] += 1
        for at in range(begin, high):
            total -= logs[table[(codes[at] >> shift) & np.uint32(255)]]
        for at in range(begin, high):
            table[(codes[at] >> shift) & np.uint32(255)] = 0
    return total


@entry
def learn(begin, column_next, runs, run_word, run_begin, run_end, run_column, key, values, cycles, first_cycle, codes, logs,
          modes):  # fmt: skip
    """Choose for each column that has codes the mode that codes it shortest; of a long one the first codes tell."""
    table = np.zeros(256, np.int32)
    best = np.full(len(begin), np.inf)
    trial = np.empty(len(modes), np.uint8)
    for mode in range(NUM_MODES):
        trial[:] = mode
        code_runs(runs, run_word, run_begin, run_end, run_column, trial, key, values, cycles, np.uint32(first_cycle), codes)
        for column in range(np.uint64(len(begin))):
            low = np.uint64(begin[column])
            count = min(np.uint64(column_next[column]) - low, np.uint64(len(logs) - 1))
            if count != 0:
                bits = byte_bits(codes, low, count, logs, table)
                if bits < best[column]:
                    best[column] = bits
                    modes[column] = mode
    return 0
