"""Notices when a search goes through a simulated run chunk by chunk, and what it needs of each."""

from __future__ import annotations

import numpy as np

from rfview.engine.chunk import MOST_CHOSEN
from rfview.sessions.timeline.decoded import DecodedChunk

SETTLED = 4     # chunks of a sweep that are decoded completely: whoever shows a few cycles needs much of each


class Sweep:
    """A sweep over chunks in ascending order. part: what was simulated of the current one, if not everything."""

    def __init__(self) -> None:
        self.part: DecodedChunk | None = None
        self._number, self._length = -2, 0
        self._words: set[int] = set()       # of state, needed of any chunk of the sweep
        self._logs = False                  # whether the logs of values were needed

    def expects(self, number: int, words: np.ndarray | None) -> bool:
        """Note that words of state, or the logs (None), are needed of a chunk; return whether a sweep made that likely."""
        if number != self._number:
            self.part = None
            self._length += 1
            if number != self._number + 1:
                self._words, self._logs, self._length = set(), False, 0
            self._number = number
        needed = set() if words is None else set(words.tolist())
        is_known = self._logs if words is None else self._words >= needed
        self._words |= needed
        self._logs |= words is None
        return is_known and self._length >= SETTLED and len(self._words) <= MOST_CHOSEN

    def needs(self) -> dict[str, object]:
        """Return what to record of each chunk, as keyword arguments of Simulator.record_chunk."""
        return {"values": False, "only": np.array(sorted(self._words), np.uint32), "logs": self._logs}
