"""Reads a cubin, the ELF file that ptxas writes: sections, symbols, relocations. Nothing in it is trusted."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from rfview.engine.errors import SassError

MAGIC = b"\x7fELF"
MACHINE_CUDA = 190              # e_machine, EM_CUDA
ABI_13 = 8                      # EI_ABIVERSION since CUDA 13: the architecture is in the second byte of e_flags
SYMTAB, RELA, NOBITS, REL = 2, 4, 8, 9          # sh_type
OBJECT, FUNCTION = 1, 2         # the type of a symbol, st_info & 15
MAX_SECTIONS = 65_535
TEXT = ".text."


@dataclass(frozen=True)
class Section:
    """A section. info: sh_info, whose top byte is the number of registers in a `.text` section. data: b"" if NOBITS."""

    name: str
    kind: int
    size: int
    link: int
    info: int
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Symbol:
    """A symbol. value: its offset in the section of this index, of `size` bytes. kind: OBJECT, FUNCTION or another type."""

    name: str
    kind: int
    section: int
    value: int
    size: int
    is_entry: bool


@dataclass(frozen=True)
class Relocation:
    """Where a section needs an address. kind: ABSOLUTE64 .. HIGH32, or one that does not change the code's meaning."""

    offset: int
    kind: int
    symbol: Symbol
    addend: int


ABSOLUTE64, GENERIC64, LOW32, HIGH32 = 2, 4, 56, 57       # of a word, twice; of bits 32..63 of an instruction
ENTRY = 0x10                                # st_other, STO_CUDA_ENTRY


@dataclass(frozen=True)
class Cubin:
    """The contents of a cubin. sm: its architecture, 80 for sm_80. relocations: by the name of the section they change."""

    path: str
    sm: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: dict[str, tuple[Relocation, ...]]

    def section(self, name: str) -> Section | None:
        """Return the section of this name."""
        return next((section for section in self.sections if section.name == name), None)

    def section_of(self, symbol: Symbol) -> str:
        """Return the name of the section that contains a symbol, "" if none does."""
        return self.sections[symbol.section].name if 0 < symbol.section < len(self.sections) else ""


def is_cubin(raw: bytes) -> bool:
    """Return whether a file is an ELF file for NVIDIA's GPUs, by its first bytes."""
    return raw[:4] == MAGIC and len(raw) >= 20 and struct.unpack_from("<H", raw, 18)[0] == MACHINE_CUDA


def read_cubin(raw: bytes, path: str) -> Cubin:
    """Return the contents of a cubin; path: for errors. Raises SassError if it is damaged or none."""
    if not is_cubin(raw):
        raise SassError(f"{path}: expected a cubin (an ELF file of machine code, which ptxas writes)")
    if raw[4:6] != b"\x02\x01":
        raise SassError(f"{path}: expected a 64-bit little-endian cubin")
    try:
        return _read(raw, path)
    except (struct.error, IndexError, ValueError, OverflowError) as problem:
        raise SassError(f"{path}: damaged cubin: {_plain(problem)}") from None


def _plain(problem: Exception) -> str:
    is_outside = isinstance(problem, (struct.error, OverflowError))
    return "a section or name lies outside of the file" if is_outside else str(problem)


def _read(raw: bytes, path: str) -> Cubin:
    start, = struct.unpack_from("<Q", raw, 40)
    flags, = struct.unpack_from("<I", raw, 48)
    entry_bytes, count, names = struct.unpack_from("<HHH", raw, 58)
    if entry_bytes != 64 or not 0 < count <= MAX_SECTIONS or names >= count:
        raise ValueError(f"{count} section headers of {entry_bytes} bytes")
    heads = [struct.unpack_from("<IIQQQQIIQQ", raw, start + 64 * k) for k in range(count)]
    strings = _content(raw, heads[names])
    sections = tuple(Section(_text(strings, head[0]), head[1], head[5], head[6], head[7], _content(raw, head))
                     for head in heads)
    symbols = _symbols(sections)
    relocations: dict[str, tuple[Relocation, ...]] = {}
    for section in sections:
        if section.kind in (REL, RELA) and symbols:
            target = sections[section.info].name
            relocations[target] = relocations.get(target, ()) + tuple(_relocations(section, symbols))
    sm = flags >> 8 & 0xFF if raw[8] >= ABI_13 else flags & 0xFF
    return Cubin(path, sm, sections, symbols, relocations)


def _content(raw: bytes, head: tuple[int, ...]) -> bytes:
    kind, offset, size = head[1], head[4], head[5]
    if kind in (0, NOBITS):
        return b""
    if offset + size > len(raw):
        raise ValueError(f"a section of {size:,} bytes at {offset:,} in a file of {len(raw):,}")
    return raw[offset : offset + size]


def _text(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    if not 0 <= at < len(strings) or end < 0:
        raise ValueError("a name lies outside of its table")
    return strings[at:end].decode("utf-8", "replace")


def _symbols(sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    table = next((section for section in sections if section.kind == SYMTAB), None)
    if table is None:
        return ()
    strings = sections[table.link].data
    symbols = []
    for at in range(0, len(table.data) - 23, 24):
        name, info, other, index, value, size = struct.unpack_from("<IBBHQQ", table.data, at)
        symbols.append(Symbol(_text(strings, name), info & 15, index, value, size, bool(other & ENTRY)))
    return tuple(symbols)


def _relocations(section: Section, symbols: tuple[Symbol, ...]) -> list[Relocation]:
    size = 24 if section.kind == RELA else 16
    found = []
    for at in range(0, len(section.data) - size + 1, size):
        offset, info = struct.unpack_from("<QQ", section.data, at)
        addend = struct.unpack_from("<q", section.data, at + 16)[0] if section.kind == RELA else 0
        found.append(Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend))
    return found
