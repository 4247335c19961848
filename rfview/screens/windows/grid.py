"""The base class of windows of values on a grid: as large as the terminal, with a cell in focus and a place in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rfview.keys import Pressed
from rfview.messages import Clicked, Wheeled
from rfview.render.text import Line, Row, fill, title
from rfview.screens import requests
from rfview.screens.windows.popup import STEPS, Popup
from rfview.widgets.keyed import Handlers

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

FULL = 10_000       # cells: as large as the terminal


class GridWindow(Popup):
    """A window that draws values as colours, or as characters; + and - zoom, as does the wheel.

    view: what it shows, None until the worker has answered. READING: what it says until then.
    """

    EDGE = 0
    READING: ClassVar[str] = ""

    def __init__(self, main: Desk, heading: str):
        super().__init__(main, (FULL, FULL))
        self.heading = heading
        self.view: Any = None

    @property
    def glyphs(self) -> bool:
        """Say whether characters are drawn in place of colours."""
        return self.strips.palette.has_few_colours or self.strips.palette.ascii

    @property
    def room(self) -> tuple[int, int]:
        """The window's width and height."""
        return self.app.size.width, self.app.size.height - 2

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the grid, or a note that it is being read."""
        if self.view is not None:
            return self.painted(width, height)
        scene = self.main.scene
        note = scene.message if scene.message_kind == "error" else self.READING
        return [title(width, self.heading, focus=True, right=self.keys.words(("close", "closes"))),
                *fill([Row(width).add(f" {note}", "dim").line()], width, height - 1)]

    def painted(self, width: int, height: int) -> list[Line]:
        """Return the grid's lines."""
        raise NotImplementedError

    def on_wheeled(self, message: Wheeled) -> None:
        """Zoom with the wheel."""
        message.stop()
        self.act(Pressed("zoom_out" if message.by > 0 else "zoom_in"))

    def on_clicked(self, message: Clicked) -> None:
        """Focus the clicked cell."""
        message.stop()
        if self.view is not None:
            self.choose_at(message.x, message.y)

    def choose_at(self, x: int, y: int) -> None:
        """Focus the cell drawn at a place of the window, if one is."""
        raise NotImplementedError

    def leave(self, cycle: int, warp: int, **facts: Any) -> None:
        """Close the window and go to a cycle (-1: stay), with a warp in focus if one is known."""
        if cycle >= 0:
            self.main.worker.ask(requests.goto, cycle)
        self.focus_warp(warp, **facts)
        self.dismiss()

    HANDLERS: ClassVar[Handlers] = {
        **Popup.HANDLERS, **STEPS,
        "begin": lambda window, pressed: window.main.worker.ask(requests.goto, "start"),
        "end": lambda window, pressed: window.main.worker.ask(requests.goto, "end"),
    }
