"""The window of breakpoints, watchpoints and marks: switch, remove, add, and go to what they stop at."""

from __future__ import annotations

from typing import Any

from rfview.render import breaks
from rfview.render.text import Line, hint_row
from rfview.screens import requests
from rfview.screens.windows.popup import STEPS, Popup

HINTS = (("a", "add"), ("w", "watch"), ("Space", "on/off"), ("Enter", "next"), ("Del", "remove"), ("l", "long stall"),
         ("o", "once"), ("i", "condition"), ("+ -", "skip hits"), ("u", "unbalanced"), ("c C", "continue ±"),
         ("Esc", "close"))


class BreaksWindow(Popup):
    """Breakpoints and marks. at: the kind of breakpoint that is chosen first."""

    def __init__(self, main: Any, at: str = ""):
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
        return [*breaks.render(self.main.scene, width, height - 1, self.selected), hint_row(width, HINTS)]

    def count(self) -> int:
        """Return the number of breakpoints and marks."""
        return len(self.main.scene.breakpoints) + len(self.main.scene.marks)

    def type(self, text: str) -> None:
        """Close the window and open the prompt with a command to complete."""
        self.dismiss()
        self.main.call_after_refresh(self.main.open_prompt, ":", text)

    def pressed(self, token: str) -> None:
        """Switch, remove or add a breakpoint or mark, or go there."""
        if token in ("c", "C"):
            self.main.worker.ask(requests.resume, token == "c")
        elif token in STEPS:
            self.step(token)
        elif token in ("a", "w", "l"):
            self.type({"a": "break ", "w": "watch ", "l": "break stall > "}[token])
        elif token == "u":
            self.main.worker.ask(requests.command, "break unbalanced")
        elif self.selected < len(self.main.scene.breakpoints):
            self.pressed_on(self.main.scene.breakpoints[self.selected], token)
        elif token == "enter" and self.selected < self.count():
            self.main.worker.ask(requests.goto, self.main.scene.marks[self.selected - len(self.main.scene.breakpoints)][1])
            self.dismiss()
        elif token in ("delete", "backspace", "x") and self.selected < self.count():
            name = self.main.scene.marks[self.selected - len(self.main.scene.breakpoints)][0]
            self.main.worker.ask(requests.command, f"unmark {name}")
            self.selected = max(0, self.selected - 1)

    def pressed_on(self, point: Any, token: str) -> None:
        """Handle a key that acts on the chosen breakpoint."""
        worker = self.main.worker
        if token == "space":
            worker.ask(requests.switch_breakpoint, point.number)
        elif token == "o":
            worker.ask(requests.break_once, point.number)
        elif token in ("+", "=", "-"):
            worker.ask(requests.ignore_hits, point.number, -1 if token == "-" else 1)
        elif token == "i":
            self.type(f"condition {point.number} {point.condition}")
        elif token in ("delete", "backspace", "x"):
            worker.ask(requests.remove_breakpoint, point.number)
            self.selected = max(0, self.selected - 1)
        elif token == "enter":
            before, after = breaks.nearest(point, self.main.scene.cycle)
            where = after if after is not None else before
            if where is not None:
                worker.ask(requests.goto, where)
                self.dismiss()
