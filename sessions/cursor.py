"""A timeline with a current cycle: moves by cycles and to named places, and the history of stops."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from rfview.engine import html
from rfview.engine.errors import InputError
from rfview.engine.wording import whole
from rfview.sessions.search.history import History
from rfview.sessions.search.marks import Mark, Marks
from rfview.sessions.timeline.base import CycleProgress, Timeline

PLACE = re.compile(r"(?P<sign>[+-]?)(?P<number>\d[\d,_]{0,40})\Z")
END = int(np.iinfo(np.int64).max)     # later than any kernel runs
PERCENT = re.compile(r"(\d+(?:\.\d+)?)%\Z")


@dataclass(frozen=True)
class Stop:
    """Where a move ended and why.

    reason: 'step', 'goto', 'breakpoint', 'condition', 'change', 'start', 'end', 'fault', 'interrupted' (moved up to
    that point) or 'not found' (not moved). text: one sentence for users. breakpoints: the numbers of all that stopped
    there. warp: the one for which they stopped or that wrote what changed, or None. waiting: the warps that wait for an
    event, lowest first.
    """

    cycle: int
    reason: str
    text: str
    breakpoints: tuple[int, ...] = ()
    warp: int | None = None
    waiting: tuple[int, ...] = ()

    def _repr_html_(self) -> str:
        """Show it as a line."""
        return html.table(f"cycle {self.cycle:,}", (), [(self.reason, self.text)])


class Cursor:
    """Moves over a live or recorded timeline; each returns a `Stop` and stays within the timeline.

    cycle: the current one. marks: named places. came_from: where the last jump began, or None. progress: called periodically
    during long moves with the cycle reached, may return True to stop there. On live timelines a move past the end simulates
    as far as needed.
    """

    def __init__(self, timeline: Timeline, marks: Marks | None = None):
        self.timeline = timeline
        self.cycle = timeline.first
        self.marks = marks if marks is not None else Marks()
        self.came_from: int | None = None
        self.progress: CycleProgress | None = None
        self._history = History(self.cycle)

    def _land(self, cycle: int, reason: str, text: str) -> Stop:
        """Move the cursor to `cycle`, add it to the history and return the stop."""
        if reason != "step" and cycle != self.cycle:
            self.came_from = self.cycle
        self.cycle = cycle
        self._history.visit(cycle, is_step=reason == "step")
        return Stop(cycle, reason, text)

    def _end_stop(self, why: str = "") -> Stop:
        """Land on the last cycle, with the kernel's fault if there is one."""
        last = self.timeline.last
        if self.timeline.fault:
            return self._land(last, "fault", f"the kernel stopped at cycle {last:,}: {self.timeline.fault}")
        return self._land(last, "end", f"{why}end of the session at cycle {last:,}")

    def reach(self, cycle: int) -> bool:
        """Simulate until `cycle` exists; return False when interrupted."""
        timeline = self.timeline
        while cycle > timeline.last and not timeline.closed:
            if timeline.extend(min(cycle - timeline.last, 1 << 16)) == 0:
                break
            if self.interrupted(timeline.last):
                return False
        return True

    def interrupted(self, cycle: int) -> bool:
        """Report the progress of a long move, and return whether to stop."""
        return bool(self.progress is not None and self.progress(cycle))

    def _go(self, cycle: int, reason: str) -> Stop:
        """Move to a cycle, clamped to the timeline."""
        timeline = self.timeline
        there = "" if reason != "goto" or cycle == END else f"there is no cycle {cycle:,}: "
        if cycle < timeline.first:
            return self._land(timeline.first, "start", f"{there}start of the session, cycle {timeline.first:,}")
        if not self.reach(cycle):
            return self._land(timeline.last, "interrupted", f"interrupted at cycle {timeline.last:,}")
        if cycle > timeline.last:
            return self._end_stop(there)
        if cycle == timeline.last and timeline.closed and timeline.fault:
            return self._end_stop()
        return self._land(cycle, reason, f"cycle {cycle:,}")

    def step(self, n: int = 1) -> Stop:
        """Go n cycles forward."""
        return self._go(self.cycle + _whole(n, "step"), "step")

    def back(self, n: int = 1) -> Stop:
        """Go n cycles backward."""
        return self._go(self.cycle - _whole(n, "back"), "step")

    def goto(self, place: int | str) -> Stop:
        """Go to a cycle, '50%', '@mark', 'start', 'end', '+10' or '-10'; raises InputError for anything else.

        On a live session 'end' runs the kernel to its end; a percentage is of what has run so far.
        """
        return self._go(self.resolve(place), "goto")

    def resolve(self, place: int | str) -> int:
        """Return the cycle that a place names, which may be outside the timeline."""
        if isinstance(place, (int, np.integer)):
            return int(place)
        timeline = self.timeline
        text = str(place).strip()
        if text in ("start", "end"):
            return timeline.first if text == "start" else timeline.last if timeline.closed else END
        if text.startswith("@"):
            return self.marks.get(text[1:]).cycle
        if match := PERCENT.match(text):
            share = min(float(match[1]), 100.0) / 100
            return timeline.first + round(share * (timeline.last - timeline.first))
        if match := PLACE.match(text):
            number = whole(match["number"])
            return {"": number, "+": self.cycle + number, "-": self.cycle - number}[match["sign"]]
        raise InputError(f"goto {place}: expected a cycle, +N, -N, N%, @mark, start or end")

    def place(self, place: int | str) -> int:
        """Return the cycle of a place as for `goto`, or of a mark named without @."""
        if isinstance(place, str) and place in (mark.name for mark in self.marks):
            return self.marks.get(place).cycle
        return min(self.resolve(place), max(self.timeline.last, self.cycle))

    def mark(self, name: str, note: str = "") -> Mark:
        """Name the cursor's cycle."""
        return self.marks.set(name, self.cycle, note)

    def previous_stop(self) -> Stop:
        """Go to where the last jump came from; repeated, it goes back and forth."""
        if self.came_from is None:
            return Stop(self.cycle, "not found", "no jump yet")
        return self._go(self.came_from, "goto")

    @property
    def history(self) -> tuple[tuple[int, ...], int]:
        """Return (cycles of the stops so far, number of the current one for `history_back` and `history_forward`)."""
        return tuple(self._history.cycles), self._history.at

    def history_back(self) -> Stop:
        """Go to the stop before this one."""
        return self._history_move(-1)

    def history_forward(self) -> Stop:
        """Go to the stop that `history_back` came from."""
        return self._history_move(1)

    def _history_move(self, by: int) -> Stop:
        cycle = self._history.move(by)
        if cycle is None:
            return Stop(self.cycle, "not found", f"no {'later' if by > 0 else 'earlier'} stop")
        self.came_from, self.cycle = self.cycle, cycle
        return Stop(self.cycle, "goto", f"cycle {self.cycle:,}")

    def close(self) -> None:
        """Close the session's files."""
        self.timeline.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _whole(n: int, verb: str) -> int:
    """Return a number of cycles as an int; raises InputError for a fraction or no number."""
    try:
        return operator.index(n)
    except TypeError:
        raise InputError(f"{verb} {n}: expected a whole number of cycles") from None
