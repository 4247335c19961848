"""The start screen: its lists are filled by a thread after the first frame; it returns what was chosen."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from rfview.ending import Ended
from rfview.keys import token_of
from rfview.messages import Clicked, Wheeled
from rfview.palette import Palette, choose_theme
from rfview.render.text import Row, title
from rfview.screens.host import HostApp
from rfview.start import items, page
from rfview.start.items import Item
from rfview.start.page import LISTS, Page, places
from rfview.widgets.guarded import Guarded
from rfview.widgets.panel import PanelView, StripCache

MOVES = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 8, "pageup": -8, "g": -10_000, "home": -10_000, "G": 10_000,
         "end": 10_000}


class Found(Message):
    """A list has been found, or one of its items read. number: of the item, -1 for the whole list."""

    def __init__(self, name: str, found: Any, number: int = -1):
        super().__init__()
        self.name, self.found, self.number = name, found, number


class StartScreen(Guarded, Screen[None]):
    """Four lists. chosen: the command line chosen with Enter, None if none has been."""

    def __init__(self, strips: StripCache, bundled: Path, shown: Page):
        super().__init__()
        self.strips, self.bundled, self.page = strips, bundled, shown
        self.chosen: tuple[str, ...] | None = None
        self.helping = self.over = False

    def compose(self) -> ComposeResult:
        yield PanelView(self.strips, "start")

    def on_mount(self) -> None:
        self.paint()
        threading.Thread(target=self._look, name="start", daemon=True).start()

    def on_unmount(self) -> None:
        self.over = True

    def on_resize(self, event: events.Resize) -> None:
        self.paint()

    def _look(self) -> None:
        """Fill the lists, then read recordings one by one; runs in a thread."""
        here = Path.cwd()
        made: tuple[tuple[str, Callable[[], list[Item]]], ...] = (
            ("RECORDINGS", lambda: items.recordings(here, self.bundled)), ("LESSONS", items.lessons),
            ("KERNELS", lambda: items.kernels(self.page.design)), ("YOUR OWN", lambda: items.own(here)))
        for name, make in made:
            self._tell(Found(name, make()))
        for number, item in enumerate(list(self.page.lists["RECORDINGS"])):
            if self.over:
                return
            self._tell(Found("RECORDINGS", items.read(item), number))

    def _tell(self, message: Found) -> None:
        if message.number < 0:
            self.page.lists[message.name] = message.found       # so that the thread continues with the same items
        if self.is_running:
            self.post_message(message)

    def on_found(self, message: Found) -> None:
        message.stop()
        if message.number >= 0:
            self.page.lists[message.name][message.number] = message.found
        self.paint()

    def say(self, text: str, kind: str = "dim") -> None:
        """Show a message until the next key."""
        self.page.message, self.page.kind = text, {"error": "bad", "good": "good"}.get(kind, "text")
        self.paint()

    def paint(self) -> None:
        """Show the lists."""
        width, height = self.app.size
        if width <= 0 or height <= 0 or not self.query(PanelView):
            return
        view = self.query_one(PanelView)
        view.place(0, 0, width, height)
        lines = page.lines(self.page, width, height)
        if self.helping:
            text = [Row(width, "popup").add(f"  {line}", "text").line() for line in page.HELP]
            lines[2 : 2 + len(text) + 1] = [title(width, "KEYS", "any key closes", focus=True), *text]
        view.show(lines[:height])

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        token, now = token_of(event.key, event.character), self.page
        now.message = ""
        if self.helping:
            self.helping = False
        elif now.filter.is_typing:
            now.filter.feed(token)
            if not now.shown(now.focus):        # move the focus to a list that still has items
                now.focus = next((name for name in LISTS if now.shown(name)), now.focus)
        elif token == "?":
            self.helping = True
        elif token in ("escape", "q", "ctrl+c", "ctrl+q"):
            if token == "escape" and now.filter.text:
                now.filter.text = ""
            else:
                self.app.exit(0)
        elif token in ("tab", "shift+tab", "right", "left"):
            by = 1 if token in ("tab", "right") else -1
            now.focus = LISTS[(LISTS.index(now.focus) + by) % len(LISTS)]
        elif token in MOVES:
            self._move(MOVES[token])
        elif token == "/":
            now.filter.is_typing = True
        elif token == "d":
            self._turn_design()
        elif token == "enter":
            self._open()
        else:
            now.message, now.kind = f"{token} does nothing here; ? lists the keys", "text"
        self.paint()

    def _move(self, by: int) -> None:
        now = self.page
        last = len(now.shown(now.focus)) - 1
        now.chosen[now.focus] = max(0, min(last, min(now.chosen[now.focus], last) + by))

    def _turn_design(self) -> None:
        from rfview.engine import plugin as designs

        names = list(designs.names())
        now = self.page
        now.design = names[(names.index(now.design) + 1) % len(names)] if now.design in names else names[0]
        now.lists["KERNELS"] = items.kernels(now.design)

    def _open(self) -> None:
        item = self.page.item
        if item is None or not item.words:
            self.page.message, self.page.kind = ("" if item is None else item.said), "text"
            return
        self.chosen = item.words
        self.app.exit(0)

    def on_clicked(self, message: Clicked) -> None:
        message.stop()
        width, height = self.app.size
        for name, (x, y, wide, high) in places(width, height).items():
            if x <= message.x < x + wide and y <= message.y < y + high:
                self.page.focus = name
                number = page.number_at(self.page, name, wide, high, message.y - y)
                if number is not None:
                    was, self.page.chosen[name] = self.page.chosen[name], number
                    if message.double and was == number:
                        self._open()
        self.paint()

    def on_wheeled(self, message: Wheeled) -> None:
        message.stop()
        self._move(message.by)
        self.paint()


class StartApp(HostApp):
    """The start screen as a Textual app."""

    def __init__(self, bundled: Path, shown: Page, theme: str | None = None, ascii_only: bool = False):
        super().__init__(Palette(choose_theme(theme, dict(os.environ)), ascii_only))
        self.main: StartScreen = StartScreen(self.strips, bundled, shown)


def choose(bundled: Path, shown: Page, *, ascii_only: bool = False) -> tuple[str, ...] | None:
    """Show the start screen; return the chosen command line, None if the user quit. Raises Ended after a signal."""
    app = StartApp(bundled, shown, ascii_only=ascii_only)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.return_code:
        raise Ended(app.return_code)
    return app.main.chosen
