"""The state changes of a chunk, as the engine's journal or a file gives them: the state at any cycle, a word's history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from engine.chunk import Blocks
from sessions.codec import DIFFERENCE, NEW, PLANES, STAMP, WIDTH, XOR, per_cycle, unpack, unzigzag

# with fewer words of a column asked for, each word's events are looked through by themselves
FEW = 4


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes in order of time. word: (k,) u4, when: (k,) u2 cycle offset in which it changes, value: (k,) u4 new value."""

    word: np.ndarray
    when: np.ndarray
    value: np.ndarray

    @staticmethod
    def of_blocks(blocks: Blocks) -> Changes:
        """Return the changes that a journal holds."""
        block, bit = np.nonzero(np.unpackbits(blocks.mask[:, None].view(np.uint8), axis=1, bitorder="little"))
        when = np.repeat(np.arange(len(blocks.end), dtype=np.uint16), per_cycle(blocks.end))[block]
        return Changes((blocks.first[block] + bit).astype(np.uint32), when, blocks.value)

    def __len__(self) -> int:
        return len(self.word)

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        before = np.searchsorted(self.when, offset)
        words[self.word[:before]] = self.value[:before]

    def of_words(self, words: np.ndarray, num_words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (which, when, value) of the changes of these words, each word's in order of time; which: index in words."""
        position = np.full(num_words, -1, np.int32)
        position[words] = np.arange(len(words), dtype=np.int32)
        which = position[self.word]
        entries = np.flatnonzero(which >= 0)
        return which[entries], self.when[entries], self.value[entries]


class StoredChanges:
    """Changes as a file holds them: block by block, decoded as far as a question needs it. Safe to share between threads.

    stored: the `deltas` map of format.py. key: (num_words,) u4 state at the chunk's first cycle. Raises ValueError where
    the streams do not fit together.
    """

    def __init__(self, stored: dict[str, Any], key: np.ndarray, first_cycle: int):
        self._stored, self._key, self._first_cycle = stored, key, first_cycle
        blocks_of, patterns_of = (unpack(stored[name], np.int64) for name in ("kinds", "patterns"))
        self._block = np.cumsum(unzigzag(unpack(stored["blocks"])), dtype=np.uint32).astype(np.int64)
        times = unpack(stored["times"], np.int64)
        masks = unpack(stored["masks"], np.uint32)
        gaps, ranks = (unpack(stored[name], np.int64) for name in ("gaps", "ranks"))
        _require(len(blocks_of) == len(patterns_of) and blocks_of.sum() == len(self._block) == len(times))
        _require(patterns_of.sum() == len(masks) and times.sum() == len(gaps) == len(ranks) and (times > 0).all())
        _require(not len(self._block) or 0 <= self._block.min() <= self._block.max() < len(key))
        self._end = np.cumsum(times)
        self._begin = self._end - times
        self._kind_begin = np.cumsum(blocks_of) - blocks_of
        self._kind = np.repeat(np.arange(len(blocks_of)), blocks_of)
        self._kind_end = self._kind_begin + blocks_of
        self._pattern_end = np.cumsum(patterns_of)
        self._pattern_begin = self._pattern_end - patterns_of
        # a cell for each pattern that a block can have
        cells = np.cumsum(patterns_of[self._kind])
        self._num_cells = int(cells[-1]) if len(cells) else 0
        self._cell = ranks + np.repeat(cells - patterns_of[self._kind], times)
        self._cell_begin = (cells - patterns_of[self._kind])[self._kind_begin] if len(cells) else cells
        self._bits = np.unpackbits(masks[:, None].view(np.uint8), axis=1, bitorder="little")
        _require((ranks < np.repeat(patterns_of[self._kind], times)).all())
        self._event_block = np.repeat(np.arange(len(times)), times)
        self._pattern = ranks + np.repeat(self._pattern_begin[self._kind], times)
        running = np.cumsum(gaps)
        self._when = running - np.repeat((running - gaps)[self._begin], times) if len(gaps) else running
        _require(not len(gaps) or self._when.max() < int(stored["cycles"]))

    def __len__(self) -> int:
        return len(self._codes)

    def _by_kind(self, cells: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Give for each kind its blocks, what is in their cells (blocks, patterns), its patterns' bits (patterns, 32)."""
        for number, at in enumerate(self._cell_begin):
            blocks = slice(self._kind_begin[number], self._kind_end[number])
            bits = self._bits[self._pattern_begin[number] : self._pattern_end[number]]
            count = blocks.stop - blocks.start
            yield blocks, cells[at : at + count * len(bits)].reshape(count, len(bits)), bits

    def _tally(self, events: slice | np.ndarray) -> np.ndarray:
        """Return (blocks, 32) i8: in how many of these events each word of each block changes."""
        times = np.empty((len(self._block), WIDTH), np.int64)
        cells = np.bincount(self._cell[events], minlength=self._num_cells).astype(np.float32)
        for blocks, held, bits in self._by_kind(cells):
            times[blocks] = held @ bits.astype(np.float32)
        return times

    @cached_property
    def _times(self) -> np.ndarray:
        """Return (blocks, 32) how often each word of each block changes in the chunk."""
        return self._tally(slice(None))

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return mode and first code of each column, (kinds, 32), and of the stored columns the widths and counts, in order.

        Order is that in which the codes stand: by mode, then by width.
        """
        kinds = len(self._kind_begin)
        counts = np.add.reduceat(self._times, self._kind_begin, axis=0) if kinds else np.empty((0, WIDTH), np.int64)
        columns = np.flatnonzero(counts)
        modes, widths = (unpack(self._stored[name], np.int64) for name in ("modes", "widths"))
        _require(len(columns) == len(modes) == len(widths))
        order = np.argsort(modes * (PLANES + 1) + widths, kind="stable")
        sizes = counts.ravel()[columns[order]]
        mode, first = np.zeros((2, kinds * WIDTH), np.int64)
        mode[columns] = modes
        first[columns[order]] = np.cumsum(sizes) - sizes
        return mode.reshape(-1, WIDTH), first.reshape(-1, WIDTH), (modes * (PLANES + 1) + widths)[order], sizes

    @cached_property
    def _starts(self) -> np.ndarray:
        """Return (blocks, 32) where each word's codes begin among all."""
        before = np.cumsum(self._times, axis=0) - self._times
        return self._columns[1][self._kind] + before - before[self._kind_begin[self._kind]]

    @cached_property
    def _codes(self) -> np.ndarray:
        """Return the codes, and in place of differences and of xor-ed bits their running sums over each mode."""
        _, _, classes, sizes = self._columns
        codes = np.zeros(int(sizes.sum()), np.uint32)
        data = np.frombuffer(self._stored["planes"], np.uint8)
        at = low = 0
        ends = []
        found = np.flatnonzero(np.bincount(classes, minlength=1))
        for number in found:
            size = int(sizes[classes == number].sum())
            part = codes[low : low + size]
            for plane in range(int(number) % (PLANES + 1)):
                part |= np.left_shift(data[at : at + size], np.uint32(8 * plane), dtype=np.uint32)
                at += size
            low += size
            ends.append(low)
        _require(at == len(data))
        far, beyond = np.cumsum(unpack(self._stored["far"], np.int64)), unpack(self._stored["beyond"])
        _require(len(far) == len(beyond) and (not len(far) or far[-1] < len(codes)))
        if len(far):
            width = (found % (PLANES + 1))[np.searchsorted(ends, far, side="right")]
            codes[far] |= beyond << (8 * width).astype(np.uint32)
        low = 0
        for mode in range(STAMP + 1):
            size = int(sizes[classes // (PLANES + 1) == mode].sum())
            part = codes[low : low + size]
            if mode in (DIFFERENCE, STAMP):
                part[:] = unzigzag(part)
            if mode == DIFFERENCE:
                np.cumsum(part, out=part)
            elif mode == XOR:
                np.bitwise_xor.accumulate(part, out=part)
            low += size
        return codes

    def _values(self, index: np.ndarray, start: np.ndarray, mode: np.ndarray, word: np.ndarray,
                when: np.ndarray) -> np.ndarray:  # fmt: skip
        """Return the new values behind codes. start: the first code of the same word. when: of the change, for stamps."""
        codes = self._codes
        value = codes[index]
        # where a mode's running sum begins there is nothing before; what stands there is of another mode
        begins = np.array([self._mode_begin[m] for m in range(STAMP + 1)])[mode]
        before = np.where(start > begins, codes[np.maximum(start, 1) - 1], np.uint32(0))
        key = self._key[word]
        stamp = value + (when + self._first_cycle).astype(np.uint32)
        return np.select([mode == DIFFERENCE, mode == XOR, mode == NEW], [key + value - before, key ^ value ^ before, value],
                         stamp)  # fmt: skip

    @cached_property
    def _mode_begin(self) -> list[int]:
        """Return the first code of each mode."""
        _, _, classes, sizes = self._columns
        return [int(sizes[classes // (PLANES + 1) < mode].sum()) for mode in range(STAMP + 1)]

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        if not len(self._block) or offset <= 0:
            return
        before = np.flatnonzero(self._when < offset)
        times = self._tally(before)
        block, place = np.nonzero(times)
        mode = self._columns[0][self._kind[block], place]
        start = self._starts[block, place]
        when = self._last(before)[block, place]
        word = self._block[block] + place
        words[word] = self._values(start + times[block, place] - 1, start, mode, word, when)

    def _last(self, events: np.ndarray) -> np.ndarray:
        """Return (blocks, 32) in which cycle offset each word coded as a stamp last changes in `events`; -1 for never."""
        newest = np.zeros(self._num_cells, np.int32)
        newest[self._cell[events]] = self._when[events] + 1
        found = np.zeros((len(self._block), WIDTH), np.int64)
        for number, (blocks, held, bits) in enumerate(self._by_kind(newest)):
            places = np.flatnonzero(self._columns[0][number] == STAMP)
            if len(places):
                found[blocks, places] = (held[:, :, None] * bits[None, :, places]).max(axis=1)
        return found - 1

    def of_words(self, words: np.ndarray, num_words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (which, when, value) of the changes of these words, each word's in order of time; which: index in words."""
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        if len(self._block):
            ascending = np.argsort(self._block)
            near = np.searchsorted(self._block[ascending], words, side="right") - 1
            block = ascending[np.maximum(near, 0)]
            place = words - self._block[block]
            known = np.flatnonzero((near >= 0) & (place < WIDTH))
            known = known[self._times[block[known], place[known]] > 0]
            column = self._kind[block[known]] * WIDTH + place[known]
            for number in np.unique(column):
                mine = known[column == number]
                if len(mine) <= FEW:
                    parts += [self._history(int(one), int(block[one]), int(number)) for one in mine]
                else:
                    parts.append(self._histories(mine, block[mine], int(number)))
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32)
        which, when, value = (np.concatenate(arrays) for arrays in zip(*parts))
        return which, when, value

    def _history(self, which: int, block: int, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (which, when, value) of the word in one block of a column."""
        place = column % WIDTH
        events = slice(self._begin[block], self._end[block])
        when = self._when[events][self._bits[self._pattern[events], place] != 0]
        start = int(self._starts[block, place])
        whole = np.full((3, len(when)), [[which], [start], [self._block[block] + place]])
        return self._entries(whole[0], when, np.arange(start, start + len(when)), whole[1], whole[2], column)

    def _histories(self, which: np.ndarray, block: np.ndarray, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (which, when, value) of words of one column, asked for as these of the column's blocks."""
        kind, place = divmod(column, WIDTH)
        blocks = np.flatnonzero(self._kind == kind)
        low, high = int(self._begin[blocks[0]]), int(self._end[blocks[-1]])
        hits = np.flatnonzero(self._bits[self._pattern[low:high], place]) + low
        first = int(self._columns[1][kind, place])
        number = np.full(len(self._block), -1)
        number[block] = which
        asked = number[self._event_block[hits]]
        kept = np.flatnonzero(asked >= 0)
        hits = hits[kept]
        of = self._event_block[hits]
        return self._entries(asked[kept], self._when[hits], first + kept, self._starts[of, place], self._block[of] + place,
                             column)  # fmt: skip

    def _entries(self, which: np.ndarray, when: np.ndarray, index: np.ndarray, start: np.ndarray, word: np.ndarray,
                 column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return (which, when, value) of changes of one column."""
        mode = np.full(len(index), self._columns[0].ravel()[column])
        return which, when, self._values(index, start, mode, word, when)


def _require(fits: Any) -> None:
    """Raise ValueError where streams do not fit together."""
    if not fits:
        raise ValueError("delta streams do not fit together")
