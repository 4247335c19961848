"""Messages between the thread that moves in time, the panels and the screen."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from rfview.render.scene import Scene


class Arrived(Message):
    """The session worker has landed on a cycle; a later landing makes an earlier one that was not drawn yet superfluous.

    warp: the one that it is about, which comes into focus; None for none in particular.
    """

    def __init__(self, scene: Scene, warp: int | None = None):
        super().__init__()
        self.scene, self.warp = scene, warp
        self.keeps_message = False

    def keep(self) -> Arrived:
        """Let the event row keep what it says: nothing has moved."""
        self.keeps_message = True
        return self

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Arrived) and not message.keeps_message


class Busy(Message):
    """A long move goes on. text: the badge ("seeking 62 %"), "" when it is over."""

    def __init__(self, text: str, detail: str = ""):
        super().__init__()
        self.text, self.detail = text, detail

    def can_replace(self, message: Message) -> bool:
        """Keep only the newest."""
        return isinstance(message, Busy)


class Said(Message):
    """Something for the event row. kind: info | error | good. lines: more than one goes to a window."""

    def __init__(self, text: str, kind: str = "info", lines: tuple[str, ...] = ()):
        super().__init__()
        self.text, self.kind, self.lines = text, kind, lines


class Answered(Message):
    """A table that was asked for. kind: statistics | trace | heat ... data: sessions' own object, or its JSON form."""

    def __init__(self, kind: str, data: Any, text: str = ""):
        super().__init__()
        self.kind, self.data, self.text = kind, data, text


class Chosen(Message):
    """An action was asked for by the mouse or the palette."""

    def __init__(self, action: str, count: int | None = None, argument: str = ""):
        super().__init__()
        self.action, self.count, self.argument = action, count, argument


class Clicked(Message):
    """A panel was clicked at a place inside it. double: twice."""

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
