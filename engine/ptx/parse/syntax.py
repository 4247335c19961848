"""The syntax tree of a PTX module: operands, statements, declarations and functions, names still unresolved."""

from __future__ import annotations

from dataclasses import dataclass, field

# bytes of one value of a type that registers and variables can have; instructions work on more (rfview.engine.isa.TYPES)
TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 0, "texref": 8, "samplerref": 8, "surfref": 8,
}


@dataclass(slots=True)
class Name:
    """A register, symbol, label or special register; `addend` for `sym+4`."""

    text: str
    addend: int = 0


@dataclass(slots=True)
class Number:
    """An immediate: kind 'int' (value), 'f32' or 'f64' (value = bits); unsigned: an 'int' that C would call unsigned."""

    kind: str
    value: int
    unsigned: bool = False


@dataclass(slots=True)
class AddressByte:
    """`0xFF00(sym+4)` in an initialiser: byte `byte` of an address, 0 the lowest."""

    name: Name
    byte: int


@dataclass(slots=True)
class Address:
    """`[base+offset]`; base is None for an absolute address."""

    base: Name | None
    offset: int


@dataclass(slots=True)
class Vector:
    """`{a, b, ...}`."""

    items: list[Operand]


@dataclass(slots=True)
class Pair:
    """`a|b`: a destination with its predicate, or two predicates."""

    first: Operand
    second: Operand


@dataclass(slots=True)
class Negated:
    """`!p`."""

    name: Name


@dataclass(slots=True)
class Minus:
    """`-r`, of vmad alone."""

    name: Name


@dataclass(slots=True)
class Group:
    """`(a, b)` of a call."""

    items: list[Operand]


Operand = Name | Number | Address | Vector | Pair | Negated | Minus | Group


@dataclass(slots=True)
class Instruction:
    """One instruction statement; `opcode` is the dotted text."""

    line: int
    opcode: str
    operands: list[Operand]
    guard: str = ""
    guard_negate: bool = False


@dataclass(slots=True)
class Label:
    line: int
    name: str


@dataclass(slots=True)
class BranchTargets:
    """`name: .branchtargets a, b;`."""

    line: int
    name: str
    targets: list[str]


@dataclass(slots=True)
class RegisterDeclaration:
    """`.reg .type name;` or `.reg .type name<count>;` (count < 0: a single name), each of `vector` values."""

    line: int
    type: str
    name: str
    count: int = -1
    vector: int = 1


@dataclass(slots=True)
class Variable:
    """A declared variable in any state space: `count` elements of `type`, 0 if the size is left open (`name[]`)."""

    line: int
    space: str
    type: str
    name: str
    count: int = 1
    align: int = 0
    vector: int = 1
    is_array: bool = False
    is_extern: bool = False
    is_register: bool = False
    init: list[object] | None = None

    @property
    def element_bytes(self) -> int:
        return TYPE_BYTES[self.type] * self.vector

    @property
    def size(self) -> int:
        return self.element_bytes * self.count

    @property
    def alignment(self) -> int:
        return max(self.align, 1) if self.align else max(self.element_bytes, 1)


@dataclass(slots=True)
class Scope:
    """`{ ... }`: statements with a scope for names."""

    line: int
    items: list[Statement] = field(default_factory=list)


Statement = Instruction | Label | BranchTargets | RegisterDeclaration | Variable | Scope


@dataclass(slots=True)
class Function:
    """An `.entry` or `.func`; `body` is None for a mere declaration."""

    line: int
    name: str
    is_entry: bool
    params: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    body: Scope | None = None
    max_threads: int = 0
    required: tuple[int, int, int] = (0, 0, 0)
    ctas_per_cluster: int = 1


@dataclass(slots=True)
class SyntaxModule:
    """A parsed module: functions and module-scope variables by name, in order of declaration."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    version: str = ""
    target: str = ""
    address_size: int = 32
