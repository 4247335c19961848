"""A cubin to a listing: nvdisasm's words joined with the encodings, which hold what the words do not say exactly.

From the encoding come control codes, guards and immediates: nvdisasm 13.5 loses the guard of P2R, and writes floats as
decimals. Every immediate of 32 bits is in bits 32..63, of a double the upper word.
"""

from __future__ import annotations

import json
import re
import struct
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from rfview.engine.errors import PtxError, SassError
from rfview.engine.sass import tools
from rfview.engine.sass.cubin import (ABSOLUTE64, FUNCTION, GENERIC64, HIGH32, LOW32, OBJECT, TEXT, Cubin, Section, Symbol,
                                      read_cubin)
from rfview.engine.sass.info import NO_STACK, FunctionInfo, function_infos
from rfview.engine.sass.operands import split
from rfview.engine.sass.lines import CUDA_LINES, PTX_LINES, LineTable, line_table
from rfview.engine.sass.listing import (CODE, INSTRUCTION_BYTES, Bank, Control, Function, Instruction, Listing, Parameter,
                                        Place, Variable, digest)

GUARD = re.compile(r"@!?U?P[0-6T]")
FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|QNAN|SNAN|NAN)")
NO_NAME = re.compile(r"(32@(?:lo|hi)\()0x[0-9a-f]+\)")      # a word of an address whose symbol only the relocation names
MOST_VARIABLE = 1 << 30         # bytes
PTX_TEXT = ".nv_debug_ptx_txt"


def disassemble(raw: bytes, path: str, ptx: str = "") -> Listing:
    """Return the listing of a cubin. ptx: what it was compiled from, if known. Raises SassError."""
    cubin, made_of = read_cubin(raw, path), digest(ptx) if ptx else ""
    if ptx == "" and (section := cubin.section(PTX_TEXT)) is not None:
        ptx = section.data.replace(b"\0", b"\n").decode("utf-8", "replace")
    try:
        about, functions, *_ = json.loads(tools.disassembled(raw, path))
        made_by = str(about.get(".note.nv.tkinfo", {}).get("tki_toolVersion", ""))
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise SassError(f"{path}: nvdisasm wrote something other than the JSON of its version 12 or later") from None
    infos, sources = function_infos(cubin), _Sources(cubin, ptx)
    listed = []
    for words in functions:
        section = cubin.section(TEXT + words["function-name"])
        if section is not None:
            listed.append(_function(cubin, section, words, infos, sources))
    banks = tuple(_bank(cubin, section) for section in cubin.sections
                  if re.fullmatch(r"\.nv\.constant[1-9]\d?", section.name))
    return Listing(cubin.sm, made_by, made_of, sources.files, banks, tuple(_variables(cubin)), tuple(listed))


def _function(cubin: Cubin, section: Section, words: Mapping[str, Any], infos: Mapping[str, FunctionInfo],
              sources: _Sources) -> Function:
    name = section.name.removeprefix(TEXT)
    info = infos[name]
    code = []
    words_of = {one.offset: one for one in cubin.relocations.get(section.name, ()) if one.kind in (LOW32, HIGH32)}
    for index, one in enumerate(words["sass-instructions"]):
        offset = words["start"] + INSTRUCTION_BYTES * index
        if offset + INSTRUCTION_BYTES > len(section.data):
            raise SassError(f"{cubin.path}: damaged cubin: {name} has fewer bytes than instructions")
        low, high = struct.unpack_from("<QQ", section.data, offset)
        if offset in words_of:
            symbol, addend = _base(cubin, words_of[offset].symbol, words_of[offset].addend + (low >> 32))
            one = {**one, "operands": NO_NAME.sub(rf"\g<1>{symbol}+{addend:#x})", one.get("operands", ""))}
        code.append(_instruction(one, low, high, *sources.of(section.name, offset)))
    own = [symbol for symbol in cubin.symbols if symbol.kind == FUNCTION and cubin.section_of(symbol) == section.name]
    shared = cubin.section(".nv.shared." + name)
    banks = tuple(_bank(cubin, held) for held in cubin.sections
                  if re.fullmatch(r"\.nv\.constant[1-9]\d?\." + re.escape(name), held.name))
    return Function(
        name=name, is_entry=any(symbol.is_entry for symbol in own), registers=info.registers,
        shared=shared.size if shared is not None else 0,
        local=info.frame if info.stack == NO_STACK else max(info.stack, info.frame), barriers=info.barriers,
        param_base=info.param_base, params=sources.params(name, info), max_threads=info.max_threads,
        required_threads=info.required_threads, banks=banks,
        labels=tuple((symbol.name, symbol.value) for symbol in own if symbol.value), code=tuple(code))


def _instruction(words: Mapping[str, Any], low: int, high: int, place: Place | None, ptx: int) -> Instruction:
    operands = split(words.get("operands", ""))
    guard, number = words.get("predicate", ""), low >> 12 & 7
    if guard and not GUARD.fullmatch(guard):        # P2R's operand PR stands in place of its guard
        operands.insert(1, guard)
        guard = "" if low >> 12 & 15 == 7 else f"@{'!' if low >> 15 & 1 else ''}P{number}"
    if words["opcode"][:1] == "H":
        operands = _with_halves(operands, low >> 32)
    named = tuple(f"{operand}:{low >> 32:08x}" if FLOAT.fullmatch(operand) and words["opcode"] != "TLD" else operand
                  for operand in operands)
    control = Control.of_bits(high >> 41 & 0x1FFFFF)
    return Instruction("" if guard == "@PT" else guard, words["opcode"], named, control, place, ptx)


