"""Warps as people write them, 3 or w3, and the sentences about one that the machine lacks or a slot that is empty."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError

WORD = re.compile(r"[wW]?([0-9]{1,9})\Z")


def warp_number(word: str) -> int | None:
    """Return the number of a warp written as 3 or w3, None if the word is no warp."""
    match = WORD.match(word)
    return None if match is None else int(match[1])


def parse_warp(word: str, what: str) -> int:
    """Return the number of a warp written as 3 or w3; raises InputError, which begins with `what`, for other words."""
    number = warp_number(word)
    if number is None:
        raise InputError(f"{what} {word[:80]}: not a warp; expected its number, as 3 or w3")
    return number


def check_warp(warp: int, count: int, what: str = "") -> None:
    """Raise InputError, which begins with `what`, for a warp that a machine with `count` warp slots does not have."""
    if not 0 <= warp < count:
        raise InputError(f"{what and f'{what}: '}there is no warp {warp}; the machine has warps 0..{count - 1}")


def empty_slot(warp: int, cycle: int) -> InputError:
    """Return the error for what only a warp has, asked of an empty slot."""
    return InputError(f"w{warp}: this warp slot holds no warp at cycle {cycle:,}")
