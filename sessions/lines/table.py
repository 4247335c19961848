"""The source line of each instruction, the texts of the sources, and the lookup of `file:line`."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.escapes import visible
from rfview.engine.ptx.parse.locations import Locations, locations
from rfview.engine.wording import suggest

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo
    from rfview.sessions.timeline.base import Timeline

PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]{1,9})\Z")
NO_LINE = -1
NO_LINES = ("the program has no source lines; compile with nvcc's -lineinfo, or in numba-cuda with lineinfo=True "
            "(Triton always writes them)")


@dataclass(frozen=True, order=True)
class SourceLine:
    """A line of a source file. path: as in the PTX. line: from 1."""

    path: str
    line: int

    @property
    def text(self) -> str:
        """Return `file.cu:12`, the file's name without folders."""
        return f"{visible(posixpath.basename(self.path))}:{self.line}"


@dataclass(frozen=True)
class Frame:
    """A line in a chain of inlined functions. function: the inlined one's name, "" if none was inlined or it is unknown."""

    where: SourceLine
    column: int
    function: str


class LineTable:
    """The source lines of a program.

    lines: those that have instructions, in order of file and line. of_pc: (n,) i4 index in `lines` of each instruction's
    line, NO_LINE if the PTX names none.
    """

    def __init__(self, info: RunInfo, ptx: bool = False):
        """Read the source lines from a run's PTX; ptx: use the lines of the PTX itself."""
        self._program = info.program
        files, ptx_files = info.sources, info.ptx[:1]
        self._texts = {file.path: file.text.split("\n") for file in (ptx_files if ptx else files)}
        self._where = [locations(file.text) for file in ptx_files if not ptx] or [Locations()]
        path = ptx_files[0].path if ptx and ptx_files else ""
        lines = [SourceLine(path, entry.line) if path else self._own(entry.line) for entry in self._program]
        self.lines: tuple[SourceLine, ...] = tuple(sorted({one for one in lines if one is not None}))
        numbers: dict[SourceLine | None, int] = {one: number for number, one in enumerate(self.lines)}
        self.of_pc = np.array([numbers.get(one, NO_LINE) for one in lines], np.int32)

    def _own(self, ptx_line: int) -> SourceLine | None:
        """Return the innermost line of the user's own code whose text was found, else the innermost of that code."""
        where = self._where[0]
        places = (SourceLine(where.files[place.file].path, place.line) for place in where.at(ptx_line))
        found = next((line for line in places if line.path in self._texts and where.is_own(line.path)), None)
        if found is None and (place := where.own(ptx_line)) is not None:
            found = SourceLine(where.files[place.file].path, place.line)
        return found

    def __bool__(self) -> bool:
        return bool(self.lines)

    def at(self, pc: int) -> SourceLine | None:
        """Return an instruction's line; None if none is known."""
        number = self.number_at(pc)
        return self.lines[number] if number >= 0 else None

    def number_at(self, pc: int) -> int:
        """Return the index of an instruction's line in `lines`; NO_LINE if none is known."""
        return int(self.of_pc[pc]) if 0 <= pc < len(self.of_pc) else NO_LINE

    def frames(self, pc: int) -> list[Frame]:
        """Return an instruction's complete chain, the innermost inlined function first; [] if none is known."""
        if not 0 <= pc < len(self._program):
            return []
        where = self._where[0]
        return [Frame(SourceLine(where.files[place.file].path, place.line), place.column, where.function(place))
                for place in where.at(self._program[pc].line)]

    def text_of(self, path: str) -> list[str] | None:
        """Return a file's lines, None if its text was not found."""
        return self._texts.get(path)

    def source(self, line: SourceLine) -> str | None:
        """Return the text of a line, None if it was not found."""
        lines = self._texts.get(line.path)
        return lines[line.line - 1] if lines is not None and line.line <= len(lines) else None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files that have instructions, the one with most of them first."""
        counts = np.bincount(self.of_pc[self.of_pc >= 0], minlength=len(self.lines))
        totals: dict[str, int] = {}
        for line, count in zip(self.lines, counts.tolist(), strict=True):
            totals[line.path] = totals.get(line.path, 0) + count
        return tuple(sorted(totals, key=lambda path: (-totals[path], path)))

    @cached_property
    def filled(self) -> np.ndarray:
        """(n,) i4 like of_pc, but instructions without a line belong to the line before them in their kernel."""
        filled = self.of_pc.copy()
        for pc in range(1, len(filled)):
            if filled[pc] < 0 and self._program[pc].kernel == self._program[pc - 1].kernel:
                filled[pc] = filled[pc - 1]
        return filled

    def path_named(self, name: str, what: str) -> str:
        """Return the file with a name: its path, or the end of its path; raises InputError for none or several."""
        if name in self.paths:
            return name
        paths = [path for path in self.paths if path.endswith("/" + name)]
        if len(paths) == 1:
            return paths[0]
        shown = ", ".join(visible(path) for path in (paths or self.paths)[:8])
        if paths:
            raise InputError(f"{what}: {visible(name)} may be {shown}; give more of the path")
        names = [posixpath.basename(path) for path in self.paths]
        raise InputError(f"{what}: no instruction comes from {visible(name)}{suggest(name, names)}; its files: {shown}")

    def name_of(self, line: SourceLine) -> str:
        """Return `file:line` as `find` accepts it: with the file's folders if another file has the same name."""
        name = posixpath.basename(line.path)
        alone = sum(path == name or path.endswith("/" + name) for path in self.paths) == 1
        return f"{name if alone else line.path}:{line.line}"

    def find(self, text: str, what: str) -> SourceLine:
        """Return the line that `file:line` names, or the next one in the file with instructions.

        what: the command, for errors. Raises InputError if the program has no lines, no such file or no such line.
        """
        match = PLACE.match(text.strip())
        if match is None:
            raise InputError(f"{what}: expected FILE:LINE, as in vectoradd.cu:12")
        if not self:
            raise InputError(f"{what}: {NO_LINES}")
        path, number = self.path_named(match["file"], what), int(match["line"])
        later = [line for line in self.lines if line.path == path and line.line >= number]
        if not later:
            last = max(line.line for line in self.lines if line.path == path)
            raise InputError(f"{what}: the last line of {visible(posixpath.basename(path))} with an instruction is {last}")
        return later[0]

    def pcs(self, line: SourceLine) -> tuple[int, ...]:
        """Return the instructions of a line, including those that follow them and have no line."""
        return tuple(np.flatnonzero(self.filled == self.lines.index(line)).tolist())


def lines_of(timeline: Timeline) -> LineTable:
    """Return the source lines of a timeline's program, which are read only once."""
    if timeline.lines is None:
        timeline.lines = LineTable(timeline.info)
    return timeline.lines
