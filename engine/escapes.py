"""Makes text from files safe to print: whatever a terminal would obey or hide is shown as an escape.

Recordings, PTX, launch files and file names may contain any character. All output (screens, standard output and
error, exports, the clipboard) goes through `visible`, so that none of it moves a cursor, sets a title or reverses a line.
"""

from __future__ import annotations

from typing import Any


def visible(text: str, keep: str = "") -> str:
    r"""Return the text with every character that is not printable escaped, except those in `keep`.

    Not printable are controls (C0, DEL, C1), directional and other invisible marks, line separators, lone surrogates and
    unassigned code points. ASCII controls are written as in Python (\x1b, \n), all others as in JSON (\u202e; two escapes
    beyond the basic plane): a line of JSON, which never contains the former, stays valid.
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
    """Return lists, tuples, dictionaries and records with every text in them made visible; other values unchanged."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {visible_in(key): visible_in(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [visible_in(value) for value in data]
    if hasattr(data, "__struct_fields__"):      # a record of msgspec, which every start of rfview would import
        return type(data)(**{name: visible_in(getattr(data, name)) for name in data.__struct_fields__})
    return data
