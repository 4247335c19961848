"""The window of what would make the whole run end earlier; its runs are simulated while the session worker is idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rfview.keys import Pressed
from rfview.render import study
from rfview.render.text import Line, closes
from rfview.screens import requests
from rfview.screens.windows.popup import Popup
from rfview.widgets.keyed import Handlers, Words

if TYPE_CHECKING:
    from rfview.screens.desk import Desk
    from rfview.sessions.branches.study import Study


class ReliefWindow(Popup):
    """Every setting tried over the whole run, beside the floors and chance."""

    ANSWERS = "study"
    ABOUT = "relief of the whole run"

    def __init__(self, main: Desk):
        super().__init__(main, (120, 34))
        self.study: Study | None = None

    def answered(self, answer: Any) -> None:
        """Show what is known by now."""
        self.study = answer
        self.paint()

    def paint(self) -> None:
        """Paint the window, as high as its answer is long."""
        self.wanted = (120, 14 if not self.count() else 18 + self.count() + study.STATES)
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the answer, the table, and the chosen setting by state."""
        hints = self.keys.hints(("down", "choose"), ("open", "as a branch"), ("copy", "copy as Markdown"), "help", "close")
        return study.render(self.main.scene, self.study, width, height, self.selected, hints,
                            closes(self.main.scene.key("close")))

    def count(self) -> int:
        """Return the number of settings tried so far."""
        return len(self.study.trials) if self.study is not None else 0

    def filtered(self, token: str) -> bool:
        """Choose a setting by its digit."""
        if is_row := token.isdecimal() and 1 <= int(token) <= self.count():
            self.selected = int(token) - 1
            self.paint()
        return is_row

    def open(self, pressed: Pressed) -> None:
        """Run the chosen setting as a branch from cycle 0, up to the cursor, and show it."""
        trials = self.study.trials if self.study is not None else ()
        if not trials:
            return
        trial = trials[min(self.selected, len(trials) - 1)]
        family = self.main.worker.session.family
        name = next(name for number in range(1, 1000) if (name := f"relief{number}") not in family)
        settings = " ".join(f"{change.name}={change.new}" for change in trial.changes)
        self.main.worker.ask(requests.command, f"rerun {name} set {settings}")
        self.dismiss()

    def take_away(self, pressed: Pressed) -> None:
        """Copy the table as Markdown."""
        if self.study is not None:
            self.copy(study.markdown(self.study), "the table as Markdown")

    HANDLERS: ClassVar[Handlers] = {**Popup.HANDLERS, "open": open, "copy": take_away}
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "run the chosen setting as a branch", "copy": "copy as Markdown"}
