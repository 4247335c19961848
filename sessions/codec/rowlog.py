"""A chunk's row writes as a file holds them, decoded as far as a question needs: the index whole, values by the row."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.chunk import AFFINE, LANES, RAW, UNIFORM
from rfview.sessions.codec.codec import SHORT, STEPS, join, unpack, unpack_log, unzigzag


# all lanes of a row
ALL = slice(None)
# the kinds of rows whose lanes are all in a stream, and whether each kind has something in each stream
WHOLE = {RAW: "raw", SHORT: "short"}
_KINDS = {"base": (UNIFORM, AFFINE, STEPS), "step": (AFFINE,), "steps": (STEPS,), "raw": (RAW,), "short": (SHORT,)}
IN_STREAM = {name: np.isin(np.arange(STEPS + 1), kinds) for name, kinds in _KINDS.items()}


class RowLog:
    """Row writes in order; see format.py, rows and row_sum. Raises ValueError or KeyError where streams do not fit.

    index: (k,) u4 row of each write.
    """

    def __init__(self, stored: dict[str, Any]):
        self._stored = stored
        self.index = np.cumsum(unzigzag(unpack(stored["index"])), dtype=np.uint32)
        self._kind = unpack(stored["kind"], np.uint8)
        self._known_ranks: dict[str, np.ndarray] = {}
        if len(self.index) != len(self._kind) or self._kind.max(initial=0) > STEPS:
            raise ValueError("row streams do not fit together")

    @cached_property
    def end(self) -> np.ndarray:
        """Return (cycles,) u4 prefix counts of the writes; a sum over chunks has none."""
        return unpack_log(self._stored["counts"])

    def _ranks(self, stream: str) -> np.ndarray:
        """Return for each write how many before it have something in a stream, where it has something there, too."""
        found = self._known_ranks.get(stream)
        if found is None:
            found = self._known_ranks[stream] = np.cumsum(IN_STREAM[stream][self._kind], dtype=np.int32) - 1
        return found

    def values(self, writes: np.ndarray, lanes: slice = ALL) -> np.ndarray:
        """Return (n, lanes) u4 of some of the writes, given by their numbers: all 32 lanes, or some of them."""
        kinds, lane = self._kind[writes], LANES[lanes]
        found = np.empty((len(writes), len(lane)), np.uint32)

        def some(stream: str, chosen: np.ndarray, size: int = 1, places: slice = ALL) -> np.ndarray:
            return _some(self._stored[stream], self._ranks(stream)[writes[chosen]], size, places)

        for kind in np.flatnonzero(np.bincount(kinds, minlength=STEPS + 1)).tolist():
            chosen = np.flatnonzero(kinds == kind)
            if kind in WHOLE:
                found[chosen] = some(WHOLE[kind], chosen, 32, lanes)
                continue
            base = some("base", chosen)[:, None]
            if kind == AFFINE:
                base = base + lane * unzigzag(some("step", chosen))[:, None]
            elif kind == STEPS:
                steps = unzigzag(some("steps", chosen, 31, slice(int(lane.max(initial=0)))))
                base = np.cumsum(np.concatenate((base, steps), axis=1), axis=1, dtype=np.uint32)[:, lanes]
            found[chosen] = base
        return found

    def last(self, row: int, lanes: slice = ALL) -> np.ndarray:
        """Return (1, lanes) u4 what was written last to a row, (0, lanes) where nothing was."""
        return self.values(np.flatnonzero(self.index == row)[-1:], lanes)

    def newest(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows, (n, 32) u4) of the last writes of those rows that are set in `places`, (rows,) bool."""
        rows, writes = last_writes(self.index, len(places))
        chosen = places[rows]
        return rows[chosen], self.values(writes[chosen])


def last_writes(index: np.ndarray, num_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are written, ascending, and the number of the last write to each; index: each write's row."""
    last = np.full(num_rows, -1)
    last[index] = np.arange(len(index))
    rows = np.flatnonzero(last >= 0)
    return rows, last[rows]


def _some(stored: list[Any], ranks: np.ndarray, size: int = 1, places: slice = ALL) -> np.ndarray:
    """Return some of the (n,) numbers that codec.pack stored, or of (n, size) groups the numbers at some places."""
    count, width, data = stored[:3]
    shape = (len(ranks),) if size == 1 else (len(ranks), len(range(*places.indices(size))))
    if width == 0:
        return np.zeros(shape, np.uint32)
    planes = np.frombuffer(data, np.uint8).reshape(width, count // size, size)[:, :, places]
    return join([plane[ranks] for plane in planes]).reshape(shape)
