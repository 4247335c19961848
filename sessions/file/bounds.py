"""The possible values of something within chunks, as zone maps give them: a range per chunk, or a set of small numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SET_SIZE = 64


@dataclass(frozen=True)
class Bounds:
    """The range of a value in each of n chunks, including the state after a chunk's last cycle.

    low, high: (n,) or (n, width) i8, or f8 and finite; (1,) if it is the same in all chunks. Truth is 0 and 1.
    values: None, or u8 of the same shape, with bit v set if v may have occurred: then low..high is within 0..63.
    """

    low: np.ndarray
    high: np.ndarray
    values: np.ndarray | None = None

    @staticmethod
    def constant(value: Any) -> Bounds:
        """Return the bounds of a number or truth value; a float must be finite."""
        if isinstance(value, (float, np.floating)):
            return Bounds(*(np.array([value], np.float64),) * 2)
        low = np.array([int(value)], np.int64)
        return Bounds(low, low, np.uint64(1) << low.astype(np.uint64) if 0 <= value < SET_SIZE else None)

    @staticmethod
    def of_sets(values: np.ndarray) -> Bounds:
        """Return the bounds of values within sets of 0..63, one bit each; no set is empty."""
        low = np.bitwise_count((values & (~values + np.uint64(1))) - np.uint64(1)).astype(np.int64)
        filled = values.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            filled |= filled >> np.uint64(shift)
        return Bounds(low, np.bitwise_count(filled).astype(np.int64) - 1, values)

    @property
    def is_fixed(self) -> np.ndarray:
        """Return (n,) bool: whether the value certainly did not change within the chunk."""
        same = self.low == self.high
        return same if same.ndim == 1 else same.all(axis=1)


Known = Bounds | None


def of_words(low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> Known:
    """Return the bounds of numbers of a dtype from those of their unsigned bits, (n, ...) u8; None if they wrap."""
    if dtype.kind not in "ui" or (dtype.kind == "u" and dtype.itemsize < 8):
        return Bounds(low.astype(np.int64), high.astype(np.int64)) if dtype.kind == "u" else None
    # as signed numbers they keep their order if both ends have the same sign
    top = np.uint64(1) << np.uint64(8 * dtype.itemsize - 1)
    same = (low & top) == (high & top)
    shift = np.int64(64 - 8 * dtype.itemsize)
    ends = [np.right_shift(np.left_shift(end.astype(np.int64), shift), shift) for end in (low, high)]
    widest = np.int64(-1) << np.int64(8 * dtype.itemsize - 1)
    return Bounds(np.where(same, ends[0], widest), np.where(same, ends[1], ~widest))
