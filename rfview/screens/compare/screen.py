"""The screens of `rfview compare A B ..`: two runs side by side, or more as small multiples."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from rfview import crash
from rfview.engine.progress import Progress
from rfview.keys import token_of
from rfview.palette import Palette, choose_theme
from rfview.render import compare as pair_lines
from rfview.render import multiples as multiples_lines
from rfview.render.text import Line, Row, fill, hint_row
from rfview.screens.compare.multiples import MultiplesSource
from rfview.screens.compare.source import CompareSource
from rfview.screens.compare.worker import Broken, Painted, Told, Worker, Working
from rfview.screens.host import HostApp
from rfview.widgets.guarded import Guarded
from rfview.widgets.panel import PanelView, StripCache

if TYPE_CHECKING:
    from rfview.sessions.timeline.base import Timeline

HELP_INDENT = 10        # cells that the keys take in the lines of PAIR_HELP and MULTIPLES_HELP
STEPS = {"s": 1, "right": 1, "l": 1, "S": -1, "left": -1, "h": -1, ")": 10, "(": -10, "}": 100, "{": -100}
# in order of importance: 80 columns show only the first
PAIR_HINTS = (("n N", "divergence ±"), ("s S", "step ±"), ("L", "lock"), ("j k", "warp"), ("Tab", "page"), ("?", "help"),
              ("q", "leave"), ("X", "lay B over A"), ("x", "swap"), (") (", "±10"), ("d", "first"), ("g G", "begin end"),
              ("y", "copy"))
MULTIPLES_HINTS = (("s S", "step ±"), ("j k", "run"), ("Enter", "compare with A"), ("L", "lock"), ("?", "help"),
                   ("q", "leave"), (") (", "±10"), ("} {", "±100"), ("g G", "begin end"), ("%", "50% half way"))
PAIR_HELP = (
    "n N       next / previous instruction at which the warp's lag changes: where one run loses time",
    "d         the first divergence of the two runs",
    "s S → ←   step both: by one instruction of the warp, or by one cycle, as locked; a count before it repeats",
    ") ( } {   ten and a hundred of these",
    "L         lock by instruction (both right after the same one) or by cycle (both at the same one)",
    "j k       the next / previous warp of the grid; 31o the warp in A's slot 31",
    "g G 50%   begin, end, half way, by issued instructions; a click on the curve goes there",
    "X         A's main screen at its cursor, with what differs in B underlined; q comes back",
    "x         exchange A and B",
    "Tab       the other page, if the terminal is low: reasons and totals",
    "y         copy the command that opens B at its cursor",
    "q Esc     leave",
)
MULTIPLES_HELP = (
    "s S → ←   step all runs by one instruction of the whole machine, or by one cycle, as locked",
    ") ( } {   ten and a hundred of these; a count before a key repeats it",
    "L         lock by instruction (all runs have issued the same number) or by cycle",
    "j k       choose a run; Enter compares it with the first in detail, q comes back",
    "g G 50%   begin, end, half way, by issued instructions",
    "q Esc     leave",
)


class RunsScreen(Guarded, Screen[None]):
    """Common base of both screens: a worker, one view, counts typed before keys, and help shown over the picture."""

    HINTS: ClassVar[tuple[tuple[str, str], ...]] = ()
    KEYS: ClassVar[tuple[str, ...]] = ()
    TITLE_TEXT: ClassVar[str] = ""

    def __init__(self, strips: StripCache, make: Callable[[Progress], Any]):
        super().__init__()
        self.strips = strips
        self.worker = Worker(make, self._from_worker)
        self.picture: Any = None
        self.busy = f"reading {self.TITLE_TEXT}"
        self.digits = ""
        self.helping = False
        self.lines: list[Line] = []

    def compose(self) -> ComposeResult:
        yield PanelView(self.strips, "picture")

    def on_mount(self) -> None:
        self.view = self.query_one(PanelView)
        self.paint()
        self.worker.thread.start()

    def on_unmount(self) -> None:
        self.worker.close()

    def on_resize(self, event: events.Resize) -> None:
        self.resized(self.app.size.width)
        self.paint()

    def resized(self, width: int) -> None:
        """React to a new width."""

    def _from_worker(self, message: Message) -> None:
        if self.is_running:
            self.post_message(message)

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
                text = [Row(width).add(f" {part}", "bad").line() for part in wrap(crash.told(error), max(20, width - 2))]
                self.lines = [*fill([Row(width, "band").add(" rfview ", "title").line(), *text], width, height - 1),
                              hint_row(width, self.HINTS)]
        if self.helping:
            head = Row(width, "band").add("▌KEYS", "title").right(width - 1, "any key closes", "tinfo").line()
            room = max(2 * HELP_INDENT, width - 2)
            parts = [part for line in self.KEYS for part in wrap(line, room, subsequent_indent=" " * HELP_INDENT)]
            text = [Row(width, "popup").add(f" {part}", "text").line() for part in parts]
            self.lines[2 : 2 + len(text) + 1] = [head, *text]
        self.view.show(self.lines[:height])

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

    def on_working(self, message: Working) -> None:
        message.stop()
        self.busy = message.text
        self.paint()

    def on_told(self, message: Told) -> None:
        message.stop()
        self.busy = ""
        self.say(message.text, "error")

    def on_broken(self, message: Broken) -> None:
        message.stop()
        self.app.failure = message.error  # type: ignore[attr-defined]
        self.app.exit(int(getattr(message.error, "exit_code", 70)))

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        token = token_of(event.key, event.character)
        if self.helping:
            self.helping = False
            self.paint()
        elif token.isdecimal() and len(token) == 1 and (self.digits or token != "0"):
            self.digits = (self.digits + token)[:9]
        elif token in ("escape", "ctrl+c") and not self.worker.is_idle and self.worker.cancel():
            self.digits = ""
        elif token in ("escape", "q", "ctrl+q", "ctrl+c"):
            self.leave()
        elif token in ("?", "f1"):
            self.helping = True
            self.paint()
        else:
            count, self.digits = int(self.digits) if self.digits else None, ""
            if self.picture is not None:
                self.pressed(token, count)

    def leave(self) -> None:
        """Go back to the screen below, or end the program."""
        if len(self.app.screen_stack) > 2:
            self.app.pop_screen()
        else:
            self.app.exit(0)

    def pressed(self, token: str, count: int | None) -> None:
        """Do what a key means here."""
        if token in STEPS:
            self.worker.ask(lambda source: source.step(STEPS[token] * (count or 1)))
        elif token == "L":
            self.worker.ask(lambda source: source.toggle_lock())
        elif token in ("g", "0", "home"):
            self.worker.ask(lambda source: source.go_count(1 if count is None else count))
        elif token in ("G", "$", "end"):
            self.worker.ask(lambda source: source.go_count(1 << 60 if count is None else count))
        elif token == "%" and count is not None:
            common = self.picture.common
            self.worker.ask(lambda source: source.go_count(common * min(count, 100) // 100))

    def on_wheeled(self, message: Any) -> None:
        message.stop()
        self.worker.ask(lambda source: source.step(message.by))


class CompareScreen(RunsScreen):
    """Two runs side by side."""

    HINTS, KEYS, TITLE_TEXT = PAIR_HINTS, PAIR_HELP, "two runs"

    def draw(self, width: int, height: int) -> list[Line]:
        """Return the lines of a pair."""
        return pair_lines.paint(self.picture.at(busy=self.busy), width, height, self.HINTS)

    def resized(self, width: int) -> None:
        """Make the strips as wide as the terminal."""
        columns = max(20, width - pair_lines.LABEL - 2)
        self.worker.ask(lambda source: setattr(source, "columns", columns))

    def pressed(self, token: str, count: int | None) -> None:
        """Handle the keys of a pair."""
        if token in ("n", "N"):
            for _ in range(min(count or 1, 1000)):
                self.worker.ask(lambda source: source.next_divergence(token == "n"))
        elif token == "d":
            self.worker.ask(lambda source: source.go_first())
        elif token in ("j", "down", "k", "up"):
            by = (count or 1) * (1 if token in ("j", "down") else -1)
            self.worker.ask(lambda source: source.warp(by))
        elif token == "o" and count is not None:
            self.worker.ask(lambda source: source.choose_slot(count))
        elif token == "x":
            self.worker.ask(lambda source: source.swap())
        elif token == "X":
            self.worker.ask(lambda source: self.app.call_from_thread(self.open_overlay, source))
        elif token in ("tab", "shift+tab"):
            self.worker.ask(lambda source: setattr(source, "page", 1 - source.page))
        elif token == "y":
            self.worker.ask(self._copied)
        else:
            super().pressed(token, count)

    def open_overlay(self, source: CompareSource) -> None:
        """Show A's main screen at its cursor, with B laid over it."""
        from rfview.screens.compare.overlaid import OverlaidScreen
        from rfview.sessions.timeline.replay import RecordedTimeline

        paths = [str(timeline.path) for timeline in source.timelines if isinstance(timeline, RecordedTimeline)]
        if len(paths) < 2:      # both are opened again
            source.say("X opens both runs again, which is possible only for recordings; q, then X there, lays a branch over")
            return
        slot = source.comparison.logs[0].slot(source.name, source.cycles[0])
        self.app.push_screen(OverlaidScreen(self.strips, (paths[0], paths[1]), source.targets[0], source.cycles[0], slot))

    def _copied(self, source: CompareSource) -> None:
        """Copy the command that opens B at its cursor."""
        text = source.command(1)
        if text:
            self.app.call_from_thread(self.app.copy_to_clipboard, text)
            source.say(f"copied: {text}", "good")
        else:
            source.say("B is not a session file; there is nothing to copy")

    def on_clicked(self, message: Any) -> None:
        """Go to the instruction clicked on the curve."""
        message.stop()
        columns = self.app.size.width - pair_lines.LABEL - 2
        at = message.x - pair_lines.LABEL - 1
        if self.picture is not None and 1 <= message.y <= 6 and 0 <= at < columns:
            count = pair_lines.count_of(self.picture, at, columns)
            self.worker.ask(lambda source: source.go_count(count))


