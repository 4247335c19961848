"""The window of what an instruction delayed: WHY turned round, hop by hop, and measured in a run without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rfview.engine.wording import plural
from rfview.keys import Pressed
from rfview.render import after
from rfview.render.text import Line, closes
from rfview.screens import requests
from rfview.screens.windows.popup import Popup
from rfview.sessions.commands.after import after_text
from rfview.widgets.keyed import Handlers, Words

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.branches.without import Without
    from rfview.sessions.causes.after import After


class AfterWindow(Popup):
    """What stood still for the instruction that holds the focused warp up, and what was late in turn.

    refused: why it cannot be measured, "" as long as nothing is known against it. has_gone: it went to another cycle, so the
    window of causes below it is out of place.
    """

    ANSWERS = "after"
    ABOUT = "after"

    def __init__(self, main: Desk):
        super().__init__(main, (120, 34))
        self.asked = main.scene.warp, main.scene.cycle
        self.found: After | None = None
        self.measured: Without | None = None
        self.error = self.refused = ""
        self.has_gone = False
        main.worker.ask(requests.after, self.asked, False)

    def answered(self, answer: Any) -> None:
        """Show what is known by now."""
        self.found, self.measured, self.error, self.refused = answer
        self.paint()

    def paint(self) -> None:
        """Paint the window, as high as its answer is long."""
        self.wanted = (120, 9 + self.count() + (7 if self.measured is not None or self.error or self.refused else 0))
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the answer, the tree of waits, and what was measured."""
        measure: tuple[tuple[str, str], ...] = (("try_relief", "run on without it"),)
        if self.found is None or self.refused:
            measure = ()
        if self.measured is not None:
            measure = ("search_next", "issue that came late"), ("compare", "compare both runs")
        hints = self.keys.hints(("down", "choose"), ("open", "go to its cycle"), *measure, ("why", "its causes"),
                                ("copy", "copy as text"), "help", "close")
        return after.render(self.main.scene, self.found, self.measured, self.error, self.refused, width, height,
                            self.selected, hints, closes(self.main.scene.key("close")))

    def count(self) -> int:
        """Return the number of waits shown."""
        return len(after.tree(self.found)) if self.found is not None else 0

    def measure(self, pressed: Pressed) -> None:
        """Run on as if the instruction had been over at once."""
        if self.refused:
            self.say(self.refused, "error")
        elif self.measured is None and not self.error:
            self.main.worker.ask(requests.after, self.asked, True)

    def open(self, pressed: Pressed) -> None:
        """Go to the first cycle of the chosen wait, and focus its first warp."""
        if self.found is None and not self.error:
            self.say("still looking for what stood still for it: there is no wait to go to yet")
        if self.found is None or not self.count():
            return
        row = self.found.rows[after.tree(self.found)[min(self.selected, self.count() - 1)][1]]
        self.main.worker.ask(requests.goto, min(row.since, self.main.scene.last))
        self.focus_warp(row.warps[0])
        self.has_gone = True
        self.dismiss()

    def next_late(self, by: int) -> None:
        """Go to the next or previous issue that comes earlier without it; the window stays."""
        if self.measured is None:
            missing = f"which issues came late is not measured{self.keys.tail('try_relief', 'runs on without it')}"
            self.say(self.refused or missing, "error")
            return
        cycles, warps, delays = self.measured.late
        here, shown = self.main.scene.cycle, cycles + 1         # a cycle's state shows what happened in the one before
        at = int(np.searchsorted(shown, here, "right") if by > 0 else np.searchsorted(shown, here) - 1)
        if not 0 <= at < len(shown):
            self.say(f"no {'later' if by > 0 else 'earlier'} issue came late")
            return
        text = (f"w{warps[at]} issues at {cycles[at]:,}, and without {'it' if self.measured.is_certain else 'the delay'} "
                f"{plural(int(delays[at]), 'cycle')} earlier")
        self.main.worker.ask(requests.show, int(shown[at]), int(warps[at]), text)
        self.has_gone = True

    def compare(self, pressed: Pressed) -> None:
        """Compare the run with the one without it."""
        if self.measured is None:
            self.say(self.refused or f"there is no run without it yet{self.keys.tail('try_relief', 'makes one')}", "error")
        else:
            self.main.worker.ask(requests.compare, self.measured.branch)

    def take_away(self, pressed: Pressed) -> None:
        """Copy the answer as text."""
        if self.found is not None:
            scene = self.main.scene
            self.copy(after_text(scene.info, scene.lines, self.found, self.measured), "what it delayed as text")

    HANDLERS: ClassVar[Handlers] = {
        **Popup.HANDLERS, "open": open, "copy": take_away, "try_relief": measure,
        "why": lambda window, pressed: window.dismiss(), "compare": compare,
        "search_next": lambda window, pressed: window.next_late(1),
        "search_previous": lambda window, pressed: window.next_late(-1),
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "go to the chosen wait's first cycle", "copy": "copy as text",
                              "try_relief": "run on as if it had been over at once", "why": "back to its causes",
                              "search_next": "next / previous issue that comes earlier without it",
                              "compare": "compare the run with the one without it"}
