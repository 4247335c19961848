"""What a recording's chunks add to its file: each one's map, with the newest values and summaries where they are due."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from engine.chunk import Chunk
from sessions import format
from sessions.layout import Layout, distinct
from sessions.summaries import STATES
from sessions.summarise import Plan, Summariser

# a tag, and what its payload is made of
Frame = tuple[bytes, Any]


class Newest:
    """The newest value of every place written since some chunk, per level of 8 (see format.py, row_sum and mem_sum)."""

    def __init__(self, values: np.ndarray):
        """Begin with these values, which are changed."""
        from sessions import sums  # imports numba: what replays imports this module too

        self.values = values
        self._put = sums.put_rows if values.ndim == 2 else sums.put_words
        self._touched: list[list[np.ndarray]] = []

    def add(self, index: np.ndarray, *what: np.ndarray) -> None:
        """Take in one chunk's log, in order: places, and what put_rows or put_words writes there."""
        self._put(self.values, index, *what)
        if not self._touched:
            self._touched.append([])
        self._touched[0].append(index.copy())

    def take(self, level: int) -> np.ndarray:
        """Return the places touched in the last 8**level chunks, ascending, and begin these levels anew."""
        while len(self._touched) <= level:
            self._touched.append([])
        for below in range(level):
            parts = self._touched[below]
            merged = distinct(np.concatenate(parts)) if parts else np.empty(0, np.uint32)
            self._touched[below] = []
            self._touched[below + 1].append(merged)
        return self._touched[level][-1]


class Coder:
    """Makes the frames of a recording's chunks, one after the other, beginning with this one.

    rows, memory: at its first cycle; they are made the coder's own. Its state is what every keyframe is given by.
    """

    def __init__(self, first: Chunk, layout: Layout, rows: np.ndarray, memory: np.ndarray):
        from sessions import encode  # imports numba: what replays imports this module too

        self._encode = encode
        plan = Plan.of(layout)
        self._encoder = encode.Encoder(layout.kinds, plan.watch, layout.field(STATES).offsets, first.key.copy())
        self._rows, self._memory = Newest(rows), Newest(memory)
        self._summary = Summariser(plan, len(rows))
        self._totals = layout.field("sm.stall_total")
        self._coded = self._learn_at = 0

    def code(self, chunk: Chunk) -> list[Frame]:
        """Return the frame of a chunk, and that of a summary where one is due."""
        number = self._coded
        choose = number == self._learn_at
        if choose:
            self._learn_at = max(1, 4 * number)
        key, rows = chunk.key, chunk.rows
        state, space, extent = self._encoder.encode(key, chunk.blocks, chunk.first_cycle, choose)
        self._summary.add(key, extent, rows.index, chunk.mem_index)
        content = {
            "first": chunk.first_cycle,
            "num": chunk.num_cycles,
            "totals": key[self._totals.words].view(self._totals.dtype).tolist(),
            "state": state,
            "release": partial(self._encoder.give_back, space),
            "rows": self._encode.rows_of(rows),
            "memory": self._encode.words_of(chunk.mem_index, chunk.mem_value, chunk.mem_end),
            "row_writes": len(rows.index),
            "mem_writes": len(chunk.mem_index),
            "printed": chunk.printed,
        }
        level = format.level_of(number)
        if level:
            row_places, mem_places = self._rows.take(level), self._memory.take(level)
            content |= {
                "level": level,
                "row_sum": self._encode.sum_of(row_places, self._rows.values[row_places]),
                "mem_sum": self._encode.words_of(mem_places, self._memory.values[mem_places]),
                "row_sums": len(row_places),
                "mem_sums": len(mem_places),
            }
        self._coded += 1
        self._rows.add(rows.index, rows.kind, rows.word)
        self._memory.add(chunk.mem_index, chunk.mem_value)
        return [(format.CHUNK, content), *(self.summed_up() if self._summary.is_full else ())]

    def summed_up(self) -> list[Frame]:
        """Return the frame of what the chunks since the last summary hold in short, if there are any."""
        summary = self._summary
        return [(format.SUMMARY, summary.take(self._coded - summary.count))] if summary.count else []
