"""Source locations from `.file` and `.loc` in PTX: the lines of CUDA C, Python or whatever was compiled.

An instruction keeps its PTX line through lowering and optimisation, so this table, which is built from the text alone, is
right for every instruction of the program, and for recordings, which contain the text.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache

from rfview.engine.errors import PtxError
from rfview.engine.ptx.parse.lexer import DIRECTIVE, END, NUMBER, STRING, WORD, Tokens, number_value
from rfview.engine.ptx.parse.source import Source
from rfview.engine.sass.listing import is_listing

MAX_LINE = 10_000_000       # in a source file; a larger number is not a line
MAX_FILES = 4096
MAX_DEPTH = 64              # of nested inlined functions
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)      # nvcc writes an ü as \303\274


@dataclass(frozen=True)
class SourceFile:
    """A source file named in PTX. path: as written there. size: in bytes at compile time, -1 if not given."""

    path: str
    size: int = -1


@dataclass(frozen=True)
class Place:
    """A place in the sources. file: its number in the PTX. line, column: from 1; 0 if the compiler knows none.

    label: label and offset of the inlined function's name. caller: where that function was inlined.
    """

    file: int
    line: int
    column: int
    label: tuple[str, int] = ("", 0)
    caller: Place | None = None

    def chain(self) -> list[Place]:
        """List the places from the innermost inlined function to the outermost caller, without those that have no line."""
        places: list[Place] = []
        place: Place | None = self
        while place is not None and len(places) < MAX_DEPTH:
            places.append(place)
            place = place.caller
        return [place for place in places if place.line]


class Locations:
    """The places named in a PTX text. files: by number. entry_folders: the folders of the kernels' source files."""

    def __init__(self) -> None:
        self.files: dict[int, SourceFile] = {}
        self.entry_folders: set[str] = set()
        self._lines: list[int] = []
        self._places: list[Place | None] = []
        self._strings = bytearray()
        self._labels: dict[str, int] = {}

    def add(self, ptx_line: int, place: Place | None) -> None:
        """Set the place of the PTX lines from `ptx_line` on; call in ascending order."""
        self._lines.append(ptx_line)
        self._places.append(place)

    def at(self, ptx_line: int) -> list[Place]:
        """List the places of an instruction on a PTX line, innermost first; [] if none is known."""
        at = bisect_right(self._lines, ptx_line) - 1
        place = self._places[at] if at >= 0 else None
        return [] if place is None else [one for one in place.chain() if one.file in self.files]

    def own_files(self) -> set[int]:
        """Return the numbers of the files that contain any instruction's `own` place."""
        places = (self.own(line) for line in self._lines)
        return {place.file for place in places if place is not None}

    def own(self, ptx_line: int) -> Place | None:
        """Return the place in the user's own code: the innermost in a file in the kernel's folder or below it.

        Code inlined from elsewhere (toolkit headers, a language's library) is attributed to the line that calls it.
        """
        places = self.at(ptx_line)
        own = (place for place in places if self.is_own(self.files[place.file].path))
        return next(own, places[-1] if places else None)

    def own_line(self, ptx_line: int) -> str:
        """Return the place in the user's own code as "saxpy.cu:12", "" if it is not known."""
        place = self.own(ptx_line)
        return "" if place is None else f"{posixpath.basename(self.files[place.file].path)}:{place.line}"

    def is_own(self, path: str) -> bool:
        """Return whether a file is in the folder of a kernel's source file, or below it."""
        folder = posixpath.dirname(path)
        return any(folder == entry or (entry and folder.startswith(entry.rstrip("/") + "/")) for entry in self.entry_folders)

    def function(self, place: Place) -> str:
        """Return the name of the inlined function that a place is in, as the compiler wrote it; "" if not given."""
        name, offset = place.label
        start = self._labels.get(name, -1) + offset
        if not name or name not in self._labels or not 0 <= start < len(self._strings):
            return ""
        end = self._strings.find(0, start)
        return self._strings[start : end if end >= 0 else None].decode("utf-8", errors="replace")


def _unescaped(text: str) -> str:
    """Return the text of a PTX string, its escapes resolved."""
    def meant(match: re.Match[bytes]) -> bytes:
        return bytes([int(match[1], 8) & 0xFF]) if match[1][0] in b"01234567" else match[1]

    return _ESCAPE.sub(meant, text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


class _Reader:
    """Reads the places from the tokens of a PTX text."""

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
        """Read up to `most` integers, with or without commas between them; a number of another kind reads as -1."""
        numbers: list[int] = []
        kinds, texts = self.tokens.kinds, self.tokens.texts
        while len(numbers) < most and kinds[self.at] == NUMBER:
            text = texts[self.at]
            kind, value = number_value(text) if len(text) < 24 else ("long", 0)
            numbers.append(value if kind == "int" else -1)
            self.at += 1
            if texts[self.at] == "," and kinds[self.at + 1] == NUMBER and len(numbers) < most:
                self.at += 1
        return numbers

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
        """Make a place from up to three numbers; missing and out-of-range ones become 0."""
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
        """Read the bytes of `.debug_str` and the positions of its labels."""
        texts, kinds = self.tokens.texts, self.tokens.kinds
        self.at += 1
        while kinds[self.at] != END and texts[self.at] != "}":
            if kinds[self.at] == WORD and texts[self.at + 1] == ":":
                self.found._labels[texts[self.at]] = len(self.found._strings)
            elif kinds[self.at] == NUMBER and len(texts[self.at]) < 24:
                self.found._strings.append(number_value(texts[self.at])[1] & 0xFF)
            self.at += 1


def _of_listing(text: str) -> Locations:
    """Read `.file` and `.loc` of a listing, a place and those where it was inlined; malformed ones are left out."""
    found, is_entry = Locations(), False
    entry_files: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word in (".entry", ".func"):
            is_entry = word == ".entry"
            found.add(number, None)
        elif word == ".file" and len(found.files) < MAX_FILES:
            key, _, path = rest.partition(" ")
            if key.isdecimal() and len(key) < 9:
                found.files.setdefault(int(key), SourceFile(_unescaped(path.strip('"'))))
        elif word == ".loc":
            place = None
            for part in reversed(rest.split("<")):
                numbers = [int(one) if one.isdecimal() and len(one) < 9 else 0 for one in part.split()]
                place = replace(_Reader.place(numbers), caller=place) if any(numbers[:1]) else None
            if is_entry and place is not None:
                entry_files.update(one.file for one in place.chain()[-1:])
            found.add(number, place)
    found.entry_folders = {posixpath.dirname(found.files[file].path) for file in entry_files if file in found.files}
    return found


@lru_cache(maxsize=4)       # the launches of a program use the same modules again and again
def locations(text: str) -> Locations:
    """Read the places of a PTX text, or of a listing of machine code. The result is shared and must not be changed.

    It is empty for a text that names none or is not valid PTX.
    """
    if is_listing(text):
        return _of_listing(text)
    if ".loc" not in text or ".file" not in text:
        return Locations()
    try:
        return _Reader(Source(text, "PTX")).read()
    except PtxError:
        return Locations()
