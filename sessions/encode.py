"""Bring a chunk's changes into the form in which they are stored (see format.py), in compiled loops that hold no lock.

Only recording needs this: numba is imported here, and nothing that replays imports this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.chunk import Blocks
from sessions.codec import NUM_MODES, PLANES, STAMP, WIDTH, XOR, zigzag
from sessions.extent import Extent
from sessions.passes import (
    TABLE_FULL, byte_bits, code, count_wide, differences, index_events, lay_planes, narrow, per_cycle, place_planes,
    place_slots, sort_events, split_rows, spread, widen,
)  # fmt: skip

# of a long column, so many codes tell how it is coded best
LEARN_CODES = 1024


def pack_steps(values: np.ndarray) -> list[Any]:
    """Store (k,) u4 numbers as zigzag differences."""
    codes = np.empty(len(values), np.uint32)
    differences(values, codes)
    return pack_many(codes)


def pack_many(values: np.ndarray) -> list[Any]:
    """Return the same as codec.pack for (k,) u4 numbers, sooner where there are many."""
    planes = np.empty(4 * len(values), np.uint8)
    width = narrow(values, planes)
    return [len(values), width, planes[: width * len(values)].data]


def pack_few(values: np.ndarray) -> list[Any]:
    """Return the same as codec.pack for (k,) u1 numbers."""
    return [len(values), 1, values.tobytes()] if values.any() else [len(values), 0, b""]


def pack_log(end: np.ndarray) -> list[Any]:
    """Store (cycles,) u4 prefix counts of a log as counts per cycle."""
    counts = np.empty(len(end), np.uint32)
    per_cycle(end, counts)
    return pack_many(counts)


def pack_rows(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) row numbers and their (k, 32) u4 lanes: equal as one word, v0 + lane * d as two, others whole."""
    count = len(index)
    kind, base, step, raw = np.empty(count, np.uint8), *(np.empty(size, np.uint32) for size in (count, count, count * 32))
    bases, steps, words = split_rows(value, kind, base, step, raw)
    return {
        "index": pack_steps(index),
        "kind": pack_few(kind),
        "base": pack_many(base[:bases]),
        "step": pack_many(zigzag(step[:steps])),
        "raw": pack_many(raw[:words]),
    }


def pack_words(index: np.ndarray, value: np.ndarray) -> dict[str, Any]:
    """Store (k,) word numbers and their u4 values."""
    return {"index": pack_steps(index), "value": pack_many(value)}


@dataclass
class Coded:
    """A chunk's changes in the order of storing, with views into the encoder's working space.

    first, times: (slots,) first word and events of each block. kind_slots, kind_patterns: blocks, and different masks, of
    each kind; masks: these, kind after kind. begin, counts: where each column's values are. runs: how many there are, and of
    each word, first value, the one behind the last and column. gaps, ranks: (events,) u4.
    """

    first: np.ndarray
    times: np.ndarray
    kind_slots: np.ndarray
    kind_patterns: np.ndarray
    masks: np.ndarray
    begin: np.ndarray
    counts: np.ndarray
    runs: tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    gaps: np.ndarray
    ranks: np.ndarray


