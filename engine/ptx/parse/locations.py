"""Where PTX says that its instructions come from: `.file` and `.loc` as lines of CUDA C, Python or whatever was compiled.

An instruction keeps the PTX line that it was written in through lowering and optimisation, so that this table, made of the
text alone, is right for every instruction of the program, and for recordings, which hold the text.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from rfview.engine.errors import PtxError
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, NUMBER, STRING, WORD, Tokens, number_value
from rfview.engine.ptx.parse.source import Source

MAX_LINE = 10_000_000       # of a source file: beyond, a number is no line
MAX_FILES = 4096
MAX_DEPTH = 64              # of functions inlined into one another
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)      # nvcc writes the bytes of an ü as \303\274


@dataclass(frozen=True)
class SourceFile:
    """A file that PTX names. path: as it is written there. size: its bytes when it was compiled, -1 where not told."""

    path: str
    size: int = -1


@dataclass(frozen=True)
class Place:
    """A place in the sources. file: number of the PTX. line, column: from 1; 0 where the compiler knows none.

    function: the label (and offset) of the inlined function's name. caller: where that function was inlined.
    """

    file: int
    line: int
    column: int
    label: tuple[str, int] = ("", 0)
    caller: Place | None = None

    def chain(self) -> list[Place]:
        """List the places from the innermost inlined function to the one that is not inlined; those without line are not."""
        found: list[Place] = []
        place: Place | None = self
        while place is not None and len(found) < MAX_DEPTH:
            found.append(place)
            place = place.caller
        return [place for place in found if place.line]


class Locations:
    """The places of a PTX text. files: by their numbers. names: strings of `.debug_str` by label and offset."""

    def __init__(self) -> None:
        self.files: dict[int, SourceFile] = {}
        self.entry_folders: set[str] = set()
        self._lines: list[int] = []
        self._places: list[Place | None] = []
        self._strings = bytearray()
        self._labels: dict[str, int] = {}

    def add(self, ptx_line: int, place: Place | None) -> None:
        """Let a place hold from a PTX line on; PTX lines ascend."""
        self._lines.append(ptx_line)
        self._places.append(place)

    def at(self, ptx_line: int) -> list[Place]:
        """List the places of an instruction in a PTX line, innermost first; [] where none is known."""
        at = bisect_right(self._lines, ptx_line) - 1
        place = self._places[at] if at >= 0 else None
        return [] if place is None else [one for one in place.chain() if one.file in self.files]

    def own_files(self) -> set[int]:
        """Give the numbers of the files in which lines lie that instructions belong to (`own`)."""
        found = (self.own(line) for line in self._lines)
        return {place.file for place in found if place is not None}

    def own(self, ptx_line: int) -> Place | None:
        """Give the place that people mean: the innermost in a file of the kernel's own folder, or below that.

        What was inlined from elsewhere (headers of the toolkit, a language's library) belongs to the line that calls it.
        """
        places = self.at(ptx_line)
        own = (place for place in places if self.is_own(self.files[place.file].path))
        return next(own, places[-1] if places else None)

    def is_own(self, path: str) -> bool:
        """Say whether a file lies where the file of a kernel does, or below."""
        folder = posixpath.dirname(path)
        return any(folder == entry or (entry and folder.startswith(entry.rstrip("/") + "/")) for entry in self.entry_folders)

    def function(self, place: Place) -> str:
        """Give the name of the inlined function that a place is in, as the compiler wrote it; "" where it is not told."""
        name, offset = place.label
        start = self._labels.get(name, -1) + offset
        if not name or name not in self._labels or not 0 <= start < len(self._strings):
            return ""
        end = self._strings.find(0, start)
        return self._strings[start : end if end >= 0 else None].decode("utf-8", errors="replace")


def _unescaped(text: str) -> str:
    """Return what a string of PTX means."""
    def meant(found: re.Match[bytes]) -> bytes:
        return bytes([int(found[1], 8) & 0xFF]) if found[1][0] in b"01234567" else found[1]

    return _ESCAPE.sub(meant, text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


class _Reader:
    """Walks over the tokens of a PTX text."""

    def __init__(self, source: Source):
        self.source, self.tokens, self.at, self.found = source, Tokens(source), 0, Locations()
        self.known: dict[tuple[int, int, int], Place] = {}
        self.entry_files: set[int] = set()
        self.is_entry = False

    def read(self) -> Locations:
        kinds, texts = self.tokens.kinds, self.tokens.texts
        while kinds[self.at] != END:
            kind, text = kinds[self.at], texts[self.at]
            self.at += 1
            if kind != DIRECTIVE:
                continue
            if text == ".loc":
                self.loc()
            elif text == ".file":
                self.file()
            elif text in (".entry", ".func"):
                self.is_entry = text == ".entry"
                self.found.add(self.tokens.line(self.at - 1), None)
            elif text == ".section" and texts[self.at] == ".debug_str":
                self.strings()
        files = self.found.files
        self.found.entry_folders = {posixpath.dirname(files[number].path) for number in self.entry_files if number in files}
        return self.found

    def numbers(self, most: int) -> list[int]:
        """Read up to so many whole numbers, with or without commas between."""
        found: list[int] = []
        kinds, texts = self.tokens.kinds, self.tokens.texts
        while len(found) < most and kinds[self.at] == NUMBER:
            text = texts[self.at]
            kind, value = number_value(text) if len(text) < 24 else ("long", 0)
            found.append(value if kind == "int" else -1)
            self.at += 1
            if texts[self.at] == "," and kinds[self.at + 1] == NUMBER and len(found) < most:
                self.at += 1
        return found

    def loc(self) -> None:
        """Read `file line column [, function_name label [+ n], inlined_at file line column]`."""
        texts, ptx_line = self.tokens.texts, self.tokens.line(self.at - 1)
        numbers = self.numbers(3)
        if len(numbers) < 2:
            return
        label, caller = ("", 0), None
        while texts[self.at] == "," and self.tokens.line(self.at) == ptx_line:
            word = texts[self.at + 1]
            self.at += 2
            if word == "function_name":
                label = self.label()
            elif word == "inlined_at":
                where = self.place(self.numbers(3))
                caller = self.known.get((where.file, where.line, where.column), where)
            else:
                break
        place = self.place(numbers, label, caller)
        self.known[place.file, place.line, place.column] = place
        if self.is_entry:
            outer = place.chain()
            self.entry_files.update(one.file for one in outer[-1:])
        self.found.add(ptx_line, place)

    def label(self) -> tuple[str, int]:
        if self.tokens.kinds[self.at] != WORD:
            return "", 0
        name, offset = self.tokens.texts[self.at], 0
        self.at += 1
        if self.tokens.texts[self.at] == "+":
            self.at += 1
            offset = (self.numbers(1) or [0])[0]
        return name, offset

    @staticmethod
    def place(numbers: list[int], label: tuple[str, int] = ("", 0), caller: Place | None = None) -> Place:
        """Make a place of three numbers, those that cannot be meant as 0."""
        file, line, column = (value if 0 <= value <= MAX_LINE else 0 for value in [*numbers, 0, 0, 0][:3])
        return Place(file, line, column, label, caller)

    def file(self) -> None:
        """Read `number "folder"? "name" [, time, size]`."""
        number = self.numbers(1)
        parts: list[str] = []
        while self.tokens.kinds[self.at] == STRING and len(parts) < 2:
            parts.append(_unescaped(self.tokens.texts[self.at][1:-1]))
            self.at += 1
        if not number or not parts or len(self.found.files) >= MAX_FILES:
            return
        size = -1
        if self.tokens.texts[self.at] == ",":
            self.at += 1
            size = ([*self.numbers(2), -1, -1])[1] or -1
        self.found.files.setdefault(number[0], SourceFile(posixpath.join(*parts), size))

    def strings(self) -> None:
        """Read the bytes of `.debug_str`, and where each of its labels stands."""
        texts, kinds = self.tokens.texts, self.tokens.kinds
        self.at += 1
        while kinds[self.at] != END and texts[self.at] != "}":
            if kinds[self.at] == WORD and texts[self.at + 1] == ":":
                self.found._labels[texts[self.at]] = len(self.found._strings)
            elif kinds[self.at] == NUMBER and len(texts[self.at]) < 24:
                self.found._strings.append(number_value(texts[self.at])[1] & 0xFF)
            self.at += 1


@lru_cache(maxsize=4)       # a program's launches ask for those of one module, time after time
def locations(text: str) -> Locations:
    """Read the places of a PTX text; they are others' too, not to be changed.

    A text that names none, or that no front end would read, has an empty table.
    """
    if ".loc" not in text or ".file" not in text:
        return Locations()
    try:
        return _Reader(Source(text, "PTX")).read()
    except PtxError:
        return Locations()