def _with_halves(operands: list[str], bits: int) -> list[str]:
    """Return operands with the two numbers of a pair of halves, upper first, as one operand."""
    for at in range(len(operands) - 1):
        if FLOAT.fullmatch(operands[at]) and FLOAT.fullmatch(operands[at + 1]):
            return [*operands[:at], f"{operands[at]}/{operands[at + 1]}:{bits:08x}", *operands[at + 2 :]]
    return operands


def _bank(cubin: Cubin, section: Section) -> Bank:
    number = int(section.name.removeprefix(".nv.constant").partition(".")[0])
    return Bank(number, section.data, _addresses(cubin, section))


def _addresses(cubin: Cubin, section: Section, first: int = 0, end: int = 1 << 62) -> CODE:
    """Return where a section's bytes from `first` to `end` hold addresses; the addend of a REL entry is in place."""
    found = []
    for one in cubin.relocations.get(section.name, ()):
        if one.kind in (ABSOLUTE64, GENERIC64) and first <= one.offset < end and one.offset + 8 <= len(section.data):
            addend = one.addend + struct.unpack_from("<q", section.data, one.offset)[0]
            found.append((one.offset - first, *_base(cubin, one.symbol, addend)))
    return tuple(found)


def _base(cubin: Cubin, symbol: Symbol, addend: int) -> tuple[str, int]:
    """Return a symbol and addend; subroutines and sections become the function or variable that contains them."""
    section = cubin.section_of(symbol)
    if section.startswith(TEXT):
        return section.removeprefix(TEXT), symbol.value + addend
    if symbol.name and (symbol.kind == OBJECT or not section):     # not section: the driver defines it
        return symbol.name, addend
    for held in cubin.symbols:
        if held.kind == OBJECT and held.section == symbol.section and held.value <= addend < held.value + held.size:
            return held.name, addend - held.value
    return symbol.name, addend


def _variables(cubin: Cubin) -> list[Variable]:
    variables = []
    for symbol in cubin.symbols:
        name = cubin.section_of(symbol)
        if symbol.kind != OBJECT or not symbol.size or not name.startswith((".nv.global", ".nv.constant3")):
            continue
        if symbol.size > MOST_VARIABLE:
            raise SassError(f"{cubin.path}: the variable {symbol.name} has {symbol.size:,} bytes")
        section = cubin.sections[symbol.section]
        is_const, end = name == ".nv.constant3", symbol.value + symbol.size
        data = b"" if is_const else section.data[symbol.value : end].rstrip(b"\0")
        relocs = () if is_const else _addresses(cubin, section, symbol.value, end)
        variables.append(Variable(symbol.name, "const" if is_const else "global", symbol.size, 256,
                                  symbol.value if is_const else 0, data, relocs))
    return variables


class _Sources:
    """Where instructions come from: by the PTX's own places, which know what was inlined, else by the cubin's line table."""

    def __init__(self, cubin: Cubin, ptx: str) -> None:
        from rfview.engine.ptx.parse.locations import locations     # start-up: only code with line tables needs it

        self.ptx = ptx
        self.lines, self.cuda = line_table(cubin, PTX_LINES), line_table(cubin, CUDA_LINES)
        self.known = locations(ptx) if ptx and self.lines.rows else None
        self.files = ({number: file.path for number, file in self.known.files.items()}
                      if self.known is not None and self.known.files else dict(self.cuda.files))
        self._params: dict[str, tuple[Any, ...]] | None = None

    def of(self, section: str, offset: int) -> tuple[Place | None, int]:
        """Return the place in the sources of an instruction, and its PTX line."""
        ptx = _at(self.lines, section, offset)[1]
        if self.known is not None and self.known.files:
            place = None
            for one in reversed(self.known.at(ptx)):
                place = Place(one.file, one.line, one.column, place)
            return place, ptx
        file, line = _at(self.cuda, section, offset)
        return (Place(file, line) if file and line else None), ptx

    def params(self, name: str, info: FunctionInfo) -> tuple[Parameter, ...]:
        """Return a function's parameters, with names and types if the PTX declares as many of the same sizes."""
        declared = self._declared().get(name, ())
        places = [info.params[ordinal] for ordinal in sorted(info.params)]
        if [param.size for param in declared] == [size for _, size in places]:
            return tuple(Parameter(param.name, param.type, offset, size) for param, (offset, size) in zip(declared, places))
        return tuple(Parameter(f"{name}_param_{k}", f"b{8 * size}" if size in (1, 2, 4, 8) else "b8", offset, size)
                     for k, (offset, size) in enumerate(places))

    def _declared(self) -> dict[str, tuple[Any, ...]]:
        from rfview.engine.ptx import parameters_of     # start-up, likewise

        if self._params is None:
            try:
                self._params = parameters_of(self.ptx) if self.ptx else {}
            except PtxError:        # it is only asked for names
                self._params = {}
        return self._params


def _at(table: LineTable, section: str, offset: int) -> tuple[int, int]:
    """Return (file, line) of an instruction in a line table."""
    rows = table.rows.get(section, ())
    at = bisect_right(rows, (offset, 1 << 62, 0)) - 1
    return rows[at][1:] if at >= 0 else (0, 0)
