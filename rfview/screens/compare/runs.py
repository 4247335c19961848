"""The base class of the screens of several runs: their worker, their keys, what they draw while it computes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from textwrap import wrap
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from rfview import crash
from rfview.engine.errors import RfviewError
from rfview.engine.progress import Progress
from rfview.keys import Pressed
from rfview.messages import Busy, Failed, Notice, Wheeled
from rfview.render.text import Line, Row, fill, hint_row
from rfview.screens.worker import Worker
from rfview.widgets.keyed import FAR, HELP, Handler, Handlers, Keyed, Words
from rfview.widgets.panel import PanelView, StripCache


def of_source(request: Callable[[Any, Pressed], Any]) -> Handler:
    """Return the handler that calls a function of the source and the keys pressed, in the worker's thread."""
    return lambda screen, pressed: screen.ask(lambda source: request(source, pressed))


def times(method: str, by: int) -> Handler:
    """Return the handler that calls a method of the source with a number, as often as the count says."""
    return of_source(lambda source, pressed: getattr(source, method)(by * (pressed.count or 1)))


class Painted(Message):
    """A new picture is ready; it supersedes earlier ones that have not been drawn."""

    def __init__(self, picture: Any):
        super().__init__()
        self.picture = picture

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Painted)


class Stopped(RfviewError):
    """The user stopped the work in progress."""


