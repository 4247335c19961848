"""The window of a check: its findings, and a key that goes to the cycle of one."""

from __future__ import annotations

from typing import Any

from rfview.engine.check.findings import Findings
from rfview.render import findings
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.popup import Popup


class FindingsWindow(Popup):
    """The findings of a check of the run. data: the JSON form of Findings."""

    PAGE = 10

    def __init__(self, main: Any, data: dict[str, Any]):
        self.found = Findings.of_dict(data)
        super().__init__(main, (116, 11 + max(4, min(16, len(self.found.found)))))
        cycles = [one.cycle for one in self.found.found]
        self.selected = max(0, sum(cycle <= main.scene.cycle for cycle in cycles) - 1)

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the visible findings, and the chosen one in full."""
        return findings.render(self.found, self.selected, self.main.scene.cycle, width, height)

    def count(self) -> int:
        """Return the number of findings."""
        return len(self.found.found)

    def pressed(self, token: str) -> None:
        """Go to a finding or to the access with which it conflicts, copy."""
        if token in ("enter", "o") and self.found.found:
            one = self.found.found[self.selected]
            if token == "o" and one.other_cycle < 0:
                self.main.say("this finding has no other access", "error")
                return
            self.main.worker.ask(requests.goto, one.cycle if token == "enter" else one.other_cycle)
            if token == "enter":
                self.main.change(warp=one.warp, scroll=0)
            self.dismiss()
        elif token == "y" and self.found.found:
            self.app.copy_to_clipboard("\n".join(one.as_text() for one in self.found.found))
            self.main.say("copied the findings as text", "good")
