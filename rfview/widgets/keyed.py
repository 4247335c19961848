"""Screens that read keys: the one place where what is typed becomes actions, with the user's own keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from textual import events

from rfview.actions import BY_NAME, key_label
from rfview.keys import KeyReader, Pressed, token_of
from rfview.widgets.guarded import Guarded

Handler = Callable[[Any, Pressed], object]     # of a screen and what was pressed
Handlers = Mapping[str, Handler]
Words = Mapping[str, str]
FAR = 1 << 30       # rows: to the first or the last


class Keyed(Guarded):
    """A mixin, listed before Textual's class: a screen with actions.

    HANDLERS: action name -> function of the screen and of what was pressed. WORDS: what an action does here, if the
    table's sentence does not say it. ABOUT: its name in the glossary, for `K`.
    """

    ABOUT: ClassVar[str] = ""
    HANDLERS: ClassVar[Handlers] = {}
    WORDS: ClassVar[Words] = {}

    @cached_property
    def keys(self) -> KeyReader:
        """The keys of this screen's actions."""
        return KeyReader(self.app.own_keys, self.HANDLERS)

    async def on_key(self, event: events.Key) -> None:
        """Take a key before Textual's own bindings do."""
        event.stop()
        event.prevent_default()
        self.key(event.key, event.character)

    def key(self, key: str, character: str | None) -> None:
        """Take a key."""
        token = token_of(key, character)
        if not self.filtered(token):
            self.read(token)

    def filtered(self, token: str) -> bool:
        """Take a key as a letter of a filter or as a choice; return whether it was one. Most screens have neither."""
        return False

    def read(self, token: str) -> None:
        """Take a key as part of an action's keys: do it once they are complete; show a count, report what means nothing."""
        before = self.keys.shown
        pressed = self.keys.feed(token)
        if pressed is None and self.keys.shown:
            self.say(self.keys.shown)
            return
        if before and self.shown_message == before:
            self.say("")
        if pressed is not None:
            self.act(pressed)
        elif token not in ("escape", "ctrl+c"):
            self.unknown(f"{before} {token}".strip())

    def unknown(self, typed: str) -> None:
        """Report keys without a meaning."""
        key = self.keys.first("help")
        self.say(f"{key_label(typed)} does nothing here" + (f"; {key} lists the keys" if key else ""))

    def act(self, pressed: Pressed) -> None:
        """Do an action."""
        self.HANDLERS[pressed.action](self, pressed)

    @property
    def shown_message(self) -> str:
        """The message that `say` showed."""
        raise NotImplementedError

    def say(self, text: str, kind: str = "info") -> None:
        """Show a message."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """List this screen's keys in a window."""
        self.app.show_text(self.key_lines(), "KEYS")

    def show_about(self) -> None:
        """Explain this screen in a window: how to read it, its columns, their sources."""
        from rfview.glossary import terms  # for a fast start: it collects every docstring that explains a term

        self.app.show_text(tuple(terms.of_window(self.ABOUT, max(terms.LEAST, self.app.size.width - 8))), "WHAT IS THIS")

    def key_lines(self) -> tuple[str, ...]:
        """Return a line for each action: its keys, and what it does here; an action and its reverse share one."""
        reversing = {BY_NAME[name].reverse for name in self.HANDLERS}
        rows = []
        for name in self.HANDLERS:
            both = [one for one in (name, BY_NAME[name].reverse) if one in self.HANDLERS]
            keys = [key for at in (0, 1) for one in both for key in self.keys.keys_of(one)[at : at + 1]]
            if name not in reversing and keys:
                rows.append((" ".join(dict.fromkeys(keys)), self.WORDS.get(name) or BY_NAME[name].sentence))
        wide = max(len(keys) for keys, _ in rows)
        return tuple(f"{keys:<{wide}}  {words}" for keys, words in rows)


def passed_on(*names: str) -> dict[str, Handler]:
    """Return handlers of actions that a window leaves to the main screen below it."""
    return dict.fromkeys(names, lambda window, pressed: window.main.act(pressed))


# for `?` and `K` of a screen that has explanations of its own
HELP: Handlers = {"help": lambda screen, pressed: screen.show_keys(), "explain": lambda screen, pressed: screen.show_about()}


def rows(by: int) -> Handler:
    """Move by a number of rows; a count repeats it."""
    return lambda window, pressed: window.move(by * (pressed.count or 1))


def pages(size: int) -> dict[str, Handler]:
    """Return the actions of a list that is moved through by pages of so many rows, and to its ends."""
    return {"next_page": rows(size), "previous_page": rows(-size), "first_row": rows(-FAR), "last_row": rows(FAR)}
