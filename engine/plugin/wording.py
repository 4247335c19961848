"""Words for sentences about a design: numbers with their nouns."""

from __future__ import annotations


def plural(number: int, word: str) -> str:
    """Return "1 cycle", "3 cycles", "2 entries"."""
    if number != 1:
        is_ies = word.endswith("y") and not word.endswith(("ay", "ey"))
        word = word[:-1] + "ies" if is_ies else word + ("es" if word.endswith(("s", "x", "ch")) else "s")
    return f"{number:,} {word}"
