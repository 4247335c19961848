"""The palette: every action by name, narrowed as the user types; Enter does the chosen one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rfview.actions import BY_NAME, MAIN, Action
from rfview.keys import Filter, Pressed
from rfview.messages import Chosen
from rfview.render import choose
from rfview.render.panels import FOCUSABLE, PANELS
from rfview.render.text import Line
from rfview.screens.windows.popup import Popup
from rfview.widgets.keyed import Handlers, pages, rows

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

HINTS = (("up down", "choose", 1), ("open", "do it"), "close")


class PaletteWindow(Popup):
    """The list of actions; letters narrow it, so only named keys move in it."""

    ABOUT = "palette"

    def __init__(self, main: Desk):
        super().__init__(main, (96, 24))
        self.filter = Filter(is_typing=True)
        self.rows = self._matching()

    def _matching(self) -> list[tuple[Action, str, str, str, str]]:
        """Return (action, name, key, sentence, argument) of what fits the letters typed, best first.

        Left out are actions that need a letter, and the palette itself; each panel is a row.
        """
        keys = self.main.keys.keys_of("panel")
        rows = [(BY_NAME["panel"], f"panel {name}", keys[at] if at < len(keys) else "",
                 f"the panel {PANELS[name].title}", name)
                for at, name in enumerate(FOCUSABLE)]
        for action in map(BY_NAME.__getitem__, MAIN):
            name = action.command or action.name.replace("_", " ")
            # of a sentence for two opposite actions, only this action's half
            text = re.sub(r" / [\w']+", "", action.sentence, count=1) if action.reverse else action.sentence
            if not action.takes_letter and action.name != "palette":
                rows.append((action, name, self.main.keys.first(action.name), text, ""))
        rows.sort(key=lambda row: bool(row[4]))         # actions go before panels that fit as well
        return self.filter.ranked(rows, lambda row: (row[1], row[0].name, row[3]))

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the line typed and the actions that match it."""
        return choose.palette([row[1:4] for row in self.rows], self.filter.text, self.selected, width, height,
                              self.keys.hints(*HINTS))

    def count(self) -> int:
        """Return the number of matching actions."""
        return len(self.rows)

    def filtered(self, token: str) -> bool:
        """Narrow the list by a letter; without any, Backspace closes the window."""
        if token in ("enter", "escape", "ctrl+c"):
            return False
        if token == "backspace" and not self.filter.text:
            self.dismiss()
        elif self.filter.feed(token):
            self.rows, self.selected = self._matching(), 0
            self.paint()
        else:
            return False
        return True

    def do(self, pressed: Pressed) -> None:
        """Do the chosen action."""
        self.dismiss()
        if self.rows:
            action, *_, argument = self.rows[self.selected]
            self.main.post_message(Chosen(action.name, None, argument))

    HANDLERS: ClassVar[Handlers] = {"open": do, "next_choice": rows(1), "previous_choice": rows(-1), **Popup.HANDLERS,
                                                 **pages(10)}
