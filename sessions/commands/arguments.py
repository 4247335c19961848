"""Parses the arguments of debugger commands; `what` is the command that an InputError names."""

from __future__ import annotations

import re
from typing import Any

from rfview.engine.errors import InputError
from rfview.engine.wording import whole
from rfview.sessions.commands.verb import VERBS
from rfview.sessions.session import Session
from rfview.sessions.warps import check_warp, parse_warp


def count(text: str, what: str) -> int:
    """Return an optional positive count, default 1."""
    if not text:
        return 1
    try:
        count = whole(text)
    except ValueError:
        count = 0
    if count < 1:
        raise InputError(f"{what} {text}: expected a whole number of at least 1")
    return count


def number(text: str, what: str) -> int:
    """Return a whole number, decimal or 0x..., raising InputError otherwise."""
    try:
        return whole(text, 0)
    except ValueError:
        raise InputError(f"{what} {text}: expected a whole number") from None


def warp(session: Session, text: str, what: str) -> int:
    """Return the number of a warp of the machine, written as 3 or w3, raising InputError otherwise."""
    number = parse_warp(text, what)
    check_warp(number, session.info.num_warps, what)
    return number


def places(text: str, what: str) -> list[str]:
    """Return at most two cycles or marks, raising InputError for more."""
    names = text.split()
    if len(names) > 2:
        raise InputError(f"{what} {text}: expected at most two cycles or marks")
    return names


def settings(pairs: list[str], what: str, expected: str = "KEY=VALUE without blanks") -> dict[str, Any]:
    """Return the values of KEY=VALUE pairs by key, as texts; raises InputError, which says what was expected."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise InputError(f"{what}: {pair}: expected {expected}")
        values[key] = value
    return values


def condition(session: Session, text: str) -> str:
    """Return a typed condition; raises InputError for anything else, such as a constant."""
    if text:
        session.expression(text).check_condition()
    return text


def needed(text: str, what: str) -> str:
    """Return a mandatory argument of the command `what`."""
    if not text:
        entry = VERBS[what]
        model = re.match(r"\(as (.+)\)", entry.signature)
        signature = VERBS[model[1]].signature if model else entry.signature
        raise InputError(f"{what}: expected `{what} {signature}`: {entry.help}")
    return text


def warp_of_last_stop(session: Session) -> int | None:
    """Return the warp that the last move stopped for, or the first that waits for its event; None if there is none.

    None as well once the cursor has moved on.
    """
    stop = session.memo.get("stop")
    if stop is None or stop.cycle != session.cycle:
        return None
    return stop.warp if stop.warp is not None else next(iter(stop.waiting), None)
