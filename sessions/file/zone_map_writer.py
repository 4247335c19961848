"""Sum up chunks while they are recorded; see summaries.py, which reads what is made here, and format.py, SUMM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.chunk import REGISTERS_OF_WARP
from rfview.sessions.codec import codec
from rfview.sessions.codec.extent import BYTES, LINE_BITS, NOT_WATCHED, WHOLE, Extent
from rfview.sessions.layout import Layout
from rfview.sessions.file.zone_maps import CHUNKS, STATES, WordKinds

# what is large and seldom asked for is summed up by its changes alone
CHANGES_ONLY = ("cycle", "stall_total", "inflight", "warp_cold", "mshr", "l1", "l2", "config")
MOST_WORDS = 1024


@dataclass(frozen=True, eq=False)
class Plan:
    """Which words are watched: slot: (num_words,) i4 number among the watched ones, -1 = not watched; watched: (w,) i8.

    The watched ones go kind after kind. watch: (num_words,) u1 how, as in extent.py. num_states: warp slots.
    """

    kinds: WordKinds
    slot: np.ndarray
    watched: np.ndarray
    watch: np.ndarray
    num_states: int

    @staticmethod
    def of(layout: Layout) -> Plan:
        """Choose from a layout: all of it but what is large and seldom asked for."""
        kinds = WordKinds.of(layout)
        chosen = np.zeros(layout.num_words, bool)
        for dtype, begin in ((layout.sm_dtype, 0), (layout.rf_dtype, layout.sm_bytes)):
            for name in dtype.names or ():
                inner, offset = dtype.fields[name][:2]  # type: ignore[index]
                if (begin or name not in CHANGES_ONLY) and (inner.itemsize <= 4 * MOST_WORDS or name == "warp"):
                    chosen[(begin + offset) // 4 : -(-(begin + offset + inner.itemsize) // 4)] = True
        # kind after kind, as they are packed: what is read together lies side by side
        watched = kinds.words[chosen[kinds.words]]
        slot = np.full(layout.num_words, -1, np.int32)
        slot[watched] = np.arange(len(watched))
        watch = np.where(chosen, np.where(kinds.in_bytes, BYTES, WHOLE), NOT_WATCHED).astype(np.uint8)
        return Plan(kinds, slot, watched, watch, len(layout.field(STATES).offsets))


class Summariser:
    """Collects what chunks hold, while recording; one after the other, up to 64, then `take`.

    rows: (recorded rows,) u8, lines: (LINE_BITS,) u8, and registers: (warp slots * 64,) u8, in which whoever writes them
    sets bit `count` for the next chunk.
    """

    def __init__(self, plan: Plan, num_rows: int):
        self.plan = plan
        self.count = 0
        shape = (CHUNKS, len(plan.watched))
        self._low, self._high = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
        self._states = np.zeros((CHUNKS, plan.num_states), np.uint64)
        # a bit for each chunk
        sizes = (len(plan.slot), num_rows, LINE_BITS, plan.num_states * REGISTERS_OF_WARP)
        self._changed, self.rows, self.lines, self.registers = (np.zeros(size, np.uint64) for size in sizes)
        self._out = np.empty(CHUNKS // 8 * len(plan.slot) + 8 * CHUNKS * len(plan.watched), np.uint8)
        self._which, self._end = np.empty((2, len(plan.kinds.begin)), np.int64)
        from rfview.sessions.codec import sums  # imports numba: what replays imports this module too

        self._sums = sums

    @property
    def is_full(self) -> bool:
        """Say whether `take` is due."""
        return self.count == CHUNKS

    def add(self, key: np.ndarray, extent: Extent) -> None:
        """Add a chunk. key: state at its first or last cycle. extent: what its changing words come to."""
        plan, at = self.plan, self.count
        self._sums.sum_up(key, plan.watched, plan.slot, extent.words, extent.least, extent.most, self._low[at],
                            self._high[at], self._changed, at)  # fmt: skip
        self._states[at] = extent.states
        self.count += 1

    def take(self, first: int) -> dict[str, Any]:
        """Return the summary of the chunks added, the first of them having this number, and begin anew."""
        count, plan, kinds = self.count, self.plan, self.plan.kinds
        self.count = 0
        parts = self._sums.pack_parts(kinds.words, kinds.begin, plan.slot, self._changed, count, self._low, self._high,
                                      self._out, self._which, self._end)  # fmt: skip
        words = kinds.words[kinds.begin[self._which[:parts]]]
        ends, out = self._end[:parts].tolist(), self._out.data
        written = (_bytes_of(marks, count) for marks in (self.rows, self.lines, self.registers))
        found = {
            "first": first, "num": count, "words": codec.pack(words),
            "ranged": codec.pack((plan.slot[words] >= 0).astype(np.uint8)),
            "parts": [codec.squeeze(out[begin:end]) for begin, end in zip([0, *ends], ends)],
            "states": codec.squeeze(_planes(self._states[:count].T)),
            **dict(zip(("rows", "lines", "registers"), map(codec.squeeze, written))),
        }  # fmt: skip
        for marks in (self._changed, self.rows, self.lines, self.registers):
            marks[:] = 0
        return found


def _bytes_of(marks: np.ndarray, count: int) -> bytes:
    """Return the low bits of u8 marks, as many as chunks, in whole bytes each."""
    return marks.view(np.uint8).reshape(-1, 8)[:, : -(-count // 8)].tobytes()


def _planes(values: np.ndarray) -> bytes:
    """Return the values' low bytes, then their next ones, and so on."""
    flat = np.ascontiguousarray(values).ravel()
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, flat.itemsize).T).tobytes()
