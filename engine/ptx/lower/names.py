"""Scopes of one function instance: resolves the names of registers, labels, variables and parameters."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from rfview.engine.ptx.parse.syntax import TYPE_BYTES, Function, RegisterDeclaration, Scope, Variable
from rfview.engine.ptx.virtual import Variables

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)$")
MOST_DIGITS = 9     # in a register number
WIDEST = 128        # bits of PTX's widest type, which takes two registers


@dataclass(slots=True)
class Register:
    """A register: its variable, its width in bits (1 = predicate) and the type it is declared with ("": any)."""

    var: int
    bits: int
    kind: str = ""


@dataclass(slots=True)
class Parts:
    """A register of several values (a vector or 128 bits): the names of the registers that hold them."""

    names: list[str]


@dataclass(slots=True)
class CallParam:
    """A .param variable of a call, kept in registers: (offset, bytes) -> variable."""

    name: str
    size: int
    pieces: dict[tuple[int, int], int] = field(default_factory=dict)
    local_offset: int = -1


@dataclass(slots=True)
class Place:
    """Where a variable lives: a state space with a byte offset, or a module symbol ('global', 'const').

    on_stack: the offset is relative to the stack pointer, in a recursive function. size: bytes of a kernel's parameter.
    """

    space: str
    offset: int = 0
    symbol: str = ""
    on_stack: bool = False
    size: int = 0


@dataclass(slots=True)
class Body:
    """A recursive function's body in a kernel: its entry and exit labels, and its callers.

    number: register with the index of the return label in `calls`. results: the variable that a caller reads -> the one
    that the body writes. bytes: size of its own arrays on the stack; frame_bytes: including what its calls save there.
    """

    function: Function
    entry: int
    exit: int
    names: Names
    number: Register
    results: dict[int, int] = field(default_factory=dict)
    calls: list[int] = field(default_factory=list)
    bytes: int = 0
    frame_bytes: int = 0

    def area(self, size: int, align: int) -> int:
        """Reserve `size` bytes in the stack frame; return their offset."""
        offset = -(-self.bytes // max(align, 1)) * max(align, 1)
        self.bytes = offset + size
        return offset


@dataclass(slots=True)
class LabelId:
    number: int


@dataclass(slots=True)
class TargetList:
    names: list[str]


class Names:
    """One scope: its own names, then its parent's. Numbered registers (`%r<9>`) become variables on first use."""

    def __init__(self, variables: Variables, parent: Names | None = None, prefix: str = "") -> None:
        self.variables = variables
        self.parent = parent
        self.prefix = prefix
        self.table: dict[str, object] = {}
        self.ranges: dict[str, tuple[int, int, int, str]] = {}

    def child(self) -> Names:
        return Names(self.variables, self, self.prefix)

    def declare_register(self, declaration: RegisterDeclaration) -> None:
        bits, parts, kind = register_bits(declaration.type), declaration.vector, declaration.type
        if bits == WIDEST:
            bits, parts, kind = WIDEST // 2, 2 * parts, ""
        if declaration.count < 0:
            self.table[declaration.name] = self.declared(declaration.name, bits, parts, kind)
        else:
            self.ranges[declaration.name] = (declaration.count, bits, parts, kind)

    def declared(self, name: str, bits: int, parts: int, kind: str) -> Register | Parts:
        """Make a register, or those of a vector: `v.x`, `v.y`, ..., which are also called `v.r`, `v.g`, `v.b`, `v.a`."""
        if parts == 1:
            return self.new_register(name, bits, kind)
        names = part_names(name, parts)
        for part in names:
            self.table[part] = self.new_register(part, bits, kind)
        self.table.update({f"{name}.{colour}": self.table[part] for colour, part in zip("rgba", names, strict=False)})
        return Parts(names)

    def new_register(self, name: str, bits: int, kind: str = "") -> Register:
        return Register(self.variables.new(self.prefix + name, bits), bits, kind)

    def find(self, name: str) -> object | None:
        """Return what `name` stands for, or None."""
        scope: Names | None = self
        while scope is not None:
            meaning = scope.table.get(name)
            if meaning is None and scope.ranges:
                meaning = scope.numbered(name)
            if meaning is not None:
                return meaning
            scope = scope.parent
        return None

    def numbered(self, name: str) -> Register | Parts | None:
        vector, dot, _ = name.rpartition(".")
        if dot:     # v1.x of `.reg .v2 .f32 v<4>`: looking up v1 adds it to the table
            if vector not in self.table and self.numbered(vector) is None:
                return None
            return self.table.get(name)  # type: ignore[return-value]
        match = _NUMBERED.match(name)
        if match is None:
            return None
        known = self.ranges.get(match.group(1))
        if known is None or len(match.group(2)) > MOST_DIGITS or int(match.group(2)) >= known[0]:
            return None
        register = self.table[name] = self.declared(name, *known[1:])
        return register

    def similar(self, name: str) -> str:
        """Return a similar known name, for an error message, or ''."""
        known: list[str] = []
        scope: Names | None = self
        while scope is not None:
            known += list(scope.table)
            known += [f"{prefix}0..{prefix}{count - 1}" for prefix, (count, *_) in scope.ranges.items()]
            scope = scope.parent
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        return close[0] if close else ""


def part_names(name: str, parts: int) -> list[str]:
    """Name the registers of a vector: `v.x`, `v.y`, ...; numbered if there are more than four."""
    return [f"{name}.{part}" for part in ("xyzw"[:parts] if parts <= 4 else range(parts))]


def register_bits(type_name: str) -> int:
    """Return the bits of a register of a declared type: 1 (pred), 16 (8-bit types, too), 32, 64, 128 (held in two)."""
    if type_name == "pred":
        return 1
    return max(8 * TYPE_BYTES[type_name], 16)


def declared_variables(scope: Scope) -> list[Variable]:
    """List every variable declared in a body, nested scopes included, in order."""
    variables: list[Variable] = []
    for item in scope.items:
        if isinstance(item, Variable):
            variables.append(item)
        elif isinstance(item, Scope):
            variables += declared_variables(item)
    return variables


