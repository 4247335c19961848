"""The log of register writes as a chunk of a file holds it, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import NO_ROW, REGISTERS_OF_WARP, Writes
from rfview.sessions.codec import codec

ALL_LANES = np.uint32(0xFFFFFFFF)


def pack_writes(writes: Writes, row_end: np.ndarray) -> bytes:
    """Return the log compressed. row_end: (cycles,) prefix counts of the chunk's row writes.

    Row writes are counted from the first of the same cycle, from 1; 0 = the value is given. Lanes that are not written are
    marked, which are few: so most columns hold small numbers.
    """
    counts = codec.per_cycle(writes.end)
    before = np.concatenate(([0], row_end[:-1]))[: len(counts)]
    own = writes.row.astype(np.int64) - np.repeat(before, counts) + 1
    own[writes.row == NO_ROW] = 0
    return codec.compress({
        "counts": codec.pack(counts.astype(np.uint32)), "warp": codec.pack(writes.register // REGISTERS_OF_WARP),
        "register": codec.pack(writes.register % REGISTERS_OF_WARP), "lanes": codec.pack(writes.lanes ^ ALL_LANES),
        "pc": codec.pack(writes.pc + np.uint32(2)), "row": codec.pack(own.astype(np.uint32)),
        "word": codec.pack(writes.word)})  # fmt: skip


def unpack_writes(stored: dict[str, Any], row_end: np.ndarray) -> Writes:
    """Return the log that `pack_writes` packed; raises ValueError or KeyError where its columns do not fit together."""
    counts = codec.unpack(stored["counts"], np.int64)
    warp, register, lanes, pc = (codec.unpack(stored[name]) for name in ("warp", "register", "lanes", "pc"))
    own = codec.unpack(stored["row"], np.int64)
    if len(counts) != len(row_end) or not counts.sum() == len(warp) == len(register) == len(lanes) == len(pc) == len(own):
        raise ValueError("the columns of the register writes do not fit together")
    before = np.concatenate(([0], row_end[:-1]))[: len(counts)]
    row = np.where(own == 0, NO_ROW, np.repeat(before, counts) + own - 1).astype(np.uint32)
    return Writes(np.cumsum(counts, dtype=np.uint32), warp * np.uint32(REGISTERS_OF_WARP) + register, lanes ^ ALL_LANES,
                  pc - np.uint32(2), row, codec.unpack(stored["word"]))
