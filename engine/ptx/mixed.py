"""Lowering of add, sub and fma that take halves into a 32-bit sum: the halves are converted, which is exact, then computed."""

from __future__ import annotations

from engine.ptx.context import Lowering
from engine.ptx.steps import Steps
from engine.ptx.syntax import Instruction, Operand

_HALVES = {"add": 1, "sub": 1, "fma": 2}  # how many sources are halves; they come first


def is_mixed(opcode: str) -> bool:
    """Say whether an opcode is lowered here: add.rn.f32.f16 and its like."""
    base, *parts = opcode.split(".")
    return base in _HALVES and len(parts) > 1 and parts[-2] == "f32" and parts[-1] in ("f16", "bf16")


def lower_mixed(low: Lowering, statement: Instruction) -> None:
    """Lower {add,sub}.f32.{f16,bf16} d, a, c and fma.rn.f32.{f16,bf16} d, a, b, c."""
    base, *parts = statement.opcode.split(".")
    count = _HALVES[base]
    if len(statement.operands) != count + 2:
        raise low.fail(f"'{statement.opcode}' needs {count + 2} operands, found {len(statement.operands)}")
    steps = Steps(low, statement)
    result, *halves, addend = statement.operands
    wide: list[Operand] = [steps.value(f"cvt.f32.{parts[-1]}", half) for half in halves]
    steps.emit(".".join([base, *parts[:-1]]), result, *wide, addend)
