"""Vector and 128-bit registers: turns operations on the whole register into operations on its parts."""

from __future__ import annotations

import re

from rfview.engine.ptx.forms.special_registers import VECTORS
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.locked import is_locked, lower_locked
from rfview.engine.ptx.lower.names import Parts
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Vector

_VECTOR = re.compile(r"\.v[248]\b")


def in_parts(low: Lowering, statement: Instruction) -> list[Instruction] | None:
    """Return the statements that replace one on such registers, [] if it has been lowered; None for all others."""
    operands = [taken_apart(low, operand) for operand in statement.operands]
    opcode = statement.opcode
    if is_locked(opcode):
        lower_locked(Steps(low, statement), operands)
        return []
    if opcode.startswith("mov."):
        return moves(low, statement, operands)
    if opcode.endswith(".b128") and opcode.startswith(("ld", "st")):
        count = 2 * int(found[0][2:]) if (found := _VECTOR.search(opcode)) else 2
        opcode = f"{_VECTOR.sub('', opcode)[:-5]}.v{count}.b64"
    elif operands == statement.operands:
        return None
    return [Instruction(statement.line, opcode, operands, statement.guard, statement.guard_negate)]


def taken_apart(low: Lowering, operand: Operand) -> Operand:
    """Return the vector of parts that a register of several values stands for; those inside a vector are flattened."""
    if isinstance(operand, Name):
        found = low.names.find(operand.text)
        if isinstance(found, Parts):
            return Vector([Name(part) for part in found.names])
        if found is None and operand.text.lstrip("%") in VECTORS:
            return Vector([Name(f"{operand.text}.{axis}") for axis in "xyzw"])
    if isinstance(operand, Vector):
        items = [taken_apart(low, item) for item in operand.items]  # type: ignore[arg-type]
        return Vector([part for item in items for part in (item.items if isinstance(item, Vector) else [item])])
    return operand


def moves(low: Lowering, statement: Instruction, operands: list[Operand]) -> list[Instruction] | None:
    """Lower a mov part by part, through temporaries, since {a, b} may become {b, a}; a pack or unpack is only rebuilt."""
    if len(operands) != 2:
        return rebuilt(statement, operands)
    to, source = operands
    if isinstance(source, Number) and statement.opcode.endswith(".b128"):
        source = Vector([Number("int", source.value & (1 << 64) - 1), Number("int", source.value >> 64)])
    if not isinstance(to, Vector) or not isinstance(source, Vector):
        return rebuilt(statement, operands)
    kind = statement.opcode.rpartition(".")[2].replace("b128", "b64")
    bits = max(int(kind[1:]), 16)
    steps = Steps(low, statement)
    if len(to.items) != len(source.items):      # 128 bits as four words
        return words(steps, to.items, source.items)
    kind = f"b{bits}"
    held = [steps.value(f"mov.{kind}", item, bits=bits) for item in source.items]  # type: ignore[arg-type]
    for item, value in zip(to.items, held, strict=True):
        steps.emit(f"mov.{kind}", item, value)  # type: ignore[arg-type]
    return []


def words(steps: Steps, to: list[Operand], source: list[Operand]) -> list[Instruction]:
    """Move two halves of 64 bits to four words, or back."""
    if len(source) == 2:
        held = [steps.value("mov.b64", half, bits=64) for half in source]  # type: ignore[arg-type]
        for place, half in enumerate(held):
            steps.emit("mov.b64", Vector(to[2 * place : 2 * place + 2]), half)
        return []
    halves = [steps.value("mov.b64", Vector(source[place : place + 2]), bits=64) for place in (0, 2)]
    for item, value in zip(to, halves, strict=True):
        steps.emit("mov.b64", item, value)  # type: ignore[arg-type]
    return []


def rebuilt(statement: Instruction, operands: list[Operand]) -> list[Instruction] | None:
    """Return the statement with its operands in parts; None if no operand has any."""
    if operands == statement.operands:
        return None
    return [Instruction(statement.line, statement.opcode, operands, statement.guard, statement.guard_negate)]
