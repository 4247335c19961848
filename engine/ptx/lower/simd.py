"""Lowering of packed operations to scalar steps per element: .s16x2, .u16x2, .f32x2, and min / max .relu."""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Vector

_PACKED = ("s16x2", "u16x2")
_OPERATIONS = ("min", "max", "add")
_PAIRS = {"add": 2, "sub": 2, "mul": 2, "fma": 3}  # operations on .f32x2 and their numbers of sources


def is_packed(opcode: str) -> bool:
    """Return whether an opcode is lowered here."""
    base, *parts = opcode.split(".")
    if base in _PAIRS and parts[-1:] == ["f32x2"]:
        return True
    is_relu = base in ("min", "max") and sorted(parts) in (["relu", "s32"], ["relu", "s16x2"])
    return is_relu or base in _OPERATIONS and len(parts) == 1 and parts[0] in _PACKED


def lower_packed(low: Lowering, statement: Instruction, lower: Callable[[Lowering, Instruction], None]) -> None:
    """Lower a packed instruction; `lower` lowers the scalar statements that replace it."""
    base, *parts = statement.opcode.split(".")
    if parts[-1] == "f32x2":
        _Steps(low, statement, lower, 32, "u").run_pair(".".join([base, *parts[:-1], "f32"]))
    else:
        of = next(part for part in parts if part != "relu")  # the modifier may be before or after the type
        kind, bits = of[0], 32 if of == "s32" else 16
        _Steps(low, statement, lower, bits, kind).run(f"{base}.{kind}32", "relu" in parts)


class _Steps:
    """The scalar statements of one packed instruction, on new registers, all under its guard."""

    def __init__(self, low: Lowering, statement: Instruction, lower: Callable[[Lowering, Instruction], None],
                 bits: int, sign: str) -> None:
        self.low, self.statement, self.lower, self.bits, self.sign = low, statement, lower, bits, sign

    def emit(self, opcode: str, *operands: Operand) -> None:
        """Lower one scalar statement."""
        whole = self.statement
        self.lower(self.low, Instruction(whole.line, opcode, list(operands), whole.guard, whole.guard_negate))

    def new(self, bits: int = 32) -> Name:
        """Make a register and return its name."""
        register = self.low.temp(bits)
        name = f"%packed{self.low.num_temps}"
        self.low.names.table[name] = register
        return Name(name)

    def run_pair(self, opcode: str) -> None:
        """Compute both floats of .f32x2 operands."""
        result, *sources = self.statement.operands
        halves = []
        for source in sources:
            halves.append((self.new(), self.new()))
            self.emit("mov.b64", Vector(list(halves[-1])), source)
        results: list[object] = []
        for half in (0, 1):
            value = self.new()
            self.emit(opcode, value, *[pair[half] for pair in halves])
            results.append(value)
        self.emit("mov.b64", result, Vector(results))

    def run(self, opcode: str, is_relu: bool) -> None:
        """Extract the elements, compute, and pack the results; is_relu: replace negative results by 0."""
        result, *sources = self.statement.operands
        total: Operand = Number("int", 0)
        for first in range(0, 32, self.bits):
            place = (Number("int", first), Number("int", self.bits))
            elements = []
            for source in sources:
                elements.append(self.new())
                self.emit(f"bfe.{self.sign}32", elements[-1], source, *place)
            value = self.new()
            self.emit(opcode, value, *elements)
            if is_relu:
                value, below = self.new(), value
                self.emit("max.s32", value, below, Number("int", 0))
            after = self.new()
            self.emit("bfi.b32", after, value, total, *place)
            total = after
        self.emit("mov.b32", result, total)
