"""The state changes of a chunk, from the engine's journal or a file: the state at any cycle, the history of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rfview.engine.chunk import Blocks
from rfview.sessions.layout import distinct
from rfview.sessions.codec import limits
from rfview.sessions.codec.streams import Stream, naming, numbers, per_cycle, undeltas

# the streams of a `state` blob, in order: see README.md
STATE = ("planes", "key_step", "key_bits", "groups", "group_masks", "blocks", "events", "masks", "gaps", "ranks", "sizes",
         "widths")
# the same as in loops.py, which imports numba
WIDTH, PLANES = 32, 4
# most pairs of a block and a mask of its group
MAX_CELLS = 1 << 26

History = tuple[np.ndarray, np.ndarray, np.ndarray]


def bits(masks: np.ndarray) -> np.ndarray:
    """Return (k, 32) u1 the bits of u4 masks, low bits first."""
    return np.unpackbits(masks[:, None].view(np.uint8), axis=1, bitorder="little")


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes, in order of time for each word. word: (k,) u4. when: (k,) cycle offset of the change. value: (k,) u4."""

    word: np.ndarray
    when: np.ndarray
    value: np.ndarray

    @staticmethod
    def of_blocks(blocks: Blocks) -> Changes:
        """Return the changes in a journal."""
        when = np.repeat(np.arange(len(blocks.end), dtype=np.uint16), per_cycle(blocks.end))
        if (blocks.mask == 1).all():        # a word each, as the chunks of a live run have
            return Changes(blocks.first, when, blocks.value)
        block, bit = np.nonzero(bits(blocks.mask))
        return Changes((blocks.first[block] + bit).astype(np.uint32), when[block], blocks.value)

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        before = np.flatnonzero(self.when < offset)
        words[self.word.take(before)] = self.value.take(before)     # for each word the last one stays

    def of_words(self, words: np.ndarray, num_words: int) -> History:
        """Return (which, when, value) of the changes of these words, each word's in order of time; which: index in words."""
        order, sorted_words = self._by_word
        begin, end = (np.searchsorted(sorted_words, words, side) for side in ("left", "right"))
        number = end - begin
        which = np.repeat(np.arange(len(words)), number)
        entries = order[np.arange(len(which)) + np.repeat(begin - np.cumsum(number) + number, number)]
        return which, self.when[entries], self.value[entries]

    @cached_property
    def _by_word(self) -> tuple[np.ndarray, np.ndarray]:
        """The changes in order of words, each word's in order of time, and (k,) u4 these words."""
        order = np.argsort(self.word, kind="stable")
        return order, self.word[order]


