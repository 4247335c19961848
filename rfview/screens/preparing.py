"""A screen with the progress of work that must be done before what was asked for can be shown: a page has no other place."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from rfview.ending import Ended
from rfview.engine.progress import Progress
from rfview.keys import Pressed
from rfview.palette import Palette, choose_theme
from rfview.render.text import Line, Row, blank, cut, fill, hint_row, progress, title
from rfview.screens.host import HostApp
from rfview.widgets.keyed import HELP, Handlers, Keyed, Words
from rfview.widgets.panel import PanelView, StripCache

Result = TypeVar("Result")
PAINT_S = 0.2       # between two looks at how far it is
BAR_CELLS = 40
LEFT = 130          # exit code of work that its reader has ended, as for Ctrl-C


class PreparingScreen(Keyed, Screen[None]):
    """What is done now. share: how much of it, None if nobody knows."""

    def __init__(self, strips: StripCache, heading: str):
        super().__init__()
        self.strips, self.heading = strips, heading
        self.share: float | None = None
        self.text = "preparing"

    def compose(self) -> ComposeResult:
        yield PanelView(self.strips, "preparing")

    def on_mount(self) -> None:
        self.paint()
        self.set_interval(PAINT_S, self.paint)

    def on_resize(self, event: events.Resize) -> None:
        self.paint()

    def report(self, share: float | None, text: str) -> None:
        """Note how far the work is, in the thread that does it."""
        if text:
            self.share, self.text = share, text

    def paint(self) -> None:
        """Paint what is known by now."""
        width, height = self.app.size
        view = self.query_one(PanelView)
        view.place(0, 0, width, height)
        lines = [title(width, self.heading, focus=True), blank(width),
                 Row(width).add(" ").add(cut(self.text, width - 2)).line(), _bar(self.share, width)]
        view.show([*fill(lines, width, height - 1), hint_row(width, self.keys.hints(("quit", "leave"), "help"), "band")])

    def leave(self, pressed: Pressed) -> None:
        """End without the result."""
        self.app.exit(LEFT)

    HANDLERS: ClassVar[Handlers] = {**HELP, "quit": leave, "close": leave}
    WORDS: ClassVar[Words] = {"help": "these keys", "quit": "end without the result", "close": "the same"}


def _bar(share: float | None, width: int) -> Line:
    """Return a bar with a percentage; blank if the end is unknown."""
    if share is None:
        return blank(width)
    cells = max(4, min(BAR_CELLS, width - 10))
    row = Row(width).add(" ").add(progress(round(1000 * share), 1000, cells), "p:moving")
    return row.add(f" {min(share, 1.0):.0%}", "dim").line()


class PreparingApp(HostApp, Generic[Result]):
    """Runs work(report) in a thread and ends with it. result: what it returned; failure: what it raised."""

    def __init__(self, work: Callable[[Progress], Result], heading: str, ascii_only: bool):
        super().__init__(Palette(choose_theme(None, dict(os.environ)), ascii_only))
        self.work = work
        self.result: Result | None = None
        self.main: Any = PreparingScreen(self.strips, heading)

    def on_mount(self) -> None:
        super().on_mount()
        threading.Thread(target=self._do, name="preparing", daemon=True).start()

    def _do(self) -> None:
        try:
            self.result = self.work(self.main.report)
        except BaseException as error:
            self.failure = error
        if self.is_running:
            self.call_from_thread(self.exit, 0)


def prepared(work: Callable[[Progress], Result], heading: str, *, ascii_only: bool) -> Result:
    """Return what work(report) returns, done behind a screen with its progress.

    Raises what it raises, and Ended if the reader leaves before its end or a signal ends the screen.
    """
    app: PreparingApp[Result] = PreparingApp(work, heading, ascii_only)
    code = app.run() or app.return_code
    if app.failure is not None:
        raise app.failure
    if code:
        raise Ended(code)
    return app.result       # type: ignore[return-value]
