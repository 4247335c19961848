"""What a chunk adds to a recording's file: its blobs, with the newest values and zone maps when due."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import Chunk
from rfview.sessions.codec import encode
from rfview.sessions.codec.logs import last_writes
from rfview.sessions.file.index import level_of
from rfview.sessions.file.zone_map_writer import ZoneMapWriter
from rfview.sessions.layout import Layout


class Newest:
    """The newest value of every place written since some chunk, per level of 8 (`__init__.py`, row_sum and mem_sum)."""

    def __init__(self, shape: tuple[int, ...], dtype: type = np.uint32):
        """Start with unwritten places, whose values are unknown."""
        self.values: np.ndarray = np.empty(shape, dtype)
        # per level, the places written since the level above was last taken
        self._written: list[np.ndarray] = [np.zeros(shape[0], bool)]

    def add(self, places: np.ndarray, values: np.ndarray) -> None:
        """Add what one chunk's log wrote, in order."""
        self._written[0][places] = True
        self.values[places] = values

    def take(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (places, values) written in the last 8**level chunks, places ascending, and restart these levels."""
        while len(self._written) <= level:
            self._written.append(np.zeros(len(self.values), bool))
        for below in range(level):
            taken = np.flatnonzero(self._written[below]).astype(np.uint32)
            self._written[below + 1][taken] = True
            self._written[below][taken] = False
        return taken, self.values[taken]


class Coder:
    """Makes the blobs of a recording's chunks, not yet compressed, one after the other. coded: how many."""

    def __init__(self, layout: Layout, state: np.ndarray, num_rows: int, num_words: int):
        """Start with the (words,) u4 state of the first chunk, the base of all keyframes. num_words: of memory."""
        self._totals = layout.field("sm.stall_total")
        # the words of the clock section, which blocks do not cover
        clock = np.concatenate((layout.field("sm.cycle").words, self._totals.words))
        self._clock: Any = slice(clock[0], clock[-1] + 1) if (np.diff(clock) == 1).all() else clock
        self._encoder = encode.Encoder(layout.groups, state)
        self.zones = ZoneMapWriter(layout, num_rows)
        self._rows, self._memory = Newest((num_rows, 32)), Newest((num_words,))
        self.coded = 0
        self.give_back = self._encoder.give_back

    def code(self, chunk: Chunk) -> dict[str, Any]:
        """Return a chunk's map; its blobs are memoryviews to be compressed."""
        number, rows = self.coded, chunk.rows
        state = self._encoder.state
        state[self._clock] = chunk.key[self._clock]
        written, last = last_writes(rows.index, len(self._rows.values))
        content = {
            "totals": chunk.key[self._totals.words].view(self._totals.dtype).tolist(),
            "state": self._encoder.encode(chunk.blocks, self.zones.add(state, written, chunk)),
            "rows": encode.rows_blob(rows),
            "memory": encode.memory_blob(chunk.mem_index, chunk.mem_value, chunk.mem_end),
            "writes": encode.writes_blob(chunk.writes, rows.end),
            "row_writes": len(rows.index),
            "mem_writes": len(chunk.mem_index),
            "printed": chunk.printed,
        }
        level = level_of(number)
        if level:
            (row_places, row_values), (mem_places, mem_values) = self._rows.take(level), self._memory.take(level)
            content |= {
                "row_sum": encode.rows_blob(encode.rows_of_values(row_places, row_values)),
                "mem_sum": encode.memory_blob(mem_places, mem_values),
                "row_sums": len(row_places),
                "mem_sums": len(mem_places),
            }
        self.coded += 1
        self._rows.add(written, rows.some(last))
        self._memory.add(chunk.mem_index, chunk.mem_value)
        return content

    def zone_map(self) -> dict[str, Any] | None:
        """Return the zone map of the chunks since the last one, or None if there are none."""
        return self.zones.take(self.coded - self.zones.count) if self.zones.count else None

