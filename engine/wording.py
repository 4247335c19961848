"""Words of sentences, errors and tables: numbers as text and with nouns, hints of names, units, aligned columns."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence


def plural(number: int, word: str) -> str:
    """Return "1 cycle", "3 cycles", "2 entries"."""
    if number != 1:
        is_ies = word.endswith("y") and not word.endswith(("ay", "ey"))
        word = word[:-1] + "ies" if is_ies else word + ("es" if word.endswith(("s", "x", "ch")) else "s")
    return f"{number:,} {word}"


def energy_unit(pj: float) -> tuple[str, float]:
    """Return the unit in which an energy has one to four digits before the point, and its size in pJ: pJ, nJ, µJ or mJ."""
    return next(((unit, size) for unit, size in (("mJ", 1e9), ("µJ", 1e6), ("nJ", 1e3)) if abs(pj) >= size), ("pJ", 1.0))


def energy_text(pj: float) -> str:
    """Return an energy with its unit: "85.73 µJ"."""
    unit, size = energy_unit(pj)
    return f"{pj / size:,.4g} {unit}"


def whole(text: str, base: int = 10) -> int:
    """Read a whole number as people and our own texts write it: 5000, 5_000 or 5,000; raises ValueError. base: as of int."""
    return int(text.replace(",", "").replace("_", ""), base)


def shortened(text: str) -> str:
    """Return a text of at most 2,000 characters, with the middle of words of over 300 left out, as in names from a file.

    A path keeps its beginning and the name of its file.
    """
    text = re.sub(r"\S{300,}", lambda word: f"{word[0][:150]}...{word[0][-100:]}", text)
    return text if len(text) <= 2000 else f"{text[:1997]}..."


def ordinal(number: int) -> str:
    """Return an ordinal: 1st, 2nd, 3rd, 4th .. 11th .. 21st, with thousands separators."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def signed(value: int | None) -> str:
    """Return a signed difference: +1,204, −3 or 0; a dash for None."""
    if value is None:
        return "–"
    return "0" if not value else f"{'+' if value > 0 else '−'}{abs(value):,}"


def listed(warps: Sequence[int], most: int = 8) -> str:
    """Return the warps' names as "w1 w4 w9", and how many were left out."""
    rest = len(warps) - most
    return " ".join(f"w{warp}" for warp in warps[:most]) + (f" and {rest} more" if rest > 0 else "")


def suggest(name: str, names: Iterable[object]) -> str:
    """Return '; did you mean a, b?' for an unknown name, or ''."""
    known = list(dict.fromkeys(map(str, names)))
    close = difflib.get_close_matches(name, known, 3, 0.55)
    if len(name) > 2:
        close += [other for other in known if name in other and other not in close]
    return f"; did you mean {', '.join(close[:3])}?" if close else ""


def known_words(words: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return a program's words, which are all known; ends it with a sentence about the first that is not."""
    names = list(known)
    for word in words:
        if word not in names:
            raise SystemExit(f"{word}: no such name{suggest(word, names) or '; expected one of ' + ', '.join(names)}")
    return list(words)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean X?)' if a known word is similar, else ''."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return rows of cells as lines, their columns two spaces apart; `left`: those that are left-aligned, not right."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    padded = [[(cell, " " * (width - cells(cell))) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return ["  ".join(cell + pad if place in left else pad + cell for place, (cell, pad) in enumerate(row)).rstrip()
            for row in padded]


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: East Asian characters and emoji two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else unicodedata.category(char) not in ("Mn", "Me", "Cf")
               for char in text)


def numbered(texts: Sequence[str], more: bool) -> str:
    """Return numbered findings, followed by their number; more: some were dropped."""
    lines = [f"{number:>3} {line}" if at == 0 else f"    {line}" for number, text in enumerate(texts, 1)
             for at, line in enumerate(text.splitlines())]
    count = len(texts)
    what = "no finding" if not count else f"more than {plural(count, 'finding')}" if more else plural(count, "finding")
    return "\n".join([*lines, what])
