"""The program of `rfview compare`; from it, the main screen at run A's cursor with run B laid over it, and back."""

from __future__ import annotations

import os
import shlex
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rfview.palette import Palette, choose_theme
from rfview.screens.compare.by_line import ProgramsScreen
from rfview.screens.compare.multiples import MultiplesSource
from rfview.screens.compare.programs import ProgramsSource
from rfview.screens.compare.screen import CompareScreen, MultiplesScreen
from rfview.screens.compare.source import CompareSource
from rfview.screens.handlers import focus
from rfview.screens.host import HostApp
from rfview.screens.main import MainScreen
from rfview.screens.session_worker import SessionWorker
from rfview.sessions.branch import Branch
from rfview.sessions.compare.comparison import program_difference
from rfview.sessions.compare.issues import Issue
from rfview.sessions.session import Session
from rfview.widgets.panel import StripCache

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.timeline.base import Timeline


class RunScreen(MainScreen):
    """The main screen of a run that is compared. It opens recordings again, since the comparison's thread reads its own."""

    def __init__(self, strips: StripCache, paths: tuple[str, str], target: str, warp: int | None,
                 own_keys: Mapping[str, str]):
        """paths: the files of A and B. target: A's name on the command line. warp: slot to focus, or None."""
        super().__init__(SessionWorker(self.opened, self._from_worker), strips, target, own_keys)
        self.target, self.paths, self.asked_warp = target, paths, warp
        self.begin = self._begin
        self.below: Any = None

    @abstractmethod
    def opened(self, report: Any) -> Session:
        """Open the session that the screen shows first."""

    def _begin(self, main: Desk) -> None:
        """Focus the comparison's warp."""
        if self.asked_warp is not None:
            focus.choose_warp(self, self.asked_warp)

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

    def leave(self) -> None:
        """Go back to the comparison."""
        app: Any = self.app
        app.main = self.below
        app.pop_screen()


class OverlaidScreen(RunScreen):
    """A's main screen with B, a run of the same program, laid over it."""

    def __init__(self, strips: StripCache, paths: tuple[str, str], target: str, cycle: int, warp: int | None,
                 own_keys: Mapping[str, str]):
        self.cycle = cycle
        super().__init__(strips, paths, target, warp, own_keys)

    def opened(self, report: Any) -> Session:
        """Open A at the comparison's cycle."""
        from rfview.sessions.timeline.opening import open_recording

        session = Session(open_recording(self.paths[0]))
        session.goto(self.cycle)
        return session

    def _begin(self, main: Desk) -> None:
        super()._begin(main)
        self.overlay(self.paths[1])


class PairScreen(RunScreen):
    """The main screen of two recordings of different programs, a branch each, at a line's first issue in both."""

    def __init__(self, strips: StripCache, paths: tuple[str, str], targets: tuple[str, str],
                 issues: tuple[Issue | None, Issue | None], place: str, own_keys: Mapping[str, str]):
        """place: what the runs are opened at, for the first message."""
        self.issues, self.targets, self.opened_at = issues, targets, place
        self.shown = 1 if issues[1] is not None else 0
        issue = issues[self.shown]
        super().__init__(strips, paths, targets[0], issue.slot if issue is not None else None, own_keys)

    def opened(self, report: Any) -> Session:
        """Open both at their issues, and return the one to be shown first."""
        from rfview.sessions.branches.fork import MAIN, join
        from rfview.sessions.timeline.opening import open_recording

        a, b = both = [Session(open_recording(path)) for path in self.paths]
        b.branch = Branch("B", MAIN, 0, (), "")
        join(a, "B", b)
        for session, issue in zip(both, self.issues, strict=True):
            if issue is not None:
                session.goto(issue.cycle + 1)
                session.came_from = None
        return both[self.shown]

    def _begin(self, main: Desk) -> None:
        super()._begin(main)
        self.say(f"{self.opened_at} in {'AB'[self.shown]}{self.keys.tail('overlay', 'turns to ' + 'BA'[self.shown])}")

    def on_unmount(self) -> None:
        super().on_unmount()
        if self.worker.is_open:
            for session in self.worker.session.family.values():
                session.close()

    def view_command(self) -> str:
        """Return the command line that shows the run on the screen again."""
        at = int(self.worker.session.branch is not None)
        scene = self.scene
        return f"rfview replay {shlex.quote(self.targets[at])} --goto {scene.cycle} --warp {scene.warp}"


def open_both(screen: ProgramsScreen, source: ProgramsSource, issues: tuple[Issue | None, Issue | None]) -> None:
    """Show two recordings at a line's first issue; called in the comparison's thread."""
    from rfview.sessions.timeline.replay import RecordedTimeline

    a, b = (str(timeline.path) for timeline in source.timelines if isinstance(timeline, RecordedTimeline))
    pair = PairScreen(screen.strips, (a, b), source.targets, issues, source.place, screen.app.own_keys)
    screen.app.call_from_thread(screen.app.show_over, screen, pair)


def make_compare_app(timelines: list[Timeline], targets: list[str], *, theme: str | None = None,
                     ascii_only: bool = False, own_keys: Mapping[str, str] | None = None) -> Any:
    """Return the app for two runs of one program or of two, or for more (small multiples), not yet running."""
    palette = Palette(choose_theme(theme, dict(os.environ)), ascii_only)
    for timeline in timelines:
        palette.know_states(timeline.info.stalls)

    class CompareApp(HostApp):
        """Shows runs."""

        def __init__(self) -> None:
            super().__init__(palette, own_keys)
            self.main: CompareScreen | MultiplesScreen | ProgramsScreen
            pair, names = (timelines[0], timelines[1]), (targets[0], targets[1])
            if len(timelines) == 2 and program_difference(timelines[0].info, timelines[1].info):
                self.main = ProgramsScreen(self.strips, lambda progress: ProgramsSource(pair, names, progress))
                self.main.open_both = open_both
                return
            if len(timelines) == 2:
                self.main = CompareScreen(
                    self.strips, lambda progress: CompareSource(pair, names, progress))
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
