"""The base class of windows over the main screen, and those of reasons and of text; none covers the status row."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult

from rfview.keys import token_of
from rfview.messages import Wheeled
from rfview.render import why
from rfview.render.chain import chain_of, links_of
from rfview.render.text import Line, Row, fill, title
from rfview.screens import requests
from rfview.widgets.guarded import Layer
from rfview.widgets.panel import StripCache
from rfview.widgets.window import WindowView

STEPS = ("s", "right", "S", "left")
ROWS = {"down": 1, "j": 1, "up": -1, "k": -1}
FAR = 1 << 30       # pages: to the first row or the last
PAGES = {"pagedown": 1, "pageup": -1, "g": -FAR, "home": -FAR, "G": FAR, "end": FAR}


class Popup(Layer):
    """A window with rows to choose from; subclasses paint it and define its keys.

    EDGE: cells left free at its sides. PAGE: rows of a page, 0 for no keys that move by pages and to the ends.
    ANSWERS: the kind of worker's answers that it takes, "" for none.
    """

    EDGE: ClassVar[int] = 2
    PAGE: ClassVar[int] = 0
    ANSWERS: ClassVar[str] = ""

    def __init__(self, main: Any = None, wanted: tuple[int, int] = (96, 22)):
        super().__init__()
        self.main, self.wanted = main, wanted
        self.selected = 0

    def compose(self) -> ComposeResult:
        yield WindowView(self.strips)

    @property
    def strips(self) -> StripCache:
        """The app's cache of strips."""
        return self.app.strips  # type: ignore[attr-defined]

    def on_mount(self) -> None:
        if self.strips.palette.has_few_colours:
            self.styles.background = "transparent"      # no colours to blend: the screen below stays as it is
        self.follow()

    def on_resize(self, event: events.Resize) -> None:
        self.paint()

    def answered(self, found: Any) -> None:
        """Take an answer from the worker."""

    def follow(self) -> None:
        """Paint again: the window is new, or the main screen has a new scene."""
        self.paint()

    def paint(self) -> None:
        """Set the window's size and lines; a scene may arrive before the window exists."""
        if not self.query(WindowView):
            return
        edge = self.EDGE if self.strips.palette.grounds.get("popup") else 0     # free cells need a ground colour
        width = min(self.wanted[0], self.app.size.width - edge)
        height = min(self.wanted[1], self.app.size.height - 2)
        view = self.query_one(WindowView)
        view.styles.width, view.styles.height = width, height
        lines = [line if line.ground else Line(line.spans, "popup") for line in self.lines(width, height)]
        view.show(lines)

    @abstractmethod
    def lines(self, width: int, height: int) -> list[Line]:
        """Return the window's lines."""

    def count(self) -> int:
        """Return how many rows there are to choose from."""
        return 0

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        token = token_of(event.key, event.character)
        if token in ("escape", "q"):
            self.dismiss()
        elif token in ROWS:
            self.move(ROWS[token])
        elif self.PAGE and token in PAGES:
            self.move(PAGES[token] * self.PAGE)
        else:
            self.pressed(token)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss()

    def move(self, by: int) -> None:
        """Choose another row, `by` rows further down."""
        self.selected = max(0, min(self.count() - 1, self.selected + by))
        self.paint()

    def step(self, token: str) -> None:
        """Step with the window open; token: one of STEPS."""
        self.main.worker.ask(requests.step, 1 if token in ("s", "right") else -1)

    def pressed(self, token: str) -> None:
        """Handle any other key."""


class ValuesWindow(Popup):
    """A window as large as the terminal that draws values as colours, or as characters; + and - zoom, as does the wheel."""

    EDGE = 0
    FULL = 10_000       # cells: as large as the terminal

    def __init__(self, main: Any):
        super().__init__(main, (self.FULL, self.FULL))

    @property
    def glyphs(self) -> bool:
        """Say whether characters are drawn in place of colours."""
        return self.strips.palette.has_few_colours or self.strips.palette.ascii

    def on_wheeled(self, message: Wheeled) -> None:
        """Zoom with the wheel."""
        message.stop()
        self.pressed("-" if message.by > 0 else "+")