class Encoder:
    """Codes the deltas of one recording's chunks; keeps the modes that it has chosen, and its working space.

    kind_of: (words,) i4 kind of the block that begins at each word (Layout.kinds). watch: (words,) u1 0, WHOLE or BYTES: how
    the least and greatest values of each word are wanted. states_at: (warp slots,) the byte that each one's state is in.
    """

    def __init__(self, kind_of: np.ndarray, watch: np.ndarray, states_at: np.ndarray):
        self._kind_of = kind_of
        words = len(kind_of)
        self._place_of = np.empty(words, np.int32)
        self._place_of[np.argsort(kind_of, kind="stable")] = np.arange(words)
        self._state_of, self._state_shift = np.full(words, -1, np.int32), np.zeros(words, np.uint32)
        self._state_of[states_at // 4] = np.arange(len(states_at))
        self._state_shift[states_at // 4] = states_at % 4 * 8
        self._watch, self._states_at = watch, states_at
        self._num_kinds = int(kind_of.max()) + 1
        self._slot_of = np.full(words, -1, np.int32)
        self._slot = (*(np.empty(words, np.int32) for _ in range(3)), np.empty(words, np.uint32))
        self._run = tuple(np.empty(words, np.uint32) for _ in range(4))
        self._table = np.empty(1 << 12, np.int32)
        self._events = 0
        self._room(1 << 15)
        self.modes = np.full(self._num_kinds * WIDTH, XOR, np.uint8)

    def _room(self, events: int) -> None:
        """Make the working space large enough; of what has a place for each word of an event's block, few are ever used."""
        if events > self._events:
            self._events = events + events // 4
            self._event_slot = np.empty(self._events, np.int32)
            self._ordered = np.empty((self._events, 2), np.uint64)
            self._masks, self._gaps, self._ranks = (np.empty(self._events, np.uint32) for _ in range(3))
            self._codes, self._values = (np.empty(self._events * WIDTH, np.uint32) for _ in range(2))
            self._cycles = np.empty(self._events * WIDTH, np.uint16)

    def _spread(self, blocks: Blocks, stamped: np.ndarray) -> Coded:
        """Bring the changes into the order of storing. stamped: (kinds x 32,) bool, columns whose cycles are wanted, too."""
        events = len(blocks.first)
        self._room(events)
        slots = index_events(blocks.first, blocks.mask, self._kind_of, self._slot_of, *self._slot, self._event_slot)
        slot_first, slot_kind, slot_times, _ = self._slot
        order = np.argsort(self._place_of[slot_first[:slots]])
        slot_next, first, times = np.empty(slots, np.int64), *np.empty((2, slots), np.uint32)
        kind_slots, begin = np.zeros(self._num_kinds, np.uint32), np.empty(len(self.modes), np.uint32)
        place_slots(order, slot_first, slot_kind, slot_times, slot_next, first, times, kind_slots, begin)
        sort_events(blocks.end, blocks.mask, self._event_slot, slot_next, self._ordered)
        while True:
            self._table[:] = 0
            column_next, kind_patterns = begin.copy(), np.zeros(self._num_kinds, np.uint32)
            runs, patterns = spread(order, *self._slot, self._ordered, events, stamped, blocks.value, self._table,
                                    self._masks, kind_patterns, column_next, self._values, self._cycles, self._gaps,
                                    self._ranks, *self._run)  # fmt: skip
            if runs != TABLE_FULL:
                break
            self._table = np.empty(4 * len(self._table), np.int32)
        return Coded(first, times, kind_slots, kind_patterns, self._masks[:patterns], begin, column_next - begin,
                     (runs, *self._run), self._gaps[:events], self._ranks[:events])  # fmt: skip

    def encode(self, key: np.ndarray, blocks: Blocks, first_cycle: int, learn: bool) -> tuple[dict[str, Any], Extent]:
        """Return the `deltas` map of format.py, and what the words that change come to.

        key: (num_words,) u4 state at first_cycle. learn: choose anew how each column is coded.
        """
        coded = self._spread(blocks, np.full(len(self.modes), True) if learn else self.modes == STAMP)
        base_cycle = np.uint32(first_cycle & 0xFFFFFFFF)

        def code_by(modes: np.ndarray) -> None:
            code(*coded.runs, modes, key, self._values, self._cycles, base_cycle, self._codes)

        if learn:
            self._learn(coded, code_by)
        code_by(self.modes)
        columns = np.flatnonzero(coded.counts)
        begin, counts, modes = coded.begin[columns], coded.counts[columns], self.modes[columns]
        widths, planes, far, beyond = self._planes(begin, counts, modes)
        kinds = np.flatnonzero(coded.kind_slots)
        stored = {
            "cycles": len(blocks.end),
            "kinds": pack_many(coded.kind_slots[kinds]),
            "blocks": pack_steps(coded.first),
            "times": pack_many(coded.times),
            "patterns": pack_many(coded.kind_patterns[kinds]),
            "masks": pack_many(coded.masks),
            "gaps": pack_many(coded.gaps),
            "ranks": pack_many(coded.ranks),
            "modes": pack_few(modes),
            "widths": pack_few(widths),
            "planes": planes.data,
            "far": pack_many(far),
            "beyond": pack_many(beyond),
        }
        return stored, self._extent(coded, key)

    def _extent(self, coded: Coded, key: np.ndarray) -> Extent:
        """Return what the words that change come to."""
        runs = coded.runs[0]
        least, most = np.empty((2, runs), np.uint32)
        states = np.uint64(1) << (key.view(np.uint8)[self._states_at] & 63).astype(np.uint64)
        widen(*coded.runs[:4], key, self._values, self._watch, least, most, self._state_of, self._state_shift, states)
        return Extent(coded.runs[1][:runs], least, most, states)

    def _planes(self, begin: np.ndarray, counts: np.ndarray,
                modes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return the widths of columns, the byte planes of all codes, and place and rest of those that are wider."""
        columns = len(counts)
        wide, num_far = np.empty((columns, PLANES), np.int32), np.empty(columns, np.int32)
        widths = np.empty(columns, np.uint8)
        order, plane_at, stride = np.empty((3, columns), np.int64)
        count_wide(self._codes, begin, counts, wide)
        total, all_far = place_planes(counts, modes, wide, widths, num_far, order, plane_at, stride)
        planes = np.empty(total, np.uint8)
        far, beyond = np.empty(all_far + 1, np.uint32), np.empty(all_far + 1, np.uint32)
        lay_planes(order, begin, counts, widths, plane_at, stride, num_far, self._codes, planes, far, beyond)
        return widths, planes, far[:all_far], beyond[:all_far]

    def _learn(self, coded: Coded, code_by: Callable[[np.ndarray], None]) -> None:
        """Choose for each column that changes in the chunk the mode that codes it shortest there."""
        table, columns = np.zeros(256, np.int32), np.flatnonzero(coded.counts)
        bits = np.empty((NUM_MODES, len(self.modes)))
        counts = np.minimum(coded.counts, LEARN_CODES)
        logs = np.log2(np.maximum(np.arange(LEARN_CODES + 1), 1))
        for mode in range(NUM_MODES):
            code_by(np.full(len(self.modes), mode, np.uint8))
            byte_bits(self._codes, columns, coded.begin, counts, logs, table, bits[mode])
        self.modes[columns] = np.argmin(bits[:, columns], axis=0)
