"""Every action by name in Textual's command palette."""

from __future__ import annotations

import re
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from rfview.actions import ACTIONS, Action, key_label
from rfview.messages import Chosen

# these need a letter after them, so they are left to their keys
NEED_A_LETTER = frozenset({"mark", "goto_mark", "panel"})


class ActionProvider(Provider):
    """Offers the table of actions.py."""

    def _names(self) -> list[tuple[str, Action]]:
        return [(f"{action.command or action.name.replace('_', ' ')}  {key_label(action.keys[0])}", action)
                for action in ACTIONS if action.name not in NEED_A_LETTER]

    def _help(self, action: Action) -> str:
        """Return the sentence; of a pair's only the half that this action is."""
        return re.sub(r" / [\w']+", "", action.sentence, count=1) if action.reverse else action.sentence

    def _run(self, name: str) -> None:
        self.app.main.post_message(Chosen(name))  # type: ignore[attr-defined]

    async def discover(self) -> Hits:
        """Offer all of them."""
        for text, action in self._names():
            yield DiscoveryHit(text, partial(self._run, action.name), help=self._help(action))

    async def search(self, query: str) -> Hits:
        """Offer those that match."""
        matcher = self.matcher(query)
        for text, action in self._names():
            score = matcher.match(f"{text} {action.sentence}")
            if score > 0:
                yield Hit(score, matcher.highlight(text), partial(self._run, action.name), help=self._help(action))