class RunsScreen(Keyed, Screen[None]):
    """Common base of both screens: one view of what a source computes in the worker's thread.

    worker: of the session whose runs are compared; None: one of the screen's own.
    """

    HINTS: ClassVar[tuple[Any, ...]] = ()
    TITLE_TEXT: ClassVar[str] = ""

    def __init__(self, strips: StripCache, make: Callable[[Progress], Any], worker: Worker | None = None):
        super().__init__()
        self.strips, self.make = strips, make
        self.source: Any = None     # belongs to the worker's thread
        self.worker = worker or Worker(self._from_worker)
        self.has_own_worker = worker is None
        self.picture: Any = None
        self.busy = f"reading {self.TITLE_TEXT}"
        self.lines: list[Line] = []

    def compose(self) -> ComposeResult:
        yield PanelView(self.strips, "picture")

    def on_mount(self) -> None:
        self.view = self.query_one(PanelView)
        self.paint()
        if self.has_own_worker:
            self.worker.start()
        self.worker.ask(self._begin)
        self.resized(self.app.size.width)

    def on_unmount(self) -> None:
        if self.has_own_worker:
            self.worker.close()

    def on_resize(self, event: events.Resize) -> None:
        self.resized(self.app.size.width)
        self.paint()

    def resized(self, width: int) -> None:
        """React to a new width."""

    def _from_worker(self, message: Message) -> None:
        if self.is_running:
            self.post_message(message)

    def ask(self, request: Callable[[Any], Any]) -> None:
        """Queue a function of the source; its picture is drawn once for all that are queued."""
        self.worker.ask(self._serve, request)

    # in the worker's thread

    def _begin(self, worker: Worker) -> None:
        """Make the source."""
        try:
            self.source = self.make(self._progress)
            self._from_worker(Painted(self.source.picture()))
        except Exception as error:
            self._from_worker(Failed(crash.text_of(error), error))

    def _serve(self, worker: Worker, request: Callable[[Any], Any]) -> None:
        """Call a function of the source. A user's design may have defects, and so may we: the screen stays."""
        if self.source is None:
            return
        try:
            request(self.source)
        except Exception as error:
            self.source.say(crash.text_of(error), "info" if isinstance(error, Stopped) else "error")
        if worker.is_last:
            try:
                self._from_worker(Painted(self.source.picture()))
            except Exception as error:
                self._from_worker(Notice(crash.text_of(error), "error"))

    def _progress(self, fraction: float | None, text: str) -> None:
        """Report long work now and then; raises Stopped if the user has stopped it."""
        if self.worker.is_cancelled:
            raise Stopped("stopped")
        if self.worker.is_due():
            self._from_worker(Busy(text))

    # in the screen's

    @abstractmethod
    def draw(self, width: int, height: int) -> list[Line]:
        """Return the picture's lines."""

    def paint(self) -> None:
        """Show the picture, or what is being waited for."""
        width, height = self.app.size
        if width <= 0 or height <= 0:
            return
        self.view.place(0, 0, width, height)
        if self.picture is None:
            self.lines = [Row(width, "band").add(" rfview ", "title").add(self.busy, "tinfo").line()]
        else:
            try:
                self.lines = self.draw(width, height)
            except Exception as error:
                text = [Row(width).add(f" {part}", "bad").line() for part in wrap(crash.text_of(error), max(20, width - 2))]
                self.lines = [*fill([Row(width, "band").add(" rfview ", "title").line(), *text], width, height - 1),
                              hint_row(width, self.keys.hints(*self.HINTS))]
        self.view.show(self.lines[:height])

    @property
    def shown_message(self) -> str:
        """The message row's text."""
        return self.busy if self.picture is None else str(self.picture.message)

    def say(self, text: str, kind: str = "info") -> None:
        """Show a sentence in the message row, or in place of the progress message while there is no picture."""
        if self.picture is None:
            self.busy = text
        else:
            self.picture = self.picture.at(message=text, message_kind=kind)
        self.paint()

    def on_painted(self, message: Painted) -> None:
        message.stop()
        self.picture, self.busy = message.picture, ""
        self.paint()

    def on_busy(self, message: Busy) -> None:
        message.stop()
        self.busy = message.text
        self.paint()

    def on_notice(self, message: Notice) -> None:
        message.stop()
        self.busy = ""
        self.say(message.text, message.kind)

    def on_failed(self, message: Failed) -> None:
        """Report on the screen below why the runs cannot be compared; without one, end the program."""
        message.stop()
        below = self.app.screen_stack[-2]
        if isinstance(below, Keyed):
            self.app.pop_screen()
            below.say(message.text, "error")
        else:
            self.app.failure = message.error
            self.app.exit(int(getattr(message.error, "exit_code", 70)))

    def leave(self) -> None:
        """Go back to the screen below, or end the program."""
        self.worker.cancel()
        if len(self.app.screen_stack) > 2:
            self.app.pop_screen()
        else:
            self.app.exit(0)

    def act(self, pressed: Pressed) -> None:
        """Do an action; until there is a picture, only leave."""
        if self.picture is not None or pressed.action in ("close", "quit", "help"):
            super().act(pressed)

    def close(self, pressed: Pressed) -> None:
        """Stop what the worker does, else leave."""
        if self.worker.is_idle or self.worker.is_cancelled or not self.worker.cancel():
            self.leave()

    def percent(self, pressed: Pressed) -> None:
        """Go to a share of the instructions that all runs issue."""
        count = self.picture.common * min(pressed.count or 0, 100) // 100
        self.ask(lambda source: source.go_count(count))

    def on_wheeled(self, message: Wheeled) -> None:
        message.stop()
        self.ask(lambda source: source.step(message.by))

    HANDLERS: ClassVar[Handlers] = {
        "step": times("step", 1), "back": times("step", -1), "step_10": times("step", 10), "back_10": times("step", -10),
        "step_100": times("step", 100), "back_100": times("step", -100),
        "lock": of_source(lambda source, pressed: source.toggle_lock()),
        "begin": of_source(lambda source, pressed: source.go_count(1 if pressed.count is None else pressed.count)),
        "end": of_source(lambda source, pressed: source.go_count(FAR if pressed.count is None else pressed.count)),
        "percent": percent, **HELP, "close": close,
        "quit": lambda screen, pressed: screen.leave(),
    }
    WORDS: ClassVar[Words] = {
        "lock": "lock by instruction (all runs right after the same one) or by cycle (all at the same one)",
        "begin": "begin, end, by issued instructions; a click on the curve goes there", "percent": "50%: half way",
        "help": "these keys", "close": "stop what is being computed, else leave", "quit": "leave",
    }
