"""The window of breakpoints, watchpoints and marks: switch, remove, add, and go to what they stop at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rfview.keys import Pressed
from rfview.render import breaks
from rfview.render.text import Line, hint_row
from rfview.screens import requests
from rfview.screens.windows.popup import STEPS, Popup
from rfview.widgets.keyed import Handlers, Words, passed_on

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

HINTS = ("add_break", "add_watch", "switch", ("open", "next"), "remove", "long_stall", "once", "condition", "skip_more",
         "unbalanced", "continue", "close")
TYPED = {"add_break": "break ", "add_watch": "watch ", "long_stall": "break stall > "}     # what the prompt begins with


class BreaksWindow(Popup):
    """Breakpoints and marks. at: the kind of breakpoint that is chosen first."""

    ABOUT = "breakpoints"

    def __init__(self, main: Desk, at: str = ""):
        super().__init__(main, (116, 18))
        points = main.scene.breakpoints
        self.selected = next((index for index, point in enumerate(points) if point.kind == at), 0)

    def paint(self) -> None:
        """Paint the window, as high as its lists are long."""
        watches = sum(point.watch is not None for point in self.main.scene.breakpoints)
        self.wanted = (116, max(9, min(30, self.count() + watches + 7)))
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the list and the keys."""
        return [*breaks.render(self.main.scene, width, height - 1, self.selected), hint_row(width, self.keys.hints(*HINTS))]

    def count(self) -> int:
        """Return the number of breakpoints and marks."""
        return len(self.main.scene.breakpoints) + len(self.main.scene.marks)

    def with_point(self, pressed: Pressed) -> None:
        """Switch, change, remove or go to the chosen breakpoint."""
        worker, points, action = self.main.worker, self.main.scene.breakpoints, pressed.action
        if self.selected >= len(points):
            self.with_mark(action)
            return
        point = points[self.selected]
        if action == "switch":
            worker.ask(requests.switch_breakpoint, point.number)
        elif action == "once":
            worker.ask(requests.break_once, point.number)
        elif action in ("skip_more", "skip_fewer"):
            worker.ask(requests.ignore_hits, point.number, (1 if action == "skip_more" else -1) * (pressed.count or 1))
        elif action == "condition":
            self.type(f"condition {point.number} {point.condition}")
        elif action == "remove":
            worker.ask(requests.remove_breakpoint, point.number)
            self.selected = max(0, self.selected - 1)
        else:
            before, after = breaks.nearest(point, self.main.scene.cycle)
            where = after if after is not None else before
            if where is not None:
                worker.ask(requests.goto, where)
                self.dismiss()

    def with_mark(self, action: str) -> None:
        """Go to the chosen mark, or remove it."""
        if self.selected >= self.count():
            return
        name, cycle = self.main.scene.marks[self.selected - len(self.main.scene.breakpoints)]
        if action == "open":
            self.main.worker.ask(requests.goto, cycle)
            self.dismiss()
        elif action == "remove":
            self.main.worker.ask(requests.command, f"unmark {name}")
            self.selected = max(0, self.selected - 1)

    HANDLERS: ClassVar[Handlers] = {
        **dict.fromkeys(("open", "switch", "once", "condition", "skip_more", "skip_fewer", "remove"), with_point),
        **dict.fromkeys(TYPED, lambda window, pressed: window.type(TYPED[pressed.action])),
        "unbalanced": lambda window, pressed: window.main.worker.ask(requests.command, "break unbalanced"),
        **passed_on("continue", "reverse_continue"), **Popup.HANDLERS, **STEPS,
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "go to its next stop, or to the mark"}
