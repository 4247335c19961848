"""What a terminal sends for a key, and the key events that rfview makes of it: tests type bytes, as people do."""

from __future__ import annotations

from textual import constants, events

from rfview.screens.drivers import InputReader

ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
TILDES = {"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6, "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21,
          "f11": 23, "f12": 24}
FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
SINGLE = {"enter": b"\r", "tab": b"\t", "space": b" ", "escape": b"\x1b", "backspace": b"\x7f", "shift+tab": b"\x1b[Z"}
MODIFIERS = {"shift": 2, "alt": 3, "ctrl": 5}
setattr(constants, "ESCAPE_DELAY", 0.0)  # noqa: B010 (what follows an Esc comes with it here)


def bytes_of(token: str) -> bytes:
    """Return what xterm sends for a key as keys.toml writes it; a letter is itself. Other modifiers than one: KeyError."""
    if token in SINGLE:
        return SINGLE[token]
    modifier, _, name = token.rpartition("+") if len(token) > 1 else ("", "", token)
    number = MODIFIERS[modifier] if modifier else 0
    if name in ARROWS:
        return f"\x1b[1;{number}{ARROWS[name]}".encode() if number else f"\x1b[{ARROWS[name]}".encode()
    if name in FUNCTION:
        return f"\x1b[1;{number}{FUNCTION[name]}".encode() if number else f"\x1bO{FUNCTION[name]}".encode()
    if name in TILDES:
        return f"\x1b[{TILDES[name]};{number}~".encode() if number else f"\x1b[{TILDES[name]}~".encode()
    if modifier == "ctrl":
        return bytes([ord(name) & 0x1F])
    return b"\x1b" * (modifier == "alt") + name.encode()


def typed(sent: bytes) -> list[events.Key]:
    """Return the key events that rfview makes of bytes."""
    reader = InputReader()
    return [message for message in [*reader.feed(sent), *reader.tick()] if isinstance(message, events.Key)]
