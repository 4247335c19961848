"""Gathers what PIPELINE shows: the focused warp's instructions over a stretch of cycles around the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.render.scene import Pipes
from rfview.sessions.reports.pipeline import lives

if TYPE_CHECKING:
    from rfview.sessions.session import Session

PER = (1, 2, 5, 10, 20)
MARGIN = 4, 5       # the stretch moves when the cursor enters its last fifth, or lies before its start


class PipeSource:
    """Keeps the last stretch, so that steps within it cost nothing."""

    PER = PER

    def __init__(self, session: Session):
        self.session = session
        self.columns = 0        # 0: PIPELINE is closed
        self.warp = 0
        self.zoom = 0
        self._start = 0
        self._made: tuple[tuple[Any, ...], Pipes] | None = None

    @property
    def per(self) -> int:
        """Cycles per column."""
        return PER[self.zoom]

    def change_zoom(self, by: int) -> None:
        """Show a longer (by > 0) or shorter stretch."""
        self.zoom = max(0, min(len(PER) - 1, self.zoom + by))

    def pipes(self, last: int) -> Pipes | None:
        """Return the stretch around the cursor, with nothing after cycle `last`; None while PIPELINE is closed."""
        if self.columns <= 0:
            return None
        per, columns, cycle = self.per, self.columns, self.session.cycle
        step = max(1, columns // 5) * per
        if not self._start <= cycle < self._start + columns * per * MARGIN[0] // MARGIN[1] or self._start % per:
            self._start = cycle // step * step - columns * per // MARGIN[1] * 2
            self._start -= self._start % per
        first = max(self.session.timeline.first, self._start)
        stop = min(last, self._start + per * columns - 1) + 1
        key = (self._start, per, columns, stop, self.warp, self.session.timeline.last if stop > last else 0)
        if self._made is None or self._made[0] != key:
            rows = tuple(lives(self.session.timeline, self.warp, first, stop)) if first < stop else ()
            self._made = (key, Pipes(self._start, per, columns, first, self.warp, rows))
        return self._made[1]
