"""Sum up chunks while they are recorded; see summaries.py, which reads what is made here, and format.py, SUMM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sessions import codec
from sessions.extent import BYTES, NOT_WATCHED, WHOLE, Extent
from sessions.layout import Layout
from sessions.summaries import CHUNKS, LINE_BITS, LINE_WORDS, STATES, byte_words, word_kinds

# what is large and seldom asked for is summed up by its changes alone
CHANGES_ONLY = ("cycle", "stall_total", "inflight", "warp_cold", "mshr", "l1", "l2", "config")
MOST_WORDS = 1024


@dataclass(frozen=True, eq=False)
class Plan:
    """Which words are watched: slot: (num_words,) i4 number among the watched ones, -1 = not watched; words: (w,) i8.

    watch: (num_words,) u1 how, as in extent.py; kinds: of word_kinds. num_states: warp slots.
    """

    slot: np.ndarray
    words: np.ndarray
    watch: np.ndarray
    kinds: list[np.ndarray]
    num_states: int

    @staticmethod
    def of(layout: Layout) -> Plan:
        """Choose from a layout: all of it but what is large and seldom asked for."""
        watched = np.zeros(layout.num_words, bool)
        for dtype, begin in ((layout.sm_dtype, 0), (layout.rf_dtype, layout.sm_bytes)):
            for name in dtype.names or ():
                inner, offset = dtype.fields[name][:2]  # type: ignore[index]
                if (begin or name not in CHANGES_ONLY) and (inner.itemsize <= 4 * MOST_WORDS or name == "warp"):
                    watched[(begin + offset) // 4 : -(-(begin + offset + inner.itemsize) // 4)] = True
        words = np.flatnonzero(watched)
        slot = np.full(layout.num_words, -1, np.int32)
        slot[words] = np.arange(len(words))
        watch = np.where(watched, np.where(byte_words(layout), BYTES, WHOLE), NOT_WATCHED).astype(np.uint8)
        return Plan(slot, words, watch, word_kinds(layout), len(layout.field(STATES).offsets))


class Summariser:
    """Collects what chunks hold, while recording; one after the other, up to 64, then `take`."""

    def __init__(self, plan: Plan, num_rows: int):
        self.plan = plan
        self.count = 0
        shape = (CHUNKS, len(self.plan.words))
        self._low, self._high = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
        self._states = np.zeros((CHUNKS, self.plan.num_states), np.uint64)
        # a bit for each chunk
        sizes = (len(plan.slot), num_rows, LINE_BITS)
        self._changed, self._rows, self._lines = (np.zeros(size, np.uint64) for size in sizes)
        self._slots = [plan.slot[kind] for kind in plan.kinds]
        self._part = np.empty(max(map(len, plan.kinds)) * (CHUNKS // 8 + 8 * CHUNKS), np.uint8)
        from sessions import sums  # imports numba: what replays imports this module too

        self._sums = sums

    @property
    def is_full(self) -> bool:
        """Say whether `take` is due."""
        return self.count == CHUNKS

    def add(self, key: np.ndarray, extent: Extent, row_index: np.ndarray, mem_index: np.ndarray) -> None:
        """Add a chunk. key: state at its first cycle. extent: what its changing words come to."""
        plan, at = self.plan, self.count
        self._sums.sum_up(key, plan.words, plan.slot, extent.words, extent.least, extent.most, self._low[at],
                            self._high[at], self._changed, at)  # fmt: skip
        self._states[at] = extent.states
        self._sums.mark_places(row_index, 1, self._rows, at)
        self._sums.mark_places(mem_index, LINE_WORDS, self._lines, at)
        self.count += 1

    def take(self, first: int) -> dict[str, Any]:
        """Return the summary of the chunks added, the first of them having this number, and begin anew."""
        count, plan = self.count, self.plan
        self.count = 0
        words, ranged, parts = [], [], []
        for kind, slots in zip(plan.kinds, self._slots):
            is_ranged = bool(slots[0] >= 0)
            if not is_ranged and not self._changed[kind].any():
                continue
            end = self._sums.pack_marks(kind, self._changed, count, self._part)
            if is_ranged:
                end = self._sums.pack_ends(slots, count, self._low, self._high, end, self._part)
            words.append(int(kind[0]))
            ranged.append(is_ranged)
            parts.append(codec.squeeze(self._part[:end].data))
        written = (_bytes_of(marks, count) for marks in (self._rows, self._lines))
        found = {
            "first": first, "num": count, "words": codec.pack(np.array(words)),
            "ranged": codec.pack(np.array(ranged, np.uint8)), "parts": parts,
            "states": codec.squeeze(_planes(self._states[:count].T)),
            **dict(zip(("rows", "lines"), map(codec.squeeze, written))),
        }  # fmt: skip
        for marks in (self._changed, self._rows, self._lines):
            marks[:] = 0
        return found


def _bytes_of(marks: np.ndarray, count: int) -> bytes:
    """Return the low bits of u8 marks, as many as chunks, in whole bytes each."""
    return marks.view(np.uint8).reshape(-1, 8)[:, : -(-count // 8)].tobytes()


def _planes(values: np.ndarray) -> bytes:
    """Return the values' low bytes, then their next ones, and so on."""
    flat = np.ascontiguousarray(values).ravel()
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, flat.itemsize).T).tobytes()
