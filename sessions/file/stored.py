"""A chunk of a session file, each part of it decoded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.chunk import Writes
from rfview.engine.errors import InputError
from rfview.sessions.codec import codec, reading
from rfview.sessions.file import format, format2
from rfview.sessions.codec.changes import StoredChanges
from rfview.sessions.codec.rowlog import ALL, RowLog
from rfview.sessions.codec.writelog import unpack_writes


class StoredChunk:
    """A chunk of a file with the fields of rfview.engine.chunk.Chunk, each part expanded when it is first asked for."""

    key_rows = None
    key_memory = None

    def __init__(self, content: dict[str, Any], header: format.Header, what: str):
        self._content = content
        self._what = what
        self.first_cycle = int(content["first"])
        self.num_cycles = int(content["num"])
        self._header = header
        # about what the changes take when they have been decoded
        self.state_bytes = 12 * len(content.get("state") or content.get("deltas", b""))
        self._asked: tuple[Any, Any] = (None, None)
        self._is_counted = False

    @cached_property
    def _state(self) -> dict[str, list[Any]]:
        if self._header.number == format2.NUMBER:
            return format2.changes(self._content, self._what)
        names = codec.STATE_3 if self._header.number < format.NUMBERED_SINCE else codec.STATE
        return self._checked(lambda: codec.streams(self._state_bytes, names))

    @cached_property
    def _state_bytes(self) -> bytes:
        return self._checked(lambda: codec.unsqueeze(self._content["state"]))

    def state_at(self, offset: int, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (words,) u4 the state `offset` cycles after the first, and (4 * k,) i8 what bytes of some words come to.

        counted: (k,) these words, one behind the other; their bytes are added up over the cycles after the first. None where
        the compiled reader has no answer.
        """
        if self._header.number < format.NUMBERED_SINCE:
            return None
        if not self._is_counted:
            self._is_counted = True
            reading.READER.count()
        state_at = reading.READER.state_at
        if state_at is None:
            return None
        words, sums = self._header.state.copy(), np.zeros(4 * len(counted), np.int64)
        fits = state_at(np.frombuffer(self._state_bytes, np.uint8), self.first_cycle, self.num_cycles, offset, words,
                        int(counted[0]), sums)  # fmt: skip
        return (words, sums) if fits else None

    @cached_property
    def key(self) -> np.ndarray:
        """Return (words,) u4 the state at the first cycle."""
        return self._checked(self._make_key)

    def _make_key(self) -> np.ndarray:
        if self._header.number == format2.NUMBER:
            return format2.keyframe(self._content, self._what)
        words = self._header.state.copy()
        step, bits = (codec.unpack(self._state[name]) for name in ("key_step", "key_bits"))
        words[np.cumsum(step)] ^= bits
        return words

    @cached_property
    def changes(self) -> StoredChanges:
        """Return the state changes."""
        return self._checked(lambda: StoredChanges(self._state, self.key, self.first_cycle, self.num_cycles))

    def _streams(self, name: str, names: tuple[str, ...]) -> dict[str, list[Any]]:
        return self._checked(lambda: streams_of(self._header, self._content[name], names, self._what))

    def _checked(self, decode: Callable[[], Any]) -> Any:
        try:
            return decode()
        except (KeyError, TypeError, ValueError, IndexError, codec.ZstdError) as error:
            raise InputError(f"{self._what} is damaged ({error!r})") from None

    @cached_property
    def log(self) -> RowLog:
        """Return the row writes."""
        return self._checked(lambda: RowLog(rows_of(self._header, self._content["rows"], self._what)))

    def row_writes(self, row: int, lanes: slice = ALL) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (prefix counts per cycle of all writes, numbers of the row's writes, (k, lanes) u4 what they wrote).

        A search asks twice, for a chunk's own cycles and for what it leaves to the next one: the last answer is kept.
        """
        asked, kept = (row, lanes.start, lanes.stop), self._asked
        if kept[0] != asked:
            writes = np.flatnonzero(self.row_index == row)
            # replaced, never changed: other threads may ask, too
            self._asked = kept = asked, (self.row_end, writes, self._checked(lambda: self.log.values(writes, lanes)))
        return kept[1]

    def row_values(self, writes: np.ndarray) -> np.ndarray:
        """Return (n, 32) u4 what some of the row writes, given by their numbers, wrote."""
        return self._checked(lambda: self.log.values(writes))

    @cached_property
    def row_value(self) -> np.ndarray:
        """Return (k, 32) u4 what all row writes wrote."""
        return self.row_values(np.arange(len(self.row_index)))

    @cached_property
    def writes(self) -> Writes:
        """Return the log of register writes."""
        stored = codec.expand(self._content["writes"], self._what)
        return self._checked(lambda: unpack_writes(stored, self.row_end))

    @cached_property
    def _memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stored = self._streams("memory", codec.MEMORY)
        return self._checked(lambda: (codec.unpack_log(stored["counts"]), *codec.unpack_words(stored)))

    row_end = property(lambda self: self._checked(lambda: self.log.end))
    row_index = property(lambda self: self.log.index)
    mem_end = property(lambda self: self._memory[0])
    mem_index = property(lambda self: self._memory[1])
    mem_value = property(lambda self: self._memory[2])


def streams_of(header: format.Header, blob: bytes, names: tuple[str, ...], what: str) -> dict[str, list[Any]]:
    """Return the streams of a blob; raises InputError naming `what` when it is damaged."""
    return codec.expand(blob, what) if header.number == format2.NUMBER else codec.expand_streams(blob, names, what)


def rows_of(header: format.Header, blob: bytes, what: str) -> dict[str, list[Any]]:
    """Return the streams of rows, or of a sum of rows; raises InputError as `streams_of` does."""
    return streams_of(header, blob, codec.ROWS_4 if header.number < format.SHORT_SINCE else codec.ROWS, what)
