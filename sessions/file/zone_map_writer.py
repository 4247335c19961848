"""Make zone maps while chunks are recorded; zone_maps.py reads them, and format.py, ZONE, says how they are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import REGISTERS_OF_WARP, Chunk
from rfview.sessions.codec import streams
from rfview.sessions.codec.encode import Encoder, Watch
from rfview.sessions.codec.loops import BYTES, NOT_WATCHED, WHOLE
from rfview.sessions.file.word_kinds import WordKinds
from rfview.sessions.file.zone_maps import CHUNKS, PAGE_WORDS, PAGES, STATES
from rfview.sessions.layout import Layout

# of what is large and seldom asked for only the changes are kept
CHANGES_ONLY = ("cycle", "stall_total", "inflight", "warp_cold", "mshr", "l1", "l2", "icache", "ccache", "config")
MOST_WORDS = 1024


def watch_of(layout: Layout, kinds: WordKinds) -> Watch:
    """Choose of which words to keep minima and maxima: of all but what is large and seldom asked for."""
    chosen = np.zeros(layout.num_words, bool)
    for dtype, begin in ((layout.sm_dtype, 0), (layout.rf_dtype, layout.sm_bytes)):
        for name in dtype.names or ():
            inner, offset = dtype.fields[name][:2]  # type: ignore[index]
            if (begin or name not in CHANGES_ONLY) and (inner.itemsize <= 4 * MOST_WORDS or name == "warp"):
                chosen[(begin + offset) // 4 : -(-(begin + offset + inner.itemsize) // 4)] = True
    how = np.where(chosen, np.where(kinds.in_bytes, BYTES, WHOLE), NOT_WATCHED).astype(np.uint8)
    return Watch.of(how, layout.field(STATES).offsets)


class ZoneMapWriter:
    """Collects what chunks hold, one after the other, up to 64; then `take`. count: chunks since then."""

    def __init__(self, kinds: WordKinds, watch: Watch, encoder: Encoder, num_rows: int):
        self.count = 0
        self._encoder = encoder
        self._kinds = np.split(kinds.words, kinds.begin[1:-1])
        self._watched = [bool(watch.how[words[0]] != NOT_WATCHED) for words in self._kinds]
        words = np.concatenate([words for words, is_watched in zip(self._kinds, self._watched) if is_watched])
        self._words = words
        self._low, self._high = np.zeros((2, CHUNKS, len(words)), np.uint32)
        self._states = np.zeros((CHUNKS, len(watch.states_at)), np.uint64)
        # per place a bit for each chunk
        sizes = {"rows": num_rows, "pages": PAGES, "registers": len(watch.states_at) * REGISTERS_OF_WARP}
        self._marks = {name: np.zeros(size, np.uint64) for name, size in sizes.items()}

    @property
    def is_full(self) -> bool:
        """Say whether `take` is due."""
        return self.count == CHUNKS

    def add(self, rows: np.ndarray, chunk: Chunk) -> None:
        """Add the chunk that the encoder coded last. rows: those that it writes."""
        at, encoder = self.count, self._encoder
        self._low[at], self._high[at], self._states[at] = encoder.low[self._words], encoder.high[self._words], encoder.sets
        for name, places in (("rows", rows), ("pages", chunk.mem_index // PAGE_WORDS % PAGES),
                             ("registers", chunk.writes.register)):  # fmt: skip
            self._marks[name][places] |= np.uint64(1 << at)
        self.count += 1

    def take(self, first: int) -> dict[str, Any]:
        """Return the zone map of the chunks added, the first of them having this number, and begin anew."""
        count, changed, at = self.count, self._encoder.changed, 0
        firsts, ranged, parts = [], [], []
        for words, is_watched in zip(self._kinds, self._watched):
            marks = changed[words]
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
        found = {
            "first": first, "num": count, "words": streams.pack(np.array(firsts)),
            "ranged": streams.pack(np.array(ranged, np.uint8)), "parts": parts,
            "states": streams.compress(streams.planes(self._states[:count].T)),
            **{name: streams.compress(_bits_of(marks, count)) for name, marks in self._marks.items()},
        }  # fmt: skip
        for marks in (changed, *self._marks.values()):
            marks[:] = 0
        self.count = 0
        return found


def _bits_of(marks: np.ndarray, count: int) -> bytes:
    """Return the low bits of u8 marks, as many as chunks, in whole bytes each."""
    return marks.view(np.uint8).reshape(-1, 8)[:, : -(-count // 8)].tobytes()
