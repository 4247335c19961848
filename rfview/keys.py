"""Keys into actions: counts, sequences such as gg or ]s, letters for marks; and keys typed to filter a list."""

from __future__ import annotations

from dataclasses import dataclass

from rfview.actions import ACTIONS, ANY, BY_NAME, NO_ACTION, tokens_of

MAX_LETTERS = 60       # of a filter


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

    def finds(self, *texts: str) -> bool:
        """Return whether the texts contain every word typed."""
        whole = " ".join(texts).lower()
        return all(word in whole for word in self.text.lower().split())


class KeyReader:
    """Turns keys into actions: counts, sequences such as gg or ]s, and letters for marks."""

    def __init__(self, keymap: dict[str, str] | None = None):
        """keymap: key sequence -> action name, which overrides the table; "none" disables a key."""
        self.own = dict(keymap or {})
        self.table: dict[tuple[str, ...], str] = {}
        for action in ACTIONS:
            for key in action.keys:
                self.table[tokens_of(key)] = action.name
        for key, name in self.own.items():
            if name == NO_ACTION:
                self.table.pop(tokens_of(key), None)
                continue
            if name not in BY_NAME:
                raise ValueError(f"keymap: no action {name!r}")
            self.table[tokens_of(key)] = name
        self.prefixes = {keys[:length] for keys in self.table for length in range(1, len(keys))}
        self.pending: tuple[str, ...] = ()
        self.digits = ""

    @property
    def shown(self) -> str:
        """The keys typed so far of an unfinished sequence."""
        return self.digits + "".join(self.pending)

    def reset(self) -> None:
        """Forget an unfinished sequence."""
        self.pending, self.digits = (), ""

    def feed(self, token: str) -> Pressed | None:
        """Take one key; return the action of a complete sequence, None if it is incomplete or unknown."""
        if not self.pending and token.isdecimal() and len(token) == 1 and (self.digits or token != "0"):
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
    """Return the token of a key event: the character if it is printable, else Textual's key name."""
    if character and len(character) == 1 and character.isprintable() and character != " " and not key.startswith(
        ("alt+", "ctrl+")
    ):
        return character
    return key
