"""Tracepoints laid over what has happened already: every hit of a condition, with the values that expressions had there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import InputError
from sessions.expressions import compile_expression
from sessions.timeline import Timeline

MOST_HITS = 100_000


@dataclass(frozen=True)
class Trace:
    """The hits: cycles ascending, rows[i][k] the value of expression k at cycles[i] (a number, or a list per lane or unit).

    more: hits beyond the limit were left out. reached: the last cycle looked at, less than asked for when interrupted.
    """

    expressions: tuple[str, ...]
    condition: str
    cycles: tuple[int, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    reached: int

    def data(self) -> dict[str, Any]:
        """Return the table as JSON knows it."""
        return {"expressions": list(self.expressions), "at": self.condition, "cycles": list(self.cycles),
                "rows": [list(row) for row in self.rows], "more": self.more, "reached": self.reached}  # fmt: skip


def trace(timeline: Timeline, expressions: Sequence[str], mask: Callable[[int, int], np.ndarray] | None, condition: str,
          first: int, last: int, *, limit: int = MOST_HITS,
          interrupted: Callable[[int], bool] = lambda cycle: False) -> Trace:  # fmt: skip
    """Return the values of the expressions at every cycle of first..last where mask(start, stop) is true.

    mask: None stands for every change of any of the expressions. Raises InputError for a wrong expression.
    """
    if not expressions:
        raise InputError("trace: name at least one expression, for example `trace w3.pc at stall.barrier > 0`")
    compiled = [compile_expression(text, timeline) for text in expressions]

    def changes(start: int, stop: int) -> np.ndarray:
        found = np.zeros(stop - start, bool)
        for expression in compiled:
            found |= expression.changes(start, stop)
        return found

    where = mask or changes
    cycles: list[int] = []
    rows: list[tuple[Any, ...]] = []
    cycle = first
    while cycle <= last and len(cycles) <= limit:
        _, high = timeline.window(cycle)
        stop = min(high, last + 1)
        hits = np.flatnonzero(where(cycle, stop))
        if hits.size:
            # only the stretch with hits is evaluated: a register of a design that moves values costs a state per cycle
            low, end = cycle + int(hits[0]), cycle + int(hits[-1]) + 1
            columns = [expression.column(low, end)[hits - hits[0]] for expression in compiled]
            cycles += (hits + cycle).tolist()
            rows += zip(*(column.tolist() for column in columns), strict=True)
        cycle = stop
        if interrupted(cycle):
            break
    more = len(cycles) > limit
    return Trace(tuple(expressions), condition, tuple(cycles[:limit]), tuple(rows[:limit]), more, min(cycle - 1, last))
