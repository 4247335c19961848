"""Which warp a breakpoint stopped for, where it is about one."""

from __future__ import annotations

import re

import numpy as np

from rfview.engine.errors import InputError
from rfview.sessions.expressions import Expression, compile_expression
from rfview.sessions.lines.moves import arrived
from rfview.sessions.search.breakpoints import Breakpoint
from rfview.sessions.timeline.base import Timeline

ANY = re.compile(r"any\((.+)\)\Z", re.DOTALL)
WARP = re.compile(r"\bw(\d+)\b")


def warp_of_hit(timeline: Timeline, point: Breakpoint, cycle: int) -> int | None:
    """Return the warp for which a breakpoint stops at a cycle, the first of several; None where it is about no warp."""
    if point.warp is not None:
        return point.warp
    if point.kind == "warp":
        return point.value
    if point.kind in ("pc", "line"):
        return _first(point.arrived(timeline, cycle, cycle + 1)[0])
    if point.kind == "source":
        assert point.table is not None
        return _first(arrived(timeline, point.table, None, cycle, cycle + 1, point.value)[0])
    if point.kind in ("stall", "watch"):
        return None if point.watched is None else _named(timeline, point.watched, cycle)
    return None if point.compiled is None else _named(timeline, point.compiled, cycle)


def _named(timeline: Timeline, expression: Expression, cycle: int) -> int | None:
    """Return the warp for which any(...) has just become true, else the first that an expression names."""
    inner = ANY.match(expression.text.strip())
    if inner is not None:
        try:
            each = compile_expression(inner[1], timeline)
        except InputError:      # any(a) or any(b)
            each = None
        if each is not None and each.width == int(timeline.info["num_warps"]):
            before = max(timeline.first, cycle - 1)
            truth = each.column(before, cycle + 1) != 0
            new = truth[-1] & ~truth[0] if len(truth) > 1 else truth[-1]
            return _first(new if new.any() else truth[-1])
    found = WARP.search(expression.text)
    return None if found is None else int(found[1])


def _first(hit: np.ndarray) -> int | None:
    """Return the number of the first warp that is hit; hit: (warps,) bool."""
    found = np.flatnonzero(hit)
    return int(found[0]) if len(found) else None
