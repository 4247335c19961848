"""Lowering of forms that are a few others in a row: sums of halves in 32 bits, min and max of three, conversions to tf32."""

from __future__ import annotations

from engine.ptx.context import Lowering
from engine.ptx.steps import Steps
from engine.ptx.syntax import Instruction, Operand

_HALVES = {"add": 1, "sub": 1, "fma": 2}  # how many sources are halves; they come first


def is_expanded(statement: Instruction) -> bool:
    """Say whether an instruction is lowered here."""
    base, *parts = statement.opcode.split(".")
    is_mixed = base in _HALVES and parts[-2:-1] == ["f32"] and parts[-1] in ("f16", "bf16")
    is_of_three = base in ("min", "max") and parts[-1:] == ["f32"] and len(statement.operands) == 4
    return is_mixed or is_of_three or base == "cvt" and parts[-2:] == ["tf32", "f32"]


def lower_expanded(low: Lowering, statement: Instruction) -> None:
    """Lower {add,sub,fma}.f32.{f16,bf16}, {min,max}.f32 d, a, b, c, or cvt.{rna,rn}.tf32.f32."""
    base = statement.opcode.split(".")[0]
    steps = Steps(low, statement)
    if base in _HALVES:
        return sum_of_halves(steps)
    if base == "cvt":
        return to_tf32(steps)
    result, first, second, third = statement.operands
    steps.emit(statement.opcode, result, steps.value(statement.opcode, first, second), third)


def sum_of_halves(steps: Steps) -> None:
    """Convert the halves, which is exact, then compute."""
    base, *parts = steps.whole.opcode.split(".")
    count = _HALVES[base]
    if len(steps.whole.operands) != count + 2:
        raise steps.low.fail(f"'{steps.whole.opcode}' needs {count + 2} operands, found {len(steps.whole.operands)}")
    result, *halves, addend = steps.whole.operands
    wide: list[Operand] = [steps.value(f"cvt.f32.{parts[-1]}", half) for half in halves]
    steps.emit(".".join([base, *parts[:-1]]), result, *wide, addend)


def to_tf32(steps: Steps) -> None:
    """Round a float to 10 bits of mantissa, ties away from zero or to even; the 13 bits below become 0."""
    mode = steps.whole.opcode.split(".")[1:-2]
    if mode not in (["rna"], ["rn"]) or len(steps.whole.operands) != 2:
        raise steps.low.fail(f"unsupported instruction '{steps.whole.opcode}'; nearest supported form: 'cvt.rna.tf32.f32'")
    result, source = steps.whole.operands
    if mode == ["rna"]:
        half: Operand | int = 0x1000
    else:
        half = steps.value("add.u32", steps.value("bfe.u32", source, 13, 1), 0xFFF)
    rounded = steps.value("and.b32", steps.value("add.u32", source, half), 0xFFFFE000)
    is_nan = steps.value("testp.notanumber.f32", source, bits=1)
    steps.emit("selp.b32", result, 0x7FFFFFFF, rounded, is_nan)
