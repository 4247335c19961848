"""Counts what the sentences of SUMMARY need while the session worker is idle, a stretch at a time; no key waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.errors import RfviewError
from rfview.render.scene import Progress
from rfview.sessions.lines.counts import Counter
from rfview.sessions.summary.summarise import of_counts

if TYPE_CHECKING:
    from rfview.sessions.session import Session
    from rfview.sessions.summary.summarise import Summary


class SummarySource:
    """Keeps the summary of the run so far, and the counts that it is made of."""

    PER = ()        # its axis is not time
    STRETCH = 4096  # cycles counted at a time: some 50 ms

    def __init__(self, session: Session):
        self.session = session
        self.columns = self.warp = 0    # columns: 1 while SUMMARY is open
        self._counter: Counter | None = None
        self._made: Summary | Progress | None = None
        self._until = -1                # the cycle that _made goes up to

    @property
    def is_made(self) -> bool:
        """Whether all there is has been counted."""
        return self._until == self.session.timeline.last

    def summary(self) -> Summary | Progress | None:
        """Return the sentences, how far the count for them is, or None while SUMMARY is closed."""
        return self._made if self.columns else None

    def advance(self) -> bool:
        """Count one stretch more; return whether there is more to do. A damaged recording ends it with a sentence."""
        timeline = self.session.timeline
        if not self.columns or timeline.last == self._until or timeline.last <= timeline.first:
            return False
        try:
            if self._counter is None:
                self._counter = Counter(timeline, timeline.first)
            counter = self._counter
            counter.count(min(timeline.last, counter.last + self.STRETCH))
            self._made = Progress(counter.last - timeline.first, timeline.last - timeline.first)
            if counter.last == timeline.last:
                self._made, self._until = of_counts(self.session, counter.counts()), counter.last
        except Exception as error:
            self._made, self._until = Progress(0, 0, str(error)), timeline.last     # not tried again
            if not isinstance(error, RfviewError):
                raise
        return True
