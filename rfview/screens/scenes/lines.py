"""Counts what each instruction and source line cost, for LINES and CODE: in the run so far, or in the brushed stretch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.sessions.lines.counts import Counter, Counts, by_line

if TYPE_CHECKING:
    from rfview.render.scene import Brush
    from rfview.sessions.session import Session


class LineSource:
    """Keeps the counts, so that only new cycles are counted as the run continues."""

    PER = ()        # its axis is not time

    def __init__(self, session: Session):
        self.session = session
        self.columns = self.warp = 0    # columns: 1 since LINES has been opened, for CODE, too
        self._counter: Counter | None = None
        self._made: tuple[Counts, Counts] | None = None

    def costs(self, last: int, brush: Brush | None) -> tuple[Counts, Counts] | None:
        """Return the counts by instruction and by line of all cycles before `last`, or of the brushed stretch.

        None before LINES has been opened, or if there are no lines or no cycles. An interrupted count covers only the
        cycles that it names.
        """
        session = self.session
        if not self.columns:
            return None
        first, end = (brush.first, brush.last) if brush is not None else (session.timeline.first, last)
        if not session.lines or end <= first:
            return None
        if self._counter is None or self._counter.first != first or self._counter.last > end:
            self._counter, self._made = Counter(session.timeline, first), None
        if self._counter.last < end:
            self._counter.count(end, session.interrupted)
            self._made = None
        if self._made is None:
            counts = self._counter.counts()
            self._made = counts, by_line(counts, session.lines)
        return self._made
