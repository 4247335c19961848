"""Where a session has stopped: the cycles in order, and a position among them for going back and forth."""

from __future__ import annotations

MAX_STOPS = 1000


class History:
    """Stops, like a browser's history: a new one drops those ahead. cycles: oldest first. at: the current position."""

    def __init__(self, cycle: int):
        self.cycles = [cycle]
        self.at = 0
        self._is_step = False

    def visit(self, cycle: int, *, is_step: bool) -> None:
        """Add a stop; consecutive single steps make one entry, not one per step."""
        if self.cycles[self.at] == cycle:
            return
        walking = is_step and self._is_step and self.at + 1 == len(self.cycles)
        del self.cycles[self.at + (0 if walking else 1) :]
        self.cycles.append(cycle)
        del self.cycles[:-MAX_STOPS]
        self.at = len(self.cycles) - 1
        self._is_step = is_step

    def move(self, by: int) -> int | None:
        """Go a number of stops forward or backward; return the cycle there, None if there is no such stop."""
        if not 0 <= self.at + by < len(self.cycles):
            return None
        self.at += by
        return self.cycles[self.at]
