"""The window of the focused warp's whole chain of reasons, in which a setting that the chain names can be tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rfview.keys import Pressed
from rfview.render import why
from rfview.render.chain import chain_of, links_of
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.popup import STEPS, Popup
from rfview.widgets.keyed import Handlers, Words

if TYPE_CHECKING:
    from rfview.engine.batch.nudge import Chance
    from rfview.sessions.branches.relief import Relief
    from rfview.screens.desk import Desk
    from rfview.screens.windows.after import AfterWindow


class WhyWindow(Popup):
    """The whole chain of reasons of the focused warp."""

    ANSWERS = "relief"
    ABOUT = "why"

    def __init__(self, main: Desk):
        super().__init__(main, (96, 22))
        self.asked: tuple[int, int] | None = None       # (warp, cycle) whose relief was tried
        self.relief: Relief | None = None
        self.chance: Chance | None = None
        self.turned: AfterWindow | None = None

    def answered(self, answer: Any) -> None:
        """Show the result of the relief tried here."""
        asked, self.relief, self.chance = answer
        self.asked = asked
        self.paint()

    @property
    def here(self) -> tuple[int, int]:
        """The (warp, cycle) whose chain is shown."""
        return self.main.scene.warp, self.main.scene.cycle

    def below(self, width: int) -> list[Line]:
        """Return the result of a relief, while the chain that named it is shown."""
        if self.relief is None or self.asked != self.here:
            return []
        from rfview.render import relief  # for a fast start: few try one

        return relief.lines(self.relief, width, self.chance)

    def of_relief(self) -> tuple[str, ...]:
        """Return the actions for the relief that was tried, or can be tried."""
        if self.relief is not None and self.asked == self.here:
            return (*(("run_both",) if self.relief.whole is None else ()), "compare", "go_to_relief")
        chain = chain_of(self.main.scene, self.main.scene.warp)
        named = chain is not None and chain.resource is not None and chain.resource.relief
        return ("try_relief",) if named else ()

    def paint(self) -> None:
        """Paint the window, as high as the chain is long."""
        below = len(self.below(self.wide))
        self.wanted = (96, max(10, min(24, why.rows_wanted(self.main.scene, self.wide)) + below))
        super().paint()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the chain with evidence and times."""
        hints = self.keys.hints(("down", "choose"), *self.of_relief(), ("open", "go to its first cycle"),
                                ("why", "what it delayed"), ("copy", "copy as text"), "close")
        return why.render_popup(self.main.scene, width, height, self.selected, self.below(width), hints)

    def count(self) -> int:
        """Return the number of links."""
        return len(links_of(self.main.scene, self.main.scene.warp)[0])

    def filtered(self, token: str) -> bool:
        """Choose a link by its digit."""
        if is_link := token.isdecimal() and 1 <= int(token) <= self.count():
            self.selected = int(token) - 1
            self.paint()
        return is_link

    def open(self, pressed: Pressed) -> None:
        """Go to the chosen link's first cycle, or to where a setting takes effect, and focus its warp."""
        links, _ = links_of(self.main.scene, self.main.scene.warp)
        if not links:
            return
        link = links[min(self.selected, len(links) - 1)]
        if link.target is not None:
            self.main.worker.ask(requests.goto, min(link.target.cycle, self.main.scene.last))
            if link.target.bank >= 0:
                self.main.change(bank=link.target.bank)
        elif link.until >= 0:
            self.main.worker.ask(requests.goto, link.until)
        self.focus_warp(link.warp)
        self.dismiss()

    def turn(self, pressed: Pressed) -> None:
        """Turn the question round: what the instruction delayed that holds the warp up."""
        from rfview.screens.windows.after import AfterWindow  # for a fast start: few turn it

        self.turned = AfterWindow(self.main)
        self.main.app.push_screen(self.turned, self.turned_back)

    def turned_back(self, result: None) -> None:
        """Close as well if the other window went to another cycle."""
        if self.turned is not None and self.turned.has_gone:
            self.dismiss()

    def with_relief(self, pressed: Pressed) -> None:
        """Fork with the setting that the chain names; then run both to the end, compare them, or go to the branch."""
        relief, name = self.relief if self.asked == self.here else None, pressed.action
        if name in ("try_relief", "run_both") or relief is None:
            self.main.say("")
            self.main.worker.ask(requests.relief, self.here, name == "run_both")
        elif name == "compare":
            self.main.worker.ask(requests.compare, relief.branch)
        else:
            self.main.worker.ask(requests.command, f"branch {relief.branch}")
            self.dismiss()

    HANDLERS: ClassVar[Handlers] = {
        **Popup.HANDLERS, **STEPS, "open": open, "why": turn,
        **dict.fromkeys(("try_relief", "run_both", "compare", "go_to_relief"), with_relief),
        "copy": lambda window, pressed: window.copy(why.as_text(window.main.scene), "the chain as text"),
    }
    WORDS: ClassVar[Words] = {**Popup.WORDS, "open": "go to the chosen link's first cycle", "copy": "copy as text",
                              "why": "turned round: what it delayed", "compare": "compare both runs"}