class WhyWindow(Popup):
    """The whole chain of reasons of the focused warp."""

    ANSWERS = "relief"

    def __init__(self, main: Any):
        super().__init__(main, (96, 22))
        self.asked: tuple[int, int] | None = None       # (warp, cycle) whose relief was tried
        self.relief: Any = None

    def answered(self, found: Any) -> None:
        """Show the result of the relief tried here."""
        asked, self.relief = found
        self.asked = asked
        self.paint()

    @property
    def here(self) -> tuple[int, int]:
        """The (warp, cycle) whose chain is shown."""
        return self.main.scene.warp, self.main.scene.cycle

    def below(self, width: int) -> list[Line]:
        """Return the result of a relief, while the chain that named it is shown."""
        if self.relief is None or self.asked != self.here:
            return []
        from rfview.render import relief        # for a fast start: few try one

        return relief.lines(self.relief, width)

    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return the keys for the relief that was tried, or can be tried."""
        if self.relief is not None and self.asked == self.here:
            more = (("F", "both to the end"),) if self.relief.whole is None else ()
            return (*more, ("x", "compare"), ("B", "go there"))
        chain = chain_of(self.main.scene, self.main.scene.warp)
        named = chain is not None and chain.resource is not None and chain.resource.relief
        return (("f", "try the relief"),) if named else ()

    def paint(self) -> None:
        """Paint the window, as high as the chain is long."""
        links, losers = links_of(self.main.scene, self.main.scene.warp)
        width = min(96, self.app.size.width - self.EDGE)
        below = len(self.below(width))
        rows = 2 * len(links) + 4 + bool(losers) + below
        if width < 80:      # sentences wrap
            rows += sum((len(link.text) > width - 6) + (len(link.evidence) > width - 8) for link in links)
        self.wanted = (96, max(10, min(24 + below, rows)))
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the chain with evidence and times."""
        return why.render_popup(self.main.scene, width, height, self.selected, self.below(width), self.keys())

    def count(self) -> int:
        """Return the number of links."""
        return len(links_of(self.main.scene, self.main.scene.warp)[0])

    def pressed(self, token: str) -> None:
        """Choose links by digit, go to one with Enter, try the relief, copy; s and S step with the window open."""
        links, _ = links_of(self.main.scene, self.main.scene.warp)
        if token.isdecimal() and 1 <= int(token) <= len(links):
            self.selected = int(token) - 1
            self.paint()
        elif token == "enter" and links:
            link = links[min(self.selected, len(links) - 1)]
            if link.target is not None:
                self.main.worker.ask(requests.goto, min(link.target.cycle, self.main.scene.last))
                if link.target.bank >= 0:
                    self.main.change(bank=link.target.bank)
            elif link.until >= 0:
                self.main.worker.ask(requests.goto, link.until)
            if 0 <= link.warp < (self.main.scene.now.num_warps if self.main.scene.now else 0):
                self.main.change(warp=link.warp, scroll=0)
            self.dismiss()
        elif token in ("f", "F", "x", "B"):
            self.with_relief(token)
        elif token == "y":
            self.app.copy_to_clipboard(why.as_text(self.main.scene))
            self.main.say("copied the chain as text", "good")
        elif token in STEPS:
            self.step(token)

    def with_relief(self, token: str) -> None:
        """f: fork with the setting that the chain names; then F: run both to the end, x: compare, B: go to the branch."""
        found = self.relief if self.asked == self.here else None
        if token == "f" or found is None:
            self.main.say("")
            self.main.worker.ask(requests.relief, self.here, token == "F")
        elif token == "F":
            self.main.worker.ask(requests.relief, self.here, True)
        elif token == "x":
            self.main.worker.ask(requests.lend_for_comparison, found.branch)
        else:
            self.main.worker.ask(requests.command, f"branch {found.branch}")
            self.dismiss()


class TextWindow(Popup):
    """Lines of text, scrolled with j and k."""

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
        more = "j k scroll   " if len(self.folded) > rows else ""
        return [title(width, self.heading, "", focus=True, right=f"{more}Esc closes"), *fill(shown, width, rows)]

    def count(self) -> int:
        """Return the number of lines as wrapped."""
        return len(self.folded)


class ExplainWindow(TextWindow):
    """Explains the focused item, on the other half of the screen if there is room; updated as time moves."""

    WIDE = 58       # cells

    def __init__(self, main: Any, tell: Callable[[Any, int], list[str]]):
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

    def pressed(self, token: str) -> None:
        """Step with s and S, with the window open."""
        if token in STEPS:
            self.step(token)


def _folded(line: str, room: int) -> list[str]:
    """Return a line wrapped to `room` cells, with its own indentation; the window may have become narrower since."""
    if cell_len(line) <= room:
        return [line]
    margin = " " * (len(line) - len(line.lstrip()))
    parts = textwrap.wrap(line, max(12, room), subsequent_indent=margin, drop_whitespace=True) or [line]
    if max(map(cell_len, parts)) > max(12, room):       # textwrap counts characters, and these are up to two cells wide
        parts = textwrap.wrap(line, max(12, room // 2), subsequent_indent=margin, drop_whitespace=True)
    return parts
