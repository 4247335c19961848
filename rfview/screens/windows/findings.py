"""The window of a check: its findings, and a key that goes to the cycle of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rfview.engine.check.findings import Findings
from rfview.keys import Pressed
from rfview.render import findings
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.popup import Popup
from rfview.widgets.keyed import Handlers, Words, pages

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


class FindingsWindow(Popup):
    """The findings of a check of the run. data: the JSON form of Findings."""

    ABOUT = "findings"

    def __init__(self, main: Desk, data: dict[str, Any]):
        self.findings = Findings.of_dict(data)
        super().__init__(main, (116, 11 + max(4, min(16, len(self.findings.found)))))
        cycles = [one.cycle for one in self.findings.found]
        self.selected = max(0, sum(cycle <= main.scene.cycle for cycle in cycles) - 1)

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the visible findings, and the chosen one in full."""
        return findings.render(self.findings, self.selected, self.main.scene.cycle, width, height,
                               self.keys.hints(("open", "go there"), "other_access", "copy", "close"))

    def count(self) -> int:
        """Return the number of findings."""
        return len(self.findings.found)

    def open(self, pressed: Pressed) -> None:
        """Go to the chosen finding, or to the access with which it conflicts."""
        if not self.findings.found:
            return
        one = self.findings.found[self.selected]
        if pressed.action == "open":
            self.main.worker.ask(requests.goto, one.cycle)
            self.main.change(warp=one.warp, scroll=0)
        elif one.other_cycle < 0:
            self.main.say("this finding has no other access", "error")
            return
        else:
            self.main.worker.ask(requests.goto, one.other_cycle)
        self.dismiss()

    def copy_all(self, pressed: Pressed) -> None:
        """Copy all findings."""
        if self.findings.found:
            self.copy("\n".join(one.as_text() for one in self.findings.found), "the findings as text")

    HANDLERS: ClassVar[Handlers] = {"open": open, "other_access": open, "copy": copy_all, **Popup.HANDLERS, **pages(10)}
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "go to the finding", "copy": "copy all findings"}
