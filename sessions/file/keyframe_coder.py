"""Makes a recording's keyframes: which pages of the machine changed since the keyframe that each is based on."""

from __future__ import annotations

from typing import Any

import numpy as np

from rfview.sessions.codec import pages
from rfview.sessions.file.chunk_coder import Newest
from rfview.sessions.file.index import level_of
from rfview.sessions.file.keyframe import ARRAYS, Body, Keyframe

# Comparing a machine takes about 0.15 ms per MB: for one of 8 MB a keyframe every 49,152 cycles costs about 8 %.
STRIDE, STRIDE_BYTES = 1 << 14, 2800 << 10


class KeyframeCoder:
    """Makes keyframes of a run in order. stride: cycles from one to the next, by the machine's size."""

    def __init__(self, simulator: Any):
        """Start at the simulator's current cycle, which later keyframes are based on."""
        self._simulator = simulator
        first = simulator.checkpoint(lend=True)
        arrays = [getattr(first, name) for name in ARRAYS]
        begin = np.cumsum([0, *map(pages.number_of, arrays)])
        self._newest = Newest((int(begin[-1]), pages.PAGE_WORDS), np.uint64)
        self._parts = [(name, begin[at], self._newest.values[begin[at] : begin[at + 1]].reshape(-1).view(np.uint8)
                        [: array.nbytes]) for at, (name, array) in enumerate(zip(ARRAYS, arrays))]
        self._newest.values[:] = 0
        for (_, _, kept), array in zip(self._parts, arrays):
            kept[:] = array.reshape(-1).view(np.uint8)
        self._number, self._printed = 0, len(simulator.printed)
        self.stride = STRIDE * -(-first.nbytes // STRIDE_BYTES)

    def next(self, cycle: int) -> int:
        """Return the cycle of the next keyframe after a cycle."""
        return (cycle // self.stride + 1) * self.stride

    def take(self, has_printed: bool) -> Keyframe:
        """Return a keyframe of the machine as it is. has_printed: the lines printed are in chunks already."""
        simulator = self._simulator
        now = simulator.checkpoint(lend=True)
        self._number += 1
        places, contents = [], []
        for name, begin, kept in self._parts:
            array = getattr(now, name)
            changed = pages.changed_pages(array, kept)
            places.append(begin + changed)
            contents.append(pages.taken(array, changed))
        changed_places, pages_there = np.concatenate(places).astype(np.uint32), np.concatenate(contents)
        self._newest.add(changed_places, pages_there)
        if level := level_of(self._number):
            changed_places, pages_there = self._newest.take(level)
        lines = [] if has_printed else simulator.printed[self._printed :]
        self._printed = len(simulator.printed)
        totals = np.asarray(simulator.sm["stall_total"], np.int64).tolist()
        body = Body(now.launch_index, bool(now.finished), now.num_printed, totals, lines, b"")
        return Keyframe(self._number, now.cycle, body, changed_places, pages_there)
