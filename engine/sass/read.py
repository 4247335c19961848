"""Reads the text of a listing, as engine/sass/write.py writes it. Nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from rfview.engine.errors import SassError
from rfview.engine.sass.operands import split
from rfview.engine.sass.listing import (HEADER, INSTRUCTION_BYTES, Bank, Control, Function, Instruction, Listing,
                                        Parameter, Place, Variable)

CONTROL = re.compile(r"B([0-5-]{6}):R([0-6-]):W([0-6-]):([Y-]):S(\d\d)(?::U([0-9a-f]))?")
INSTRUCTION = re.compile(r"([0-9a-f]{4,7}) (\S+) (@!?U?P[0-6T] )?([A-Z][A-Z0-9a-z_.]*)(?: ([^/ ].*?))?(?: // (\d{1,9}))?")
TYPE = re.compile(r"[busf](?:8|16|32|64)")
MOST = 1 << 30              # bytes of a variable, numbers of other kinds
MOST_BANK = 1 << 16         # bytes of a constant bank
NO_FUNCTION = Function("", False, 0, 0, 0, 0, 0, (), 0, (0, 0, 0), (), (), ())


def read_listing(text: str, path: str) -> Listing:
    """Return the listing in a text; path: for errors. Raises SassError with the line that is wrong."""
    return _Reader(text, path).read()


class _Reader:
    """Reads the lines in order; directives of a function change the last function, data the last bank or variable."""

    def __init__(self, text: str, path: str) -> None:
        self.lines, self.path, self.at = text.splitlines(), path, 0
        self.sm, self.made_by, self.made_of = 0, "", ""
        self.files: dict[int, str] = {}
        self.banks: list[Bank] = []
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.own_banks: list[Bank] = []
        self.params: list[Parameter] = []
        self.labels: list[tuple[str, int]] = []
        self.code: list[Instruction] = []
        self.place: Place | None = None
        self.ptx = 0
        self.data: bytearray = bytearray()
        self.relocs: list[tuple[int, str, int]] = []
        self.holder: Callable[[bytes, tuple], None] | None = None

    def fail(self, expected: str) -> NoReturn:
        line = self.lines[self.at - 1].strip()[:100] if self.at else ""
        raise SassError(f"{self.path}:{self.at}: expected {expected}: {line}")

    def read(self) -> Listing:
        if not self.lines or self.lines[0] != HEADER:
            self.at = min(1, len(self.lines))
            self.fail(f"{HEADER!r}, the first line of a listing of this version")
        for self.at, line in enumerate(self.lines, 1):
            words = line.split()
            if not words or words[0] == "//":
                continue
            if words[0][0] == ".":
                directive = getattr(self, "_" + words[0][1:], None) if words[0][1:].isidentifier() else None
                if directive is None or words[0] not in DIRECTIVES:
                    self.fail(f"one of {', '.join(DIRECTIVES)}")
                try:
                    directive(words[1:])
                except (ValueError, IndexError, TypeError):
                    self.fail(f"what belongs to {words[0]}")
            else:
                self._instruction(line)
        self._finish_function()
        if not self.sm:
            self.fail(".target")
        return Listing(self.sm, self.made_by, self.made_of, self.files, tuple(self.banks), tuple(self.variables),
                       tuple(self.functions))

    def number(self, text: str, most: int = MOST) -> int:
        value = int(text, 0)
        if not -most <= value <= most:
            raise ValueError(text)
        return value

    def size(self, text: str, most: int = MOST) -> int:
        value = self.number(text, most)
        if value < 0:
            raise ValueError(text)
        return value

    def _target(self, words: list[str]) -> None:
        match = re.fullmatch(r"sm_(\d{2,3})", words[0])
        if match is None:
            self.fail("an architecture such as sm_80")
        self.sm = int(match[1])

    def _address_size(self, words: list[str]) -> None:
        if words != ["64"]:
            self.fail(".address_size 64")

    def _made_by(self, words: list[str]) -> None:
        self.made_by = str(json.loads(" ".join(words)))

    def _made_of(self, words: list[str]) -> None:
        self.made_of = words[0]

    def _file(self, words: list[str]) -> None:
        self.files[self.size(words[0])] = str(json.loads(" ".join(words[1:])))

    def _global(self, words: list[str]) -> None:
        self._variable("global", words)

    def _const(self, words: list[str]) -> None:
        self._variable("const", words)

    def _variable(self, space: str, words: list[str]) -> None:
        self._finish_data()
        size, align, name = self.size(words[0]), self.size(words[1]), words[2]
        offset = self.size(words[3], MOST_BANK) if space == "const" else 0
        self.holder = lambda data, relocs: self.variables.append(
            Variable(name, space, size, align, offset, data[:size], relocs))

    def _bank(self, words: list[str]) -> None:
        self._finish_data()
        number, size = self.size(words[0], 31), self.size(words[1], MOST_BANK)
        banks = self.own_banks if self.functions else self.banks
        self.holder = lambda data, relocs: banks.append(Bank(number, data.ljust(size, b"\0")[:size], relocs))

    def _bytes(self, words: list[str]) -> None:
        offset = self.size(words[0])
        if self.holder is None or offset < len(self.data) or offset > MOST_BANK and offset > len(self.data) + (1 << 20):
            self.fail("bytes behind those before, of a bank or variable")
        self.data = self.data.ljust(offset, b"\0") + bytes.fromhex(words[1])

    def _address(self, words: list[str]) -> None:
        if self.holder is None:
            self.fail("a bank or variable before")
        self.relocs.append((self.size(words[0]), words[1], self.number(words[2], 1 << 62)))

    def _finish_data(self) -> None:
        if self.holder is not None:
            self.holder(bytes(self.data), tuple(self.relocs))
        self.holder, self.data, self.relocs = None, bytearray(), []

    def _entry(self, words: list[str]) -> None:
        self._begin_function(words[0], is_entry=True)

    def _func(self, words: list[str]) -> None:
        self._begin_function(words[0], is_entry=False)

    def _begin_function(self, name: str, is_entry: bool) -> None:
        self._finish_function()
        if any(function.name == name for function in self.functions):
            self.fail("another name: a function has this one")
        self.functions.append(replace(NO_FUNCTION, name=name, is_entry=is_entry))
        self.own_banks, self.params, self.labels, self.code, self.place, self.ptx = [], [], [], [], None, 0

    def _finish_function(self) -> None:
        self._finish_data()
        if self.functions:
            self._set(banks=tuple(self.own_banks), params=tuple(self.params), labels=tuple(self.labels),
                      code=tuple(self.code))

    def _set(self, **fields: Any) -> None:
        if not self.functions:
            self.fail(".entry or .func before")
        self.functions[-1] = replace(self.functions[-1], **fields)

    def _registers(self, words: list[str]) -> None:
        self._set(registers=self.size(words[0], 255))

    def _shared(self, words: list[str]) -> None:
        self._set(shared=self.size(words[0]))

    def _local(self, words: list[str]) -> None:
        self._set(local=self.size(words[0], 1 << 24))

    def _barriers(self, words: list[str]) -> None:
        self._set(barriers=self.size(words[0], 16))

    def _max_threads(self, words: list[str]) -> None:
        self._set(max_threads=self.size(words[0]))

    def _required_threads(self, words: list[str]) -> None:
        x, y, z = map(self.size, words)
        self._set(required_threads=(x, y, z))

    def _params(self, words: list[str]) -> None:
        self._set(param_base=self.size(words[0], MOST_BANK))

    def _param(self, words: list[str]) -> None:
        if not TYPE.fullmatch(words[2]):
            self.fail("a parameter's offset, size, type and name")
        self.params.append(Parameter(words[3], words[2], self.size(words[0], MOST_BANK), self.size(words[1], MOST_BANK)))

    def _label(self, words: list[str]) -> None:
        self.labels.append((words[0], len(self.code) * INSTRUCTION_BYTES))

    def _loc(self, words: list[str]) -> None:
        self.place = None
        for part in reversed(" ".join(words).split("<")):
            file, line, column = map(self.size, part.split())
            self.place = Place(file, line, column, self.place) if file else None

    def _instruction(self, line: str) -> None:
        if not self.functions:
            self.fail(".entry or .func before the first instruction")
        match = INSTRUCTION.fullmatch(line)
        offset = len(self.code) * INSTRUCTION_BYTES
        if match is None or int(match[1], 16) != offset:
            self.fail(f"an instruction at {offset:04x}: offset, control code, text")
        code = CONTROL.fullmatch(match[2])
        if code is None or any(code[1][k] not in ("-", str(k)) for k in range(6)) or int(code[5]) > 15:
            self.fail("a control code such as B--2---:R-:W0:Y:S04")
        wait = sum(1 << k for k in range(6) if code[1][k] != "-")
        read, write = (7 if text == "-" else int(text) for text in (code[2], code[3]))
        control = Control(int(code[5]), code[4] == "Y", write, read, wait, int(code[6] or "0", 16))
        if match[6]:
            self.ptx = self.size(match[6])
        self.code.append(Instruction((match[3] or "").strip(), match[4], tuple(split(match[5] or "")), control, self.place,
                                     self.ptx, self.at))


DIRECTIVES = tuple(f".{name}" for name in (
    "target address_size made_by made_of file global const bank bytes address entry func registers shared local barriers "
    "max_threads required_threads params param label loc").split())
