"""Lines of styled text: what every painter returns, and the small shapes (bars, numbers) that they share."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len

from rfview.engine.escapes import visible

BARS = " ▁▂▃▄▅▆▇█"
LEAVING = ("close", "leave")     # how the words of hints begin that are never left out
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def wrap(text: str, width: int, subsequent_indent: str = "") -> list[str]:
    """Return a text as lines of `width` characters; of one in a window that leaves no room, which cuts them anyway."""
    return textwrap.wrap(text, max(1, width), subsequent_indent=subsequent_indent)


class Line(NamedTuple):
    """One row of a panel: (text, role) spans on a ground ("", "band", "focus", "popup"). Hashable: rows are cached by it."""

    spans: tuple[tuple[str, str], ...]
    ground: str = ""

    @property
    def plain(self) -> str:
        """The characters alone."""
        return "".join(text for text, _ in self.spans)


class Row:
    """Builds one Line from left to right; whatever exceeds `width` is cut."""

    __slots__ = ("width", "ground", "x", "_spans")

    def __init__(self, width: int, ground: str = "") -> None:
        self.width, self.ground, self.x = width, ground, 0
        self._spans: list[tuple[str, str]] = []

    def add(self, text: str, role: str = "text") -> Row:
        """Append text; a tab is a blank, other control characters are escapes."""
        room = self.width - self.x
        if not text.isascii() or len(text) > room:
            text = clip(text, room)
        if not text.isprintable():
            text = clip(visible(text.replace("\t", " ")), room)
        if text:
            self._spans.append((text, role))
            self.x += len(text) if text.isascii() else cell_len(text)
        return self

    def to(self, x: int) -> Row:
        """Go to column x; the cells between are blank."""
        if x > self.x:
            self.add(" " * (x - self.x), "text")
        return self

    def at(self, x: int, text: str, role: str = "text") -> Row:
        """Write at column x or, if that is taken, after a blank."""
        if self.x > x > 0:
            x = self.x + 1
        return self.to(x).add(text, role)

    def right(self, end: int, text: str, role: str = "text") -> Row:
        """Write so that the last character is in column `end` - 1; nothing if it would overlap."""
        if end - cell_len(text) >= self.x:
            self.to(end - cell_len(text)).add(text, role)
        return self

    def parts(self, *parts: str | tuple[str, str]) -> Row:
        """Append plain strings and (text, role) pairs."""
        for part in parts:
            if isinstance(part, str):
                self.add(part)
            else:
                self.add(*part)
        return self

    def cells(self, cells: Iterable[tuple[str, str]]) -> Row:
        """Append single cells, joining neighbours of one role."""
        run, role = "", ""
        for char, cell_role in cells:
            if cell_role != role and run:
                self.add(run, role)
                run = ""
            role = cell_role
            run += char
        if run:
            self.add(run, role)
        return self

    def join(self, line: Line) -> Row:
        """Append another line's spans."""
        for text, role in line.spans:
            self.add(text, role)
        return self

    def line(self) -> Line:
        """Return the row, filled up with blanks to its width."""
        self.to(self.width)
        return Line(tuple(self._spans), self.ground)


def blank(width: int) -> Line:
    """Return an empty row."""
    return Line(((" " * width, "text"),))


def title(width: int, name: str, info: str = "", *, focus: bool = False, right: str = "") -> Line:
    """Return a panel's title row: a band, `▌` if the panel has the focus, the name, then facts in grey."""
    row = Row(width, "band").add("▌" if focus else " ", "title").add(name, "title")
    if info:
        row.add("  ").add(cut(info, width - row.x - 1), "tinfo")
    if right:
        row.right(width - 1, right, "tinfo")
    return row.line()


def list_row(width: int, chosen: bool) -> Row:
    """Begin a row of a list: if it is the chosen one, it has a ground of its own and begins with `▸`."""
    return Row(width, "focus" if chosen else "").add("▸" if chosen else " ", "bold")


