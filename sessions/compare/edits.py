"""Two versions of a program side by side: a diff of their source lines, of their PTX, or their kernels by name.

Which lines belong together is decided by the texts that both runs contain, so programs, registers and launches may differ.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from rfview.sessions.lines.table import LineTable

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

SOURCE, KERNEL = "source line", "kernel"        # what two programs are compared by, or else RunInfo.line_unit
NOTHING = -1
NUMBERS = re.compile(r"(%[a-z]+|\$L\w*?|__local_depot|tmp)\d+")     # of registers and labels: an edit changes all of them
WHOLE_DIFF = 4000       # lines up to which frequent ones are compared, too: with more of them the diff takes seconds
COMMON = 0.25           # of the shorter version's lines: programs of other files with fewer in common are no versions of one
AROUND = 3              # edited lines this near to one with instructions are shown, others are counted


@dataclass(frozen=True)
class Side:
    """A row in one of the two versions. line: its number in its file, 0 for a kernel.

    place: number in LineTable.lines, or of a kernel; NOTHING: it has no instructions.
    """

    file: str
    line: int
    place: int
    text: str


@dataclass(frozen=True)
class Pair:
    """A row of both versions, or of the only one that has it; edited: the other version lacks it."""

    a: Side | None
    b: Side | None

    @property
    def edited(self) -> bool:
        """Whether only one version has this line."""
        return self.a is None or self.b is None

    @property
    def has_instructions(self) -> bool:
        """Whether an instruction of either version belongs to it."""
        return any(side is not None and side.place != NOTHING for side in (self.a, self.b))

    @property
    def text(self) -> str:
        """The line in the newer version that has it."""
        one = self.b or self.a
        return one.text if one is not None else ""


@dataclass(frozen=True)
class Alignment:
    """The rows of two programs. by: SOURCE, KERNEL, or lines of the PTX or listing.

    places: (instructions,) i4 for each version, the place of each instruction, NOTHING if it has none. names: of the
    places of each version. hidden: edited lines that are not shown, since no instruction is near them.
    """

    by: str
    pairs: tuple[Pair, ...]
    places: tuple[np.ndarray, np.ndarray]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    hidden: int = 0

    @property
    def edited(self) -> int:
        """Return how many lines were edited: those that one version lacks, a line and its new version counted once."""
        return max(sum(pair.b is None for pair in self.pairs), sum(pair.a is None for pair in self.pairs))


def align(a: RunInfo, b: RunInfo) -> Alignment:
    """Return the rows of two programs: by source line if both have sources, else by line of PTX or listing, or by kernel."""
    sources = LineTable(a), LineTable(b)
    has_sources = all(any(table.text_of(path) is not None for path in table.paths) for table in sources)
    if has_sources:
        made = _by_line(SOURCE, sources, _plain)
    else:
        made = _by_line(b.line_unit, (LineTable(a, ptx=True), LineTable(b, ptx=True)), _without_numbers)
    return made or _by_kernel(a, b)


def _plain(text: str) -> str:
    """Return a line without the blanks that do not matter."""
    return " ".join(text.split())


def _without_numbers(text: str) -> str:
    """Return a line of PTX without comments and the numbers that a compiler counts."""
    return NUMBERS.sub(r"\1", _plain(text.partition("//")[0]))


def _by_line(by: str, tables: tuple[LineTable, LineTable], same: Callable[[str], str]) -> Alignment | None:
    """Return the rows by line; None if a version has no lines, or if too few lines with instructions are in both."""
    pairs: list[Pair] = []
    hidden, is_one_file = 0, False
    for ours, theirs in _files(*tables):
        texts = [table.text_of(path) if path else None for table, path in zip(tables, (ours, theirs), strict=True)]
        is_one_file |= by == SOURCE and None not in texts and posixpath.basename(ours) == posixpath.basename(theirs)
        rows, left_out = _rows(tables, (ours, theirs), texts, same)
        pairs += [row for row in rows if by == SOURCE or row.has_instructions]     # PTX has more declarations than code
        hidden += left_out if by == SOURCE else 0
    common = sum(bool(pair.a and pair.b and NOTHING not in (pair.a.place, pair.b.place)) and any(map(str.isalnum, pair.text))
                 for pair in pairs)
    if not is_one_file and common < COMMON * min(len(table.lines) for table in tables):
        return None
    names = tuple(tuple(table.name_of(line) for line in table.lines) for table in tables)
    return Alignment(by, tuple(pairs), (tables[0].of_pc, tables[1].of_pc), (names[0], names[1]), hidden)


def _files(a: LineTable, b: LineTable) -> list[tuple[str, str]]:
    """Return the files that belong together: of equal path, of equal name, then the first ones left; "" for none."""
    ours, theirs = list(a.paths), list(b.paths)
    pairs: list[tuple[str, str]] = []
    for key in (str, posixpath.basename):
        for path in list(ours):
            match = next((other for other in theirs if key(other) == key(path)), None)
            if match is not None:
                pairs.append((path, match))
                ours.remove(path)
                theirs.remove(match)
    pairs += zip_longest(ours, theirs, fillvalue="")
    order = {path: at for at, path in enumerate(a.paths)}
    return sorted(pairs, key=lambda pair: order.get(pair[0], len(order)))


def _rows(tables: tuple[LineTable, LineTable], paths: tuple[str, str], texts: Sequence[list[str] | None],
          same: Callable[[str], str]) -> tuple[list[Pair], int]:
    """Return the rows of two files that have instructions, the edited ones near them, and how many others were edited."""
    places = [{line.line: at for at, line in enumerate(table.lines) if line.path == path}
              for table, path in zip(tables, paths, strict=True)]
    if None in texts:       # without a text, lines of the same number belong together
        numbers = sorted({*places[0], *places[1]})
        matched = [(one if one in places[0] else 0, one if one in places[1] else 0) for one in numbers]
    else:
        matched = _diff([same(line) for line in texts[0] or ()], [same(line) for line in texts[1] or ()])

    def side(at: int, line: int) -> Side | None:
        text = texts[at]
        return Side(paths[at], line, places[at].get(line, NOTHING), text[line - 1] if text else "") if line else None

    near = [_near(own) for own in places]
    rows, hidden = [], 0
    for ours, theirs in matched:
        if ours in places[0] or theirs in places[1]:
            rows.append(Pair(side(0, ours), side(1, theirs)))
        elif not (ours and theirs):
            if (ours in near[0] or theirs in near[1]) and same((texts[0 if ours else 1] or ())[(ours or theirs) - 1]):
                rows.append(Pair(side(0, ours), side(1, theirs)))
            else:
                hidden += 1
    return rows, hidden


def _near(places: dict[int, int]) -> set[int]:
    """Return the lines that have instructions, and those around them."""
    return {line + by for line in places for by in range(-AROUND, AROUND + 1)}


def _diff(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """Return (line in A, line in B) of every line, from 1; 0 where a version lacks it."""
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=max(len(ours), len(theirs)) > WHOLE_DIFF)
    rows: list[tuple[int, int]] = []
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        if kind == "equal":
            rows += zip(range(a + 1, a_end + 1), range(b + 1, b_end + 1), strict=True)
        else:       # an edited line stands above its new version
            for one, other in zip_longest(range(a + 1, a_end + 1), range(b + 1, b_end + 1), fillvalue=0):
                rows += [(one, 0)] * bool(one) + [(0, other)] * bool(other)
    return rows


def _by_kernel(a: RunInfo, b: RunInfo) -> Alignment:
    """Return the rows by kernel: those of equal name belong together, and the only ones of both versions."""
    from rfview.sessions.expressions.ptx_names import kernel_name

    names = [list(dict.fromkeys(entry.kernel for entry in info.program)) for info in (a, b)]
    places = [np.array([own.index(entry.kernel) for entry in info.program], np.int32)
              for own, info in zip(names, (a, b), strict=True)]

    def side(at: int, name: str) -> Side:
        return Side("", 0, names[at].index(name), kernel_name(name))

    if len(names[0]) == len(names[1]) == 1:
        pairs = [Pair(side(0, names[0][0]), side(1, names[1][0]))]
    else:
        pairs = [Pair(side(0, name), side(1, name) if name in names[1] else None) for name in names[0]]
        pairs += [Pair(None, side(1, name)) for name in names[1] if name not in names[0]]
    shown = tuple(tuple(kernel_name(name) for name in own) for own in names)
    return Alignment(KERNEL, tuple(pairs), (places[0], places[1]), (shown[0], shown[1]))
