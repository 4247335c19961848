"""A chunk of a session file, whose parts are decoded on first use."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.chunk import Writes
from rfview.sessions.codec import streams
from rfview.sessions.codec.changes import STATE, StoredChanges
from rfview.sessions.codec.logs import ALL, MEMORY, ROWS, WRITES, RowLog, prefix_counts, read_memory, read_slot, read_writes
from rfview.sessions.file import framing
from rfview.sessions.file.header import Header


class StoredChunk:
    """A chunk of a file with the fields of rfview.engine.chunk.Chunk, each decoded on first use.

    content: the chunk's map. header: of its file. what: names the chunk if it turns out to be damaged.
    """

    key_rows = None
    key_memory = None

    def __init__(self, head: framing.ChunkHead, content: dict[str, Any], header: Header, what: str):
        self._content, self._base, self._what = content, header.state, what
        self._num_rows, self._num_words = len(header.rows), len(header.memory)
        self.first_cycle, self.num_cycles = head.first, head.num
        # approximate size of the decoded changes
        self.state_bytes = 40 * len(content.get("state", b""))
        self._asked: tuple[Any, Any] = (None, None)
        self._slot: tuple[int, Writes] | None = None

    def _streams(self, part: str, names: tuple[str, ...]) -> dict[str, streams.Stream]:
        return streams.split(streams.decompress(self._content[part]), names)

    @cached_property
    def _state(self) -> dict[str, streams.Stream]:
        return self._streams("state", STATE)

    @cached_property
    def key(self) -> np.ndarray:
        """Return (words,) u4: the state at the first cycle, the header's with the words of the keyframe."""
        with streams.naming(self._what):
            words = self._base.copy()
            words[np.cumsum(streams.numbers(self._state["key_step"], np.int64))] ^= streams.numbers(self._state["key_bits"])
            return words

    @cached_property
    def changes(self) -> StoredChanges:
        """Return the state changes."""
        with streams.naming(self._what):
            return StoredChanges(self._state, len(self._base), self.num_cycles, self._what)

    @cached_property
    def log(self) -> RowLog:
        """Return the row writes."""
        with streams.naming(self._what):
            return RowLog(self._streams("rows", ROWS), self._num_rows)

    @cached_property
    def row_index(self) -> np.ndarray:
        """Return (k,) u4: the row of each row write."""
        with streams.naming(self._what):
            return self.log.index

    @cached_property
    def row_end(self) -> np.ndarray:
        """Return (cycles,) u4 prefix counts of the row writes."""
        with streams.naming(self._what):
            return self._of_cycles(self.log.end)

    def _of_cycles(self, end: np.ndarray) -> np.ndarray:
        """Return a log's prefix counts, checked to be one per cycle."""
        if len(end) != self.num_cycles:
            raise ValueError(f"a log of {len(end)} cycles in a chunk of {self.num_cycles}")
        return end

    def row_writes(self, row: int, lanes: slice = ALL) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (prefix counts per cycle of all writes, numbers of the row's writes, (k, lanes) u4 what they wrote).

        A search asks twice, for a chunk's cycles and for its final value: the last answer is cached.
        """
        asked, last = (row, lanes.start, lanes.stop), self._asked
        if last[0] != asked:
            writes = np.flatnonzero(self.row_index == row)
            # replaced, never modified: other threads may read it
            with streams.naming(self._what):
                self._asked = last = asked, (self.row_end, writes, self.log.values(writes, lanes))
        return last[1]

    def row_values(self, writes: np.ndarray) -> np.ndarray:
        """Return (n, 32) u4 what some of the row writes, given by their numbers, wrote."""
        with streams.naming(self._what):
            return self.log.values(writes)

    @cached_property
    def row_value(self) -> np.ndarray:
        """Return (k, 32) u4 what all row writes wrote."""
        return self.row_values(np.arange(len(self.row_index)))

    @cached_property
    def _memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        with streams.naming(self._what):
            stored = self._streams("memory", MEMORY)
            index, value = read_memory(stored, self._num_words)
            return self._of_cycles(prefix_counts(stored["counts"], len(index))), index, value

    @cached_property
    def writes(self) -> Writes:
        """Return the log of register writes."""
        with streams.naming(self._what):
            writes = read_writes(self._streams("writes", WRITES), self.row_end)
            self._of_cycles(writes.end)
            return writes

    def writes_of(self, slot: int) -> Writes:
        """Return at least the register writes of a warp slot: of the first that is asked for only these, which is faster."""
        if self._slot is None and "writes" not in vars(self):
            with streams.naming(self._what):
                self._slot = slot, read_slot(self._streams("writes", WRITES), self.row_end, slot)
        known = self._slot
        return known[1] if known is not None and known[0] == slot else self.writes

    mem_end = property(lambda self: self._memory[0])
    mem_index = property(lambda self: self._memory[1])
    mem_value = property(lambda self: self._memory[2])
