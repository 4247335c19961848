"""The program of `rfview compare`; from it, the main screen at run A's cursor with run B laid over it, and back."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rfview.palette import Palette, choose_theme
from rfview.screens.compare.multiples import MultiplesSource
from rfview.screens.compare.screen import CompareScreen, MultiplesScreen
from rfview.screens.compare.source import CompareSource
from rfview.screens.handlers import focus
from rfview.screens.host import HostApp
from rfview.screens.main import MainScreen
from rfview.screens.session_worker import SessionWorker
from rfview.sessions.session import Session
from rfview.widgets.panel import StripCache

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.timeline.base import Timeline


class OverlaidScreen(MainScreen):
    """A's main screen. It opens both recordings again, since the comparison's thread may be reading its own."""

    def __init__(self, strips: StripCache, paths: tuple[str, str], target: str, cycle: int, warp: int | None,
                 own_keys: Mapping[str, str]):
        """paths: the files of A and B. target: A's name on the command line. warp: slot in A to focus, or None."""
        from rfview.sessions.timeline.opening import open_recording

        def opener(report: Any) -> Session:
            session = Session(open_recording(paths[0]))
            session.goto(cycle)
            return session

        super().__init__(SessionWorker(opener, self._from_worker), strips, target, own_keys)
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

    def _begin(self, main: Desk) -> None:
        """Focus the comparison's warp and lay B over it."""
        if self.asked_warp is not None:
            focus.choose_warp(self, self.asked_warp)
        self.overlay(self.paths[1])

    def leave(self) -> None:
        """Go back to the comparison."""
        app: Any = self.app
        app.main = self.below
        app.pop_screen()


def make_compare_app(timelines: list[Timeline], targets: list[str], *, theme: str | None = None,
                     ascii_only: bool = False, own_keys: Mapping[str, str] | None = None) -> Any:
    """Return the app for two runs (a pair) or more (small multiples), not yet running."""
    palette = Palette(choose_theme(theme, dict(os.environ)), ascii_only)

    class CompareApp(HostApp):
        """Shows runs of one program."""

        def __init__(self) -> None:
            super().__init__(palette, own_keys)
            if len(timelines) == 2:
                pair = (timelines[0], timelines[1])
                self.main: CompareScreen | MultiplesScreen = CompareScreen(
                    self.strips, lambda progress: CompareSource(pair, (targets[0], targets[1]), progress))
            else:
                self.main = MultiplesScreen(self.strips, lambda progress: MultiplesSource(timelines, targets, progress))
            self.main.lay_over = OverlaidScreen

    return CompareApp()


def run_compare(timelines: list[Timeline], targets: list[str], *, ascii_only: bool = False,
                own_keys: Mapping[str, str] | None = None) -> int:
    """Show the runs until the user leaves; return the exit code. Raises the error that kept them from being shown."""
    app = make_compare_app(timelines, targets, ascii_only=ascii_only, own_keys=own_keys)
    code = app.run() or app.return_code
    if app.failure is not None:
        raise app.failure
    return int(code or 0)
