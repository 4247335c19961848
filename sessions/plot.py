"""Charts of a session over time for notebooks, with Altair if installed: warps per state, or expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.stalls import NO_WARP
from rfview.sessions.expressions import Expression
from rfview.sessions.timeline.base import Timeline


def plot(timeline: Timeline, expressions: Mapping[str, Expression], points: int = 200) -> Any:
    """Return a chart of all cycles that have run: warps per stall reason, stacked, or the expressions as lines.

    It is an altair.Chart that notebooks show as a picture. expressions: as text, of one number each; a point shows the mean
    over a range of cycles. points: number of ranges, 1 to 5,000. Raises InputError for other numbers, for an expression of
    several values, and if Altair is not installed.
    """
    try:
        import altair

        from rfview.sessions.drawn_chart import DrawnChart
    except ImportError:
        raise InputError("charts need Altair; pip install 'rfview[notebook]' installs it") from None
    if not 1 <= points <= 5000:
        raise InputError(f"plot: expected 1 to 5,000 points, got {points:,}")
    rows = _lines(timeline, expressions, points) if expressions else _states(timeline, points)
    title = visible(f"{timeline.info.kernel} on {timeline.info.design} {timeline.info.scheduler}")
    chart = DrawnChart(altair.InlineData(rows), title=title)
    x = altair.X("cycle:Q", title="cycle")
    if expressions:
        return chart.mark_line().encode(x=x, y=altair.Y("value:Q", title=None), color=altair.Color("what:N", title=None))
    return chart.mark_area(interpolate="step-after").encode(
        x=x, y=altair.Y("warps:Q", stack=True, title="warps"), color=altair.Color("state:N", title="state"))


def _states(timeline: Timeline, points: int) -> list[dict[str, Any]]:
    """Return the mean warps per state in each range; states that never occurred, and empty slots, are omitted."""
    seen = timeline.overview(points)
    spans = np.diff(seen.edges)
    rows = []
    for code, name in sorted(timeline.info.stall_names.items()):
        if name in NO_WARP or not seen.states[:, code].any():
            continue
        rows += [{"cycle": int(begin), "state": name, "warps": round(count / span, 4)}
                  for begin, span, count in zip(seen.edges[:-1].tolist(), spans.tolist(), seen.states[:, code].tolist())
                  if span]
    return rows


def _lines(timeline: Timeline, expressions: Mapping[str, Expression], points: int) -> list[dict[str, Any]]:
    edges = np.unique(np.linspace(timeline.first, timeline.last + 1, points + 1).astype(np.int64))
    rows = []
    for given, expression in expressions.items():
        means = _means(timeline, expression, given, edges)
        rows += [{"cycle": int(begin), "what": given, "value": mean} for begin, mean in zip(edges[:-1], means)]
    return rows


def _means(timeline: Timeline, expression: Expression, given: str, edges: np.ndarray) -> list[float]:
    """Return an expression's mean in each range, decoding every chunk once."""
    sums = np.zeros(len(edges) - 1)
    for start, stop, _ in timeline.stretches(int(edges[0]), int(edges[-1])):
        column = expression.column(start, stop)
        if column.ndim > 1:
            raise InputError(f"plot: {given} has {column[0].size} values; any(), sum() or [INDEX] makes one of them")
        places = np.searchsorted(edges, np.arange(start, stop), side="right") - 1
        sums += np.bincount(places, weights=column.astype(np.float64), minlength=len(sums))
    return (sums / np.diff(edges)).round(6).tolist()
