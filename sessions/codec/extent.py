"""What the words that change in a chunk come to, found while the chunk is coded and kept by its summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# how the least and the greatest value of a word are wanted: not at all, of the word, of each of its bytes
NOT_WATCHED, WHOLE, BYTES = range(3)
# a line of memory that a summary knows of: so many words, and so many lines before another one shares its place
LINE_WORDS, LINE_BITS = 32, 1024


@dataclass(frozen=True, eq=False)
class Extent:
    """words: (k,) u4 words that change. states: (warp slots,) u8, a bit for each state that a slot has.

    least, most: (k,) u4 of the values that each watched word has, the first one included.
    """

    words: np.ndarray
    least: np.ndarray
    most: np.ndarray
    states: np.ndarray
