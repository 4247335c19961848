"""The start screen: its lists are filled by a thread after the first frame; it returns what was chosen."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from rfview.ending import Ended
from rfview.keys import Pressed
from rfview.messages import Clicked, Wheeled
from rfview.palette import Palette, choose_theme
from rfview.screens.host import HostApp
from rfview.start import items, page
from rfview.start.items import Item
from rfview.start.page import LISTS, Page, places
from rfview.widgets.keyed import HELP, Handlers, Keyed, Words, pages, rows
from rfview.widgets.panel import PanelView, StripCache


class Listed(Message):
    """A list has been found, or one of its items read. number: of the item, -1 for the whole list."""

    def __init__(self, name: str, items: Any, number: int = -1):
        super().__init__()
        self.name, self.items, self.number = name, items, number


class StartScreen(Keyed, Screen[None]):
    """Four lists. chosen: the command line chosen with Enter, None if none has been."""

    ABOUT = "start screen"

    def __init__(self, strips: StripCache, bundled: Path, shown: Page):
        super().__init__()
        self.strips, self.bundled, self.page = strips, bundled, shown
        self.chosen: tuple[str, ...] | None = None
        self.over = False

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
            self._tell(Listed(name, make()))
        for number, item in enumerate(list(self.page.lists["RECORDINGS"])):
            if self.over:
                return
            self._tell(Listed("RECORDINGS", items.read(item), number))

    def _tell(self, message: Listed) -> None:
        if message.number < 0:
            self.page.lists[message.name] = message.items       # so that the thread continues with the same items
        if self.is_running:
            self.post_message(message)

    def on_listed(self, message: Listed) -> None:
        message.stop()
        if message.number >= 0:
            self.page.lists[message.name][message.number] = message.items
        self._follow_letters()      # typed before this list was there
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
        view.show(page.lines(self.page, width, height, self.keys))

    @property
    def shown_message(self) -> str:
        """The message."""
        return self.page.message

    def key(self, key: str, character: str | None) -> None:
        """Take a key; it ends the message of the one before."""
        self.page.message = self.keys.shown
        super().key(key, character)
        self.paint()

    def filtered(self, token: str) -> bool:
        """Narrow the lists by what is typed; Enter also opens what is chosen."""
        now = self.page
        is_used = now.filter.is_typing and now.filter.feed(token)
        if is_used:
            self._follow_letters()
            if token == "enter":
                self.open()
        return is_used

    def _follow_letters(self) -> None:
        """Give the keys to a list that has matches of the typed letters, if the one that has them has none."""
        now = self.page
        if now.filter.text and not now.shown(now.focus):
            now.focus = next((name for name in LISTS if now.shown(name)), now.focus)

    def narrow(self, pressed: Pressed) -> None:
        """Begin to type."""
        self.page.filter.is_typing = True

    def leave(self, pressed: Pressed) -> None:
        """End the search, else the program."""
        if pressed.action == "close" and self.page.filter.text:
            self.page.filter.text = ""
        else:
            self.app.exit(0)

    def turn(self, by: int) -> None:
        """Give the keys to another list."""
        self.page.focus = LISTS[(LISTS.index(self.page.focus) + by) % len(LISTS)]

    def move(self, by: int) -> None:
        """Choose another item of the list."""
        now = self.page
        last = len(now.shown(now.focus)) - 1
        now.chosen[now.focus] = max(0, min(last, min(now.chosen[now.focus], last) + by))

    def turn_design(self, pressed: Pressed) -> None:
        """Run kernels on the next design."""
        from rfview.engine import plugin as designs

        names = list(designs.names())
        now = self.page
        now.design = names[(names.index(now.design) + 1) % len(names)] if now.design in names else names[0]
        now.lists["KERNELS"] = items.kernels(now.design)

    def open(self, pressed: Pressed | None = None) -> None:
        """Leave with the chosen item's command line."""
        item = self.page.item
        if item is None or not item.words:
            self.page.message, self.page.kind = ("" if item is None else item.effect), "text"
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
                        self.open()
        self.paint()

    def on_wheeled(self, message: Wheeled) -> None:
        message.stop()
        self.move(message.by)
        self.paint()

    HANDLERS: ClassVar[Handlers] = {
        "down": rows(1), "up": rows(-1), **pages(8), "next_list": lambda screen, pressed: screen.turn(1),
        "previous_list": lambda screen, pressed: screen.turn(-1), "open": open, "turn_design": turn_design, "search": narrow,
        **HELP, "close": leave, "quit": leave,
    }
    WORDS: ClassVar[Words] = {
        "down": "choose in a list", "open": "open the recording, take the lesson, run the kernel; leaving comes back here",
        "next_list": "the next list; a click chooses, a second one opens",
        "search": "letters narrow all lists; ↑ ↓ Tab choose, Enter opens, Esc ends it", "help": "these keys",
        "close": "end the search, else leave rfview", "quit": "leave rfview",
    }


class StartApp(HostApp):
    """The start screen as a Textual app."""

    def __init__(self, bundled: Path, shown: Page, theme: str | None = None, ascii_only: bool = False,
                 own_keys: Mapping[str, str] | None = None):
        super().__init__(Palette(choose_theme(theme, dict(os.environ)), ascii_only), own_keys)
        self.main: StartScreen = StartScreen(self.strips, bundled, shown)


def choose(bundled: Path, shown: Page, *, ascii_only: bool = False,
           own_keys: Mapping[str, str] | None = None) -> tuple[str, ...] | None:
    """Show the start screen; return the chosen command line, None if the user quit. Raises Ended after a signal."""
    app = StartApp(bundled, shown, ascii_only=ascii_only, own_keys=own_keys)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.return_code:
        raise Ended(app.return_code)
    return app.main.chosen
