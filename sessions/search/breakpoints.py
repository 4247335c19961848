"""Breakpoints as sets of cycles, the same in both directions: a kind of place, with a condition and how often it stopped."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.search.kinds import KINDS, Kind, check_warp
from rfview.sessions.search.search import Target
from rfview.sessions.timeline.base import Timeline


@dataclass
class Breakpoint:
    """One breakpoint; which cycles it names depends only on the recording, so reverse-continue stops at the same ones.

    what: the kind (kinds.py) with its arguments. condition: must hold there as well ('' = none). ignore: hits still
    to be ignored. hits: stops so far. temporary: removed at its first stop.
    """

    number: int
    what: Kind
    condition: str = ""
    temporary: bool = False
    ignore: int = 0
    enabled: bool = True
    hits: int = 0
    compiled: Expression | None = field(default=None, repr=False, compare=False)

    kind = property(lambda self: self.what.name)
    value = property(lambda self: self.what.value)
    warp = property(lambda self: self.what.warp)
    item = property(lambda self: self.what.item)
    pcs = property(lambda self: self.what.pcs)
    note = property(lambda self: self.what.note)
    watched = property(lambda self: self.what.watched)

    @property
    def text(self) -> str:
        """Return the breakpoint as the command that makes it."""
        warp = "" if self.warp is None else f"warp {self.warp}"
        return " ".join(filter(None, (self.what.text, warp, f"if {self.condition}" if self.condition else "")))

    def hits_in(self, timeline: Timeline, start: int, stop: int) -> np.ndarray:
        """Return (stop - start,) bool: at which of the cycles start..stop-1 this breakpoint stops."""
        return self.what.hits(timeline, start, stop, self.compiled)

    def may_hit(self, timeline: Timeline, low: int, high: int) -> np.ndarray:
        """Return (high - low,) u1: which of its hits chunks low..high-1 may contain (search.NONE, FIRST, ALL)."""
        return self.what.may_hit(timeline, low, high, self.compiled)

    def warp_at(self, timeline: Timeline, cycle: int) -> int | None:
        """Return the warp for which it stops at a cycle, the first of several; None if it concerns no warp."""
        return self.what.warp_at(timeline, cycle, self.compiled) if self.warp is None else self.warp


def make_breakpoint(timeline: Timeline, number: int, kind: str, value: int = 0, *, warp: int | None = None,
                    condition: str = "", temporary: bool = False, ignore: int = 0,
                    item: str = "") -> Breakpoint:
    """Create a breakpoint, checked against the session; raises InputError, which names what does not exist."""
    if kind not in KINDS:
        raise InputError(f"break {kind}: expected one of {', '.join(KINDS)}; a condition follows `if`")
    if warp is not None:
        if not KINDS[kind].takes_warp:
            raise InputError(f"break {kind}: `warp {warp}` cannot follow; a condition can, as `if w{warp}.state == barrier`")
        check_warp(timeline, warp)
    if kind == "if" and not condition:
        raise InputError("break if: the condition is missing, for example `break if any(w.state == barrier)`")
    point = Breakpoint(number, KINDS[kind](timeline, value, warp, item.strip()), condition, temporary, ignore)
    set_condition(timeline, point, condition)
    return point


def set_condition(timeline: Timeline, point: Breakpoint, condition: str) -> None:
    """Give a breakpoint another condition, '' for none; raises InputError for a wrong one."""
    compiled = compile_expression(condition, timeline) if condition else None
    if compiled is not None:
        compiled.check_condition()
    if point.kind == "if" and compiled is None:
        raise InputError(f"breakpoint {point.number} stops only on its condition; `delete {point.number}` removes it")
    point.condition, point.compiled = condition, compiled


def any_target(timeline: Timeline, points: list[Breakpoint]) -> Target:
    """Return where any of the breakpoints stops."""
    return Target(lambda low, high: np.logical_or.reduce([point.hits_in(timeline, low, high) for point in points]),
                  lambda low, high: np.bitwise_or.reduce([point.may_hit(timeline, low, high) for point in points]))
