"""Marks for the journal, which only looks at rows, in-flight entries and cold blocks that this cycle has marked."""

from __future__ import annotations

import numpy as np

from rfview.engine.compile.bits import bit64
from rfview.engine.compile.device import device
from rfview.engine.state import BLOCK, COLD_OFFSET, SM


@device
def touch_row(sm, row):
    """Tell the journal that a recorded row was written in this cycle."""
    word = row >> 6
    sm.dirty_rows[word] = np.uint64(sm.dirty_rows[word]) | bit64(row & 63)
    sm.rows_touched = np.uint64(sm.rows_touched) | bit64(word)
    return 0


@device
def touch_inflight(sm, slot):
    """Tell the journal that an in-flight entry changed in this cycle."""
    word = np.int64(slot) >> 6
    sm.dirty_inflight[word] = np.uint64(sm.dirty_inflight[word]) | bit64(np.int64(slot) & 63)
    return 0


@device
def mark_cold(sm, block):
    """Tell the journal that a block of the cold section changed in this cycle."""
    sm.dirty[block >> 6] = np.uint64(sm.dirty[block >> 6]) | bit64(block & 63)
    sm.dirty_touched = np.uint64(sm.dirty_touched) | bit64(block >> 6)
    return 0


@device
def mark_entry(sm, first, size, index):
    """Mark an entry of a table in the cold section; it may span two blocks.

    first: where the table begins, from `begin_of`. size: bytes of an entry. index: of the entry.
    """
    begin = first + index * size
    mark_cold(sm, begin // BLOCK)
    mark_cold(sm, (begin + size - 1) // BLOCK)


def begin_of(name: str) -> int:
    """Return where a field of the state begins in the cold section, in bytes."""
    return int(SM.fields[name][1]) - COLD_OFFSET
