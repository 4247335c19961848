"""What a recording's chunks add to its file: each one's map, with the newest values and summaries where they are due."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rfview.engine.chunk import Chunk
from rfview.sessions.file import format
from rfview.sessions.layout import Layout
from rfview.sessions.codec.writelog import pack_writes
from rfview.sessions.file.zone_maps import STATES
from rfview.sessions.file.zone_map_writer import Plan, Summariser

# a tag, and what its payload is made of
Frame = tuple[bytes, Any]


class Newest:
    """The newest value of every place written since some chunk, per level of 8 (see format.py, row_sum and mem_sum)."""

    def __init__(self, shape: tuple[int, ...], seen: np.ndarray):
        """Begin with places that nothing was written to, whose values are not known; seen: as in Summariser."""
        from rfview.sessions.codec import sums  # imports numba: what replays imports this module too

        self._sums = sums
        self._put = sums.put_rows if len(shape) == 2 else sums.put_words
        self._seen = seen
        self.values = np.empty(shape, np.uint32)
        # per level a bit for each place: written since the level above was last taken
        self._marks: list[np.ndarray] = [self._no_marks()]

    def _no_marks(self) -> np.ndarray:
        return np.zeros(len(self.values) // 64 + 1, np.uint64)

    def add(self, chunk: int, index: np.ndarray, *what: np.ndarray) -> None:
        """Take in one chunk's log, in order: places, and what put_rows or put_words writes there. chunk: its bit in seen."""
        self._put(self.values, self._marks[0], self._seen, chunk, index, *what)

    def take(self, level: int) -> np.ndarray:
        """Return the places written in the last 8**level chunks, ascending, and begin these levels anew."""
        while len(self._marks) <= level:
            self._marks.append(self._no_marks())
        for below in range(level):
            taken = self._sums.move_up(self._marks[below], self._marks[below + 1])
        return taken


class Coder:
    """Makes the frames of a recording's chunks, one after the other: `begin`, then `code` for each."""

    def __init__(self, layout: Layout):
        from rfview.sessions.codec import encode  # imports numba: what replays imports this module too

        self._encode = encode
        self._plan = Plan.of(layout)
        self._totals = layout.field("sm.stall_total")
        # the fields of which blocks say nothing are the clock section
        clock = np.concatenate((layout.field("sm.cycle").words, self._totals.words))
        self._clock: Any = slice(clock[0], clock[-1] + 1) if (np.diff(clock) == 1).all() else clock
        self._encoder = encode.Encoder(layout.kinds, self._plan.watch, layout.field(STATES).offsets, clock)
        self._coded = self._learn_at = 0

    def begin(self, state: np.ndarray, num_rows: int, num_words: int) -> None:
        """Have every keyframe given by this (words,) u4 state, that of the first chunk; num_words: of memory."""
        self._encoder.begin(state)
        self._summary = Summariser(self._plan, num_rows)
        self._rows = Newest((num_rows, 32), self._summary.rows)
        self._memory = Newest((num_words,), self._summary.lines)

    def code(self, chunk: Chunk) -> list[Frame]:
        """Return the frame of a chunk, and that of a summary where one is due."""
        number = self._coded
        choose = number == self._learn_at
        if choose:
            self._learn_at = max(1, 4 * number)
        clock, rows = chunk.key, chunk.rows
        self._encoder.state[self._clock] = clock[self._clock]
        state, space, extent = self._encoder.encode(chunk.blocks, chunk.first_cycle, choose)
        content = {
            "first": chunk.first_cycle,
            "num": chunk.num_cycles,
            "totals": clock[self._totals.words].view(self._totals.dtype).tolist(),
            "state": state,
            "release": partial(self._encoder.give_back, space),
            "rows": self._encode.rows_of(rows),
            "memory": self._encode.words_of(chunk.mem_index, chunk.mem_value, chunk.mem_end),
            "row_writes": len(rows.index),
            "mem_writes": len(chunk.mem_index),
            "printed": chunk.printed,
            "writes": pack_writes(chunk.writes, rows.end),
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
        self._rows.add(self._summary.count, rows.index, rows.kind, rows.word)
        self._memory.add(self._summary.count, chunk.mem_index, chunk.mem_value)
        self._summary.registers[chunk.writes.register] |= np.uint64(1 << self._summary.count)
        self._summary.add(self._encoder.state, extent)
        return [(format.CHUNK, content), *(self.summed_up() if self._summary.is_full else ())]

    def summed_up(self) -> list[Frame]:
        """Return the frame of what the chunks since the last summary hold in short, if there are any."""
        summary = self._summary
        return [(format.SUMMARY, summary.take(self._coded - summary.count))] if summary.count else []
