"""Playback: moves the session on, frame by frame, at the speed that the user has chosen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rfview.screens import requests

if TYPE_CHECKING:
    from textual.timer import Timer

FRAME_S = 1 / 30


class Playback:
    """Plays the session at the scene's speed, frame by frame; waits while the last request is still being served."""

    def __init__(self, main: Any):
        self.main = main
        self._timer: Timer | None = None
        self._due = 0.0         # cycles, including the fraction left over by earlier frames
        self._clock = 0.0
        self.has_ended = False  # set by the worker: at a stop, which this learns of only after the worker is idle again

    @property
    def is_on(self) -> bool:
        """Say whether the session is being played."""
        return self._timer is not None

    def start(self) -> None:
        """Start playing."""
        self._due, self._clock, self.has_ended = 0.0, time.monotonic(), False
        self._timer = self.main.set_interval(FRAME_S, self._frame)

    def stop(self) -> None:
        """Stop playing and show the badge of a session at rest."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self.main.worker.ask(requests.refresh, self.main.scene.message)

    def _frame(self) -> None:
        """Request as many cycles as the speed makes due."""
        now = time.monotonic()
        passed, self._clock = min(0.25, now - self._clock), now
        if not self.main.worker.is_idle:
            return
        self._due += passed * self.main.scene.speed
        cycles = int(self._due)
        if cycles:
            self._due -= cycles
            self.main.worker.ask(requests.play, self, cycles, self.main.scene.speed)
