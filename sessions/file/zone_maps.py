"""Zone maps: summaries of chunks, made while recording, by which searches skip chunks without decoding them.

A zone map covers up to 64 chunks. For each chunk, from the state at its first cycle to the one after its last, it has:
which state words changed; the minimum and maximum of watched words (of each byte if a word has fields of less than
four bytes); the set of states of each warp; which registers, rows and pages of memory were written.
`__init__.py`, ZONE, describes how it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rfview.engine.chunk import REGISTERS_OF_WARP
from rfview.sessions.file import bounds
from rfview.sessions.file.bounds import Bounds
from rfview.sessions.codec import streams
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.layout import Field, Layout, distinct

CHUNKS = 64
# words of a page of memory in a zone map, and pages before two share a place
PAGE_WORDS, PAGES = 32, 1024
REGISTER_PLACES = 64    # of a warp slot; registers with the same remainder share one
CACHE_BYTES = 24 << 20
STATES = "sm.warp[*].state"
NOWHERE = -1        # number of the zone map of chunks that are not in the file


class ZoneMaps:
    """Answers queries about ranges of chunks; chunks without a zone map, and those that are not
    in the file, may contain anything.

    read: returns a ZONE frame's map by its number, or None if there is none or it cannot be read.
    lost: called for an invalid one, which then counts as missing. totals: returns the stall
    totals at a chunk's start. chunks, rows: how many the file has. first: the number of its first chunk.
    """

    def __init__(self, layout: Layout, read: Callable[[int], dict[str, Any] | None], lost: Callable[[int, Exception], None],
                 totals: Callable[[int], np.ndarray], chunks: int, rows: int, first: int = 0):
        self.layout = layout
        self._read, self._lost, self._totals, self._chunks, self._first = read, lost, totals, chunks, first
        slots = layout.field(STATES).shape[0]
        self._sizes = {"rows": rows, "pages": PAGES, "registers": slots * REGISTER_PLACES, "states": slots}
        self._cache: ByteCache[Any] = ByteCache(CACHE_BYTES)

    def _words_of(self, kind: int) -> np.ndarray:
        """Return the words of a kind, ascending."""
        return np.flatnonzero(self.layout.kinds == kind)

    def _cached(self, block: int, name: Any, make: Callable[[], Any]) -> Any:
        """Return something derived from a zone map, cached; None if there is none, or it is invalid."""
        entry = self._cache.get((block, name))
        if entry is None:
            try:
                entry, size = make()
            except streams.DAMAGE as error:
                self._lost(block, error)
                name, entry, size = "map", {}, 1000      # as if there were no zone map
            self._cache.put((block, name), entry, size)
        return entry if len(entry) else None

    def _map(self, block: int) -> dict[str, Any] | None:
        """Return a zone map as stored, with its kinds by word."""

        def read() -> tuple[dict[str, Any], int]:
            content = self._read(block)
            if not content:
                return {}, 1000
            words = streams.unpack(content["words"], np.int64).tolist()
            content["places"] = dict(zip(words, range(len(words))))
            if not min(CHUNKS, self._chunks - block * CHUNKS) <= int(content["num"]) <= CHUNKS:
                raise ValueError(f"it covers {content['num']} chunks")
            return content, 1000 + sum(map(len, content["parts"])) + 200 * len(words)

        return self._cached(block, "map", read)

    def _expanded(self, block: int, name: Any, expand: Callable[[dict[str, Any], int], np.ndarray]) -> np.ndarray | None:
        """Return a part of a zone map; None if there is no zone map."""
        content = self._map(block)
        if content is None:
            return None

        def make() -> tuple[np.ndarray, int]:
            made = expand(content, int(content["num"]))
            return made, 200 + made.nbytes

        return self._cached(block, name, make)

    def _part(self, block: int, kind: int) -> np.ndarray | None:
        """Return (1 or 3, words, chunks) for a kind in a zone map: whether they change; if watched, smallest and largest."""
        words = self._words_of(kind)

        def expand(content: dict[str, Any], count: int) -> np.ndarray:
            place = content["places"].get(int(words[0]))
            if place is None:
                return np.zeros((1, len(words), count), bool)
            data = np.frombuffer(streams.decompress(content["parts"][place]), np.uint8)
            split = len(words) * -(-count // 8)
            changed = _bits(data[:split], count)
            if len(changed) != len(words):
                raise ValueError(f"{len(changed)} words of {len(words)}")
            if not streams.unpack(content["ranged"], np.uint8)[place]:
                return changed[None]
            low, above = (streams.join(half.reshape(4, -1)).reshape(changed.shape) for half in np.split(data[split:], 2))
            low = np.cumsum(low, axis=1, dtype=np.uint32)
            return np.stack((changed, low, low + above))

        return self._expanded(block, kind, expand)

    def _blocks(self, low: int, high: int) -> list[tuple[int, slice, slice]]:
        """Return for each zone map of chunks low..high-1: its number, the range in it, and the range in the answer."""
        low, high = low - self._first, high - self._first       # counted from the first chunk of the file
        parts, stored = [], min(high, self._chunks)
        for block in range(max(0, low) // CHUNKS, -(-stored // CHUNKS)):
            begin, end = max(low, block * CHUNKS), min(stored, (block + 1) * CHUNKS)
            if begin < end:
                parts.append((block, slice(begin - block * CHUNKS, end - block * CHUNKS), slice(begin - low, end - low)))
        if low < 0:
            parts.insert(0, (NOWHERE, slice(0), slice(0, min(high, 0) - low)))
        if high > self._chunks:
            parts.append((NOWHERE, slice(0), slice(max(low, self._chunks) - low, high - low)))
        return parts

    def _parts(self, words: np.ndarray, low: int, high: int) -> Iterator[tuple[np.ndarray, slice, np.ndarray | None]]:
        """Yield for words of one kind, per zone map: which of the words, the range in the answer, and what is known."""
        kinds = self.layout.kinds[words]
        for kind in distinct(kinds).tolist():
            chosen = np.flatnonzero(kinds == kind)
            rows = np.searchsorted(self._words_of(kind), words[chosen])
            for block, inside, place in self._blocks(low, high):
                part = self._part(block, kind)
                yield chosen, place, None if part is None else part[:, rows, inside]

    def words_change(self, words: np.ndarray, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: whether any of these state words may change in each of chunks low..high-1.

        A change in a chunk's last cycle shows in the next chunk's first state, but counts as a change in this chunk.
        """
        answer = np.zeros(high - low, bool)
        for _, place, part in self._parts(words, low, high):
            answer[place] |= True if part is None else part[0].any(axis=0)
        return answer

    def _places(self, name: str, low: int, high: int) -> list[tuple[np.ndarray | None, slice]]:
        """Return (places, chunks): for rows, pages and registers whether they are written, for warps their sets of states.

        In pieces, with the range of each; None = unknown.
        """

        def expand(content: dict[str, Any], count: int) -> np.ndarray:
            data = np.frombuffer(streams.decompress(content[name]), np.uint8)
            of_all = (streams.join(data.reshape(8, -1), np.uint64).reshape(-1, count) if name == "states"
                      else _bits(data, count))
            if len(of_all) != self._sizes[name]:
                raise ValueError(f"{name} of {len(of_all)} places, not {self._sizes[name]}")
            return of_all

        pieces = []
        for block, inside, place in self._blocks(low, high):
            content = self._expanded(block, name, expand)
            pieces.append((None if content is None else content[:, inside], place))
        return pieces

    def rows_written(self, low: int, high: int) -> np.ndarray | None:
        """Return (rows, chunks) bool: rows written by each of chunks low..high-1, all of one zone map; None = unknown."""
        return self._places("rows", low, high)[0][0]

    def registers_change(self, registers: list[int], low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: whether any of these registers (numbers of chunk.Writes) may be written in each."""
        return self._any("registers", register_places(np.array(registers, np.int64)).tolist(), low, high)

    def memory_changes(self, words: list[int], low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: whether any of these words of memory may be written in each chunk."""
        return self._any("pages", [word // PAGE_WORDS % PAGES for word in words], low, high)

    def _any(self, name: str, places: list[int], low: int, high: int) -> np.ndarray:
        answer = np.zeros(high - low, bool)
        for flags, place in self._places(name, low, high) if places else ():
            answer[place] = True if flags is None else flags[places].any(axis=0)
        return answer

    def bounds(self, field: Field, low: int, high: int) -> Bounds | None:
        """Return the bounds of a field in chunks low..high-1, (n, *field.shape); None if any of them is unknown."""
        if low < self._first or high > self._first + self._chunks:
            return None
        if field.derived == "stall_total":
            totals = np.array([self._totals(number) for number in range(low, high + 1)], np.int64)
            size = field.dtype.itemsize
            codes = (field.offsets - int(self.layout.field("sm.stall_total").offsets[0])) // size
            shape = (high - low, *field.shape)
            return Bounds(totals[:-1, codes].reshape(shape), totals[1:, codes].reshape(shape))
        if field.derived or field.dtype.kind not in "ui":
            return None
        if field.path.startswith("sm.warp[") and field.path.endswith("].state"):
            return self._states(field, low, high)
        ends = self._ends(field, low, high)
        return None if ends is None else bounds.of_words(*ends, field.dtype)

    def _states(self, field: Field, low: int, high: int) -> Bounds | None:
        """Return the sets of states of warps."""
        warps = np.searchsorted(self.layout.field(STATES).offsets, field.offsets)
        values = np.zeros((high - low, len(warps)), np.uint64)
        for sets, place in self._places("states", low, high):
            if sets is None:
                return None
            values[place] = sets[warps].T
        return Bounds.of_sets(values.reshape(high - low, *field.shape))

    def _ends(self, field: Field, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the smallest and largest bits, u8, of each element of a field in each chunk."""
        size = field.dtype.itemsize
        packed = size < 4
        # the pieces of a number with their own ranges, the highest first
        step = 1 if packed else 4
        places = field.offsets[:, None] + np.arange(size - step, -1, -step)
        if bool((self.layout.packed[places // 4] != packed).any()):
            return None
        pieces = self._pieces(places.ravel() // 4, low, high)
        if pieces is None:
            return None
        least, most = (end.reshape(high - low, *places.shape) for end in pieces)
        if packed:
            shift = (places % 4 * 8).astype(np.uint64)
            least, most = (end >> shift & np.uint64(0xFF) for end in (least, most))
        width = np.uint64(8 * step)
        bottom, top = least[..., 0], most[..., 0]
        for piece in range(1, places.shape[1]):
            # lower pieces matter only if those above stayed the same
            same = bottom == top
            rest = (np.uint64(1) << width) - np.uint64(1)
            bottom = bottom << width | np.where(same, least[..., piece], 0)
            top = top << width | np.where(same, most[..., piece], rest)
        shape = (high - low, *field.shape)
        return bottom.reshape(shape), top.reshape(shape)

    def _pieces(self, words: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (n, words) u8: the smallest and largest value of words in each chunk, or None."""
        least, most = (np.zeros((high - low, len(words)), np.uint64) for _ in range(2))
        for chosen, place, part in self._parts(words, low, high):
            if part is None or len(part) == 1:
                return None
            least[place, chosen], most[place, chosen] = part[1].T, part[2].T
        return least, most


def register_places(registers: np.ndarray) -> np.ndarray:
    """Return the places in a zone map of registers with these numbers, as in chunk.Writes."""
    return registers // REGISTERS_OF_WARP * REGISTER_PLACES + registers % REGISTER_PLACES


def _bits(data: np.ndarray, count: int) -> np.ndarray:
    """Return (places, count) bool from packed bits, with whole bytes for each place."""
    return np.unpackbits(data.reshape(-1, -(-count // 8)), axis=1, count=count, bitorder="little").view(bool)
