"""The state changes of a chunk, as the engine's journal or a file gives them: the state at any cycle, a word's history."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.chunk import Blocks
from rfview.sessions.codec.codec import (DIFFERENCE, MOST_NUMBER, NUM_MODES, NUMBERED, PLANES_OF, STAMP, WIDTH, XOR,
                                         per_cycle, unpack, unzigzag)  # fmt: skip


# a stream without numbers
NOTHING = [0, 0, b""]
# planes of the codes of each class (see _Columns)
CLASS_PLANES = np.tile(PLANES_OF, NUM_MODES)
# words of a block, as a shift and a mask, which are quicker than to divide
WIDTH_BITS, INSIDE = WIDTH.bit_length() - 1, WIDTH - 1


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

    stored: streams of the `state` blob of format.py. key: (num_words,) u4 state at the chunk's first cycle. Raises
    ValueError where the streams do not fit together.
    """

    def __init__(self, stored: dict[str, Any], key: np.ndarray, first_cycle: int, num_cycles: int):
        self._stored, self._key, self._first_cycle, self._num_cycles = stored, key, first_cycle, num_cycles
        blocks_of, patterns_of = (unpack(stored[name], np.int64) for name in ("kinds", "patterns"))
        self._block = np.cumsum(unzigzag(unpack(stored["blocks"])), dtype=np.uint32).astype(np.int64)
        times = unpack(stored["times"], np.int64)
        masks = unpack(stored["masks"], np.uint32)
        ranks = _whole(stored, "ranks", "high_ranks", np.int64)
        _require(blocks_of.sum() == len(self._block) == len(times) and patterns_of.sum() == len(masks))
        _require(len(blocks_of) == len(patterns_of) and (blocks_of > 0).all() and (times > 0).all())
        _require(times.sum() == len(ranks) == stored["gaps"][0])
        self._times, self._bits = times, np.unpackbits(masks[:, None].view(np.uint8), axis=1, bitorder="little")
        end = np.cumsum(times)
        self._kind_begin, self._pattern_begin = np.cumsum(blocks_of) - blocks_of, np.cumsum(patterns_of) - patterns_of
        self._blocks_of, self._patterns_of = blocks_of, patterns_of
        if not len(times):
            return
        _require(0 <= self._block.min() <= self._block.max() < len(key))
        self._events_of = np.add.reduceat(times, self._kind_begin)
        self._event_begin = np.cumsum(self._events_of) - self._events_of
        _require((np.maximum.reduceat(ranks, self._event_begin) < patterns_of).all())
        self._begin = end - times
        # which of the chunk's patterns each event has
        self._pattern = ranks
        self._pattern += np.repeat(self._pattern_begin, self._events_of)

    def __len__(self) -> int:
        return int(self._columns.size.sum()) if len(self._block) else 0

    @cached_property
    def _when(self) -> np.ndarray:
        """Return (events,) u4 in which cycle offset each event is."""
        when = np.cumsum(_whole(self._stored, "gaps", "long_gaps", np.uint32), dtype=np.uint32)
        before = when[self._begin - 1]
        before[0] = 0
        when -= np.repeat(before, self._times)
        _require(int(when.max()) < self._num_cycles)
        return when

    @cached_property
    def _columns(self) -> _Columns:
        """Return how each place of each kind is coded."""
        if "_cells" in self.__dict__:
            size = np.add.reduceat(self._times_of, self._kind_begin, axis=0, dtype=np.int64).ravel()
        else:
            # two words side by side: none of the sums reaches 2 ** 32
            number = np.bincount(self._pattern, minlength=len(self._bits)).astype("<u4")
            added = (self._bits * number[:, None]).view("<u8")
            size = np.add.reduceat(added, self._pattern_begin, axis=0).view("<u4").ravel().astype(np.int64)
        columns = np.flatnonzero(size)
        modes, widths = (unpack(self._stored[name], np.int64) for name in ("modes", "widths"))
        _require(len(columns) == len(modes) == len(widths) and modes.max() <= STAMP and widths.max() <= NUMBERED)
        # recordings of before have no codes that are given by number
        distinct, known = (unpack(self._stored.get(name, NOTHING)) for name in ("distinct", "known"))
        return _Columns.of(size, columns, modes, widths, np.frombuffer(self._stored["planes"][2], np.uint8), distinct, known)

    @cached_property
    def _far(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (places among the codes, what stands there above the width) of codes that are wider than their column's."""
        far, beyond = np.cumsum(unpack(self._stored["far"], np.int64)), unpack(self._stored["beyond"])
        _require(len(far) == len(beyond) and (not len(far) or far[-1] < len(self)))
        return far, beyond

    @cached_property
    def _codes(self) -> np.ndarray:
        """Return all codes, in place of differences and of xor-ed bits their running sums over each mode.

        Before the first code of each of these two stands a 0: the codes of other modes begin two places later.
        """
        columns = self._columns
        codes = np.empty(len(self) + 2, np.uint32)
        far, beyond = self._far
        edges = np.searchsorted(far, columns.class_begin + columns.class_size).tolist()
        sizes = columns.class_size.tolist()
        known = 0
        for mode in range(NUM_MODES):
            classes = range(mode * len(PLANES_OF), (mode + 1) * len(PLANES_OF))
            shift = _shift(mode)
            begin = int(columns.class_begin[classes[0]]) + shift
            if mode in (DIFFERENCE, XOR):
                codes[begin - 1] = 0
            end = begin
            for number in classes:
                size = sizes[number]
                if not size:
                    continue
                part = codes[end : end + size]
                end += size
                columns.read(number, 0, part)
                wide = slice(known, edges[number])
                if wide.start < wide.stop:
                    codes[far[wide] + shift] |= beyond[wide] << np.uint32(8 * PLANES_OF[number % len(PLANES_OF)])
                known = wide.stop
            _decode(codes[begin:end], mode)
        return codes

    def _codes_of(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return codes as in `_codes`, and where among them those of each of these columns begin, behind what is before."""
        columns, kept = self._columns, self.__dict__.get("_codes")
        if kept is not None:
            return kept, columns.first[which] + np.where(columns.mode[which] == DIFFERENCE, *map(_shift, (DIFFERENCE, XOR)))
        found = [self._column(one) for one in which.tolist()]
        sizes = columns.size[which] + 1
        return np.concatenate(found) if len(found) != 1 else found[0], np.cumsum(sizes) - sizes + 1

    def _column(self, column: int) -> np.ndarray:
        """Return (1 + n,) u4: a 0, and the codes of one column as in `_codes`, with sums of their own."""
        columns = self._columns
        mode, first, size, number = (int(part[column])
                                     for part in (columns.mode, columns.first, columns.size, columns.number))  # fmt: skip
        found = np.empty(size + 1, np.uint32)
        found[0] = 0
        columns.read(number, first - int(columns.class_begin[number]), found[1:])
        far, beyond = self._far
        wide = slice(*np.searchsorted(far, (first, first + size)).tolist())
        found[far[wide] - (first - 1)] |= beyond[wide] << np.uint32(8 * PLANES_OF[number % len(PLANES_OF)])
        _decode(found[1:], mode)
        return found

    # the state at a cycle

    @cached_property
    def _cells(self) -> _Cells:
        """Return the cells: for each block the patterns of its kind."""
        patterns = np.repeat(self._patterns_of, self._blocks_of)
        end = np.cumsum(patterns)
        lead = end - patterns - np.repeat(self._pattern_begin, self._blocks_of)
        cell = self._pattern + np.repeat(lead, self._times)
        number = np.bincount(cell, minlength=int(end[-1]))
        filled = np.flatnonzero(number > 0)     # it is quicker with booleans
        # every block has events, and so a cell that is filled
        edges = np.searchsorted(filled, end - patterns)
        block = np.zeros(len(filled), np.int64)
        block[edges[1:]] = 1
        np.add.accumulate(block, out=block)
        pattern = filled - lead[block]
        _require(self._num_cycles < 1 << 16)
        return _Cells(cell, number, filled, edges, block, pattern, self._bits.astype("<u2").take(pattern, axis=0))

    def _tally(self, number: np.ndarray) -> np.ndarray:
        """Return (blocks * 32,) u2: in how many events each word of each block changes, from their number in each cell."""
        cells = self._cells
        # words of two bytes, none of which reaches 65,536, are added four at a time
        added = (cells.lanes * number[cells.filled].astype("<u2")[:, None]).view("<u8")
        return np.add.reduceat(added, cells.edges, axis=0).view("<u2").ravel()

    @cached_property
    def _times_of(self) -> np.ndarray:
        """Return (blocks, 32) u2: in how many events each word of each block changes."""
        return self._tally(self._cells.number).reshape(-1, WIDTH)

    @cached_property
    def _starts(self) -> np.ndarray:
        """Return (blocks * 32,) where each word's codes begin in `_codes`."""
        times, columns = self._times_of, self._columns
        first = columns.first + np.where(columns.mode == DIFFERENCE, _shift(DIFFERENCE), _shift(XOR))
        before = np.cumsum(times, axis=0, dtype=np.int64)
        before -= times
        lead = first.reshape(-1, WIDTH) - before.take(self._kind_begin, axis=0)
        before += lead.take(self._kind_of, axis=0)
        return before.ravel()

    def apply(self, words: np.ndarray, offset: int) -> None:
        """Turn the state at the chunk's first cycle into that `offset` cycles later, in place."""
        if not len(self._block) or offset <= 0:
            return
        cells = self._cells
        before = np.flatnonzero(self._when < offset)
        cell = cells.cell.take(before)
        times = self._tally(np.bincount(cell, minlength=len(cells.number)))
        place = np.flatnonzero(times > 0)
        block, inside = place >> WIDTH_BITS, place & INSIDE
        mode = self._columns.mode.take(inside + self._kind_of.take(block) * WIDTH)
        start = self._starts.take(place)
        word = self._block.take(block) + inside
        value, past = self._codes.take(start + times.take(place) - 1), self._codes.take(start - 1)
        for code in (DIFFERENCE, XOR):
            some = np.flatnonzero(mode == code)
            key = self._key.take(word.take(some))
            now, then = value.take(some), past.take(some)
            value[some] = now - then + key if code == DIFFERENCE else now ^ then ^ key
        stamps = np.flatnonzero(mode == STAMP)
        if len(stamps):
            value[stamps] += self._last(cell, before).take(place.take(stamps)) + np.uint32(self._first_cycle)
        words[word] = value

    @cached_property
    def _kind_of(self) -> np.ndarray:
        """Return (blocks,) the kind of each block."""
        return np.repeat(np.arange(len(self._blocks_of)), self._blocks_of)

    @cached_property
    def _stamps(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (filled cell, place among blocks * 32) of each word coded as a stamp in each pattern of its block."""
        cells = self._cells
        is_stamp = (self._columns.mode == STAMP).reshape(-1, WIDTH)
        having = self._bits & np.repeat(is_stamp, self._patterns_of, axis=0)
        found = np.flatnonzero(having.take(cells.pattern, axis=0).view(bool))
        cell = found >> WIDTH_BITS
        return cells.filled.take(cell), (cells.block.take(cell) << WIDTH_BITS) + (found & INSIDE)

    def _last(self, cell: np.ndarray, events: np.ndarray) -> np.ndarray:
        """Return (blocks * 32,) u4 in which cycle offset each word coded as a stamp last changes in these events.

        cell: of each of them.
        """
        newest = np.zeros(len(self._cells.number), np.uint32)
        newest[cell] = self._when.take(events)      # of events in one cell the last one stays
        found = np.zeros(len(self._block) * WIDTH, np.uint32)
        of, place = self._stamps
        np.maximum.at(found, place, newest.take(of))
        return found

    # the history of words

    def of_words(self, words: np.ndarray, num_words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (which, when, value) of the changes of these words, each word's in order of time; which: index in words."""
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        if len(self._block):
            order = self._ascending
            near = order[np.maximum(np.searchsorted(self._block[order], words, side="right") - 1, 0)]
            place = words - self._block[near]
            known = np.flatnonzero((place >= 0) & (place < WIDTH))
            kinds = self._kind_of[near[known]]
            changing = np.flatnonzero(self._columns.size[kinds * WIDTH + place[known]])
            known, kinds = known[changing], kinds[changing]
            for kind in np.flatnonzero(np.bincount(kinds)).tolist():
                mine = known[kinds == kind]
                parts.append(self._histories(kind, mine, near[mine], place[mine]))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.uint32), np.empty(0, np.uint32)
        which, when, value = (np.concatenate(arrays) for arrays in zip(*parts))
        return which, when, value

    @cached_property
    def _ascending(self) -> np.ndarray:
        return np.argsort(self._block)

    def _histories(self, kind: int, which: np.ndarray, block: np.ndarray,
                   place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return (which, when, value) of words in blocks of one kind."""
        low = int(self._event_begin[kind])
        events = slice(low, low + int(self._events_of[kind]))
        first, count = int(self._kind_begin[kind]), int(self._blocks_of[kind])
        places = np.flatnonzero(np.bincount(place))
        codes, begin = self._codes_of(kind * WIDTH + places)
        # changes of these places in any block of the kind, place by place in order of the codes
        having = np.take(self._bits.T[places], self._pattern[events], axis=1)
        event = np.flatnonzero(having.view(bool))
        at = event // having.shape[1]
        event -= at * having.shape[1]
        of = np.repeat(np.arange(count), self._times[first : first + count])[event]
        number = np.full((len(places), count), -1)
        number[np.searchsorted(places, place), block - first] = which
        # how many changes each word has, place by place, and where its codes begin
        lengths = np.bincount(at * count + of, minlength=number.size)
        before = (np.cumsum(lengths) - lengths).reshape(number.shape)
        ahead = begin - before[:, 0]
        add, flip = self._bases(kind, places, codes[before + ahead[:, None] - 1])
        when, value = self._when[events][event], codes[np.arange(len(at)) + ahead[at]]
        stamps = self._columns.mode[kind * WIDTH + places] == STAMP
        if stamps.any():
            value += when * stamps[at]
        if add.any():
            value += np.repeat(add.ravel(), lengths)
        if flip.any():
            value ^= np.repeat(flip.ravel(), lengths)
        of = np.repeat(number.ravel(), lengths)
        if (number >= 0).all():
            return of, when, value
        asked = np.flatnonzero(of >= 0)
        return of[asked], when[asked], value[asked]

    def _bases(self, kind: int, places: np.ndarray, past: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (places, blocks) u4 what is to be added to codes of each word, and xor-ed with them, to have values.

        past: what stands before the word's codes.
        """
        blocks = slice(int(self._kind_begin[kind]), int(self._kind_begin[kind] + self._blocks_of[kind]))
        key = self._key[self._block[blocks] + places[:, None]]
        mode = self._columns.mode[kind * WIDTH + places][:, None]
        add = np.where(mode == DIFFERENCE, key - past, np.where(mode == STAMP, np.uint32(self._first_cycle), np.uint32(0)))
        return add, np.where(mode == XOR, key ^ past, np.uint32(0))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Blocks and patterns: cell: (events,) of each event; number: (cells,) of events in each cell.

    filled: (f,) cells with events; edges: (blocks,) where those of a block begin; block, pattern: of each of them; lanes:
    (f, 32) u2 whether its words are in the pattern.
    """

    cell: np.ndarray
    number: np.ndarray
    filled: np.ndarray
    edges: np.ndarray
    block: np.ndarray
    pattern: np.ndarray
    lanes: np.ndarray


@dataclass(frozen=True, eq=False)
class _Columns:
    """How the places of the kinds are coded, (kinds * 32,) each: mode; size: number of codes; first: the first among all.

    A class, number: codes of one mode and width. class_size: (classes,) of codes; class_begin: first code among all;
    class_data: where it begins in `data`, its byte planes. A numbered column: first and size; known_begin: where the codes
    that its numbers stand for begin in `known`; highest: u1 of its numbers; all in the order of the classes.
    """

    mode: np.ndarray
    size: np.ndarray
    first: np.ndarray
    number: np.ndarray
    class_size: np.ndarray
    class_begin: np.ndarray
    class_data: np.ndarray
    data: np.ndarray
    numbered_first: np.ndarray
    numbered_size: np.ndarray
    known_begin: np.ndarray
    highest: np.ndarray
    known: np.ndarray

    @staticmethod
    def of(size: np.ndarray, columns: np.ndarray, modes: np.ndarray, widths: np.ndarray, data: np.ndarray,
           distinct: np.ndarray, known: np.ndarray) -> _Columns:  # fmt: skip
        """Return it for the columns that have codes, ascending, from their modes and widths.

        distinct: of each numbered column, how many codes it has among those known.
        """
        classes = modes * len(PLANES_OF) + widths
        order = np.argsort(classes, kind="stable")
        sizes = size[columns[order]]
        mode, first, number = np.zeros((3, len(size)), np.int64)
        mode[columns], number[columns] = modes, classes
        first[columns[order]] = np.cumsum(sizes) - sizes
        class_size = np.bincount(classes, size[columns], minlength=NUM_MODES * len(PLANES_OF)).astype(np.int64)
        class_bytes = class_size * CLASS_PLANES
        _require(class_bytes.sum() == len(data))
        mine = widths == NUMBERED
        _require(mine.sum() == len(distinct) and distinct.sum() == len(known) and (not len(distinct) or distinct.min() > 0))
        # they are listed by column, but a class has them together
        places = np.argsort(classes[mine], kind="stable")
        begin = np.cumsum(distinct, dtype=np.int64) - distinct
        of = columns[mine][places]
        return _Columns(mode, size, first, number, class_size, np.cumsum(class_size) - class_size,
                        np.cumsum(class_bytes) - class_bytes, data, first[of], size[of], begin[places],
                        np.minimum(distinct[places] - 1, MOST_NUMBER).astype(np.uint8), known)  # fmt: skip

    def read(self, number: int, skip: int, found: np.ndarray) -> None:
        """Write codes of a class into (n,) u4 `found`, but for what is wider than the class; skip: codes before them."""
        at = int(self.class_data[number]) + skip
        if number % len(PLANES_OF) == NUMBERED:
            self._read_numbered(int(self.class_begin[number]) + skip, self.data[at : at + len(found)], found)
            return
        planes = PLANES_OF[number % len(PLANES_OF)]
        if not planes:
            found[:] = 0
        for plane in range(planes):
            part = self.data[at : at + len(found)]
            if plane:
                found |= np.left_shift(part, np.uint32(8 * plane), dtype=np.uint32)
            else:
                found[:] = part
            at += int(self.class_size[number])

    def _read_numbered(self, first: int, numbers: np.ndarray, found: np.ndarray) -> None:
        """Write the codes that (n,) u1 numbers stand for into (n,) u4 `found`; first: of these codes, among all."""
        which = slice(*np.searchsorted(self.numbered_first, (first, first + len(found))).tolist())
        sizes = self.numbered_size[which]
        _require((numbers <= np.repeat(self.highest[which], sizes)).all())
        place = np.repeat(self.known_begin[which], sizes)
        place += numbers
        # all are in bounds, which need not be looked at again
        self.known.take(place, out=found, mode="wrap")


def _whole(stored: dict[str, Any], name: str, far: str, dtype: Any) -> np.ndarray:
    """Return numbers from a stream of bytes, and from two more where those stand that need more; format 3 has no such."""
    found = unpack(stored[name], dtype)
    if far in stored:
        beyond = unpack(stored[f"{name}_beyond"], dtype)
        found[np.cumsum(unpack(stored[far], np.int64))] |= np.left_shift(beyond, 8, dtype=dtype)
    return found


def _shift(mode: int) -> int:
    """Return how much later than among the codes a code of a mode stands in `_codes`."""
    return 1 if mode == DIFFERENCE else 2


def _decode(codes: np.ndarray, mode: int) -> None:
    """Turn codes of one mode into numbers, differences and xor-ed bits into their running sums, in place."""
    if mode in (DIFFERENCE, STAMP):
        negative = codes & np.uint32(1)
        np.negative(negative, out=negative)
        codes >>= np.uint32(1)
        codes ^= negative
    if mode == DIFFERENCE:
        np.add.accumulate(codes, out=codes)
    elif mode == XOR:
        np.bitwise_xor.accumulate(codes, out=codes)


def _require(fits: Any) -> None:
    """Raise ValueError where streams do not fit together."""
    if not fits:
        raise ValueError("delta streams do not fit together")
