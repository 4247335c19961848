"""Find the nearest hit from a cycle, in either direction: chunks that certainly have none are skipped, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rfview.sessions.expressions import Expression
from rfview.sessions.timeline.base import CycleProgress, Timeline
from rfview.sessions.timeline.register_log import RegisterLog

# what a chunk may contain: no hit, one at its first cycle, hits after that, or both (FIRST | INSIDE)
NONE, FIRST, INSIDE, ALL = range(4)
# chunks examined at once: few at first, when a hit may be near, then more and more
FEW_CHUNKS, MANY_CHUNKS = 16, 4096


@dataclass(frozen=True)
class Target:
    """What is searched for.

    hits(start, stop): (stop - start,) bool: which of the cycles start..stop-1 are hits. may_hit(low, high): (high -
    low,) u1: what chunks low..high-1 may contain, a sum of FIRST and INSIDE. whole: in the chunk where the search
    begins, every cycle may be a hit.
    """

    hits: Callable[[int, int], np.ndarray]
    may_hit: Callable[[int, int], np.ndarray]
    whole: bool = False


def where_holds(expression: Expression, forward: bool) -> Target:
    """Return the cycles at which a condition holds.

    Beyond the first chunk the nearest one is where it starts to hold or, backward, the last before it ceases to. Raises
    InputError for a value per warp or lane.
    """
    expression.check_single()
    if forward:
        return Target(expression.truth, lambda low, high: at_edges(expression.may_turn, low, high), whole=True)
    return Target(expression.truth, lambda low, high: np.where(expression.may_turn(low, high), ALL, NONE), whole=True)


def where_changes(expression: Expression) -> Target:
    """Return the cycles at which a value differs from the cycle before."""
    return Target(expression.changes, lambda low, high: at_edges(expression.may_change, low, high))


def where_written(log: RegisterLog, lanes: slice) -> Target:
    """Return the cycles that are the first to show a write to some lanes of a register."""
    return Target(lambda start, stop: log.writes_at(start, stop, lanes),
                  lambda low, high: at_edges(log.may_change, low, high))


def at_edges(may: Callable[[int, int], np.ndarray], low: int, high: int) -> np.ndarray:
    """Return which hits chunks may contain if hits need a change from the previous cycle. may: chunks with changes.

    A change in a chunk's last cycle shows in the first cycle of the next one.
    """
    before = max(0, low - 1)
    possible = may(before, high)
    shown = np.concatenate([np.ones(1 - (low - before), bool), possible])[: high - low]
    return possible[low - before :] * INSIDE + shown * FIRST


def any_changes(expressions: list[Expression]) -> Target:
    """Return the cycles at which any of the values differs from the cycle before."""
    targets = [where_changes(expression) for expression in expressions]
    return Target(lambda start, stop: np.logical_or.reduce([target.hits(start, stop) for target in targets]),
                  lambda low, high: np.bitwise_or.reduce([target.may_hit(low, high) for target in targets]))


def every_hit(timeline: Timeline, target: Target, first: int, last: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield (first cycle, cycle after, cycles of hits) for each range in first..last that may have hits, ascending."""
    number, behind = timeline.chunk_number(first), timeline.chunk_number(last) + 1
    while number < behind:
        high = min(number + MANY_CHUNKS, behind)
        for start, stop in _stretches(timeline, target.may_hit(number, high), number, True):
            start, stop = max(start, first), min(stop, last + 1)
            if stop > start:
                yield start, stop, np.flatnonzero(target.hits(start, stop)) + start
        number = high


def search(timeline: Timeline, target: Target, cycle: int, forward: bool, limit: int | None,
           interrupted: CycleProgress) -> tuple[int | None, int | None]:
    """Return (nearest hit at `cycle` or beyond it, None), (None, None) if there is none, or (None, where it stopped).

    limit: the last cycle examined when going forward; a live timeline is simulated as far as needed. interrupted: called
    periodically with the cycle reached.
    """
    first_chunk = -1
    sweeps = not forward and timeline.is_simulated      # chunks in ascending order: each is simulated once
    size = 1 if sweeps else FEW_CHUNKS
    while timeline.first <= cycle and (limit is None or cycle <= limit):
        if cycle > timeline.last and (timeline.closed or timeline.extend(1) == 0):
            break
        number = timeline.chunk_number(cycle)
        if first_chunk < 0:
            first_chunk = number
        chunks = max(1, len(timeline.chunk_starts()))
        low, high = (number, min(number + size, chunks)) if forward else (max(0, number + 1 - size), number + 1)
        may_hit = target.may_hit(low, high) if timeline.chunk_starts() else np.full(high - low, ALL)
        if target.whole and low <= first_chunk < high:
            may_hit[first_chunk - low] = ALL
        nearest = None
        for start, stop in _stretches(timeline, may_hit, low, forward or sweeps):
            start, stop = (max(start, cycle), stop) if forward else (start, min(stop, cycle + 1))
            if limit is not None:
                stop = min(stop, limit + 1)
            hits = np.flatnonzero(target.hits(start, stop)) if stop > start else ()
            if len(hits):
                nearest = start + int(hits[0 if forward else -1])
                if not sweeps:
                    break
            if interrupted(stop if forward else start - 1):
                return None, min(stop, timeline.last) if forward else cycle if sweeps else start
        if nearest is not None:
            return nearest, None
        cycle = _window(timeline, high - 1)[1] if forward else _window(timeline, low)[0] - 1
        if interrupted(cycle):
            return None, min(cycle, timeline.last) if forward else cycle + 1
        size = min(2 * size, MANY_CHUNKS)
    return None, None


def _window(timeline: Timeline, number: int) -> tuple[int, int]:
    """Return the cycles of a chunk, the second one exclusive."""
    starts = timeline.chunk_starts()
    return timeline.window(starts[number] if starts else timeline.first)


def _stretches(timeline: Timeline, may_hit: np.ndarray, low: int, forward: bool) -> Iterator[tuple[int, int]]:
    """Yield the cycles to examine, chunk by chunk in the direction of the search.

    The effect of a chunk's last cycle shows in the first cycle of the next chunk, which is examined with the previous one.
    """
    first, inside = (may_hit & FIRST) != 0, (may_hit & INSIDE) != 0
    shown = np.append(first[1:], False) & inside
    alone = first & ~np.insert(shown[:-1], 0, False)
    numbers = np.flatnonzero(inside | alone)
    for number in (numbers if forward else numbers[::-1]).tolist():
        start, stop = _window(timeline, low + number)
        yield start + (not alone[number]), stop + int(shown[number]) if inside[number] else start + 1
