"""Makes zone maps while chunks are recorded; zone_maps.py reads them, and `__init__.py`, ZONE, describes their storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import Chunk
from rfview.sessions.codec import streams
from rfview.sessions.codec.encode import Seen
from rfview.sessions.file.zone_maps import CHUNKS, PAGE_WORDS, PAGES, REGISTER_PLACES, STATES, register_places
from rfview.sessions.layout import Layout

# for what is large and rarely queried, only whether it changes is kept
CHANGES_ONLY = ("cycle", "stall_total", "inflight", "warp_cold", "mshr", "l1", "l2", "icache", "ccache", "config")
MOST_WORDS = 1024


class ZoneMapWriter:
    """Summarises chunks one after the other, up to 64; then call `take`. count: chunks since then."""

    def __init__(self, layout: Layout, num_rows: int):
        self.count = 0
        states = layout.field(STATES).offsets
        kinds, first = layout.kinds, np.zeros(int(layout.kinds.max()) + 1, np.int64)
        first[kinds[::-1]] = np.arange(len(kinds))[::-1]        # the last assignment stays: the first word of a kind
        # kind after kind: the states, then other words with a range per byte, then the other watched words, and
        # last those for which only changes are kept
        rank = np.where(_watched(layout), np.where(layout.packed, 1, 2), 3)[first]
        rank[kinds[states[0] // 4]] = 0
        order = np.lexsort((kinds, rank[kinds]))
        self._words = order[: np.count_nonzero(rank[kinds] < 3)]
        self._kinds = np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1)
        self._watched = np.full(layout.num_words, -1, np.int32)
        self._watched[self._words] = np.arange(len(self._words))
        self._packed, self._shift = int(np.count_nonzero(rank[kinds] < 2)), np.uint32(states[0] % 4 * 8)
        self._low, self._high = np.zeros((2, CHUNKS, len(self._words)), np.uint32)
        self._states = np.zeros((CHUNKS, len(states)), np.uint64)
        # one bit per chunk for each place
        sizes = {"changed": layout.num_words, "rows": num_rows, "pages": PAGES, "registers": len(states) * REGISTER_PLACES}
        self._marks = {name: np.zeros(size, np.uint64) for name, size in sizes.items()}

    @property
    def is_full(self) -> bool:
        """Return whether `take` is due."""
        return self.count == CHUNKS

    def add(self, state: np.ndarray, rows: np.ndarray, chunk: Chunk) -> Seen:
        """Add a chunk; return what coding it must fill in. state: (words,) u4 at its start. rows: the rows it writes."""
        at = self.count
        low, high, states = self._low[at], self._high[at], self._states[at]
        low[:] = high[:] = state[self._words]
        states[:] = np.uint64(1) << (low[: len(states)] >> self._shift & np.uint32(63)).astype(np.uint64)
        for name, places in (("rows", rows), ("pages", chunk.mem_index // PAGE_WORDS % PAGES),
                             ("registers", register_places(chunk.writes.register))):
            self._marks[name][places] |= np.uint64(1 << at)
        self.count += 1
        return Seen(np.uint64(1 << at), self._marks["changed"], self._watched, self._packed, low, high, self._shift, states)

    def take(self, first: int) -> dict[str, Any]:
        """Return the zone map of the chunks added, of which the first has this number, and start over."""
        count, at = self.count, 0
        changed = self._marks.pop("changed")
        firsts, ranged, parts = [], [], []
        for words in self._kinds:
            marks, is_watched = changed[words], at < len(self._words)
            if is_watched or marks.any():
                data = _bits_of(marks, count)
                if is_watched:
                    low, high = (bounds[:count, at : at + len(words)].T for bounds in (self._low, self._high))
                    at += len(words)
                    steps = np.diff(low, axis=1, prepend=np.uint32(0))
                    data += streams.planes(steps) + streams.planes(high - low)
                firsts.append(words[0])
                ranged.append(is_watched)
                parts.append(streams.compress(data))
        content = {
            "first": first, "num": count, "words": streams.pack(np.array(firsts)),
            "ranged": streams.pack(np.array(ranged, np.uint8)), "parts": parts,
            "states": streams.compress(streams.planes(self._states[:count].T)),
            **{name: streams.compress(_bits_of(marks, count)) for name, marks in self._marks.items()},
        }
        self._marks["changed"] = changed
        for marks in self._marks.values():
            marks[:] = 0
        self.count = 0
        return content


def _watched(layout: Layout) -> np.ndarray:
    """Return (words,) bool: the words with minima and maxima, all but those that are large and rarely queried."""
    chosen = np.zeros(layout.num_words, bool)
    for dtype, begin in ((layout.sm_dtype, 0), (layout.rf_dtype, layout.sm_bytes)):
        for name in dtype.names or ():
            inner, offset = dtype.fields[name][:2]  # type: ignore[index]
            if (begin or name not in CHANGES_ONLY) and (inner.itemsize <= 4 * MOST_WORDS or name == "warp"):
                chosen[(begin + offset) // 4 : -(-(begin + offset + inner.itemsize) // 4)] = True
    return chosen


def _bits_of(marks: np.ndarray, count: int) -> bytes:
    """Return the low `count` bits of u8 marks, in whole bytes each."""
    return marks.view(np.uint8).reshape(-1, 8)[:, : -(-count // 8)].tobytes()
