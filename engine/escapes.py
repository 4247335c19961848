"""Text that comes from files as text alone: what a terminal would obey, or hide, is shown as an escape.

Recordings, PTX, launch files and file names may hold any character. What leaves the program (screens, standard output and
error, exports, the clipboard) goes through `visible`, so that none of it moves a cursor, sets a title or turns a line round.
"""

from __future__ import annotations

from typing import Any


def visible(text: str, keep: str = "") -> str:
    r"""Return a text in which every character that is not printable is an escape, but for those of `keep`.

    Not printable are controls (C0, DEL, C1), directional and other invisible marks, line separators, lone surrogates and
    what Unicode leaves unassigned. Controls of ASCII are written as Python does (\x1b, \n), all others as JSON does
    (\u202e; two escapes beyond the basic plane): a line of JSON, in which the former never stand, stays one.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else escape(char) for char in text)


def escape(char: str) -> str:
    r"""Return a character's escape: \x1b, \n, \u202e, \ud83d\udc4b."""
    code = ord(char)
    if code < 0x20:
        return repr(char)[1:-1]
    if code > 0xFFFF:
        return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def visible_in(data: Any) -> Any:
    """Return lists, tuples and dictionaries with every text in them made visible, keys too; other values as they are."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {visible_in(key): visible_in(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [visible_in(value) for value in data]
    return data
