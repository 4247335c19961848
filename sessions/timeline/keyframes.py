"""Complete copies of a running machine in bounded memory: each shares unchanged pages with the previous one.

A copy is divided into pages; a keyframe keeps a page number for each, and only pages that differ from the previous keyframe
take space in the pool. On the bundled kernels that is 10 to 60 % of a machine with a small memory, under 5 % of one with
4 MB. When the pool is full, the keyframe whose loss leaves the shortest gap is dropped: the others are spread evenly, so the
longest range to simulate again is about twice the run's length divided by the number of keyframes that fit.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from typing import Any

import numpy as np

PAGE = 1024  # bytes; a quarter of it would save a third of the space and double the bookkeeping
PAGE_WORDS = PAGE // 8
BASE = -1  # number of a page unchanged since before the run


@dataclasses.dataclass
class _Keyframe:
    """Page numbers of each array of a checkpoint, and the fields that are not arrays."""

    pages: dict[str, np.ndarray]
    plain: dict[str, Any]


class Keyframes:
    """Checkpoints by cycle, in at most `budget_bytes`, or the size of two if that is more.

    base: arrays before the run, by the name of the checkpoint's field (such as the memory); kept by reference,
    never written. Checkpoints are dataclasses whose arrays always have the same shapes and types.
    """

    def __init__(self, base: dict[str, np.ndarray], budget_bytes: int):
        self.budget_bytes = budget_bytes
        self._base = base
        self._cycles: list[int] = []
        self._kept: dict[int, _Keyframe] = {}
        self._newest: Any = None
        self._pool = np.empty((0, PAGE_WORDS), np.uint64)
        self._uses = np.zeros(0, np.int32)
        self._free: list[int] = []
        self._touched = 0
        self._pages_each = 0

    @property
    def cycles(self) -> list[int]:
        """Return the cycles of the keyframes, ascending."""
        return self._cycles

    @property
    def nbytes(self) -> int:
        """Return the bytes of pages in use and of page numbers."""
        return (self._touched - len(self._free)) * PAGE + len(self._cycles) * self._pages_each * 4

    def before(self, cycle: int) -> int | None:
        """Return the cycle of the last keyframe at or before `cycle`, or None."""
        at = bisect_right(self._cycles, cycle)
        return self._cycles[at - 1] if at else None

    def add(self, checkpoint: Any) -> None:
        """Add a checkpoint later than all others; drop others, but never the first, to make space.

        Its arrays are read now, and may be the machine's own.
        """
        if self._newest is None:
            self._start(checkpoint)
        last = self._kept[self._cycles[-1]] if self._cycles else None
        plain = {field.name: getattr(checkpoint, field.name) for field in dataclasses.fields(checkpoint)}
        pages = {}
        for name in [name for name, value in plain.items() if isinstance(value, np.ndarray)]:
            new, old = plain.pop(name), self._newest[name]
            numbers = np.full(-(-new.nbytes // PAGE), BASE, np.int32) if last is None else last.pages[name].copy()
            changed = changed_pages(new, old)
            numbers[changed] = self._store(new, changed)
            pages[name] = numbers
            for now, then, which in zip(_cut(new), _cut(old), (changed[changed < new.nbytes // PAGE], slice(None))):
                then[which] = now[which]
        for numbers in pages.values():
            self._uses[numbers[numbers != BASE]] += 1
        self._cycles.append(checkpoint.cycle)
        self._kept[checkpoint.cycle] = _Keyframe(pages, plain)
        while self.nbytes > self.budget_bytes and len(self._cycles) > 2:
            self._drop()

    def _start(self, checkpoint: Any) -> None:
        """Lay out the pool; its memory is allocated as it is written."""
        arrays = {name: value for name, value in vars(checkpoint).items() if isinstance(value, np.ndarray)}
        self._newest = {name: self._base[name].copy() if name in self._base else np.zeros_like(array)
                        for name, array in arrays.items()}
        whole = self._pages_each = sum(-(-array.nbytes // PAGE) for array in arrays.values())
        # besides the pages kept: those of one more checkpoint, stored before others are dropped for it
        slots = max(self.budget_bytes // PAGE, 2 * whole) + whole
        self._pool = np.empty((slots, PAGE_WORDS), np.uint64)
        self._uses = np.zeros(slots, np.int32)

    def _store(self, array: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Copy pages of an array into the pool and return their numbers."""
        reused = [self._free.pop() for _ in range(min(len(which), len(self._free)))]
        fresh = len(which) - len(reused)
        numbers = np.array([*reused, *range(self._touched, self._touched + fresh)], np.int32)
        self._touched += fresh
        whole, rest = _cut(array)
        inside = which < len(whole)
        self._pool[numbers[inside]] = whole[which[inside]]
        if not inside.all():
            self._pool[numbers[-1]].view(np.uint8)[: len(rest)] = rest
        return numbers

    def _drop(self) -> None:
        """Drop the keyframe whose neighbours are closest to each other; of equal ones the earliest."""
        cycles = np.array(self._cycles)
        at = 1 + int(np.argmin(cycles[2:] - cycles[:-2]))
        for numbers in self._kept.pop(self._cycles.pop(at)).pages.values():
            used = numbers[numbers != BASE]
            self._uses[used] -= 1
            self._free += used[self._uses[used] == 0].tolist()

    def get(self, cycle: int, like: Any) -> Any:
        """Return the keyframe of a cycle as a new checkpoint. like: any checkpoint of the same machine."""
        kept = self._kept[cycle]
        arrays = {}
        for name, numbers in kept.pages.items():
            shape, dtype = getattr(like, name).shape, getattr(like, name).dtype
            array = self._base[name].copy() if name in self._base else np.zeros(shape, dtype)
            whole, rest = _cut(array)
            stored = np.flatnonzero(numbers[: len(whole)] != BASE)
            whole[stored] = self._pool[numbers[stored]]
            if len(rest) and numbers[-1] != BASE:
                rest[:] = self._pool[numbers[-1]].view(np.uint8)[: len(rest)]
            arrays[name] = array
        return dataclasses.replace(like, **kept.plain, **arrays)


def _cut(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, PAGE_WORDS) u8 whole pages of an array, and its remaining bytes u1; both are views."""
    data = array.reshape(-1).view(np.uint8)
    whole = len(data) // PAGE
    return data[: whole * PAGE].view(np.uint64).reshape(whole, PAGE_WORDS), data[whole * PAGE :]


def changed_pages(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return the numbers of the pages that differ, ascending."""
    (pages, rest), (old_pages, old_rest) = _cut(new), _cut(old)
    # eight words in one: several times as fast as any(axis=1)
    found = np.flatnonzero(np.bitwise_or.reduce((pages != old_pages).view(np.uint64), axis=1))
    return np.append(found, len(pages)) if not np.array_equal(rest, old_rest) else found
