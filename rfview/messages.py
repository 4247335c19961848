"""Messages between the session worker, the panels and the screen."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from rfview.render.scene import Scene


class Arrived(Message):
    """The session worker has arrived at a cycle; this replaces earlier arrivals that have not been drawn yet.

    warp: to bring into focus, None for no warp in particular.
    """

    def __init__(self, scene: Scene, warp: int | None = None):
        super().__init__()
        self.scene, self.warp = scene, warp
        self.keeps_message = False

    def keep(self) -> Arrived:
        """Leave the event row as it is: nothing has moved."""
        self.keeps_message = True
        return self

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Arrived) and not message.keeps_message


class Busy(Message):
    """A long move is in progress. text: the badge ("seeking 62 %"), "" when it is over."""

    def __init__(self, text: str, detail: str = ""):
        super().__init__()
        self.text, self.detail = text, detail

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Busy)


class Notice(Message):
    """A message for the event row. kind: info | error | good. lines: more than one open a window."""

    def __init__(self, text: str, kind: str = "info", lines: tuple[str, ...] = ()):
        super().__init__()
        self.text, self.kind, self.lines = text, kind, lines


class Answered(Message):
    """A requested table. kind: statistics | trace | heat ... data: an object of sessions/, or its JSON form."""

    def __init__(self, kind: str, data: Any, text: str = ""):
        super().__init__()
        self.kind, self.data, self.text = kind, data, text


class Chosen(Message):
    """An action was chosen with the mouse or in the palette."""

    def __init__(self, action: str, count: int | None = None, argument: str = ""):
        super().__init__()
        self.action, self.count, self.argument = action, count, argument


class Clicked(Message):
    """A panel was clicked at a place inside it. double: it was a double click."""

    def __init__(self, panel: str, x: int, y: int, double: bool = False):
        super().__init__()
        self.panel, self.x, self.y, self.double = panel, x, y, double


class Brushed(Message):
    """The mouse was dragged over the overview, from one column to another."""

    def __init__(self, start: int, end: int):
        super().__init__()
        self.start, self.end = start, end

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Brushed)


class Wheeled(Message):
    """The wheel turned over a panel. by: +1 down, -1 up."""

    def __init__(self, panel: str, by: int):
        super().__init__()
        self.panel, self.by = panel, by


class Failed(Message):
    """The session could not be opened."""

    def __init__(self, text: str, error: Any = None):
        super().__init__()
        self.text, self.error = text, error
