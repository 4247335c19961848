"""Gathers what WATCHES shows: the watched items, in the previous cycle and now, and their last cycles in a few columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.render.scene import RATE_WINDOW, Look, Watch
from rfview.screens.scenes.spans import SpanSource
from rfview.sessions.expressions.types import lanes_text, looks_like_float, word_text
from rfview.sessions.expressions.values import value_text

if TYPE_CHECKING:
    from rfview.sessions.search.breakpoints import Breakpoint
    from rfview.sessions.session import Session

STRETCHES = 64          # of a plot: RATE_WINDOW cycles in all, as in STALLS and the status row
PER = RATE_WINDOW // STRETCHES
ROOM = 24               # cells of a value
STATE_OF_A_WARP = re.compile(r"w(arp\[)?\d+\]?\.state$")


class WatchSource:
    """Reads watched items; the values of a chunk are kept with those of TIMELINE."""

    def __init__(self, session: Session, spans: SpanSource, looks: Mapping[int, Look]):
        self.session, self.spans, self.looks = session, spans, looks

    def watch(self, point: Breakpoint) -> Watch | None:
        """Return a watchpoint as the screen shows it; None for other breakpoints. Of several lanes, the first is drawn."""
        if point.kind != "watch" or point.watched is None:
            return None
        first, cycle = self.session.timeline.first, self.session.cycle
        start = max(first, (cycle // PER + 1 - STRETCHES) * PER)
        values = self.spans.column(start, cycle + 1, ("watch", point.item), point.watched.column)
        before, now = values[max(0, cycle - start - 1)], values[-1]
        drawn, edges = _first_lane(values), np.arange(max(0, -(-start // PER) * PER - start), len(values), PER)
        edges = np.unique(np.append(0, edges))
        if STATE_OF_A_WARP.match(point.item):
            codes = [float(np.bincount(part).argmax()) for part in np.split(drawn.astype(np.int64), edges[1:])]
            return Watch(point.item, self._name(before), self._name(now), "", (*codes[:-1], float(now)), is_state=True)
        log = point.watched.register
        kind = _kind(log[0].column(cycle, cycle + 1)) if log is not None else ""
        typed = _typed(drawn, kind)
        means = np.add.reduceat(typed, edges) / np.diff(np.append(edges, len(typed)))
        ends = [_short(drawn[at], kind) for at in (int(np.nanargmin(typed)), int(np.nanargmax(typed)))] \
            if np.isfinite(typed).any() else ["", ""]
        return Watch(point.item, _text(before, kind), _text(now, kind), kind, tuple(means.tolist()), ends[0], ends[1])

    def _name(self, code: Any) -> str:
        look = self.looks.get(int(code))
        return look.name if look is not None else str(code)


def _first_lane(values: np.ndarray) -> np.ndarray:
    """Return the (n,) values of the first lane, of (n,) or (n, width) values."""
    return values.reshape(len(values), -1)[:, 0]


def _kind(words: np.ndarray) -> str:
    """Return the type that fits the words of a register's lanes best: "f32", "s32" or "u32"."""
    return "f32" if looks_like_float(words) else "s32" if (words >= 1 << 31).any() else "u32"


def _typed(values: np.ndarray, kind: str) -> np.ndarray:
    """Return values as floats; register words are read as their type."""
    words = values.astype(np.int64).astype(np.uint32) if kind else values
    return words.view({"f32": np.float32, "s32": np.int32}.get(kind, words.dtype)).astype(np.float64)


def _short(value: Any, kind: str) -> str:
    """Return the text of one number: a register's word in its type, others with thousands separators."""
    if kind in ("f32", "s32"):
        return word_text(int(value), kind)
    return f"{int(value):,}" if float(value).is_integer() else f"{float(value):.6g}"


def _text(value: Any, kind: str) -> str:
    """Return the text of one cycle's value: a register in its type, with all lanes if they are watched."""
    if np.ndim(value):
        return lanes_text(value.tolist(), ROOM) if kind else value_text(value.tolist())
    return _short(value, kind)
