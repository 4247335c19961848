"""Where a session has stopped: the cycles in order, and a place among them to go back and forth from."""

from __future__ import annotations

MAX_STOPS = 1000


class History:
    """Stops as a browser keeps pages: a new one drops those ahead of the place. cycles: oldest first; at: the place."""

    def __init__(self, cycle: int):
        self.cycles = [cycle]
        self.at = 0
        self._is_step = False

    def visit(self, cycle: int, *, is_step: bool) -> None:
        """Note a stop; a walk of single steps leaves one place, not one per step."""
        if self.cycles[self.at] == cycle:
            return
        walking = is_step and self._is_step and self.at + 1 == len(self.cycles)
        del self.cycles[self.at + (0 if walking else 1) :]
        self.cycles.append(cycle)
        del self.cycles[:-MAX_STOPS]
        self.at = len(self.cycles) - 1
        self._is_step = is_step

    def move(self, by: int) -> int | None:
        """Go a number of stops forward or backward; return the cycle there, None where there is no such stop."""
        if not 0 <= self.at + by < len(self.cycles):
            return None
        self.at += by
        return self.cycles[self.at]
