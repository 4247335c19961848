"""Columns of registers, wherever the design keeps them, and of memory words."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.engine.chunk import LANES
from rfview.sessions.bounds import Known
from rfview.sessions.expressions.nodes import Run, Uses
from rfview.sessions.layout import Field
from rfview.sessions.file.zone_maps import CHUNKS
from rfview.sessions.timeline.base import Timeline


def memory_word(timeline: Timeline, word: int, start: int, stop: int) -> np.ndarray:
    """Return the column (n,) i8 of a word of memory, counted from the arena's start."""
    return timeline.memory_column(word, start, stop).astype(np.int64)


class Slot:
    """Where a warp's registers begin, and which warps are resident, as far as summaries know it for whole chunks."""

    def __init__(self, timeline: Timeline, base: Field, resident: Field):
        self.timeline, self.fields = timeline, (base, resident)
        self._known: tuple[int, list[Known]] = (-1, [])

    def of(self, number: int) -> tuple[int, int] | None:
        """Return (first row, resident warps) where they stay the same in chunk `number`, else None."""
        summaries = self.timeline.summaries
        if summaries is None:
            return None
        block, place = divmod(number, CHUNKS)
        asked, known = self._known
        if asked != block:
            high = min((block + 1) * CHUNKS, len(self.timeline.chunk_starts()))
            known = [summaries.bounds(field, block * CHUNKS, high) for field in self.fields]
            self._known = (block, known)
        if any(part is None or not part.is_fixed[place] for part in known):
            return None
        first, warps = (int(part.low[place]) for part in known if part is not None)
        return first, warps


def register_columns(timeline: Timeline, uses: Uses, warp: int, register: int, lanes: slice) -> Run:
    """Return the columns (n, lanes) i8 of a warp's register, wherever the design keeps it; 0 in an empty slot."""
    width = len(LANES[lanes])
    base = timeline.layout.field(f"sm.warp[{warp}].reg_base")
    resident = timeline.layout.field("sm.resident")
    uses.words += [base.words, resident.words]
    if not _in_main_file(timeline.info):
        uses.timed = True
        return lambda start, stop: _located(timeline, warp, register, start, stop)[:, lanes]

    uses.registers.append((base, register))

    slot = Slot(timeline, base, resident)

    def piece(start: int, stop: int, number: int) -> np.ndarray:
        known = slot.of(number)
        if known is not None:
            # the warp keeps its place in this chunk: its state need not be decoded
            if not known[1] >> warp & 1:
                return np.zeros((stop - start, width), np.int64)
            return timeline.row_column(known[0] + register, start, stop, lanes).astype(np.int64)
        bases = timeline.column(base.path, start, stop).astype(np.int64)
        there = (timeline.column(resident.path, start, stop) >> np.uint64(warp)) & np.uint64(1) != 0
        values = np.zeros((stop - start, width), np.int64)
        for row in np.unique(bases[there]):
            at = there & (bases == row)
            values[at] = timeline.row_column(int(row) + register, start, stop, lanes)[at]
        return values

    def run(start: int, stop: int) -> np.ndarray:
        pieces = [piece(low, high, number) for low, high, number in timeline.stretches(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty((0, width), np.int64)

    return run


def _in_main_file(info: dict[str, Any]) -> bool:
    """Say whether the design keeps the newest value of every register in its row of the main register file."""
    from rfview.engine import plugin as designs

    return designs.in_main_rows(info.get("design_spec") or {"chain": [info.get("design", "sram")]})


def _located(timeline: Timeline, warp: int, register: int, start: int, stop: int) -> np.ndarray:
    """Return the register's columns by asking the design at every cycle."""
    values = np.zeros((stop - start, 32), np.int64)
    for cycle in range(start, stop):
        try:
            values[cycle - start] = timeline.at(cycle).register(warp, register)
        except IndexError:
            continue
    return values
