"""The compare screen over the main screen: two runs of one session, lent by its worker, which waits for their return."""

from __future__ import annotations

import threading
from typing import Any

from rfview.screens.compare.screen import CompareScreen
from rfview.screens.compare.source import CompareSource
from rfview.sessions.timeline.base import Timeline
from rfview.widgets.panel import StripCache


class LentCompareScreen(CompareScreen):
    """Compares two timelines of a session; `back` is set once nothing here reads them any more."""

    def __init__(self, strips: StripCache, pair: tuple[Timeline, Timeline], names: tuple[str, str], back: threading.Event):
        super().__init__(strips, lambda progress: CompareSource(pair, names, progress))
        self.back = back

    def on_unmount(self) -> None:
        """Give the runs back once the thread that reads them has ended."""
        super().on_unmount()
        self.worker.thread.join(5.0)
        self.back.set()

    def on_broken(self, message: Any) -> None:
        """Report on the main screen why the runs cannot be compared."""
        message.stop()
        main: Any = self.app.main  # type: ignore[attr-defined]
        self.app.pop_screen()
        main.say(str(message.error), "error")
