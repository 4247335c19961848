"""Machine code as data: a module's functions, instructions with control codes, constants and variables."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

HEADER = "// rfview machine code 1"
INSTRUCTION_BYTES = 16


def is_listing(text: str) -> bool:
    """Return whether a text is a listing, by its first line."""
    return text.startswith(HEADER)


def digest(ptx: str) -> str:
    """Return what says whether a listing was made of this PTX text."""
    return hashlib.sha256(ptx.encode("utf-8", "surrogateescape")).hexdigest()[:16]


CODE = tuple[tuple[int, str, int], ...]     # relocations: (offset in the data, symbol, addend), of 64-bit addresses


@dataclass(frozen=True)
class Control:
    """What the compiler tells the hardware, bits 41..61 of an encoding (Jia et al., arXiv 1804.06826, section 2.1).

    stall: cycles until the warp's next instruction. may_switch: whether another warp is preferred then. write, read: the
    counter (0..5) that the results, and the reads of the operands, decrement; 7 = none. wait: a bit per counter that has
    to be 0. reuse: bit k: source k stays in its reuse cache.
    """

    stall: int
    may_switch: bool
    write: int
    read: int
    wait: int
    reuse: int

    @classmethod
    def of_bits(cls, bits: int) -> Control:
        """Return the control code of an encoding's bits 41 and up; the bit for switching is 0 where it is preferred."""
        return cls(bits & 15, not bits >> 4 & 1, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63, bits >> 17 & 15)

    @property
    def bits(self) -> int:
        """Return it as in the encoding."""
        return (self.stall | (not self.may_switch) << 4 | self.write << 5 | self.read << 8 | self.wait << 11
                | self.reuse << 17)


@dataclass(frozen=True)
class Place:
    """A place in the sources: file number, line, column; then the places where the function containing it was inlined."""

    file: int
    line: int
    column: int = 0
    caller: Place | None = None


@dataclass(frozen=True)
class Instruction:
    """One instruction, operands as nvdisasm writes them.

    guard: "@P0", "@!UP2" or "". A float is followed by its bits: 1.5:3fc00000, 1/1:3c003c00 for two halves. line: of the
    listing's text, 0 if it was not read from one. ptx: line of the PTX it was compiled from, 0 if unknown.
    """

    guard: str
    opcode: str
    operands: tuple[str, ...]
    control: Control
    place: Place | None = None
    ptx: int = 0
    line: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """Return it as nvdisasm writes it."""
        words = ", ".join(operand.partition(":")[0].replace("/", ", ") for operand in self.operands)
        return " ".join(part for part in (self.guard, self.opcode, words) if part)


@dataclass(frozen=True)
class Bank:
    """A constant bank's contents; bank 0 is made for each launch."""

    number: int
    data: bytes
    relocs: CODE = ()


@dataclass(frozen=True)
class Variable:
    """A variable: in global memory, or of space "const" at an offset of bank 3. data: its first bytes; the others are 0."""

    name: str
    space: str
    size: int
    align: int
    offset: int
    data: bytes
    relocs: CODE = ()


@dataclass(frozen=True)
class Parameter:
    """A parameter: offset behind the parameters' base in bank 0. type: as in PTX, b32 if only the size is known."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class Function:
    """A kernel (is_entry), or a function with code of its own. labels: offsets in bytes of its subroutines.

    shared: static bytes. local: bytes of stack per thread. param_base: in constant bank 0.
    """

    name: str
    is_entry: bool
    registers: int
    shared: int
    local: int
    barriers: int
    param_base: int
    params: tuple[Parameter, ...]
    max_threads: int
    required_threads: tuple[int, int, int]
    banks: tuple[Bank, ...]
    labels: tuple[tuple[str, int], ...]
    code: tuple[Instruction, ...]


@dataclass(frozen=True)
class Listing:
    """A module of machine code. sm: 80 for sm_80. files: the sources' paths by number. banks: of all functions.

    made_by: the tools' release. made_of: `digest` of the PTX text, "" if it is not known.
    """

    sm: int
    made_by: str
    made_of: str
    files: dict[int, str]
    banks: tuple[Bank, ...]
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
