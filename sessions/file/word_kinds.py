"""Kinds of state words: those that hold the same fields of different elements of arrays, which zone maps keep together."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from rfview.sessions.layout import Layout, distinct


@dataclass(frozen=True, eq=False)
class WordKinds:
    """Words that hold the same fields of different elements of arrays are of one kind.

    words: (num_words,) i8 all words, kind after kind, ascending in each; begin: (kinds + 1,) i8 where each kind's begin.
    in_bytes: (num_words,) bool words that hold fields of less than four bytes, or parts of fields that lie across.
    """

    words: np.ndarray
    begin: np.ndarray
    in_bytes: np.ndarray

    @staticmethod
    def of(layout: Layout) -> WordKinds:
        """Find the kinds of a layout's words."""
        # of number 0, which stands where no field is
        sizes = [4]
        both = _numbered(layout.sm_dtype, sizes, True) + _numbered(layout.rf_dtype, sizes, True)
        places = np.frombuffer(both, np.uint16, 4 * layout.num_words)
        kind, quads = places[::4].copy(), places.view(np.uint64)
        # most words are in one field: only those that several share have to be compared
        shared = np.flatnonzero(quads != kind * np.uint64(0x0001000100010001))
        kind[shared] = len(sizes) + np.searchsorted(distinct(quads[shared]), quads[shared])
        words = np.argsort(kind, kind="stable")
        counts = np.bincount(kind)
        begin = np.append(0, np.cumsum(counts[counts != 0]))
        firsts = places.reshape(-1, 4)[words[begin[:-1]]]
        in_bytes = np.empty(layout.num_words, bool)
        in_bytes[words] = np.repeat((np.array(sizes) < 4)[firsts].any(axis=1), np.diff(begin))
        return WordKinds(words, begin, in_bytes)


def _numbered(dtype: np.dtype, sizes: list[int], aligned: bool) -> array[int]:
    """Return for each byte a number, equal for the same word of the same field of any array element; 0 = no field.

    sizes: gets the bytes of the field that each number belongs to, 1 where not aligned: where it begins within a word.
    """
    found = array("H", bytes(2 * dtype.itemsize))
    if dtype.names is None:
        for first in range(0, dtype.itemsize, 4):
            found[first : first + 4] = array("H", [len(sizes)]) * min(4, dtype.itemsize - first)
            sizes.append(dtype.itemsize if aligned else 1)
    for name in dtype.names or ():
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        element = _numbered(inner.base, sizes, aligned and offset % 4 == 0)
        found[offset : offset + inner.itemsize] = element * (inner.itemsize // inner.base.itemsize)
    return found