def visible_from(index: int, count: int, rows: int) -> int:
    """Return the first of `count` items shown in `rows` rows so that item `index` is visible, in the middle if it can be."""
    return max(0, min(count - rows, index - rows // 2))


def closes(key: str) -> str:
    """Return what a title says of the key that closes a window, "" if there is none."""
    return f"{key} closes" if key else ""


def hint_row(width: int, hints: Sequence[tuple[str, str]], ground: str = "", right: str = "") -> Line:
    """Return keys with a word each, as many as fit next to `right`; the key that closes the window is always kept."""
    row = Row(width, ground)
    sizes = [len(keys) + len(word) + 3 for keys, word in hints]
    for index, (keys, word) in enumerate(hints):
        reserved = sum(size for size, (_, later) in zip(sizes[index + 1 :], hints[index + 1 :], strict=True)
                   if later.startswith(LEAVING))
        if row.x + sizes[index] + reserved <= width - len(right):
            row.add(" ").add(keys, "key").add(f" {word} ", "tinfo")
    return row.right(width - 1, right, "tinfo").line()


def fill(lines: Sequence[Line], width: int, height: int) -> list[Line]:
    """Return exactly `height` rows: cut or padded with blank ones."""
    out = list(lines[:height])
    empty = blank(width)
    while len(out) < height:
        out.append(empty)
    return out


def clip(text: str, room: int) -> str:
    """Return as much of a text as `room` cells hold: East Asian characters and emoji take two, combining ones none."""
    if text.isascii() or room <= 0:
        return text[: max(0, room)]
    if len(text) <= room and cell_len(text) <= room:
        return text
    used = 0
    for index, char in enumerate(text):
        used += cell_len(char)
        if used > room:
            return text[:index]
    return text


def cells_of(text: str) -> list[str]:
    """Return a text cell by cell: a wide character is followed by "", a combining one is part of the cell before it."""
    cells: list[str] = []
    for char in text:
        size = cell_len(char)
        if size:
            cells += [char, ""][:size]
        elif cells:
            cells[-1] += char
    return cells


def initial(name: str) -> str:
    """Return the first character of a mark's name, for a single cell; one that is no cell wide or two is `◆`."""
    return name[0] if cell_len(name[0]) == 1 else "◆"


def shorten(text: str, room: int) -> str:
    """Return a text in at most `room` cells: if it is too long, `…` replaces its last characters."""
    return text if cell_len(text) <= room else clip(text, room - 1) + "…"


def cut(text: str, room: int) -> str:
    """Return a text cut to `room` cells: if it is too long, `…` replaces whole words at its end."""
    short = clip(text, room)
    if len(short) == len(text) or room <= 0:
        return short
    short = clip(text, room - 1)
    if text[len(short)] != " " and 0 < len(short) - short.rfind(" ") < min(16, room // 2):
        short = short[: short.rfind(" ")]       # half a number would look like another one
    return short.rstrip(" ,;:") + "…"


def number(value: float | int) -> str:
    """Return an integer with thousands separators."""
    return f"{int(value):,}"


def round_up(value: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50 .. that is not below a value: a step of rulers and of columns."""
    return next(digit * 10**power for power in itertools.count() for digit in (1, 2, 5) if digit * 10**power >= value)


def short_number(value: int) -> str:
    """Return a cycle for a ruler: 0, 500, 20k, 1.5M."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if value >= size:
            return f"{value / size:.4g}{unit}"
    return str(value)


def percent(part: float, whole: float, digits: int = 1) -> str:
    """Return a share as text, a dash if the whole is 0."""
    return f"{100 * part / whole:.{digits}f} %" if whole else "–"


def bar(value: float, top: float, width: int) -> str:
    """Return a horizontal bar of `width` cells at most, in eighths of a cell."""
    if top <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(1.0, value / top) * width * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8]


def stretched(values: Sequence[Any], columns: int) -> list[Any]:
    """Return `columns` values out of however many there are."""
    return [values[column * len(values) // columns] for column in range(columns)] if values else []


def bar_rows(shares: Iterable[float], rows: int) -> list[str]:
    """Return a bar for each share 0..1, one column wide and `rows` rows high."""
    levels = [round(share * 8 * rows) for share in shares]
    return ["".join(BARS[max(0, min(8, level - 8 * below))] for level in levels) for below in range(rows - 1, -1, -1)]


def progress(done: int, total: int, width: int = 4) -> str:
    """Return a bar such as `━━━╌`: the share done."""
    full = 0 if total <= 0 else max(0, min(width, round(width * done / total)))
    return "━" * full + "╌" * (width - full)
