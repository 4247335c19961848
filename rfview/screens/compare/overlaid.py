"""The main screen over a comparison: run A at the comparison's cursor, with run B laid over it; q goes back."""

from __future__ import annotations

import shlex
from typing import Any

from rfview.screens.worker import SessionWorker
from rfview.screens.handlers import focus
from rfview.screens.main import MainScreen
from rfview.widgets.panel import StripCache
from rfview.sessions.session import Session


class OverlaidScreen(MainScreen):
    """A's main screen. It opens both recordings again, since the comparison's thread may be reading its own."""

    def __init__(self, strips: StripCache, paths: tuple[str, str], target: str, cycle: int, warp: int | None):
        """paths: the files of A and B. target: A's name on the command line. warp: slot in A to focus, or None."""
        from rfview.sessions.timeline.opening import open_recording

        def opener(report: Any) -> Session:
            session = Session(open_recording(paths[0]))
            session.goto(cycle)
            return session

        super().__init__(SessionWorker(opener, self._from_worker), strips, target)
        self.target, self.paths, self.asked_warp = target, paths, warp
        self.begin = self._begin
        self.below: Any = None

    def _from_worker(self, message: Any) -> None:
        if self.is_running:
            self.post_message(message)

    def on_mount(self) -> None:
        super().on_mount()
        app: Any = self.app
        self.below, app.main = app.main, self       # the palette now acts on this screen
        app.target_command = f"rfview replay {shlex.quote(self.target)}"
        self.call_after_refresh(self.worker.start)

    def on_unmount(self) -> None:
        self.worker.close()
        if self.worker.is_open:
            self.worker.session.close()

    def _begin(self, main: Any) -> None:
        """Focus the comparison's warp and lay B over it."""
        if self.asked_warp is not None:
            focus.choose_warp(self, self.asked_warp)
        self.overlay(self.paths[1])

    def leave(self) -> None:
        """Go back to the comparison."""
        app: Any = self.app
        app.main = self.below
        app.pop_screen()
