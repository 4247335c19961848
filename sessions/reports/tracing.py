"""Tracepoints over past cycles: every hit of a condition, with the values of expressions there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rfview.engine.errors import InputError
from rfview.sessions.expressions import compile_expression
from rfview.sessions.search.search import Target, any_changes, every_hit
from rfview.sessions.search.breakpoints import any_target, make_breakpoint
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import CycleProgress, Timeline, never

MAX_HITS = 100_000
MAX_VALUES = 2_000_000       # values of all expressions together: about 100 MB


@dataclass(frozen=True)
class Trace:
    """The hits: cycles ascending, rows[i][k] the value of expression k at cycles[i] (a number, or a list per lane or unit).

    more: hits beyond the limit were left out. reached: the last cycle searched, earlier than requested if interrupted.
    """

    expressions: tuple[str, ...]
    condition: str
    cycles: tuple[int, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    reached: int

    def data(self) -> dict[str, Any]:
        """Return the table as JSON data."""
        return {"expressions": list(self.expressions), "at": self.condition, "cycles": list(self.cycles),
                "rows": [list(row) for row in self.rows], "more": self.more, "reached": self.reached}


def trace(session: Session, expressions: str | Sequence[str], at: str | int = "", first: int | str | None = None,
          last: int | str | None = None, *, limit: int = MAX_HITS) -> Trace:
    """Return a table of the values of expressions at every past hit of a session; the cursor does not move.

    at: a condition (its hits are the cycles at which it becomes true), a breakpoint's number, or "" for every change of
    the expressions. first, last: the range to search (default: all that has run). Raises InputError.
    """
    timeline = session.timeline
    texts = [expressions] if isinstance(expressions, str) else list(expressions)
    ends = [timeline.first if first is None else session.place(first),
            timeline.last if last is None else session.place(last)]
    low, high = max(timeline.first, min(ends)), min(timeline.last, max(ends))
    point = session.breakpoint(at) if isinstance(at, int) else None
    if point is None and at:
        point = make_breakpoint(timeline, 0, "if", condition=str(at))
    target = None if point is None else any_target(timeline, [point])
    condition = point.text.removeprefix("if ") if point is not None else ""
    return over(timeline, texts, target, condition, low, high, limit=limit, interrupted=session.interrupted)


def over(timeline: Timeline, expressions: Sequence[str], target: Target | None, condition: str,
          first: int, last: int, *, limit: int = MAX_HITS,
          interrupted: CycleProgress = never) -> Trace:
    """Return the values of the expressions at every hit in first..last.

    target: None for every change of any of the expressions. Raises InputError for a wrong expression.
    """
    if not expressions:
        raise InputError("trace: name at least one expression, for example `trace w3.pc at stall.barrier > 0`")
    compiled = [compile_expression(text, timeline) for text in expressions]
    if target is None:
        for expression in compiled:
            expression.check_change()
    cycles: list[int] = []
    rows: list[tuple[Any, ...]] = []
    reached = last
    for _, stop, hits in every_hit(timeline, target or any_changes(compiled), first, last):
        if hits.size:
            # only the range with hits is evaluated
            low, end = int(hits[0]), int(hits[-1]) + 1
            columns = [expression.column(low, end)[hits - low] for expression in compiled]
            limit = min(limit, max(1, MAX_VALUES // sum(column[0].size for column in columns)))
            cycles += hits.tolist()
            rows += zip(*(column.tolist() for column in columns), strict=True)
        if len(cycles) > limit or interrupted(stop):
            reached = stop - 1
            break
    more = len(cycles) > limit
    return Trace(tuple(expressions), condition, tuple(cycles[:limit]), tuple(rows[:limit]), more, reached)
