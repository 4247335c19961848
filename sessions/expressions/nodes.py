"""The nodes of a compiled expression: they compute columns of values, and their bounds from zone maps alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rfview.sessions.file.bounds import Bounds, Known
from rfview.sessions.expressions.bounds import tried
from rfview.sessions.timeline.register_log import RegisterLog
from rfview.sessions.expressions.operations import Operation
from rfview.sessions.timeline.base import Timeline

Run = Callable[[int, int], np.ndarray]
Estimate = Callable[[int, int], Known]
Values = Mapping[str, np.ndarray]
# most fields whose values are tried in combination
MAX_FIELDS = 3


def nothing(low: int, high: int) -> Known:
    """Return the bounds of something that zone maps do not cover."""
    return None


@dataclass(frozen=True)
class Node:
    """A compiled part of an expression.

    run(start, stop): values at cycles start..stop-1: () for constants, (n,) or, with `width`, (n, width).
    kind: 'i' whole numbers (i8), 'f' floats (f8), 'b' truth. over: what the width counts ('warps', 'lanes', ...).
    bounds(low, high): its possible values in chunks low..high-1, from the timeline's zone maps alone (see bounds.py).
    given: computes it from values of `fields`, in order, of one cycle and one unit; None if that is not
    enough. fields: the stored fields that it reads, by path. register: if it is just a register or a lane of one,
    its log and the lanes.
    """

    run: Run
    kind: str
    width: int = 0
    over: str = ""
    constant: bool = False
    bounds: Estimate = nothing
    given: Callable[[Values], np.ndarray] | None = None
    fields: Mapping[str, Node] = field(default_factory=dict)
    register: tuple[RegisterLog, slice] | None = None


@dataclass
class Uses:
    """What an expression reads, to skip chunks in which none of it changes.

    words: state words. registers: numbers as in chunk.Writes. memory: words of the arena. places: buffers and symbols
    whose addresses it names. timed: it may change without them.
    """

    words: list[np.ndarray] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    timed: bool = False


def fixed(value: Any, kind: str) -> Node:
    """Return a constant."""
    array = np.asarray(value)
    known = Bounds.constant(value) if np.isfinite(value) else None
    return Node(lambda start, stop: array, kind, constant=True, bounds=lambda low, high: known, given=lambda values: array)


def cycle_number(timeline: Timeline) -> Node:
    """Return the cycle number."""

    def bounds(low: int, high: int) -> Known:
        ends = np.array([*timeline.chunk_starts()[low : high + 1], timeline.last][: high - low + 1], np.int64)
        return Bounds(ends[:-1], ends[1:])

    return Node(lambda start, stop: np.arange(start, stop, dtype=np.int64), "i", bounds=bounds)


def apply(operation: Operation, part: Node, kind: str) -> Node:
    """Apply a one-operand operation element by element."""

    def run(start: int, stop: int) -> np.ndarray:
        return np.asarray(operation.run(part.run(start, stop)))

    give = part.given
    return Node(run, kind, part.width, part.over, part.constant, lambda low, high: operation.bounds(part.bounds(low, high)),
                None if give is None else lambda values: np.asarray(operation.run(give(values))), part.fields)


def is_plain(part: Node) -> bool:
    """Return whether a part is a number or a stored field: nothing is known beyond its bounds."""
    return part.constant or any(one.run is part.run for one in part.fields.values())


def narrowed(part: Node) -> Node:
    """Return a comparison whose bounds are narrowed by trying the possible values of its few fields."""
    give, fields = part.given, part.fields
    if give is None or not 0 < len(fields) <= MAX_FIELDS:
        return part

    def bounds(low: int, high: int) -> Known:
        known = part.bounds(low, high)
        return tried(known, [one.bounds(low, high) for one in fields.values()], high - low,
                     lambda values: give(dict(zip(fields, values, strict=True))))

    return replace(part, bounds=bounds)


def reduced(operation: Operation, part: Node, kind: str) -> Node:
    """Reduce the second axis."""

    def bounds(low: int, high: int) -> Known:
        known = part.bounds(low, high)
        if known is not None and known.low.ndim == 1:
            known = Bounds(*(np.broadcast_to(end[:, None], (len(end), part.width)) for end in (known.low, known.high)))
        return operation.bounds(known)

    return Node(lambda start, stop: operation.run(part.run(start, stop)), kind, bounds=bounds)


def changed(timeline: Timeline, part: Node) -> Node:
    """Return where a value differs from the cycle before."""
    if part.constant:
        return fixed(np.bool_(False), "b")
    first, width = timeline.first, part.width

    def run(start: int, stop: int) -> np.ndarray:
        before = max(first, start - 1)
        shape = (stop - before, *([width] if width else []))
        values = np.broadcast_to(part.run(before, stop), shape)
        differ = np.zeros((stop - start, *shape[1:]), bool)
        differ[len(differ) - (stop - before - 1) :] = values[1:] != values[:-1]
        return differ

    def bounds(low: int, high: int) -> Known:
        # changes in the previous chunk's last cycle show in this one's first
        before = max(0, low - 1)
        known = part.bounds(before, high)
        if known is None:
            return None
        differ = np.broadcast_to(known.low != known.high, (high - before, *known.low.shape[1:])).astype(np.int64)
        shown = differ.copy()
        shown[1:] |= differ[:-1]
        shown = shown[low - before :]
        return Bounds(np.zeros_like(shown), shown)

    return Node(run, "b", part.width, part.over, bounds=bounds)
