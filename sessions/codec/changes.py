"""The state changes of a chunk, as the engine's journal or a file gives them: the state at any cycle, a word's history."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rfview.engine.chunk import Blocks
from rfview.sessions.codec.streams import Stream, naming, numbers, per_cycle, undeltas, unzigzag

# the streams of a `state` blob, in order: see README.md
STATE = ("key_step", "key_bits", "groups", "group_masks", "stamps", "blocks", "events", "masks", "gaps", "ranks", "widths",
         "planes")  # fmt: skip
# as loops.py has them, which imports numba
WIDTH, PLANES = 32, 4
# no chunk has more cycles, nor more pairs of a block and a mask of its group
MAX_CYCLES, MAX_CELLS = 1 << 16, 1 << 26

History = tuple[np.ndarray, np.ndarray, np.ndarray]


def bits(masks: np.ndarray) -> np.ndarray:
    """Return (k, 32) u1 the bits of u4 masks, low bits first."""
    return np.unpackbits(masks[:, None].view(np.uint8), axis=1, bitorder="little")


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes, each word's in order of time. word: (k,) u4; when: (k,) cycle offset in which it changes; value: (k,) u4."""

    word: np.ndarray
    when: np.ndarray
    value: np.ndarray

    @staticmethod
    def of_blocks(blocks: Blocks) -> Changes:
        """Return the changes that a journal holds."""
        block, bit = np.nonzero(bits(blocks.mask))
        when = np.repeat(np.arange(len(blocks.end), dtype=np.uint16), per_cycle(blocks.end))[block]
        return Changes((blocks.first[block] + bit).astype(np.uint32), when, blocks.value)

    def __len__(self) -> int:
        return len(self.word)

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        before = np.flatnonzero(self.when < offset)
        words[self.word.take(before)] = self.value.take(before)     # of one word's the last stays

    def of_words(self, words: np.ndarray, num_words: int) -> History:
        """Return (which, when, value) of the changes of these words, each word's in order of time; which: index in words."""
        position = np.full(num_words, -1, np.int32)
        position[words] = np.arange(len(words), dtype=np.int32)
        which = position[self.word]
        entries = np.flatnonzero(which >= 0)
        return which[entries], self.when[entries], self.value[entries]


