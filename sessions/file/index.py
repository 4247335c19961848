"""The index at the end of a session file: where its chunks are, with a summary of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgpack
import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.codec import limits, streams
from rfview.sessions.file import run_info
from rfview.sessions.file.framing import ChunkHead, Damage

RADIX = 8
LINE_BYTES = 256            # memory used by a printed line, in addition to its text


@dataclass
class Index:
    """Where the chunks are, with a summary of each; every list has one entry per chunk.

    totals: (chunks + 1, codes) i8. zones: where each zone map is. end: finished, fault, summary of the run.
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
    zones: list[int] = field(default_factory=list)
    printed: list[tuple[int, str]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)

    HEADS = ("first", "num", "chain")
    COUNTS = ("row_writes", "mem_writes", "row_sums", "mem_sums")
    LISTS = (*HEADS, "offset", *COUNTS)

    @property
    def last(self) -> int:
        """Return the cycle after the last chunk."""
        return self.first[-1] + self.num[-1] if self.first else 0

    def add(self, head: ChunkHead, chunk: dict[str, Any], offset: int) -> None:
        """Add a chunk's head and map, with the totals at its start; those at its end are appended when all is written."""
        for name in self.HEADS:
            getattr(self, name).append(getattr(head, name))
        for name in self.COUNTS:
            getattr(self, name).append(int(chunk.get(name, 0)))
        self.offset.append(offset)
        self.totals.append(np.array(chunk["totals"], np.int64))
        limits.allow(LINE_BYTES * (len(self.printed) + len(chunk["printed"])), limits.ARRAYS, "the lines that it printed")
        self.printed += [(int(cycle), str(text)) for cycle, text in chunk["printed"]]

    def check(self, number: int, head: ChunkHead) -> None:
        """Raise Damage unless a chunk's head matches the index."""
        if head != ChunkHead(number, self.num[number], self.first[number], self.chain[number]):
            raise Damage("it is not the one that the index names")

    def cut(self, number: int) -> None:
        """Remove chunk `number` and all after it; the totals at its start become the final ones."""
        for name in self.LISTS:
            del getattr(self, name)[number:]
        del self.totals[number + 1 :]
        self.printed = [(cycle, text) for cycle, text in self.printed if cycle < self.last]
        self.end = {}

    def pack(self) -> bytes:
        """Return the INDX payload."""
        body: dict[str, Any] = {name: streams.pack(np.array(getattr(self, name), np.uint64)) for name in self.LISTS}
        body["totals"] = streams.pack(np.array(self.totals, np.int64).astype(np.uint64))
        body["zones"] = streams.pack(np.array(self.zones, np.uint64))
        body["printed"] = self.printed
        return msgpack.packb({"body": streams.compress_map(body), "end": self.end}, default=streams.plain)

    @staticmethod
    def unpack(payload: bytes) -> Index:
        """Read the INDX payload; raises Damage if it is invalid."""
        try:
            outer = limits.unpacked(payload, "the index")
            body = streams.decompress_map(outer["body"], "the index")
            index = Index(*(streams.unpack(body[name], np.int64).tolist() for name in Index.LISTS))
            count = len(index.first)
            if any(len(getattr(index, name)) != count for name in Index.LISTS):
                raise ValueError("its lists differ in length")
            if index.first[1:] != [first + num for first, num in zip(index.first, index.num)][:-1]:
                raise ValueError("its chunks do not follow one another")
            index.totals = list(streams.unpack(body["totals"], np.int64).reshape(count + 1, -1))
            index.zones = streams.unpack(body["zones"], np.int64).tolist()
            index.printed = [(int(cycle), str(text)) for cycle, text in body["printed"]]
            index.end = dict(run_info.typed(outer.get("end", {}), run_info.End, "its end"))
        except (*streams.DAMAGE, InputError) as error:
            raise Damage(f"cannot be read ({error!r})") from None
        return index


def level_of(number: int) -> int:
    """Return the highest level > 0 for which 8**level chunks end right before chunk `number`, or 0."""
    level = 0
    while number and number % RADIX ** (level + 1) == 0:
        level += 1
    return level
