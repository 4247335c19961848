"""The bounds of an expression within chunks, from those of its parts, without decoding cycles.

Every function here is sound but not complete: a value outside its bounds certainly did not occur in that chunk, a value
inside may have. None means that nothing is known about a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rfview.sessions.file.bounds import SET_SIZE, Bounds, Known

# sums of two and products of two numbers of these sizes cannot leave 64 bits
ADDABLE, MULTIPLIABLE = 1 << 62, 1 << 31
# combinations of values tried at once, for all chunks together and for chunks that differ, and for how many of these
MAX_TRIED, MAX_TRIED_EACH, MAX_RANGES, MAX_CHUNKS = 1 << 16, 1 << 12, 256, 8192
TRUTH = Bounds(np.zeros(1, np.int64), np.ones(1, np.int64))


def _align(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give bounds per chunk a second axis if their partner has one."""
    return (a[:, None] if a.ndim < b.ndim else a), (b[:, None] if b.ndim < a.ndim else b)


def _truth(certain: np.ndarray, possible: np.ndarray) -> Bounds:
    return Bounds(certain.astype(np.int64), possible.astype(np.int64))


def equal(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of a == b."""
    low, other_low = _align(a.low, b.low)
    high, other_high = _align(a.high, b.high)
    possible = (low <= other_high) & (other_low <= high)
    if a.values is not None and b.values is not None:
        mine, other = _align(a.values, b.values)
        possible &= (mine & other) != 0
    return _truth((low == high) & (other_low == other_high) & (low == other_low), possible)


def less(a: Bounds, b: Bounds, or_equal: bool = False) -> Bounds:
    """Return the bounds of a < b, or a <= b."""
    low, other_low = _align(a.low, b.low)
    high, other_high = _align(a.high, b.high)
    return _truth(high <= other_low, low <= other_high) if or_equal else _truth(high < other_low, low < other_high)


def is_true(a: Bounds) -> Bounds:
    """Return the bounds of a != 0."""
    possible = (a.low != 0) | (a.high != 0)
    return _truth((a.low > 0) | (a.high < 0), possible)


def negate(a: Known) -> Known:
    """Return the bounds of `not a`."""
    if a is None:
        return TRUTH
    truth = is_true(a)
    return Bounds(1 - truth.high, 1 - truth.low)


def both(a: Known, b: Known) -> Known:
    """Return the bounds of `a and b`."""
    ends = _pair(a, b)
    return Bounds(np.minimum(*ends[0]), np.minimum(*ends[1]))


def either(a: Known, b: Known) -> Known:
    """Return the bounds of `a or b`."""
    ends = _pair(a, b)
    return Bounds(np.maximum(*ends[0]), np.maximum(*ends[1]))


def _pair(a: Known, b: Known) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    left, right = (TRUTH if part is None else is_true(part) for part in (a, b))
    return _align(left.low, right.low), _align(left.high, right.high)


def add(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a + b, None if it may exceed 64 bits."""
    if _largest(a) >= ADDABLE or _largest(b) >= ADDABLE:
        return None
    low, high = _align(a.low, b.low), _align(a.high, b.high)
    return Bounds(low[0] + low[1], high[0] + high[1])


def subtract(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a - b."""
    return add(a, Bounds(-b.high, -b.low)) if _largest(b) < ADDABLE else None


def multiply(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a * b."""
    if _largest(a) >= MULTIPLIABLE or _largest(b) >= MULTIPLIABLE:
        return None
    ends = [np.multiply(*_align(left, right)) for left in (a.low, a.high) for right in (b.low, b.high)]
    return Bounds(np.minimum.reduce(ends), np.maximum.reduce(ends))


def divide(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a / b if b is certainly not 0; rounding keeps the order of results."""
    if bool(((b.low <= 0) & (b.high >= 0)).any()):
        return None
    with np.errstate(over="ignore"):
        ends = [np.true_divide(*_align(left, right)) for left in (a.low, a.high) for right in (b.low, b.high)]
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
    return Bounds(low, high) if np.isfinite(low).all() and np.isfinite(high).all() else None


def smaller(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of min(a, b)."""
    return Bounds(np.minimum(*_align(a.low, b.low)), np.minimum(*_align(a.high, b.high)))


def larger(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of max(a, b)."""
    return Bounds(np.maximum(*_align(a.low, b.low)), np.maximum(*_align(a.high, b.high)))


def intersect(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a & b if both are certainly not negative."""
    if a.low.min(initial=0) < 0 or b.low.min(initial=0) < 0:
        return None
    high = np.minimum(*_align(a.high, b.high))
    return Bounds(np.zeros_like(high), high)


def unite(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a | b and a ^ b if both are certainly not negative."""
    if a.low.min(initial=0) < 0 or b.low.min(initial=0) < 0:
        return None
    high = np.bitwise_or(*_align(a.high, b.high))
    for shift in (1, 2, 4, 8, 16, 32):
        high = high | high >> shift
    return Bounds(np.zeros_like(high), high)


def _constant(a: Bounds) -> int | None:
    """Return the whole number that is the same everywhere, or None."""
    same = a.low.size == 1 and a.low.ndim == 1 and a.low[0] == a.high[0]
    return int(a.low[0]) if same and _is_whole(a) else None


def _is_whole(a: Bounds) -> bool:
    """Return whether these are bounds of integers."""
    return a.low.dtype.kind == "i" and a.high.dtype.kind == "i"


def shift_right(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a >> b for one constant b in 0..63."""
    by = _constant(b)
    return None if by is None or not 0 <= by < SET_SIZE else Bounds(a.low >> by, a.high >> by)


def shift_left(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a << b for one constant b in 0..30."""
    by = _constant(b)
    return None if by is None or not 0 <= by < 31 else multiply(a, Bounds.constant(1 << by))


def quotient(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a // b for one constant b above 0."""
    by = _constant(b)
    return None if by is None or by <= 0 or not _is_whole(a) else Bounds(a.low // by, a.high // by)


def remainder(a: Bounds, b: Bounds) -> Known:
    """Return the bounds of a % b for one constant b above 0."""
    by = _constant(b)
    if by is None or by <= 0 or not _is_whole(a):
        return None
    same = a.low // by == a.high // by
    return Bounds(np.where(same, a.low % by, 0), np.where(same, a.high % by, by - 1))


def signed(a: Bounds) -> Bounds:
    """Return the bounds of the low 32 bits as a signed number."""
    fits = (a.low >= -MULTIPLIABLE) & (a.high < MULTIPLIABLE)
    return Bounds(np.where(fits, a.low, -MULTIPLIABLE), np.where(fits, a.high, MULTIPLIABLE - 1))


def _largest(a: Bounds) -> int:
    """Return the largest magnitude within bounds."""
    return max(abs(math.floor(a.low.min(initial=0))), abs(math.ceil(a.high.max(initial=0))))


def magnitude(a: Bounds) -> Known:
    """Return the bounds of abs(a)."""
    if _largest(a) >= ADDABLE:
        return None
    high = np.maximum(np.abs(a.low), np.abs(a.high))
    return Bounds(np.where((a.low <= 0) & (a.high >= 0), 0, np.minimum(np.abs(a.low), np.abs(a.high))), high)


def minus(a: Bounds) -> Known:
    """Return the bounds of -a."""
    return Bounds(-a.high, -a.low) if _largest(a) < ADDABLE else None


def bits(a: Known) -> Known:
    """Return the bounds of popcount(a)."""
    return Bounds(np.zeros(1, np.int64), np.full(1, 64, np.int64))


def looked_up(a: Bounds, table: np.ndarray) -> Bounds:
    """Return the bounds of table[min(a, len(table) - 1)] for a that is not negative."""
    low, high = (np.clip(end, 0, len(table) - 1) for end in (a.low, a.high))
    pairs, which = np.unique(low * len(table) + high, return_inverse=True)
    ranges = [table[pair // len(table) : pair % len(table) + 1] for pair in pairs.tolist()]
    ends = [np.array([end(part) for part in ranges], np.int64)[which].reshape(low.shape) for end in (np.min, np.max)]
    return Bounds(*ends)


def any_of(a: Bounds) -> Bounds:
    """Return the bounds of any() over the second axis."""
    truth = is_true(a)
    return Bounds(truth.low.max(axis=1), truth.high.max(axis=1))


def all_of(a: Bounds) -> Bounds:
    """Return the bounds of all() over the second axis."""
    truth = is_true(a)
    return Bounds(truth.low.min(axis=1), truth.high.min(axis=1))


def count_of(a: Bounds) -> Bounds:
    """Return the bounds of count() over the second axis."""
    truth = is_true(a)
    return Bounds(truth.low.sum(axis=1), truth.high.sum(axis=1))


def sum_of(a: Bounds) -> Known:
    """Return the bounds of sum() over the second axis."""
    if not _is_whole(a) or _largest(a) >= ADDABLE // max(1, a.low.shape[1]):
        return None
    return Bounds(a.low.sum(axis=1), a.high.sum(axis=1))


def least_of(a: Bounds) -> Bounds:
    """Return the bounds of min() over the second axis."""
    return Bounds(a.low.min(axis=1), a.high.min(axis=1))


def most_of(a: Bounds) -> Bounds:
    """Return the bounds of max() over the second axis."""
    return Bounds(a.low.max(axis=1), a.high.max(axis=1))


def tried(a: Known, operands: Sequence[Known], count: int, holds: Callable[[list[np.ndarray]], np.ndarray]) -> Known:
    """Return the bounds `a` of a condition in `count` chunks, narrowed by trying the possible values of its operands.

    holds: returns for values of the operands, (n,) i8 each, where the condition holds. Chunks with too many
    combinations keep their bounds.
    """
    known = TRUTH if a is None else a
    if any(part is None or not _is_whole(part) for part in operands):
        return a
    ends = [end for part in operands if part is not None for end in (part.low, part.high)]
    wide = next((end.shape[1:] for end in [*ends, known.low] if end.ndim > 1), ())
    shape = (count, *wide)
    low, high, *ends = (np.broadcast_to(end[:, None] if wide and end.ndim == 1 else end, shape)
                        for end in (known.low, known.high, *ends))
    open_ = (low == 0) & (high != 0)
    ranges = np.stack([end[open_] for end in ends], axis=1) if open_.any() else np.empty((0, len(ends)), np.int64)
    if not len(ranges):
        return a
    hull = np.where(np.arange(len(ends)) % 2, ranges.max(axis=0), ranges.min(axis=0))
    hull_answer = _try(hull, MAX_TRIED, holds)
    which = np.zeros(len(ranges), np.int64)
    answers = [hull_answer]
    if (hull_answer is None or hull_answer == (0, 1)) and len(ranges) <= MAX_CHUNKS:
        different, which = np.unique(ranges, axis=0, return_inverse=True)
        which = which.ravel()
        answers = [_try(one, MAX_TRIED_EACH, holds) if number < MAX_RANGES else None
                   for number, one in enumerate(different)]
    truth = np.array([(0, 1) if answer is None else answer for answer in answers], np.int64)
    low, high = low.copy(), high.copy()
    low[open_], high[open_] = truth[which].T
    return Bounds(low, high)


def _try(ranges: np.ndarray, most: int, holds: Callable[[list[np.ndarray]], np.ndarray]) -> tuple[int, int] | None:
    """Return the smallest and largest truth over all values in ranges, (2 * operands,) low and high; None if too many."""
    sizes = [int(high) - int(low) + 1 for low, high in ranges.reshape(-1, 2)]
    if math.prod(sizes) > most:
        return None
    axes = [np.arange(low, high + 1, dtype=np.int64) for low, high in ranges.reshape(-1, 2)]
    with np.errstate(all="ignore"):
        truth = np.broadcast_to(holds([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]) != 0, math.prod(sizes))
    return int(truth.all()), int(truth.any())


def may_hold(a: Known, count: int) -> np.ndarray:
    """Return (count,) bool: chunks in which the condition may hold somewhere."""
    return np.ones(count, bool) if a is None else np.broadcast_to(is_true(a).high != 0, count)


def may_fail(a: Known, count: int) -> np.ndarray:
    """Return (count,) bool: chunks in which the condition may fail somewhere."""
    return np.ones(count, bool) if a is None else np.broadcast_to(is_true(a).low == 0, count)
