"""The compiled loops that bring values into codes, and find out how; they hold no lock. Their arrays: workspace.py.

Numbers that index are unsigned where a loop is long: for signed ones the compiler must allow for negative ones, which count
from the end, and then does one element at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.jit import array_jit, jit
from rfview.sessions.codec.codec import DIFFERENCE, NUM_MODES, PLANES, PLANES_OF, STAMP, XOR
from rfview.sessions.codec.extent import BYTES, WHOLE
from rfview.sessions.codec.workspace import Values

# of a long column, so many codes tell how it is coded best
LEARN_CODES = 256


class Firsts(NamedTuple):
    """What `code_first` asks of runs, as in workspace.Runs."""

    begin: np.ndarray
    column: np.ndarray
    old: np.ndarray
    first: np.ndarray


@jit
def zigzag(difference):
    """Return a u4 difference as 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return np.uint32(difference << np.uint32(1)) ^ np.uint32(np.uint32(0) - (difference >> np.uint32(31)))


@jit
def class_of(columns, which):
    """Return the class of a column: its mode and its width."""
    return np.int64(columns.mode[which]) * len(PLANES_OF) + np.int64(columns.width[which])


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
def code_first(low, high, runs, modes, values):
    """Write the code of the first value of runs low..high-1, under the modes that look at the value before."""
    for run in range(np.uint64(low), np.uint64(high)):
        mode = modes[runs.column[run]]
        if mode == XOR:
            values[np.uint64(runs.begin[run])] = runs.first[run] ^ runs.old[run]
        elif mode == DIFFERENCE:
            values[np.uint64(runs.begin[run])] = zigzag(np.uint32(runs.first[run] - runs.old[run]))
    return 0


@jit
def begin_states(key, watch, states):
    """Write the set of states of each warp slot that has but the one before."""
    for slot in range(np.uint64(len(states))):
        at = np.uint64(watch.states_at[slot])
        states[slot] = bit64((key[at >> np.uint64(2)] >> np.uint32(np.uint64(8) * (at & np.uint64(3)))) & np.uint32(63))
    return 0


@jit
def walk_runs(low, high, runs, key, marked, values, watch, states):
    """Write what runs low..high-1 come to: value before and first one, least and greatest; widen the states' sets.

    key: (words,) the state before, which is brought to that behind; marked: gets a bit for each word that changes. watch: of
    a word the whole is watched, each of its four bytes by itself, or nothing.
    """
    ones = np.uint32(0xFF)
    for run in range(np.uint64(low), np.uint64(high)):
        word = np.uint64(runs.word[run])
        begin, end = np.uint64(runs.begin[run]), np.uint64(runs.end[run])
        least = most = key[word]
        runs.old[run] = key[word]
        runs.first[run] = values[begin]
        if watch.how[word] == WHOLE:
            for at in range(begin, end):
                least = min(least, values[at])
                most = max(most, values[at])
        elif watch.how[word] == BYTES:
            for shift in (np.uint32(0), np.uint32(8), np.uint32(16), np.uint32(24)):
                least_byte, most_byte = (least >> shift) & ones, (most >> shift) & ones
                for at in range(begin, end):
                    least_byte = min(least_byte, (values[at] >> shift) & ones)
                    most_byte = max(most_byte, (values[at] >> shift) & ones)
                least = (least & ~(ones << shift)) | (least_byte << shift)
                most = (most & ~(ones << shift)) | (most_byte << shift)
        runs.least[run] = least
        runs.most[run] = most
        slot = watch.state_of[word]
        if slot >= 0:
            for at in range(begin, end):
                states[slot] |= bit64((values[at] >> watch.shift[word]) & np.uint32(63))
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


@array_jit
def sample(begin, column_next, low, high, runs, first_column, values):
    """Take the first values of each column, at most LEARN_CODES, and of the runs low..high-1 those that begin among them.

    first_column: number of the first of these columns, as runs.column has it. Returns where each column's begin and end
    among these values, the values, and the runs.
    """
    columns, room = len(begin), np.int64(0)
    for column in range(np.uint64(columns)):
        room += min(np.int64(column_next[column]) - np.int64(begin[column]), LEARN_CODES)
    some_begin, some_end = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    some, when = np.empty(room, np.uint32), np.empty(room, np.uint16)
    taken = np.uint64(0)
    for column in range(np.uint64(columns)):
        some_begin[column] = taken
        at = np.uint64(begin[column])
        for place in range(at, min(np.uint64(column_next[column]), at + np.uint64(LEARN_CODES))):
            some[taken] = values.value[place]
            when[taken] = values.cycle[place]
            taken += np.uint64(1)
        some_end[column] = taken
    at, of = np.empty(high - low, np.uint32), np.empty(high - low, np.uint32)
    old, first = np.empty(high - low, np.uint32), np.empty(high - low, np.uint32)
    listed = np.uint64(0)
    for run in range(np.uint64(low), np.uint64(high)):
        column = np.uint64(runs.column[run]) - np.uint64(first_column)
        place = np.uint64(some_begin[column]) + np.uint64(runs.begin[run]) - np.uint64(begin[column])
        if place < some_end[column]:
            at[listed] = place
            of[listed] = column
            old[listed] = runs.old[run]
            first[listed] = runs.first[run]
            listed += np.uint64(1)
    return some_begin, some_end, Values(some, when), Firsts(at[:listed], of[:listed], old[:listed], first[:listed])


@array_jit
def learn(begin, column_next, low, high, runs, first_column, values, first_cycle, growth, modes):
    """Choose for each column that has codes the mode that codes it shortest; of a long one the first codes tell.

    begin, column_next, modes: of these columns, the first of which has the number first_column; low..high-1: their runs.
    """
    some_begin, some_end, some, firsts = sample(begin, column_next, low, high, runs, first_column, values)
    table = np.empty((PLANES, 256), np.uint32)
    best = np.full(len(begin), -1, np.int64)
    trial = np.empty(len(modes), np.uint8)
    for mode in range(NUM_MODES):
        trial[:] = mode
        codes = some.value.copy()
        code_columns(some_begin, some_end, trial, some.cycle, np.uint32(first_cycle), codes)
        code_first(0, len(firsts.begin), firsts, trial, codes)
        for column in range(np.uint64(len(begin))):
            at = np.uint64(some_begin[column])
            count = np.uint64(some_end[column]) - at
            if count != 0:
                total = sameness(codes, at, count, growth, table)
                if total > best[column]:
                    best[column] = total
                    modes[column] = mode
    return 0
