"""Columns of registers, wherever the design keeps them, and of memory words."""

from __future__ import annotations

import numpy as np

from rfview.sessions.expressions.nodes import Run, Uses
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.register_log import RegisterLog


def memory_word(timeline: Timeline, word: int, start: int, stop: int) -> np.ndarray:
    """Return the column (n,) i8 of a word of memory, counted from the arena's start."""
    return timeline.memory_column(word, start, stop).astype(np.int64)


def register_columns(log: RegisterLog, uses: Uses, lanes: slice) -> Run:
    """Return the columns (n, lanes) i8 of a register, from the log of writes; 0 in an empty slot."""
    uses.registers += log.numbers
    return lambda start, stop: log.column(start, stop, lanes).astype(np.int64)
