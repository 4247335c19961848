"""The index at the end of a session file, and its parts written during the run: where the chunks are, with a summary."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgpack
import msgspec
import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import run_info
from rfview.sessions.file.framing import ChunkHead, Damage

RADIX = 8
LINE_BYTES = 256            # memory used by a printed line, in addition to its text


@dataclass
class Index:
    """Where chunks and keyframes are, with a summary of each; most lists have one entry per chunk.

    key_cycle, key_offset, key_totals: one entry per keyframe, ascending; from the last chunk on, `printed` has their lines.
    totals: (chunks + 1, codes) i8. zones: where each zone map is. end: finished, fault, summary of the run. before: of a
    part, where the previous one is, 0 = nowhere; a part has no totals after its last chunk. base: where the state is that
    chunks begin with, 0 = in the header.
    """

    first: list[int] = field(default_factory=list)
    num: list[int] = field(default_factory=list)
    chain: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    row_writes: list[int] = field(default_factory=list)
    mem_writes: list[int] = field(default_factory=list)
    row_sums: list[int] = field(default_factory=list)
    mem_sums: list[int] = field(default_factory=list)
    totals: list[np.ndarray] = field(default_factory=list)
    key_cycle: list[int] = field(default_factory=list)
    key_offset: list[int] = field(default_factory=list)
    key_totals: list[np.ndarray] = field(default_factory=list)
    zones: list[int] = field(default_factory=list)
    printed: list[tuple[int, str]] = field(default_factory=list)
    end: run_info.End = field(default_factory=run_info.End)
    before: int = 0
    base: int = 0

    HEADS = ("first", "num", "chain")
    COUNTS = ("row_writes", "mem_writes", "row_sums", "mem_sums")
    LISTS = (*HEADS, "offset", *COUNTS)
    KEYS = ("key_cycle", "key_offset")

    @property
    def chunks_end(self) -> int:
        """Return the cycle after the last chunk."""
        return self.first[-1] + self.num[-1] if self.first else 0

    @property
    def last(self) -> int:
        """Return the last cycle with a known state."""
        return max([self.chunks_end, *self.key_cycle[-1:]])

    def add(self, head: ChunkHead, chunk: dict[str, Any], offset: int) -> None:
        """Add a chunk's head and map, with the totals at its start; those at its end are appended when all is written."""
        for name in self.HEADS:
            getattr(self, name).append(getattr(head, name))
        for name in self.COUNTS:
            getattr(self, name).append(int(chunk.get(name, 0)))
        self.offset.append(offset)
        self.totals.append(np.array(chunk["totals"], np.int64))
        self._print(chunk["printed"])

    def add_keyframe(self, cycle: int, totals: list[int] | np.ndarray, printed: list[tuple[int, str]], offset: int) -> None:
        """Add a keyframe."""
        self.key_cycle.append(cycle)
        self.key_offset.append(offset)
        self.key_totals.append(np.array(totals, np.int64))
        self._print(printed)

    def _print(self, lines: Sequence[Sequence[Any]]) -> None:
        limits.allow(LINE_BYTES * (len(self.printed) + len(lines)), limits.ARRAYS, "the lines that it printed")
        self.printed += [(int(cycle), str(text)) for cycle, text in lines]

    def check(self, number: int, head: ChunkHead) -> None:
        """Raise Damage unless a chunk's head matches the index."""
        if head != ChunkHead(number, self.num[number], self.first[number], self.chain[number]):
            raise Damage("it is not the one that the index names")

    def cut(self, number: int) -> None:
        """Remove chunk `number` and all after it, keyframes too; the totals at its start become the final ones."""
        for name in self.LISTS:
            del getattr(self, name)[number:]
        kept = bisect_right(self.key_cycle, self.chunks_end)
        for name in (*self.KEYS, "key_totals"):
            del getattr(self, name)[kept:]
        del self.totals[number + 1 :]
        self.printed = [(cycle, text) for cycle, text in self.printed if cycle < self.last]
        self.end = run_info.End()

    def without_chunks(self) -> None:
        """Remove all chunks; keyframes stay, and the run can be simulated again from them."""
        for name in (*self.LISTS, "totals", "zones"):
            getattr(self, name).clear()
        self.base = 0

    def sizes(self) -> tuple[int, int, int, int]:
        """Return how many chunks, keyframes, zone maps and printed lines there are."""
        return len(self.first), len(self.key_cycle), len(self.zones), len(self.printed)

    def part(self, chunks: int, keyframes: int, zones: int, printed: int, before: int) -> Index:
        """Return the part after so many of each, as from `sizes`. before: see the class."""
        lists: dict[str, Any] = {name: getattr(self, name)[chunks:] for name in (*self.LISTS, "totals")}
        lists |= {name: getattr(self, name)[keyframes:] for name in (*self.KEYS, "key_totals")}
        return Index(**lists, zones=self.zones[zones:], printed=self.printed[printed:], before=before, base=self.base)

    @staticmethod
    def joined(parts: Sequence[Index]) -> Index:
        """Return the index made of these parts; raises Damage if they do not follow one another."""
        lists: dict[str, Any] = {name: [entry for part in parts for entry in getattr(part, name)]
                                 for name in (*Index.LISTS, *Index.KEYS, "totals", "key_totals", "zones", "printed")}
        index = Index(**lists, base=parts[-1].base)
        if not index.is_consecutive():
            raise Damage("its parts do not follow one another")
        return index

    def is_consecutive(self) -> bool:
        """Return whether each chunk begins where the one before ends, and keyframes ascend."""
        return (self.first[1:] == [first + num for first, num in zip(self.first, self.num)][:-1]
                and all(before < cycle for before, cycle in pairwise(self.key_cycle)))

    def pack(self) -> bytes:
        """Return the INDX or PART payload."""
        body: dict[str, Any] = {name: streams.pack(np.array(getattr(self, name), np.uint64))
                                for name in (*self.LISTS, *self.KEYS)}
        for name in ("totals", "key_totals"):
            body[name] = streams.pack(np.array(getattr(self, name), np.int64).astype(np.uint64))
        body["zones"] = streams.pack(np.array(self.zones, np.uint64))
        body["printed"] = self.printed
        outer = {"body": streams.compress_map(body), "end": msgspec.to_builtins(self.end), "before": self.before,
                 "base": self.base}
        return msgpack.packb(outer, default=streams.plain)

    @staticmethod
    def unpack(payload: bytes, *, is_part: bool = False) -> Index:
        """Read the INDX or PART payload; raises Damage if it is invalid."""
        try:
            outer = limits.unpacked(payload, "the index")
            body = streams.decompress_map(outer["body"], "the index")
            index = Index(*(streams.unpack(body[name], np.int64).tolist() for name in Index.LISTS))
            count = len(index.first)
            if any(len(getattr(index, name)) != count for name in Index.LISTS):
                raise ValueError("its lists differ in length")
            if not index.is_consecutive():
                raise ValueError("its chunks do not follow one another")
            index.totals = list(streams.unpack(body["totals"], np.int64).reshape(count + (not is_part), -1)) if (
                count or not is_part) else []
            if "key_cycle" in body:
                index.key_cycle, index.key_offset = (streams.unpack(body[name], np.int64).tolist() for name in Index.KEYS)
                index.key_totals = list(streams.unpack(body["key_totals"], np.int64).reshape(len(index.key_cycle), -1)) if (
                    index.key_cycle) else []
                if len(index.key_cycle) != len(index.key_offset) or not index.is_consecutive():
                    raise ValueError("its keyframes do not follow one another")
            index.zones = streams.unpack(body["zones"], np.int64).tolist()
            index.printed = [(int(cycle), str(text)) for cycle, text in body["printed"]]
            index.before = run_info.typed(outer.get("before", 0), run_info.Cycle, "its predecessor")
            index.base = run_info.typed(outer.get("base", 0), run_info.Cycle, "its base")
            index.end = run_info.typed(outer.get("end", {}), run_info.End, "its end")
        except (*streams.DAMAGE, InputError) as error:
            raise Damage(f"cannot be read ({error!r})") from None
        return index


def level_of(number: int) -> int:
    """Return the highest level > 0 for which 8**level chunks end right before chunk `number`, or 0."""
    level = 0
    while number and number % RADIX ** (level + 1) == 0:
        level += 1
    return level
