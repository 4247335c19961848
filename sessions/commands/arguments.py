"""The arguments of debugger commands, read from their text; `what` names the command in the InputError of a wrong one."""

from __future__ import annotations

from rfview.engine.errors import InputError


def count(text: str, what: str) -> int:
    """Return an optional positive count, default 1."""
    if not text:
        return 1
    try:
        count = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        count = 0
    if count < 1:
        raise InputError(f"{what} {text}: expected a whole number of at least 1")
    return count


def number(text: str, what: str) -> int:
    """Return a whole number, decimal or 0x..., raising InputError otherwise."""
    try:
        return int(text.replace(",", "").replace("_", ""), 0)
    except ValueError:
        raise InputError(f"{what} {text}: expected a whole number") from None


def needed(text: str, what: str) -> str:
    """Return an argument that may not be left out."""
    if not text:
        raise InputError(f"{what}: its argument is missing")
    return text
