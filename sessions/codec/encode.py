"""Bring a chunk into the streams that are stored (see format.py), in compiled loops that hold no lock.

Only recording needs this: numba is imported here, and nothing that replays imports this module.
"""

from __future__ import annotations

import numpy as np

from rfview.engine.chunk import Blocks, Rows
from rfview.sessions.codec.arrange import arrange
from rfview.sessions.codec.codec import MEMORY, PLANES, ROWS, STATE
from rfview.sessions.codec.codes import LEARN_CODES
from rfview.sessions.codec.extent import Extent
from rfview.sessions.codec.streams import (MOST_DISTINCT, TABLE_BITS, TABLE_GROWTH, split_rows, store_rows,
                                           store_state, store_words)  # fmt: skip
from rfview.sessions.codec.workspace import (MOST_CYCLES, MOST_VALUES, Classes, Columns, Events, Kinds, Lists,
                                             Places, Runs, Slots, Stored, Tables, Touched, Values, Watch)  # fmt: skip

NO_COUNTS = np.empty(0, np.uint32)
# by how much each further byte of its kind makes a plane of bytes shorter: differences of n log n, in 2**-32 bits
_COUNTS = np.arange(LEARN_CODES + 1)
GROWTH = np.diff(np.round(_COUNTS * np.log2(np.maximum(_COUNTS, 1)) * 2**32).astype(np.int64))
# how much of its table `spread` is given at first
TABLE_LENGTH = 1 << 12
# what a stored number takes at most: a code in its column, or its place and its rest in two lists
CODE_BYTES = 2 * PLANES


class Space:
    """Room for the streams of one blob: their counts and widths, then their bytes; used again when it is given back."""

    def __init__(self, streams: int, num_bytes: int):
        self._all = np.empty(8 * streams + num_bytes, np.uint8)
        self._head = 8 * streams
        self.sizes = self._all[: self._head].view(np.uint32).reshape(streams, 2)
        self.out = self._all[self._head :]

    def upto(self, used: int) -> memoryview:
        """Return the blob, not yet compressed, when its streams take so many bytes."""
        return self._all[: self._head + used].data


def rows_of(rows: Rows) -> memoryview:
    """Return the streams of row writes."""
    space = Space(len(ROWS), 4 * (len(rows.end) + 2 * len(rows.index) + len(rows.word)))
    return space.upto(store_rows(rows.end, rows.index, rows.kind, rows.word, space.sizes, space.out))


def sum_of(index: np.ndarray, value: np.ndarray) -> memoryview:
    """Return the streams of (k,) u4 rows and their (k, 32) u4 lanes, without counts."""
    kind, word = np.empty(len(index), np.uint32), np.empty(32 * len(index), np.uint32)
    return rows_of(Rows(NO_COUNTS, index, kind, word[: split_rows(value, kind, word)]))


def words_of(index: np.ndarray, value: np.ndarray, end: np.ndarray = NO_COUNTS) -> memoryview:
    """Return the streams of memory writes: (k,) u4 words, their values, and (cycles,) u4 prefix counts."""
    space = Space(len(MEMORY), 4 * len(end) + 8 * len(index))
    return space.upto(store_words(end, index, value, space.sizes, space.out))


class Encoder:
    """Codes the states of one recording's chunks; keeps the modes that it has chosen, and its working space.

    kind_of: (words,) i4 kind of the block that begins at each word (Layout.kinds). watch: (words,) u1 0, WHOLE or BYTES: how
    the least and greatest values of each word are wanted. states_at: (warp slots,) the byte that each one's state is in.
    extra: the words of which blocks say nothing. state: (words,) u4 that of the next chunk's begin, for whoever knows these
    to write them there.
    """

    state: np.ndarray
    _base: np.ndarray

    def __init__(self, kind_of: np.ndarray, watch: np.ndarray, states_at: np.ndarray, extra: np.ndarray):
        words = len(kind_of)
        self._marked = np.zeros(words // 64 + 1, np.uint64)
        np.bitwise_or.at(self._marked, extra // 64, np.uint64(1) << (extra % 64).astype(np.uint64))
        self._places, self._watch = Places.of(kind_of), Watch.of(watch, states_at)
        self._slots, self._kinds, self._runs = Slots.room(words), Kinds.room(int(kind_of.max()) + 1), Runs.room(words)
        self.modes = self._kinds.modes
        self._columns, self._classes, self._touched = Columns.room(len(self.modes)), Classes.room(), Touched.room()
        self._lists = Lists.room(words, len(self._kinds.slots))
        self._table_length = TABLE_LENGTH
        self._room_for(1 << 15)
        # not larger than needed: to take new memory is slow
        self._values, self._stored = Values.room(1), Stored.room(1, MOST_DISTINCT)
        self._spaces: list[Space] = []

    def begin(self, base: np.ndarray) -> None:
        """Have keyframes given by this (words,) u4 state, at which the first chunk begins."""
        self._base, self.state = base, base.copy()

    def encode(self, blocks: Blocks, first_cycle: int, choose: bool) -> tuple[memoryview, Space, Extent]:
        """Return the streams of a chunk's keyframe and changes, where they lie (for `give_back`), and what the words that
        change come to, which holds until the next call.

        choose: find out anew how each column is coded best.
        """
        key, events, cycle = self.state, len(blocks.first), np.uint32(first_cycle & 0xFFFFFFFF)
        assert len(blocks.end) <= MOST_CYCLES and len(blocks.value) <= MOST_VALUES
        if events > len(self._events.gaps):
            self._room_for(events + events // 4)
        count, room = arrange(blocks.end, blocks.first, blocks.mask, self._places, self._slots, self._kinds,
                              self._events.ordered)  # fmt: skip
        if room > len(self._values.value):
            self._values = Values.room(room + room // 4)
        if len(blocks.value) >= len(self._stored.far):
            self._stored = Stored.room(len(blocks.value) + len(blocks.value) // 4, MOST_DISTINCT)
        if choose:
            self._kinds.resting[:] = 0
        states = np.empty(len(self._watch.states_at), np.uint64)
        space = self._space(CODE_BYTES * (len(key) + len(blocks.value)) + 12 * events + 16 * len(key))
        used, num_runs, self._table_length = store_state(
            key, self._base, self._marked, cycle, count, self._slots, self._kinds, events, self._events, blocks.value,
            self._values, self._tables, self._table_length, self._touched, self._runs, self._columns, self._classes,
            self._lists, self._stored, self._watch, states, choose, GROWTH, space.sizes, space.out)  # fmt: skip
        words, least, most = (part[:num_runs] for part in (self._runs.word, self._runs.least, self._runs.most))
        return space.upto(used), space, Extent(words, least, most, states)

    def _room_for(self, events: int) -> None:
        """Make room for so many events in a chunk, each of which may have a mask of its own; unused room takes no memory."""
        self._events = Events.room(events)
        length = TABLE_LENGTH
        while length <= 2 * events:
            length *= TABLE_GROWTH
        self._tables = Tables.room(TABLE_GROWTH * length, 1 << TABLE_BITS)

    def _space(self, num_bytes: int) -> Space:
        """Return room for so many bytes, that of a blob which is written already if there is such."""
        found = self._spaces.pop() if self._spaces else None
        return found if found is not None and len(found.out) >= num_bytes else Space(len(STATE), num_bytes + num_bytes // 4)

    def give_back(self, space: Space) -> None:
        """Take back what `encode` has lent; may be called from another thread."""
        self._spaces.append(space)
