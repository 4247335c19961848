"""Lowering of packed integers: vabsdiff4 and min / max / add of .s16x2, .u16x2, element by element in scalar steps."""

from __future__ import annotations

from collections.abc import Callable

from engine.ptx.context import Lowering
from engine.ptx.syntax import Instruction, Name, Number, Operand

_PACKED = ("s16x2", "u16x2")
_OPERATIONS = ("min", "max", "add")


def is_packed(opcode: str) -> bool:
    """Say whether an opcode works on packed integers and is lowered here."""
    base, *parts = opcode.split(".")
    return base == "vabsdiff4" or base in _OPERATIONS and len(parts) == 1 and parts[0] in _PACKED


def lower_packed(low: Lowering, statement: Instruction, lower: Callable[[Lowering, Instruction], None]) -> None:
    """Lower a packed instruction; `lower` lowers the scalar statements that it is made of."""
    base, *parts = statement.opcode.split(".")
    needed = 4 if base == "vabsdiff4" else 3
    if len(statement.operands) != needed:
        raise low.fail(f"'{statement.opcode}' needs {needed} operands, found {len(statement.operands)}")
    if base == "vabsdiff4":
        is_sum = parts[3:] == ["add"]
        if len(parts) < 3 or any(part not in ("u32", "s32") for part in parts[:3]) or parts[3:] and not is_sum:
            raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: "
                           "'vabsdiff4.u32.u32.u32'")  # fmt: skip
        steps = _Steps(low, statement, lower, 8, (parts[1][0], parts[2][0]))
        steps.run("sad", f"{'s' if 's32' in parts[1:3] else 'u'}32", is_sum)
    else:
        kind = parts[0][0]
        _Steps(low, statement, lower, 16, (kind, kind)).run(base, f"{kind}32", False)


class _Steps:
    """The scalar statements of one packed instruction, over new registers, all under its guard."""

    def __init__(self, low: Lowering, statement: Instruction, lower: Callable[[Lowering, Instruction], None],
                 bits: int, signs: tuple[str, str]) -> None:  # fmt: skip
        self.low, self.statement, self.lower, self.bits, self.signs = low, statement, lower, bits, signs

    def emit(self, opcode: str, *operands: Operand) -> None:
        """Lower one scalar statement."""
        whole = self.statement
        self.lower(self.low, Instruction(whole.line, opcode, list(operands), whole.guard, whole.guard_negate))

    def new(self) -> Name:
        """Make a 32-bit register and its name."""
        register = self.low.temp(32)
        name = f"%packed{self.low.num_temps}"
        self.low.names.table[name] = register
        return Name(name)

    def run(self, operation: str, kind: str, is_sum: bool) -> None:
        """Take the elements out, compute, and put the results side by side (is_sum: add them to operand c)."""
        result, *sources = self.statement.operands
        extra = (Number("int", 0),) if operation == "sad" else ()
        total: Operand = sources[2] if is_sum else Number("int", 0)
        for first in range(0, 32, self.bits):
            place = (Number("int", first), Number("int", self.bits))
            elements = []
            for sign, source in zip(self.signs, sources, strict=False):
                elements.append(self.new())
                self.emit(f"bfe.{sign}32", elements[-1], source, *place)
            after = self.new()
            if is_sum:
                self.emit(f"{operation}.{kind}", after, *elements, total)
            else:
                value = self.new()
                self.emit(f"{operation}.{kind}", value, *elements, *extra)
                self.emit("bfi.b32", after, value, total, *place)
            total = after
        self.emit("mov.b32", result, total)
