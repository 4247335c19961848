"""Emits the scalar statements that one PTX instruction is lowered to, all under that instruction's guard."""

from __future__ import annotations

from rfview.engine.ptx.lower.arithmetic import lower_mov, lower_table
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import lower_atomic, lower_load, lower_store
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand

_LOWER = {"ld": lower_load, "st": lower_store, "atom": lower_atomic, "red": lower_atomic, "mov": lower_mov}


class Steps:
    """Emits scalar statements, on new named registers, in place of one instruction."""

    def __init__(self, low: Lowering, whole: Instruction) -> None:
        self.low, self.whole = low, whole

    def emit(self, opcode: str, *operands: Operand | int) -> None:
        """Lower one statement; an int is an immediate."""
        given = [Number("int", item) if isinstance(item, int) else item for item in operands]
        lower = _LOWER.get(opcode.split(".")[0], lower_table)
        lower(self.low, Instruction(self.whole.line, opcode, given, self.whole.guard, self.whole.guard_negate))

    def new(self, bits: int = 32) -> Name:
        """Make a register and return its name."""
        register = self.low.temp(bits)
        name = f"%step{self.low.num_temps}"
        self.low.names.table[name] = register
        return Name(name)

    def value(self, opcode: str, *operands: Operand | int, bits: int = 32) -> Name:
        """Lower one statement that writes a new register of `bits`; return the register's name."""
        result = self.new(bits)
        self.emit(opcode, result, *operands)
        return result