class MultiplesScreen(RunsScreen):
    """More than two runs, a band each."""

    HINTS, KEYS, TITLE_TEXT = MULTIPLES_HINTS, MULTIPLES_HELP, "all runs"

    def draw(self, width: int, height: int) -> list[Line]:
        """Return the lines of the bands."""
        return multiples_lines.paint(self.picture.at(busy=self.busy), width, height, self.HINTS)

    def pressed(self, token: str, count: int | None) -> None:
        """Handle the keys of small multiples."""
        if token in ("j", "down", "k", "up"):
            by = (count or 1) * (1 if token in ("j", "down") else -1)
            self.worker.ask(lambda source: source.select(by))
        elif token == "enter":
            self.worker.ask(lambda source: self.app.call_from_thread(self.open_pair, source))
        else:
            super().pressed(token, count)

    def open_pair(self, source: MultiplesSource) -> None:
        """Compare the chosen run with the first one, or the first with the second."""
        other = source.selected or 1
        pair, targets = (source.timelines[0], source.timelines[other]), (source.targets[0], source.targets[other])
        self.app.push_screen(CompareScreen(self.strips, lambda progress: CompareSource(pair, targets, progress)))


def make_compare_app(timelines: list[Timeline], targets: list[str], *, theme: str | None = None,
                     ascii_only: bool = False) -> Any:
    """Return the app for two runs (a pair) or more (small multiples), not yet running."""
    palette = Palette(choose_theme(theme, dict(os.environ)), ascii_only)

    class CompareApp(HostApp):
        """Shows runs of one program."""

        def __init__(self) -> None:
            super().__init__(palette)
            if len(timelines) == 2:
                pair = (timelines[0], timelines[1])
                self.main: RunsScreen = CompareScreen(
                    self.strips, lambda progress: CompareSource(pair, (targets[0], targets[1]), progress))
            else:
                self.main = MultiplesScreen(self.strips, lambda progress: MultiplesSource(timelines, targets, progress))

    return CompareApp()


def run_compare(timelines: list[Timeline], targets: list[str], *, ascii_only: bool = False) -> int:
    """Show the runs until the user leaves; return the exit code. Raises the error that kept them from being shown."""
    app = make_compare_app(timelines, targets, ascii_only=ascii_only)
    code = app.run() or app.return_code
    if app.failure is not None:
        raise app.failure
    return int(code or 0)