class StoredChanges:
    """Changes as a file holds them, decoded as far as a question needs: some columns, or all. Safe to share between threads.

    stored: streams of the `state` blob. key: (num_words,) u4 state at the chunk's first cycle. what: names the chunk where
    its streams turn out not to fit together: an InputError, but a ValueError or IndexError at first.
    """

    def __init__(self, stored: dict[str, Stream], key: np.ndarray, first_cycle: int, num_cycles: int, what: str = "a chunk"):
        self._stored, self._key, self._first_cycle, self._num_cycles = stored, key, first_cycle, num_cycles
        self._what = what
        blocks_of, masks_of = (numbers(stored[name], np.int64) for name in ("groups", "group_masks"))
        self._block, self._events = undeltas(numbers(stored["blocks"])).astype(np.int64), numbers(stored["events"], np.int64)
        masks, ranks, stamps = numbers(stored["masks"]), numbers(stored["ranks"], np.int64), numbers(stored["stamps"])
        _require(len(blocks_of) == len(masks_of) == len(stamps) and masks_of.sum() == len(masks))
        _require(blocks_of.sum() == len(self._block) == len(self._events))
        _require(bool((self._events > 0).all() and (blocks_of > 0).all()))
        _require(self._events.sum() == len(ranks) == stored["gaps"][0] and num_cycles <= MAX_CYCLES)
        _require(self._block.max(initial=0) < len(key))
        self._bits, self._stamped = bits(masks), bits(stamps).ravel().view(bool)
        self._group = np.repeat(np.arange(len(blocks_of)), blocks_of)
        self._block_begin, self._mask_begin = np.cumsum(blocks_of) - blocks_of, np.cumsum(masks_of) - masks_of
        self._blocks_of, self._masks_of, self._ranks = blocks_of, masks_of, ranks
        self._event_begin = np.cumsum(self._events) - self._events
        _require((ranks < np.repeat(masks_of[self._group], self._events)).all())

    @cached_property
    def _when(self) -> np.ndarray:
        """Return (events,) u4 in which cycle offset each event is."""
        when = np.cumsum(numbers(self._stored["gaps"]), dtype=np.uint32)
        before = when[self._event_begin - 1]
        before[:1] = 0
        when -= np.repeat(before, self._events)
        _require(when.max(initial=0) < self._num_cycles)
        return when

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (events,) the cell of each event, and (groups,) where those of each begin: one per block and mask."""
        number = self._blocks_of * self._masks_of
        begin = np.cumsum(number) - number
        _require(number.sum() <= MAX_CELLS)
        inside = np.arange(len(self._block)) - self._block_begin[self._group]
        first = begin[self._group] + inside * self._masks_of[self._group]
        return np.repeat(first, self._events) + self._ranks, begin

    def _tally(self, cells: np.ndarray) -> np.ndarray:
        """Return (blocks, 32) how often each word of each block changes in some events, given by their cells."""
        begins = self._cells[1]
        number = np.bincount(cells, minlength=int((self._blocks_of * self._masks_of).sum())).astype(np.float32)
        found = np.empty((len(self._block), WIDTH), np.int64)
        for group in range(len(self._blocks_of)):
            blocks, masks = int(self._blocks_of[group]), int(self._masks_of[group])
            at, first, mask = int(begins[group]), int(self._block_begin[group]), int(self._mask_begin[group])
            part = number[at : at + blocks * masks].reshape(blocks, masks)
            # exact: no block has as many events as a float has whole numbers
            found[first : first + blocks] = part @ self._bits[mask : mask + masks].astype(np.float32)
        return found

    @cached_property
    def _counts(self) -> np.ndarray:
        """Return (blocks, 32) how many codes each word has."""
        return self._tally(self._cells[0])

    @cached_property
    def _before(self) -> np.ndarray:
        """Return (blocks, 32) how many codes its column has before each word's."""
        before = np.cumsum(self._counts, axis=0) - self._counts
        return before - before[self._block_begin[self._group]]

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (groups * 32,) how many codes each column has, and their width; (4, groups * 32) where its planes begin."""
        size = np.add.reduceat(self._counts, self._block_begin, axis=0).ravel()
        listed, given = np.flatnonzero(size), numbers(self._stored["widths"], np.int64)
        width = np.zeros(len(size), np.int64)
        _require(len(given) == len(listed) and given.max(initial=0) <= PLANES)
        width[listed] = given
        sizes = np.where(width > np.arange(PLANES)[:, None], size, 0)
        end = np.cumsum(sizes).reshape(sizes.shape)
        count, stream_width, _ = self._stored["planes"]
        _require(end.max(initial=0) == count and (stream_width == 1 or not count))
        return size, width, end - sizes

    def _decoded(self, columns: np.ndarray) -> _Columns:
        """Return some columns, decoded; all of them have codes."""
        sizes, width, begins = self._columns
        size, begin = sizes[columns], np.full(len(sizes), -1)
        begin[columns] = np.cumsum(size) - size
        values, planes = np.zeros(int(size.sum()), np.uint32), np.frombuffer(self._stored["planes"][2], np.uint8)
        for column, first, number in zip(columns.tolist(), begin[columns].tolist(), size.tolist()):
            part = values[first : first + number]
            for plane in range(int(width[column])):
                at = int(begins[plane, column])
                data = planes[at : at + number]
                if plane:
                    part |= np.left_shift(data, np.uint32(8 * plane), dtype=np.uint32)
                else:
                    part[:] = data
            if self._stamped[column]:
                when = self._when[self._events_with(*divmod(column, WIDTH))]
                part[:] = unzigzag(part) + when + np.uint32(self._first_cycle & 0xFFFFFFFF)
        return _Columns(begin, values)

    def _events_with(self, group: int, place: int) -> np.ndarray:
        """Return the events in which the words at a place (0..31) of a group's blocks change."""
        first, mask = int(self._block_begin[group]), int(self._mask_begin[group])
        last = first + int(self._blocks_of[group]) - 1
        begin, end = int(self._event_begin[first]), int(self._event_begin[last] + self._events[last])
        has = np.ascontiguousarray(self._bits[mask : mask + int(self._masks_of[group]), place]).view(bool)
        return np.flatnonzero(has[self._ranks[begin:end]]) + begin

    @cached_property
    def _every(self) -> _Columns:
        """Return all columns that have codes."""
        return self._decoded(np.flatnonzero(self._columns[0]))

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        if not len(self._block) or offset <= 0:
            return
        with naming(self._what):
            number = self._tally(self._cells[0][self._when < offset])
            block, place = np.nonzero(number)
            column, word = self._group[block] * WIDTH + place, self._block[block] + place
            behind = self._every.begin[column] + self._before[block, place] + number[block, place]
            words[word] = self._every.values[behind - 1]

    @cached_property
    def _ascending(self) -> np.ndarray:
        return np.argsort(self._block)

    def of_words(self, words: np.ndarray, num_words: int) -> History:
        """Return (which, when, value) of the changes of these words, each word's together and in order of time; which: index
        in words.
        """
        parts = [(np.empty(0, np.int64), np.empty(0, np.uint32), np.empty(0, np.uint32))]
        if len(self._block):
            with naming(self._what):
                order = self._ascending
                near = order[np.maximum(np.searchsorted(self._block[order], words, side="right") - 1, 0)]
                place = words - self._block[near]
                known = np.flatnonzero((place >= 0) & (place < WIDTH))
                known = known[self._counts[near[known], place[known]] > 0]
                column = self._group[near[known]] * WIDTH + place[known]
                listed = np.flatnonzero(np.bincount(column))
                if len(listed):
                    found = self.__dict__.get("_every") or self._decoded(listed)
                    parts = [self._histories(one, known[column == one], near, found) for one in listed.tolist()]
        which, when, value = (np.concatenate(arrays) for arrays in zip(*parts)) if len(parts) > 1 else parts[0]
        return which, when, value

    def _histories(self, column: int, which: np.ndarray, near: np.ndarray, columns: _Columns) -> History:
        """Return (which, when, value) of words in one column; near: the block of each word."""
        group, place = divmod(column, WIDTH)
        blocks = slice(int(self._block_begin[group]), int(self._block_begin[group] + self._blocks_of[group]))
        events, lengths = self._events_with(group, place), self._counts[blocks, place]
        begin = int(columns.begin[column])
        value = columns.values[begin : begin + len(events)]
        asked = np.full(blocks.stop - blocks.start, -1)
        asked[near[which] - blocks.start] = which
        number = np.repeat(asked, lengths)
        if len(which) < len(asked):
            chosen = np.flatnonzero(number >= 0)
            number, events, value = number[chosen], events[chosen], value[chosen]
        return number, self._when[events], value


@dataclass(frozen=True, eq=False)
class _Columns:
    """Some columns, decoded. begin: (groups * 32,) where the values of each begin, -1 = not here. values: (k,) u4."""

    begin: np.ndarray
    values: np.ndarray


def _require(fits: object) -> None:
    """Raise ValueError where streams do not fit together."""
    if not fits:
        raise ValueError("the streams of its state changes do not fit together")
