"""The brush: a stretch of the run that is summed up as a whole, from a cycle to the cursor while open, else to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfview.engine.errors import InputError
from rfview.keys import Keys
from rfview.render.scene import Brush
from rfview.sessions.reports.statistics import brief

if TYPE_CHECKING:
    from rfview.sessions.session import Session


class BrushSource:
    """Keeps both ends; the statistics are computed again when one has moved. end: None while it follows the cursor."""

    def __init__(self, session: Session):
        self.session = session
        self.start: int | None = None
        self.end: int | None = None
        self._made: Brush | None = None

    def turn(self, keys: Keys) -> str:
        """Open a stretch at the cursor, end an open one there, or drop an ended one; return a sentence about it."""
        cycle = self.session.cycle
        if self.start is None:
            self.start, self.end = cycle, None
            return f"a range begins at cycle {cycle:,}{keys.tail('brush', 'ends it')}{keys.tail('close', 'drops it')}"
        if self.end is None and self.start != cycle:
            self.end = cycle
            return ""
        self.drop()
        return "range dropped"

    def between(self, start: int, end: int) -> None:
        """Brush the stretch between two cycles of the session; equal ones drop it."""
        for cycle in (start, end):
            self.session.timeline.require(cycle)
        self.start, self.end = (start, end) if start != end else (None, None)

    def of_text(self, text: str) -> None:
        """Brush the stretch between two places as for `goto`, or marks; raises InputError for anything else."""
        words = text.split()
        if len(words) != 2:
            raise InputError(f"range {text}: expected two places, as in `range 1,000 @a`")
        self.between(self.session.place(words[0]), self.session.place(words[1]))

    def drop(self) -> None:
        """Drop the stretch."""
        self.start = self.end = None

    def view(self) -> Brush | None:
        """Return the stretch with its statistics; None if there is none or it is still empty."""
        if self.start is None:
            return None
        end = self.session.cycle if self.end is None else self.end
        first, last = sorted((self.start, end))
        if first == last:
            return None
        if self._made is None or (self._made.first, self._made.last, self._made.is_open) != (first, last, self.end is None):
            text = brief(self.session.timeline, first, last).text
            self._made = Brush(first, last, text, self.end is None)
        return self._made
