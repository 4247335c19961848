"""The compiled loops that bring values into codes, and find out how; they hold no lock.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

import numpy as np

from engine.bits import bit64
from engine.jit import jit
from sessions.codec import DIFFERENCE, NUM_MODES, PLANES, STAMP, XOR
from sessions.extent import BYTES, WHOLE

# of a long column, so many codes tell how it is coded best
LEARN_CODES = 256


@jit
def zigzag(difference):
    """Return a u4 difference as 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return np.uint32(difference << np.uint32(1)) ^ np.uint32(np.uint32(0) - (difference >> np.uint32(31)))


@jit
def code_columns(begin, column_next, modes, cycles, base_cycle, values):
    """Write the codes of the values of each column over them, under its mode (see format.py), as if they were one word's.

    So the first code of each word's is none: `code_first` knows it. Words are short, and columns long.
    """
    for column in range(np.uint64(len(begin))):
        low, high = np.uint64(begin[column]), np.uint64(column_next[column])
        mode = modes[column]
        last = np.uint32(0)
        if mode == XOR:
            for at in range(low, high):
                now = values[at]
                values[at] = now ^ last
                last = now
        elif mode == DIFFERENCE:
            for at in range(low, high):
                now = values[at]
                values[at] = zigzag(np.uint32(now - last))
                last = now
        elif mode == STAMP:
            for at in range(low, high):
                values[at] = zigzag(np.uint32(values[at] - (base_cycle + np.uint32(cycles[at]))))
    return 0


@jit
def code_first(runs, run_begin, run_column, run_old, run_first, modes, values):
    """Write the code of each run's first value, under the modes that look at the value before: run_old."""
    for run in range(np.uint64(runs)):
        mode = modes[run_column[run]]
        if mode == XOR:
            values[np.uint64(run_begin[run])] = run_first[run] ^ run_old[run]
        elif mode == DIFFERENCE:
            values[np.uint64(run_begin[run])] = zigzag(np.uint32(run_first[run] - run_old[run]))
    return 0


@jit
def begin_states(key, states_at, states):
    """Write the set of states of each warp slot that has but the one before: states_at, the byte that it is in."""
    for slot in range(np.uint64(len(states))):
        at = np.uint64(states_at[slot])
        states[slot] = bit64((key[at >> np.uint64(2)] >> np.uint32(np.uint64(8) * (at & np.uint64(3)))) & np.uint32(63))
    return 0


@jit
def walk_runs(runs, run_word, run_begin, run_end, key, marked, values, watch, low, high, state_of, state_shift, states,
              run_old, run_first):  # fmt: skip
    """Write the least and greatest value of each run's word, the one before included; widen the states' sets.

    watch: (words,) WHOLE, BYTES (each of a word's four by itself), or not at all. state_of: (words,) which warp slot's state
    lies in a word, -1 = none; state_shift: where in it. key: (words,) the state before, which is brought to that behind;
    marked: gets a bit for each word that changes. run_old, run_first: get the value before and the run's first one.
    """
    ones = np.uint32(0xFF)
    for run in range(np.uint64(runs)):
        word = np.uint64(run_word[run])
        begin, end = np.uint64(run_begin[run]), np.uint64(run_end[run])
        least = most = key[word]
        run_old[run] = key[word]
        run_first[run] = values[begin]
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
        key[word] = values[end - np.uint64(1)]
        marked[word >> np.uint64(6)] |= bit64(word & np.uint64(63))
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


@jit
def sample(begin, column_next, runs, run_begin, run_column, run_old, run_first, first_column, values, cycles, most,
           sample_begin, sample_next, sample_values, sample_cycles, at, of, old, first):  # fmt: skip
    """Take the first values of each column, at most so many, and of these the first of each run; returns how many runs.

    first_column: number of the first of these columns, as run_column has it.
    """
    taken = np.uint64(0)
    for column in range(np.uint64(len(begin))):
        sample_begin[column] = taken
        low = np.uint64(begin[column])
        for place in range(low, min(np.uint64(column_next[column]), low + np.uint64(most))):
            sample_values[taken] = values[place]
            sample_cycles[taken] = cycles[place]
            taken += np.uint64(1)
        sample_next[column] = taken
    listed = np.uint64(0)
    for run in range(np.uint64(runs)):
        column = np.uint64(run_column[run]) - np.uint64(first_column)
        place = np.uint64(sample_begin[column]) + np.uint64(run_begin[run]) - np.uint64(begin[column])
        if place < sample_next[column]:
            at[listed] = place
            of[listed] = column
            old[listed] = run_old[run]
            first[listed] = run_first[run]
            listed += np.uint64(1)
    return np.int64(listed)


@jit
def learn(begin, column_next, runs, run_begin, run_column, run_old, run_first, first_column, values, cycles, first_cycle,
          growth, modes):  # fmt: skip
    """Choose for each column that has codes the mode that codes it shortest; of a long one the first codes tell.

    begin, column_next, modes: of these columns, the first of which has the number first_column.
    """
    columns, room = len(begin), np.int64(0)
    for column in range(np.uint64(columns)):
        room += min(np.int64(column_next[column]) - np.int64(begin[column]), len(growth))
    some_begin, some_next = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    some, when = np.empty(room, np.uint32), np.empty(room, np.uint16)
    at, of = np.empty(runs, np.uint32), np.empty(runs, np.uint32)
    old, first = np.empty(runs, np.uint32), np.empty(runs, np.uint32)
    listed = sample(begin, column_next, runs, run_begin, run_column, run_old, run_first, first_column, values, cycles,
                    len(growth), some_begin, some_next, some, when, at, of, old, first)  # fmt: skip
    table = np.empty((PLANES, 256), np.uint32)
    best = np.full(columns, -1, np.int64)
    trial = np.empty(len(modes), np.uint8)
    for mode in range(NUM_MODES):
        trial[:] = mode
        codes = some.copy()
        code_columns(some_begin, some_next, trial, when, np.uint32(first_cycle), codes)
        code_first(listed, at, of, old, first, trial, codes)
        for column in range(np.uint64(columns)):
            low = np.uint64(some_begin[column])
            count = np.uint64(some_next[column]) - low
            if count != 0:
                total = sameness(codes, low, count, growth, table)
                if total > best[column]:
                    best[column] = total
                    modes[column] = mode
    return 0
