"""Vector and 128-bit registers: turns operations on the whole register into operations on its parts."""

from __future__ import annotations

import re
from collections.abc import Callable

from rfview.engine.ptx.forms.special_registers import VECTORS
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.locked import is_locked, lower_locked
from rfview.engine.ptx.lower.memory import elements
from rfview.engine.ptx.lower.names import Parts
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Vector

_VECTOR = re.compile(r"\.v[248]\b")


def lowered_in_parts(low: Lowering, statement: Instruction, lower: Callable[[Instruction], None]) -> bool:
    """Lower a statement on such registers, the whole of which `lower` lowers; return False for all others."""
    opcode = statement.opcode
    if not opcode.startswith("mov.") and not opcode.endswith(".b128"):
        narrow = [lower_half(low, operand) for operand in statement.operands]
        if narrow != statement.operands:
            lower(with_operands(statement, opcode, narrow))
            extend(low, statement)
            return True
    operands = [taken_apart(low, operand) for operand in statement.operands]
    if is_locked(opcode):
        lower_locked(Steps(low, statement), operands)
    elif opcode.startswith("mov."):
        return moves(low, statement, operands, lower)
    elif opcode.endswith(".b128") and opcode.startswith(("ld", "st")):
        count = 2 * int(vector[0][2:]) if (vector := _VECTOR.search(opcode)) else 2
        lower(with_operands(statement, f"{_VECTOR.sub('', opcode)[:-5]}.v{count}.b64", operands))
    elif operands == statement.operands:
        return False
    else:
        lower(with_operands(statement, opcode, operands))
    return True


def with_operands(statement: Instruction, opcode: str, operands: list[Operand]) -> Instruction:
    return Instruction(statement.line, opcode, operands, statement.guard, statement.guard_negate)


def halves_of(low: Lowering, operand: Operand) -> list[Name]:
    """Return the halves of a register of 128 bits, [] of all others: the parts of vectors have a declared type."""
    meaning = low.names.find(operand.text) if isinstance(operand, Name) else None
    if isinstance(meaning, Parts) and not low.register(Name(meaning.names[0])).kind:
        return [Name(part) for part in meaning.names]
    return []


def lower_half(low: Lowering, operand: Operand) -> Operand:
    """Return the half of a 128-bit register in which ld, st and cvt keep a narrower value; those in a vector, too."""
    if isinstance(operand, Vector):
        return Vector([lower_half(low, item) for item in operand.items])
    return next(iter(halves_of(low, operand)), operand)


def extend(low: Lowering, statement: Instruction) -> None:
    """Extend the narrower values that a statement wrote to 128-bit registers: by the sign, or by zeros."""
    if statement.opcode.startswith(("st", "sust")):
        return
    base, *words = statement.opcode.split(".")
    is_signed = words[-2 if base == "cvt" else -1][0] == "s" and words[0] != "pack"
    for item in elements(statement.operands[0]):
        for half in halves_of(low, item)[1:]:
            lower = halves_of(low, item)[0]
            Steps(low, statement).emit(*(("shr.s64", half, lower, 63) if is_signed else ("mov.b64", half, 0)))


def taken_apart(low: Lowering, operand: Operand) -> Operand:
    """Return the vector of parts that a register of several values stands for; those inside a vector are flattened."""
    if isinstance(operand, Name):
        meaning = low.names.find(operand.text)
        if isinstance(meaning, Parts):
            return Vector([Name(part) for part in meaning.names])
        if meaning is None and operand.text.lstrip("%") in VECTORS:
            return Vector([Name(f"{operand.text}.{axis}") for axis in "xyzw"])
    if isinstance(operand, Vector):
        items = [taken_apart(low, item) for item in operand.items]
        return Vector([part for item in items for part in (item.items if isinstance(item, Vector) else [item])])
    return operand


def moves(low: Lowering, statement: Instruction, operands: list[Operand], lower: Callable[[Instruction], None]) -> bool:
    """Lower a mov part by part, through temporaries, since {a, b} may become {b, a}; a pack or unpack is only rebuilt."""
    to, source = operands
    if isinstance(source, Number) and statement.opcode.endswith(".b128"):
        source = Vector([Number("int", source.value & (1 << 64) - 1), Number("int", source.value >> 64)])
    if not isinstance(to, Vector) or not isinstance(source, Vector):
        if operands != statement.operands:
            lower(with_operands(statement, statement.opcode, operands))
        return operands != statement.operands
    kind = statement.opcode.rpartition(".")[2].replace("b128", "b64")
    bits = max(int(kind[1:]), 16)
    steps = Steps(low, statement)
    if len(to.items) != len(source.items):      # 128 bits as four words
        words(steps, to.items, source.items)
        return True
    held = [steps.value(f"mov.b{bits}", item, bits=bits) for item in source.items]
    for item, value in zip(to.items, held, strict=True):
        steps.emit(f"mov.b{bits}", item, value)
    return True


def words(steps: Steps, to: list[Operand], source: list[Operand]) -> None:
    """Move two halves of 64 bits to four words, or back."""
    if len(source) == 2:
        held = [steps.value("mov.b64", half, bits=64) for half in source]
        for place, half in enumerate(held):
            steps.emit("mov.b64", Vector(to[2 * place : 2 * place + 2]), half)
        return
    halves = [steps.value("mov.b64", Vector(source[place : place + 2]), bits=64) for place in (0, 2)]
    for item, value in zip(to, halves, strict=True):
        steps.emit("mov.b64", item, value)
