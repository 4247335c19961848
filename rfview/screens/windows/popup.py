"""The base class of windows over the main screen, and those of text; none covers the status row."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult

from rfview.render.text import Line, Row, fill, title
from rfview.widgets.guarded import Layer
from rfview.widgets.keyed import HELP, Handlers, Keyed, Words, passed_on, rows
from rfview.widgets.panel import StripCache
from rfview.widgets.window import WindowView

if TYPE_CHECKING:
    from rfview.render.scene import Scene
    from rfview.screens.desk import Desk

STEPS = passed_on("step", "back", "step_10", "back_10", "step_100", "back_100")


class Popup(Keyed, Layer):
    """A window with rows to choose from; subclasses paint it and say what else its keys do.

    EDGE: cells left free at its sides. ANSWERS: the kind of worker's answers that it takes, "" for none.
    """

    main: Desk
    EDGE: ClassVar[int] = 2
    ANSWERS: ClassVar[str] = ""
    HANDLERS: ClassVar[Handlers] = {
        "down": rows(1), "up": rows(-1), **HELP,
        "close": lambda window, pressed: window.dismiss(), "quit": lambda window, pressed: window.dismiss(),
    }
    WORDS: ClassVar[Words] = {"help": "these keys", "down": "down / up", "close": "close the window", "quit": "close it"}

    def __init__(self, main: Desk | None = None, wanted: tuple[int, int] = (96, 22)):
        super().__init__()
        self.wanted = wanted
        if main is not None:
            self.main = main
        self.selected = 0

    def compose(self) -> ComposeResult:
        yield WindowView(self.strips)

    @property
    def strips(self) -> StripCache:
        """The app's cache of strips."""
        return self.app.strips  # type: ignore[attr-defined]

    @property
    def shown_message(self) -> str:
        """The main screen's message."""
        return str(self.main.shown_message)

    def say(self, text: str, kind: str = "info") -> None:
        """Show a message on the main screen, whose event row stays visible."""
        self.main.say(text, kind)

    def on_mount(self) -> None:
        if not hasattr(self, "main"):
            self.main = self.app.main  # type: ignore[attr-defined]
        if self.strips.palette.has_few_colours:
            self.styles.background = "transparent"      # no colours to blend: the screen below stays as it is
        self.follow()

    def on_resize(self, event: events.Resize) -> None:
        self.paint()

    def answered(self, answer: Any) -> None:
        """Take an answer from the worker."""

    def follow(self) -> None:
        """Paint again: the window is new, or the main screen has a new scene."""
        self.paint()

    def paint(self) -> None:
        """Set the window's size and lines; a scene may arrive before the window exists."""
        if not self.query(WindowView):
            return
        width = self.wide
        height = min(self.wanted[1], self.app.size.height - 2)
        view = self.query_one(WindowView)
        view.frame(width, height, is_lined=not self.strips.palette.grounds.get("popup") and width + 2 <= self.app.size.width)
        lines = [line if line.ground else Line(line.spans, "popup") for line in self.lines(width, height)]
        view.show(lines)

    @property
    def wide(self) -> int:
        """The window's width in cells."""
        edge = self.EDGE if self.strips.palette.grounds.get("popup") else 0     # free cells need a ground colour
        return min(self.wanted[0], self.app.size.width - edge)

    @abstractmethod
    def lines(self, width: int, height: int) -> list[Line]:
        """Return the window's lines."""

    def count(self) -> int:
        """Return how many rows there are to choose from."""
        return 0

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss()

    def move(self, by: int) -> None:
        """Choose another row, `by` rows further down."""
        self.selected = max(0, min(self.count() - 1, self.selected + by))
        self.paint()

    def copy(self, text: str, what: str) -> None:
        """Copy a text, and say what it is."""
        self.app.copy_to_clipboard(text)
        self.say(f"copied {what}", "good")

    def focus_warp(self, warp: int, **facts: Any) -> None:
        """Focus a warp of the main screen, if there is one in question."""
        if 0 <= warp < (self.main.scene.now.num_warps if self.main.scene.now else 0):
            self.main.change(warp=warp, scroll=0, **facts)

    def type(self, text: str) -> None:
        """Close the window and open the prompt with a command to complete."""
        self.dismiss()
        self.main.open_prompt(":", text)        # at once: keys typed next are already on their way


class TextWindow(Popup):
    """Lines of text to scroll."""

    HANDLERS: ClassVar[Handlers] = {**Popup.HANDLERS, **dict.fromkeys(HELP, Popup.HANDLERS["close"])}

    def __init__(self, text: tuple[str, ...], name: str = "ANSWER"):
        super().__init__(None, (max(40, min(116, max(map(cell_len, text), default=0) + 4)), max(6, min(34, len(text) + 2))))
        self.text, self.heading = text, name
        self.folded = list(text)

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the visible part."""
        rows = height - 1
        self.folded = [part for line in self.text for part in _folded(line, width - 2)]
        first = max(0, min(self.selected, len(self.folded) - rows))
        shown = [Row(width).add(" ").add(line, "text").line() for line in self.folded[first : first + rows]]
        wanted = (("down", "scroll"),) if len(self.folded) > rows else ()
        return [title(width, self.heading, focus=True, right=self.keys.words(*wanted, ("close", "closes"))),
                *fill(shown, width, rows)]

    def count(self) -> int:
        """Return the number of lines as wrapped."""
        return len(self.folded)


class ExplainWindow(TextWindow):
    """Explains the focused item, on the other half of the screen if there is room; updated as time moves."""

    WIDE = 58       # cells
    HANDLERS: ClassVar[Handlers] = {**TextWindow.HANDLERS, "help": Popup.HANDLERS["help"], **STEPS}

    def __init__(self, main: Desk, tell: Callable[[Scene, int], list[str]]):
        """tell(scene, width) returns the lines."""
        super().__init__((), "WHAT IS THIS")
        self.main, self.tell = main, tell

    def paint(self) -> None:
        """Paint the window, on the half of the screen that the focused panel leaves."""
        screen = self.app.size
        place = next((one for one in self.main.places if one.panel == self.main.scene.panel), None)
        beside = place is not None and screen.width >= 2 * self.WIDE and place.width <= screen.width - self.WIDE
        width = self.WIDE if beside else min(116, screen.width - self.EDGE)
        self.text = tuple(self.tell(self.main.scene, width - 4))
        self.wanted = (width, min(len(self.text) + 2, screen.height - 4 if beside else 34))
        is_left = place is not None and place.x < self.WIDE
        self.styles.align = ("center" if not beside else "right" if is_left else "left", "middle")
        super().paint()


def _folded(line: str, room: int) -> list[str]:
    """Return a line wrapped to `room` cells, with its own indentation; the window may have become narrower since."""
    if cell_len(line) <= room:
        return [line]
    margin = " " * (len(line) - len(line.lstrip()))
    parts = textwrap.wrap(line, max(12, room), subsequent_indent=margin, drop_whitespace=True) or [line]
    if max(map(cell_len, parts)) > max(12, room):       # textwrap counts characters, and these are up to two cells wide
        parts = textwrap.wrap(line, max(12, room // 2), subsequent_indent=margin, drop_whitespace=True)
    return parts
