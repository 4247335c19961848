"""Words for sentences: numbers with their nouns, and the units of energies."""

from __future__ import annotations


def plural(number: int, word: str) -> str:
    """Return "1 cycle", "3 cycles", "2 entries"."""
    if number != 1:
        is_ies = word.endswith("y") and not word.endswith(("ay", "ey"))
        word = word[:-1] + "ies" if is_ies else word + ("es" if word.endswith(("s", "x", "ch")) else "s")
    return f"{number:,} {word}"


def energy_unit(pj: float) -> tuple[str, float]:
    """Return the unit in which an energy has one to four digits before the point, and its size in pJ: pJ, nJ, µJ or mJ."""
    return next(((unit, size) for unit, size in (("mJ", 1e9), ("µJ", 1e6), ("nJ", 1e3)) if abs(pj) >= size), ("pJ", 1.0))
