"""Keys into actions: counts, sequences such as gg or ]s, letters for marks; keys typed to filter a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rfview.actions import ACTIONS, ANY, BY_NAME, LOCAL, MAIN, NO_ACTION, key_label, tokens_of

MAX_LETTERS = 60       # of a filter
FUZZY = 3              # letters from which a filter also finds names that have them with others between
WORDS = re.compile(r"[\W_]+")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Pressed:
    """A complete key sequence: the action, the count before it (None: none) and the letter typed for it."""

    action: str
    count: int | None = None
    argument: str = ""


@dataclass
class Filter:
    """A list's filter, typed key by key. is_typing: keys go to the filter."""

    text: str = ""
    is_typing: bool = False

    def feed(self, token: str) -> bool:
        """Take a key while typing: Enter keeps the text, Esc drops it; return whether the key was used."""
        if token in ("enter", "escape", "ctrl+c"):
            self.is_typing, self.text = False, self.text if token == "enter" else ""
        elif token in ("backspace", "ctrl+u"):
            self.text = self.text[:-1] if token == "backspace" else ""
        elif token == "space" or len(token) == 1:
            self.text = (self.text + (" " if token == "space" else token))[:MAX_LETTERS]
        else:
            return False
        return True

    @property
    def shown(self) -> str:
        """The filter as a title shows it, "" if there is none."""
        return f"/{self.text}{'▏' if self.is_typing else ''}" if self.is_typing or self.text else ""

    def rank(self, name: str, *texts: str) -> int | None:
        """Return how well what is typed fits a name and the texts about it, 0 best; None if it does not.

        The name itself, its beginning, a word of it, a part of it, every word typed anywhere, and last the name's letters in
        this order (Textual's fuzzy search).
        """
        typed, low = self.text.lower().strip(), name.lower()
        if typed in (low, ""):
            return 0
        if low.startswith(typed):
            return 1
        if any(word.startswith(typed) for word in WORDS.split(low)):
            return 2
        if typed in low:
            return 3
        whole = " ".join((name, *texts)).lower()
        if all(word in whole for word in typed.split()):
            return 4
        from textual.fuzzy import FuzzySearch      # start-up: few searches misspell a name

        return 5 if len(typed) >= FUZZY and FuzzySearch().match(typed, low)[0] > 0 else None

    def ranked(self, rows: Iterable[Row], texts: Callable[[Row], Iterable[str]]) -> list[Row]:
        """Return the rows that fit, the best first. texts: a row's name, then what is about it."""
        fits = [(rank, row) for row in rows if (rank := self.rank(*texts(row))) is not None]
        return [row for _, row in sorted(fits, key=lambda one: one[0])]


class Keys:
    """The keys of one screen's actions, by what is typed and as people write them."""

    def __init__(self, own: Mapping[str, str] | None = None, names: Collection[str] = MAIN):
        """own: key sequence -> action name, before the table's; "none" disables a key. names: the screen's actions."""
        self.own = dict(own or {})
        self.table: dict[tuple[str, ...], str] = {}
        there = [action for action in ACTIONS if action.name in names]
        for action in sorted(there, key=lambda action: action.category in LOCAL):
            self.table |= dict.fromkeys(map(tokens_of, action.keys), action.name)
        for key, name in self.own.items():
            if name == NO_ACTION:
                self.table.pop(tokens_of(key), None)
            elif name not in BY_NAME:
                raise ValueError(f"keymap: no action {name!r}")
            elif name in names:
                self.table[tokens_of(key)] = name
        self.prefixes = {keys[:length] for keys in self.table for length in range(1, len(keys))}

    def typed(self, name: str) -> list[str]:
        """Return the keys of an action as the table writes them, the user's own first; [] if it has none here."""
        mine = [key for key, action in self.own.items() if action == name]
        return [key for key in (*mine, *(key for key in BY_NAME[name].keys if key not in mine))
                if self.table.get(tokens_of(key)) == name and not self._is_hidden(tokens_of(key))]

    def _is_hidden(self, keys: tuple[str, ...]) -> bool:
        """Say whether a shorter sequence of the table begins these keys, so that they are never read to their end."""
        return any(keys[:length] in self.table for length in range(1, len(keys)))

    def keys_of(self, name: str) -> list[str]:
        """Return the keys of an action as people write them."""
        return [key_label(key) for key in self.typed(name)]

    def first(self, name: str) -> str:
        """Return the key to show for an action alone, "" without any."""
        return next(iter(self.keys_of(name)), "")

    def tail(self, names: str, words: str) -> str:
        """Return the end of a sentence about the keys of some actions, "; c and C go there"; "" if they have none."""
        keys = " and ".join(filter(None, map(self.first, names.split())))
        return f"; {keys} {words}" if keys else ""

    def label(self, name: str, at: int = 0) -> str:
        """Return the keys to show for an action and its reverse: "s S", "" without any; at: which of the keys of each.

        name: of one action, or of several, which are then shown without their reverses.
        """
        names = name.split() if " " in name else [name, *filter(None, [BY_NAME[name].reverse])]
        return " ".join(keys[min(at, len(keys) - 1)] for keys in map(self.keys_of, names) if keys)

    def hints(self, *wanted: str | tuple[str, str] | tuple[str, str, int]) -> list[tuple[str, str]]:
        """Return (keys, word) of actions that have keys. wanted: an action, or with its word here, and which key to show."""
        rows = [(one, BY_NAME[one].hint) if isinstance(one, str) else one for one in wanted]
        return [(keys, word) for name, word, *at in rows if (keys := self.label(name, *at))]

    def words(self, *wanted: str | tuple[str, str] | tuple[str, str, int]) -> str:
        """Return the same as text at the right of a title."""
        return "   ".join(f"{keys} {word}" for keys, word in self.hints(*wanted))


class KeyReader(Keys):
    """Turns the keys of one screen into its actions: counts, sequences such as gg or ]s, and letters for marks."""

    pending: tuple[str, ...] = ()
    digits = ""

    @property
    def shown(self) -> str:
        """The keys typed so far of an unfinished sequence."""
        return self.digits + "".join(self.pending)

    def reset(self) -> None:
        """Forget an unfinished sequence."""
        self.pending, self.digits = (), ""

    def feed(self, token: str) -> Pressed | None:
        """Take one key; return the action of a complete sequence, None if it is incomplete or unknown."""
        is_digit = token.isdecimal() and len(token) == 1
        if not self.pending and is_digit and (self.digits or (token,) not in self.table):
            self.digits = (self.digits + token)[:12]
            return None
        sequence = (*self.pending, token)
        name = self.table.get(sequence)
        argument = ""
        if name is None and self.pending and len(token) == 1 and (*self.pending, ANY) in self.table:
            name, argument = self.table[(*self.pending, ANY)], token
        if name is None and sequence in self.prefixes:
            self.pending = sequence
            return None
        count = int(self.digits) if self.digits else None
        unfinished = self.shown
        self.reset()
        if name is None or (name == "close" and unfinished):
            return None
        if name == "panel":
            argument = token[-1]
        return Pressed(name, count, argument)


def token_of(key: str, character: str | None) -> str:
    """Return the token of a key event: the character if it is printable, else Textual's key name.

    A line feed is Enter: a terminal sends it for what is typed before a screen has set it up.
    """
    if character and len(character) == 1 and character.isprintable() and character != " " and not key.startswith(
        ("alt+", "ctrl+")
    ):
        return character
    return "enter" if key == "ctrl+j" else key
