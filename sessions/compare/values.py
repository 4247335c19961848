"""Finds where the data of two runs of one program begin to differ: writes to global memory, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rfview.sessions.timeline.base import CycleProgress, Timeline

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo, Variable


@dataclass(frozen=True)
class ValueDifference:
    """The first write to global memory that differs: the k-th new value (1, 2 ..) of one word.

    place: "C[17]", or "global word 5" outside of buffers and symbols. address: generic, -1 there.
    cycle_a, cycle_b: when it was written; None if a run writes this word less often. value_a, value_b: what was written, u4.
    """

    place: str
    address: int
    k: int
    cycle_a: int | None
    cycle_b: int | None
    value_a: int | None
    value_b: int | None


class WordWrites:
    """All changes of global memory from a cycle on, word by word, in order of time.

    word: (n,) i8 counted from the first global one. cycle: (n,) i8 when it was written. value: (n,) u4. k: (n,) i8 which
    change of its word it is (1, 2 ..). progress: called with the first cycle of each chunk read.
    """

    def __init__(self, timeline: Timeline, begin: int, progress: CycleProgress | None = None):
        base = timeline.info.global_word
        words: list[np.ndarray] = []
        cycles: list[np.ndarray] = []
        values: list[np.ndarray] = []
        for number in range(timeline.chunk_number(begin), len(timeline.chunk_starts())):
            start = timeline.chunk_starts()[number]
            if progress is not None:
                progress(start)
            chunk = timeline.decoded(number).chunk
            mine = np.flatnonzero(chunk.mem_index >= base)
            words.append(chunk.mem_index[mine].astype(np.int64) - base)
            cycles.append(start + np.searchsorted(chunk.mem_end, mine, side="right"))
            values.append(chunk.mem_value[mine])
        word, cycle, value = (np.concatenate(parts) if parts else np.empty(0, np.int64) for parts in (words, cycles, values))
        late = np.flatnonzero(cycle >= begin)
        order = late[np.argsort(word[late], kind="stable")]
        word, cycle, value = word[order], cycle[order], value[order]
        begins = np.ones(len(word), bool)
        begins[1:] = word[1:] != word[:-1]
        initial = timeline.at(begin).memory[base:]
        previous = np.where(begins, initial[word], np.concatenate([value[:1], value[:-1]])) if len(word) else value
        changes = value != previous     # storing the value that is there already is no change, and some logs leave it out
        self.word, self.cycle, self.value = word[changes], cycle[changes], value[changes]
        first = np.searchsorted(self.word, self.word)
        self.k = np.arange(len(self.word)) - first + 1


def first_value_difference(a: Timeline, b: Timeline,
                           progress: CycleProgress | None = None) -> ValueDifference | None:
    """Return the earliest write (by the earlier of its two cycles) whose values differ; None if all agree.

    If one run begins later, as a branch does, both are read from that cycle on.
    """
    begin = min(max(a.first, b.first), a.last, b.last)
    ours, theirs = WordWrites(a, begin, progress), WordWrites(b, begin, progress)
    places = [writes.word * (1 << 32) + writes.k for writes in (ours, theirs)]
    both, at_a, at_b = np.intersect1d(places[0], places[1], assume_unique=True, return_indices=True)
    differences: list[tuple[int, int, int | None, int | None]] = []
    differs = np.flatnonzero(ours.value[at_a] != theirs.value[at_b])
    if len(differs):
        when = np.minimum(ours.cycle[at_a[differs]], theirs.cycle[at_b[differs]])
        best = differs[int(np.argmin(when))]
        differences.append((int(when.min()), int(both[best]), int(at_a[best]), int(at_b[best])))
    for writes, mine, is_a in ((ours, places[0], True), (theirs, places[1], False)):
        alone = np.flatnonzero(~np.isin(mine, both))
        if len(alone):
            best = int(alone[int(np.argmin(writes.cycle[alone]))])
            where = (best, None) if is_a else (None, best)
            differences.append((int(writes.cycle[best]), int(mine[best]), *where))
    if not differences:
        return None
    _, place, index_a, index_b = min(differences, key=lambda entry: entry[0])
    name, address = place_of(a.info, place >> 32)
    return ValueDifference(
        name, address, place & 0xFFFFFFFF,
        None if index_a is None else int(ours.cycle[index_a]), None if index_b is None else int(theirs.cycle[index_b]),
        None if index_a is None else int(ours.value[index_a]), None if index_b is None else int(theirs.value[index_b]),
    )


def place_of(info: RunInfo, word: int) -> tuple[str, int]:
    """Return ("C[17]", address) of a word counted from the first global one."""
    base = info.global_word
    for variable in info.variables:
        offset = 4 * (word + base - variable.word)
        if 0 <= offset < variable.bytes:
            size = np.dtype(variable.dtype).itemsize
            return f"{variable.name}[{offset // size}]", variable.address + offset
    return f"global word {word}", -1


def elements(memory: np.ndarray, variable: Variable, count: int) -> np.ndarray:
    """Return the first (count,) elements of a buffer in an image of the arena, a copy in the buffer's type."""
    dtype, begin = np.dtype(variable.dtype), variable.word * 4
    return memory.view(np.uint8)[begin : begin + count * dtype.itemsize].copy().view(dtype)


def same_buffers(a: Timeline, b: Timeline, cycle_a: int, cycle_b: int) -> bool:
    """Say whether every buffer and symbol holds the same bytes in both runs, each at its own cycle."""
    one, other = a.at(cycle_a).memory, b.at(cycle_b).memory
    theirs = {variable.name: variable for variable in b.info.variables}
    for variable in a.info.variables:
        match = theirs.get(variable.name)
        if match is None or match.bytes != variable.bytes:
            return False
        size = -(-variable.bytes // 4)
        word, other_word = variable.word, match.word
        if not np.array_equal(one[word : word + size], other[other_word : other_word + size]):
            return False
    return True
