"""A chunk's row writes as a file holds them, decoded as far as a question needs: the index whole, values by the row."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from engine.chunk import AFFINE, LANES, RAW
from sessions.codec import join, unpack, unpack_log, unzigzag


# all lanes of a row
ALL = slice(None)


class RowLog:
    """Row writes in order; see format.py, rows and row_sum. Raises ValueError or KeyError where streams do not fit.

    index: (k,) u4 row of each write.
    """

    def __init__(self, stored: dict[str, Any]):
        self._stored = stored
        self.index = np.cumsum(unzigzag(unpack(stored["index"])), dtype=np.uint32)
        self._kind = unpack(stored["kind"], np.uint8)
        if len(self.index) != len(self._kind):
            raise ValueError("row streams do not fit together")

    @cached_property
    def end(self) -> np.ndarray:
        """Return (cycles,) u4 prefix counts of the writes; a sum over chunks has none."""
        return unpack_log(self._stored["counts"])

    @cached_property
    def _raws(self) -> np.ndarray:
        """Return for each write how many up to it have 32 words of their own."""
        return np.cumsum(self._kind == RAW)

    @cached_property
    def _slopes(self) -> np.ndarray:
        """Return for each write how many up to it have a step."""
        return np.cumsum(self._kind == AFFINE)

    def values(self, writes: np.ndarray, lanes: slice = ALL) -> np.ndarray:
        """Return (n, lanes) u4 of some of the writes, given by their numbers: all 32 lanes, or some of them."""
        stored, kind, lane = self._stored, self._kind[writes], LANES[lanes]
        found = np.empty((len(writes), len(lane)), np.uint32)
        if not len(writes):
            return found
        whole, sloped = kind == RAW, kind == AFFINE
        raws = self._raws[writes]
        step = np.zeros(len(writes), np.uint32)
        if sloped.any():
            step[sloped] = unzigzag(_some(stored["step"], self._slopes[writes[sloped]] - 1))
        if not whole.all():
            base = _some(stored["base"], (writes - raws)[~whole])
            found[~whole] = base[:, None] + lane * step[~whole, None]
        if whole.any():
            found[whole] = _some(stored["raw"], raws[whole] - 1, 32, lanes)
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
