"""Sum up chunks while they are recorded; see summaries.py, which reads what is made here, and format.py, SUMM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sessions import codec
from sessions.layout import Layout
from sessions.summaries import CHUNKS, LINE_BITS, LINE_WORDS, STATES, byte_words, word_kinds

# what is large and seldom asked for is summed up by its changes alone
CHANGES_ONLY = ("cycle", "stall_total", "inflight", "warp_cold", "mshr", "l1", "l2", "config")
MOST_WORDS = 1024


@dataclass(frozen=True, eq=False)
class Plan:
    """Which words are watched: slot: (num_words,) i4 number among the watched ones, -1 = not watched; words: (w,) i8.

    is_bytes: (num_words,) bool: the word holds fields of less than four bytes. kinds: of word_kinds. state_word,
    state_shift: where each warp's state lies.
    """

    slot: np.ndarray
    words: np.ndarray
    is_bytes: np.ndarray
    kinds: list[np.ndarray]
    state_word: np.ndarray
    state_shift: np.ndarray

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
        state = layout.field(STATES)
        return Plan(slot, words, byte_words(layout), word_kinds(layout), state.offsets // 4, state.offsets % 4 * 8)


class Summariser:
    """Collects what chunks hold, while recording; one after the other, up to 64, then `take`."""

    def __init__(self, layout: Layout, num_rows: int):
        self.plan = Plan.of(layout)
        self.count = 0
        shape = (CHUNKS, len(self.plan.words))
        self._low, self._high = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
        self._states = np.zeros((CHUNKS, len(self.plan.state_word)), np.uint64)
        self._changed = np.zeros((CHUNKS, layout.num_words), bool)
        self._rows = np.zeros((CHUNKS, num_rows), bool)
        self._lines = np.zeros((CHUNKS, LINE_BITS), bool)

    @property
    def is_full(self) -> bool:
        """Say whether `take` is due."""
        return self.count == CHUNKS

    def add(self, key: np.ndarray, words: np.ndarray, begin: np.ndarray, new: np.ndarray, row_index: np.ndarray,
            mem_index: np.ndarray) -> None:  # fmt: skip
        """Add a chunk. key: state at its first cycle. words: those that change, ascending; new[begin[i]:]: their values."""
        plan, at = self.plan, self.count
        low, high = self._low[at], self._high[at]
        low[:] = high[:] = key[plan.words]
        sets = np.uint64(1) << (key[plan.state_word] >> plan.state_shift & 0xFF).astype(np.uint64)
        if len(words):
            times = np.diff(np.append(begin, len(new)))
            slots = plan.slot[words]
            for packed in (False, True):
                chosen = (slots >= 0) & (plan.is_bytes[words] == packed)
                values = new[np.repeat(chosen, times)]
                if not len(values):
                    continue
                starts = np.cumsum(times[chosen]) - times[chosen]
                _widen(low, high, slots[chosen], values, starts, packed)
                if packed:
                    self._add_states(sets, words[chosen], values, starts)
        self._states[at] = sets
        self._changed[at] = False
        self._changed[at, words] = True
        self._rows[at] = False
        self._rows[at, row_index] = True
        self._lines[at] = False
        self._lines[at, mem_index // LINE_WORDS % LINE_BITS] = True
        self.count += 1

    def _add_states(self, sets: np.ndarray, words: np.ndarray, values: np.ndarray, starts: np.ndarray) -> None:
        """Put the states that warps came to into their sets."""
        plan = self.plan
        where = np.searchsorted(words, plan.state_word)
        warps = np.flatnonzero(words[np.minimum(where, len(words) - 1)] == plan.state_word)
        ends = np.append(starts, len(values))
        for warp in warps.tolist():
            part = values[ends[where[warp]] : ends[where[warp] + 1]] >> plan.state_shift[warp] & 0xFF
            sets[warp] |= np.bitwise_or.reduce(np.uint64(1) << part.astype(np.uint64))

    def take(self, first: int) -> dict[str, Any]:
        """Return the summary of the chunks added, the first of them having this number, and begin anew."""
        count, plan = self.count, self.plan
        self.count = 0
        changed = self._changed[:count]
        changing = np.logical_or.reduce(changed, axis=0)
        words, ranged, parts = [], [], []
        for kind in plan.kinds:
            slots = plan.slot[kind]
            is_ranged = bool(slots[0] >= 0)
            if not is_ranged and not changing[kind].any():
                continue
            part = [np.packbits(changed[:, kind].T, axis=1, bitorder="little").tobytes()]
            if is_ranged:
                low, high = self._low[:count, slots], self._high[:count, slots]
                part += [_planes(np.diff(low, axis=0, prepend=np.uint32(0)).T), _planes((high - low).T)]
            words.append(int(kind[0]))
            ranged.append(is_ranged)
            parts.append(codec.squeeze(b"".join(part)))
        bits = (np.packbits(flags[:count].T, axis=1, bitorder="little").tobytes() for flags in (self._rows, self._lines))
        return {
            "first": first, "num": count, "words": codec.pack(np.array(words)),
            "ranged": codec.pack(np.array(ranged, np.uint8)), "parts": parts,
            "states": codec.squeeze(_planes(self._states[:count].T)),
            **dict(zip(("rows", "lines"), map(codec.squeeze, bits))),
        }  # fmt: skip


def _widen(low: np.ndarray, high: np.ndarray, slots: np.ndarray, values: np.ndarray, starts: np.ndarray,
           packed: bool) -> None:  # fmt: skip
    """Take values, a run for each of the slots, into the least and greatest of them."""
    if packed:
        low, high, values = (part.view(np.uint8).reshape(-1, 4) for part in (low, high, values))
    low[slots] = np.minimum(low[slots], np.minimum.reduceat(values, starts, axis=0))
    high[slots] = np.maximum(high[slots], np.maximum.reduceat(values, starts, axis=0))


def _planes(values: np.ndarray) -> bytes:
    """Return the values' low bytes, then their next ones, and so on."""
    flat = np.ascontiguousarray(values).ravel()
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, flat.itemsize).T).tobytes()
