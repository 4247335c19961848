"""The palette: every action by name, narrowed as the user types; Enter does the chosen one."""

from __future__ import annotations

import re
from typing import Any

from textual import events

from rfview.actions import ACTIONS, Action, first_label
from rfview.keys import Filter, token_of
from rfview.messages import Chosen
from rfview.render import choose
from rfview.render.text import Line
from rfview.screens.windows.popup import Popup

PAGE = 10
MOVES = {"down": 1, "ctrl+n": 1, "up": -1, "ctrl+p": -1, "pagedown": PAGE, "pageup": -PAGE}


class PaletteWindow(Popup):
    """The list of actions; letters narrow it, so only named keys move in it."""

    def __init__(self, main: Any):
        super().__init__(main, (96, 24))
        self.filter = Filter(is_typing=True)
        self.found = self._found()

    def _found(self) -> list[tuple[Action, str, str, str]]:
        """Return (action, name, key, sentence) of the actions that contain every word typed, best first.

        Left out are those that need a letter, and the palette itself.
        """
        rows = []
        for action in ACTIONS:
            name = action.command or action.name.replace("_", " ")
            # of a sentence for two opposite actions, only this action's half
            text = re.sub(r" / [\w']+", "", action.sentence, count=1) if action.reverse else action.sentence
            is_chosen_here = not action.takes_letter and action.name != "palette"
            if is_chosen_here and self.filter.finds(name, action.name, text):
                rows.append((action, name, first_label(action, self.main.keys.own), text))
        return sorted(rows, key=lambda row: not row[1].startswith(self.filter.text))

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the line typed and the actions that match it."""
        return choose.palette([row[1:] for row in self.found], self.filter.text, self.selected, width, height)

    def count(self) -> int:
        """Return the number of matching actions."""
        return len(self.found)

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        key = token_of(event.key, event.character)
        if key in ("escape", "ctrl+c") or (key == "backspace" and not self.filter.text):
            self.dismiss()
        elif key == "enter":
            self.dismiss()
            if self.found:
                self.main.post_message(Chosen(self.found[self.selected][0].name))
        elif key in MOVES:
            self.move(MOVES[key])
        elif self.filter.feed(key):
            self.found, self.selected = self._found(), 0
            self.paint()
