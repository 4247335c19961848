"""Arrays in pages of 1 KB: which of them changed, and their contents."""

from __future__ import annotations

import numpy as np

PAGE = 1024  # bytes; a quarter of it would save a third of the space and double the bookkeeping
PAGE_WORDS = PAGE // 8


def cut(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, PAGE_WORDS) u8 whole pages of an array, and its remaining bytes u1; both are views."""
    data = array.reshape(-1).view(np.uint8)
    whole = len(data) // PAGE
    return data[: whole * PAGE].view(np.uint64).reshape(whole, PAGE_WORDS), data[whole * PAGE :]


def changed_pages(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return the numbers of the pages that differ, ascending."""
    (pages, rest), (old_pages, old_rest) = cut(new), cut(old)
    # eight words in one: several times as fast as any(axis=1)
    numbers = np.flatnonzero(np.bitwise_or.reduce((pages != old_pages).view(np.uint64), axis=1))
    return np.append(numbers, len(pages)) if not np.array_equal(rest, old_rest) else numbers


def number_of(array: np.ndarray) -> int:
    """Return how many pages an array has; the last one may be in part."""
    return -(-array.nbytes // PAGE)


def taken(array: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return (k, PAGE_WORDS) u8 contents of pages of an array; what is beyond its end is 0."""
    whole, rest = cut(array)
    contents = np.zeros((len(which), PAGE_WORDS), np.uint64)
    inside = which < len(whole)
    contents[inside] = whole[which[inside]]
    if not inside.all():
        contents[-1].view(np.uint8)[: len(rest)] = rest
    return contents


def put(array: np.ndarray, which: np.ndarray, contents: np.ndarray) -> None:
    """Write contents, as from `taken`, to pages of an array; which: ascending."""
    whole, rest = cut(array)
    inside = which < len(whole)
    whole[which[inside]] = contents[inside]
    if not inside.all():
        rest[:] = contents[-1].view(np.uint8)[: len(rest)]
