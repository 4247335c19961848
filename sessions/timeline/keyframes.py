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

from rfview.sessions.codec import pages
from rfview.sessions.codec.pages import PAGE, PAGE_WORDS

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
        numbered = {}
        for name in [name for name, value in plain.items() if isinstance(value, np.ndarray)]:
            new, old = plain.pop(name), self._newest[name]
            numbers = np.full(pages.number_of(new), BASE, np.int32) if last is None else last.pages[name].copy()
            changed = pages.changed_pages(new, old)
            contents = pages.taken(new, changed)
            numbers[changed] = self._store(contents)
            pages.put(old, changed, contents)
            numbered[name] = numbers
        for numbers in numbered.values():
            self._uses[numbers[numbers != BASE]] += 1
        self._cycles.append(checkpoint.cycle)
        self._kept[checkpoint.cycle] = _Keyframe(numbered, plain)
        while self.nbytes > self.budget_bytes and len(self._cycles) > 2:
            self._drop()

    def _start(self, checkpoint: Any) -> None:
        """Lay out the pool; its memory is allocated as it is written."""
        arrays = {name: value for name, value in vars(checkpoint).items() if isinstance(value, np.ndarray)}
        self._newest = {name: self._base[name].copy() if name in self._base else np.zeros_like(array)
                        for name, array in arrays.items()}
        whole = self._pages_each = sum(map(pages.number_of, arrays.values()))
        # besides the pages kept: those of one more checkpoint, stored before others are dropped for it
        slots = max(self.budget_bytes // PAGE, 2 * whole) + whole
        self._pool = np.empty((slots, PAGE_WORDS), np.uint64)
        self._uses = np.zeros(slots, np.int32)

    def _store(self, contents: np.ndarray) -> np.ndarray:
        """Copy pages into the pool and return their numbers."""
        reused = [self._free.pop() for _ in range(min(len(contents), len(self._free)))]
        fresh = len(contents) - len(reused)
        numbers = np.array([*reused, *range(self._touched, self._touched + fresh)], np.int32)
        self._touched += fresh
        self._pool[numbers] = contents
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
            stored = np.flatnonzero(numbers != BASE)
            pages.put(array, stored, self._pool[numbers[stored]])
            arrays[name] = array
        return dataclasses.replace(like, **kept.plain, **arrays)
