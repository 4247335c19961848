"""Reads the line tables of a cubin: which line of CUDA and of PTX each instruction is from (DWARF 2, section 6.2)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from rfview.engine.sass.cubin import FUNCTION, Cubin

CUDA_LINES, PTX_LINES = ".debug_line", ".nv_debug_line_sass"
(COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STATEMENT, BASIC_BLOCK, CONST_ADD_PC,
 FIXED_ADVANCE_PC) = range(1, 10)
END_SEQUENCE, SET_ADDRESS = 1, 2
MAX_NUMBER = 10_000_000


@dataclass
class LineTable:
    """files: paths by number. rows: for each section of code, (offset, file, line), sorted by offset."""

    files: dict[int, str] = field(default_factory=dict)
    rows: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)


def line_table(cubin: Cubin, name: str) -> LineTable:
    """Return the line table in a section of this name; an empty one if there is none, or as far as it could be read."""
    table = LineTable()
    section = cubin.section(name)
    if section is None:
        return table
    starts = {relocation.offset: relocation for relocation in cubin.relocations.get(name, ())}
    at = 0
    try:
        while at + 10 <= len(section.data):
            at = _Program(cubin, section.data, at, starts, table).read()
    except (struct.error, IndexError, ValueError, OverflowError):      # lines are only shown: what is damaged is left out
        pass
    for rows in table.rows.values():
        rows.sort()
    return table


class _Program:
    """One line program: the state machine of DWARF's section 6.2.2."""

    def __init__(self, cubin: Cubin, data: bytes, at: int, starts: dict, table: LineTable) -> None:
        self.cubin, self.data, self.starts, self.table = cubin, data, starts, table
        length, self.version, header = struct.unpack_from("<IHI", data, at)
        self.end, self.at = at + 4 + length, at + 10
        self.code = self.at + header
        if self.end > len(data) or self.version not in (2, 3) or self.code > self.end:
            raise ValueError(self.version)

    def number(self, signed: bool = False) -> int:
        """Read a number of variable length (LEB128)."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 63:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def string(self) -> str:
        end = self.data.index(b"\0", self.at, self.end)
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def read(self) -> int:
        """Add the program's rows to the table; return where the next program begins."""
        self.step, _, self.base, self.range, self.first = struct.unpack_from("<BBbBB", self.data, self.at)
        if not self.range:
            raise ValueError("line_range is 0")
        self.at += 5
        lengths = list(self.data[self.at : self.at + self.first - 1])
        self.at += len(lengths)
        folders = [""]
        while folder := self.string():
            folders.append(folder)
        number = 0
        own: dict[int, int] = {}        # this program's numbers of files -> the table's
        while name := self.string():
            folder, number = folders[min(self.number(), len(folders) - 1)], number + 1
            self.number(), self.number()
            path = f"{folder}/{name}" if folder and not name.startswith("/") else name
            own[number] = next((key for key, known in self.table.files.items() if known == path), len(self.table.files) + 1)
            self.table.files[own[number]] = path
        self.at = self.code
        self.run(own, lengths)
        return self.end

    def run(self, own: dict[int, int], lengths: list[int]) -> None:
        section, offset, file, line = "", 0, 1, 1
        while self.at < self.end:
            op = self.data[self.at]
            self.at += 1
            emits = False
            if op >= self.first:
                op -= self.first
                offset, line, emits = offset + self.step * (op // self.range), line + self.base + op % self.range, True
            elif op == 0:
                size = self.number()
                kind, following = self.data[self.at], self.at + size
                if kind == SET_ADDRESS:
                    offset, = struct.unpack_from("<Q", self.data, self.at + 1)
                    section = self.section(self.at + 1)
                elif kind == END_SEQUENCE:
                    section, offset, file, line = "", 0, 1, 1
                self.at = following
            elif op == COPY:
                emits = True
            elif op == ADVANCE_PC:
                offset += self.step * self.number()
            elif op == ADVANCE_LINE:
                line += self.number(signed=True)
            elif op == SET_FILE:
                file = self.number()
            elif op == CONST_ADD_PC:
                offset += self.step * ((255 - self.first) // self.range)
            elif op == FIXED_ADVANCE_PC:
                offset += struct.unpack_from("<H", self.data, self.at)[0]
                self.at += 2
            else:
                for _ in range(lengths[op - 1]):
                    self.number()
            if emits and section and 0 <= line <= MAX_NUMBER:
                self.table.rows.setdefault(section, []).append((offset, own.get(file, 0), line))

    def section(self, place: int) -> str:
        """Return the section whose address stands at this place of the line table, by its relocation."""
        relocation = self.starts.get(place)
        if relocation is not None and relocation.symbol.kind == FUNCTION:
            return self.cubin.section_of(relocation.symbol)
        return self.cubin.section_of(relocation.symbol) if relocation is not None else ""
