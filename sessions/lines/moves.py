"""Finds the cycles at which a warp reaches another source line; the same ones forwards and backwards."""

from __future__ import annotations

import numpy as np

from rfview.engine.state import NONE8
from rfview.sessions.lines.table import LineTable
from rfview.sessions.search.search import ALL, Target
from rfview.sessions.timeline.base import Timeline


def lines_of_warps(timeline: Timeline, table: LineTable, warp: int | None, start: int, stop: int) -> np.ndarray:
    """Return (stop - start, warps) i4: the line number of each warp's next instruction; -1: no line, -2: no warp.

    warp: one of them, or None for all.
    """
    which = "*" if warp is None else warp
    shape = (stop - start, -1)
    pc, cta = (timeline.column(f"sm.warp[{which}].{name}", start, stop).reshape(shape) for name in ("pc", "cta"))
    known = np.append(table.filled, np.int32(-1))
    lines = known[np.minimum(pc, len(table.filled))]
    return np.where(cta == NONE8, np.int32(-2), lines)


def arrivals(timeline: Timeline, table: LineTable, warp: int | None, start: int, stop: int, line: int | None) -> np.ndarray:
    """Return (stop - start,) bool: where a warp has reached a line (None: any) from another line, or begins in it."""
    return np.asarray(arrived(timeline, table, warp, start, stop, line).any(axis=1))


def arrived(timeline: Timeline, table: LineTable, warp: int | None, start: int, stop: int, line: int | None) -> np.ndarray:
    """Return (stop - start, warps) bool: like `arrivals`, warp by warp."""
    before = max(timeline.first, start - 1)
    lines = lines_of_warps(timeline, table, warp, before, stop)
    there = np.asarray(lines >= 0 if line is None else lines == line)
    moved = np.ones_like(there)
    moved[1:] = lines[1:] != lines[:-1]
    if start > timeline.first:
        moved[0] = False
    return np.asarray((there & moved)[start - before :])


def waits(timeline: Timeline, table: LineTable, line: int, code: int, start: int, stop: int) -> np.ndarray:
    """Return (stop - start, warps) bool: which warps begin to wait at a line in a state."""
    before = max(timeline.first, start - 1)
    states = timeline.states(before, stop)      # of the machine's warps; a recording has a column for each possible one
    there = (lines_of_warps(timeline, table, None, before, stop)[:, : states.shape[1]] == line) & (states == code)
    began = there.copy()
    began[1:] &= ~there[:-1]
    return np.asarray(began[start - before :])


def wait_target(timeline: Timeline, table: LineTable, line: int, code: int) -> Target:
    """Return the search target "a warp begins to wait at a line in a state"."""
    return Target(lambda low, high: np.asarray(waits(timeline, table, line, code, low, high).any(axis=1)),
                  lambda low, high: np.full(high - low, ALL))


def line_target(timeline: Timeline, table: LineTable, warp: int | None, line: int | None = None) -> Target:
    """Return the search target "a warp (None: any) reaches a line (None: any) from another one"."""
    return Target(lambda low, high: arrivals(timeline, table, warp, low, high, line),
                  lambda low, high: np.full(high - low, ALL))