class StoredChanges:
    """Changes stored in a file, decoded as far as a query needs. Safe to share between threads.

    stored: streams of the `state` blob. words: how many the state has. what: names the chunk if its streams turn out
    to be inconsistent: an InputError, but a ValueError or IndexError in the constructor.
    """

    def __init__(self, stored: dict[str, Stream], words: int, num_cycles: int, what: str = "a chunk"):
        self._gaps, self._num_cycles, self._what = stored["gaps"], num_cycles, what
        blocks_of, masks_of, self._events, self._ranks, self._size, self._width = (
            numbers(stored[name], np.int64) for name in ("groups", "group_masks", "events", "ranks", "sizes", "widths"))
        self._block, masks = undeltas(numbers(stored["blocks"])).astype(np.int64), numbers(stored["masks"])
        _require(len(blocks_of) == len(masks_of) and masks_of.sum() == len(masks))
        _require(blocks_of.sum() == len(self._block) == len(self._events) and self._block.max(initial=0) < words)
        _require(all((counts > 0).all() for counts in (blocks_of, masks_of, self._events, masks)))
        _require(self._events.sum() == len(self._ranks) == stored["gaps"][0] and num_cycles <= limits.MAX_CYCLES)
        self._blocks_of, self._masks_of, self._bits = blocks_of, masks_of, bits(masks)
        self._block_begin, self._mask_begin = np.cumsum(blocks_of) - blocks_of, np.cumsum(masks_of) - masks_of
        self._group = np.repeat(np.arange(len(blocks_of)), blocks_of)
        self._event_end = np.cumsum(self._events)
        self._block_of = np.repeat(np.arange(len(self._block)), self._events)
        _require((self._ranks < masks_of[self._group][self._block_of]).all())
        used = np.bitwise_or.reduceat(self._bits, self._mask_begin) if len(masks) else self._bits
        self._places = np.flatnonzero(used)     # 32 * group + place of each column
        self._column = np.where(used.ravel(), np.cumsum(used, dtype=np.int64) - 1, -1)
        count, width, self._planes = stored["planes"]
        end = np.cumsum(self._size * self._width)
        _require(len(self._size) == len(self._width) == len(self._places) and self._width.max(initial=0) <= PLANES)
        _require(end.max(initial=0) == count and (width == 1 or not count))
        self._begin = end - self._size * self._width

    @cached_property
    def _when(self) -> np.ndarray:
        """Return (events,) u4: the cycle offset of each event."""
        when = np.cumsum(numbers(self._gaps), dtype=np.uint32)
        before = when[self._event_end - self._events - 1]
        before[:1] = 0
        when -= before[self._block_of]
        _require(when.max(initial=0) < self._num_cycles)
        return when

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (events,) the cell (block and mask) of each event, and (groups,) the first cell of each group."""
        number = self._blocks_of * self._masks_of
        begin = np.cumsum(number) - number
        _require(number.sum() <= MAX_CELLS)
        inside = np.arange(len(self._block)) - self._block_begin[self._group]
        first = begin[self._group] + inside * self._masks_of[self._group]
        return first[self._block_of] + self._ranks, begin

    def _tally(self, cells: np.ndarray) -> np.ndarray:
        """Return (blocks, 32): how often each word of each block changes in events, given by their cells."""
        begins = self._cells[1]
        number = np.bincount(cells, minlength=int((self._blocks_of * self._masks_of).sum())).astype(np.float32)
        counts = np.empty((len(self._block), WIDTH), np.int64)
        for group in range(len(self._blocks_of)):
            blocks, masks = int(self._blocks_of[group]), int(self._masks_of[group])
            at, first, mask = int(begins[group]), int(self._block_begin[group]), int(self._mask_begin[group])
            part = number[at : at + blocks * masks].reshape(blocks, masks)
            # exact: no block has more events than a float can count
            counts[first : first + blocks] = part @ self._bits[mask : mask + masks].astype(np.float32)
        return counts

    @cached_property
    def _before(self) -> np.ndarray:
        """Return (blocks, 32): how many codes of its column come before each word's."""
        counts = self._tally(self._cells[0])
        _require((np.add.reduceat(counts, self._block_begin).ravel()[self._places] == self._size).all())
        before = np.cumsum(counts, axis=0) - counts
        return before - before[self._block_begin[self._group]]

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        if not len(self._block) or offset <= 0:
            return
        with naming(self._what):
            number = self._tally(self._cells[0][self._when < offset])
            block, place = np.nonzero(number)
            column = self._column[self._group[block] * WIDTH + place]
            at = self._begin[column] + self._before[block, place] + number[block, place] - 1
            size, width, planes = self._size[column], self._width[column], np.frombuffer(self._planes, np.uint8)
            value = np.zeros(len(at), np.uint32)
            for plane in range(PLANES):
                has = np.flatnonzero(width > plane)
                value[has] |= np.left_shift(planes[at[has] + plane * size[has]], 8 * plane, dtype=np.uint32)
            words[self._block[block] + place] = value

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
                inside = (place >= 0) & (place < WIDTH)
                column = np.where(inside, self._column[self._group[near] * WIDTH + place * inside], -1)
                listed = distinct(column[column >= 0])
                parts += [self._histories(one, np.flatnonzero(column == one), near) for one in listed.tolist()]
        which, when, value = (np.concatenate(arrays) for arrays in zip(*parts)) if len(parts) > 1 else parts[0]
        return which, when, value

    def _histories(self, column: int, which: np.ndarray, near: np.ndarray) -> History:
        """Return (which, when, value) of words in one column; near: the block of each word."""
        group, place = divmod(int(self._places[column]), WIDTH)
        first, mask = int(self._block_begin[group]), int(self._mask_begin[group])
        last = first + int(self._blocks_of[group])
        begin, end = int(self._event_end[first] - self._events[first]), int(self._event_end[last - 1])
        has = np.ascontiguousarray(self._bits[mask : mask + int(self._masks_of[group]), place]).view(bool)
        events = np.flatnonzero(has[self._ranks[begin:end]]) + begin
        size, width, at = int(self._size[column]), int(self._width[column]), int(self._begin[column])
        _require(len(events) == size)
        value, asked = numbers((size, width, self._planes[at : at + size * width])), np.full(last - first, -1)
        asked[near[which] - first] = which
        number = asked[self._block_of[events] - first]
        if len(which) < len(asked):
            chosen = np.flatnonzero(number >= 0)
            number, events, value = number[chosen], events[chosen], value[chosen]
        return number, self._when[events], value


def _require(fits: object) -> None:
    """Raise ValueError if streams are inconsistent."""
    if not fits:
        raise ValueError("the streams of its state changes are inconsistent")
