"""What the words that change in a chunk come to, found while the chunk is coded and kept by its summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Extent:
    """words: (k,) i8 words that change, ascending. least, most: (k,) u4 of the values that each has, the first one included;

    least_bytes, most_bytes: the same of each of its bytes by itself. states: (warp slots,) u8, a bit per state that each has.
    """

    words: np.ndarray
    least: np.ndarray
    most: np.ndarray
    least_bytes: np.ndarray
    most_bytes: np.ndarray
    states: np.ndarray
