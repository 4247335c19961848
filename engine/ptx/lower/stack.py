"""Lowering of the dynamic stack: alloca, stacksave and stackrestore, with a pointer into the thread's local memory.

Like the stack of recursive functions, it follows arrays and spills, and grows upwards; an overflow leaves the thread's
local memory and faults. A function's allocations are freed when it returns.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.functions import statements_of
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Scope

_POINTER = "%alloca"
_OPERATIONS = ("alloca", "stacksave", "stackrestore")
_LARGEST = 1 << 24      # sizes are clamped to this, beyond any local memory, so that the pointer does not wrap around


def uses_stack(body: Scope | None) -> bool:
    """Return whether a body uses the dynamic stack."""
    return body is not None and any(one.opcode.split(".")[0] in _OPERATIONS for one in statements_of(body))


def begin_stack(low: Lowering) -> None:
    """Initialise the pointer at the kernel's start; its value is set once everything else has been placed."""
    low.stack_base = Register(low.variables.new(_POINTER, 32), 32)
    start = low.move(low.rows(low.stack_base), [], "mov.u32")
    start.set_imm(0, 0)
    low.stack_starts.append(low.emit(start))


def lower_stack(low: Lowering, statement: Instruction) -> None:
    """Lower alloca{.u32,.u64} d, size{, align}; stacksave d; stackrestore s."""
    base, *modifiers = statement.opcode.split(".")
    operands = statement.operands
    if low.groups:
        raise low.fail(f"'{statement.opcode}' in a kernel with recursive functions is not supported; give the array a size "
                       "that is known when it is compiled")
    steps, is_long = Steps(low, statement), modifiers == ["u64"]
    pointer = pointer_of(low)
    widen = "cvt.u64.u32" if is_long else "mov.u32"
    if base == "stacksave":
        return steps.emit(widen, operands[0], pointer)
    if base == "stackrestore":
        return steps.emit("cvt.u32.u64" if is_long else "mov.u32", pointer, operands[0])
    align = operands[2] if len(operands) == 3 else Number("int", 8)
    if not (isinstance(align, Number) and 0 < align.value <= 1 << 16 and not align.value & align.value - 1):
        raise low.fail(f"'{statement.opcode}': the alignment must be a power of two")
    raised = steps.value("add.u32", pointer, align.value - 1)
    place = steps.value("and.b32", raised, -align.value & 0xFFFFFFFF)
    if is_long:
        size = steps.value("cvt.u32.u64", steps.value("min.u64", operands[1], _LARGEST, bits=64))
    else:
        size = steps.value("min.u32", operands[1], _LARGEST)
    steps.emit("add.u32", pointer, place, size)
    steps.emit(widen, operands[0], place)


def pointer_of(low: Lowering) -> Name:
    """Enter the pointer into the scope being lowered; return its name."""
    assert low.stack_base is not None
    low.names.table[_POINTER] = low.stack_base
    return Name(_POINTER)


def saved(low: Lowering) -> Register:
    """Save the pointer in a register for the duration of an inlined function."""
    assert low.stack_base is not None
    copy = low.temp(32)
    low.emit(low.move(low.rows(copy), low.rows(low.stack_base)))
    return copy


def give_back(low: Lowering, copy: Register) -> None:
    """Restore the pointer."""
    assert low.stack_base is not None
    low.emit(low.move(low.rows(low.stack_base), low.rows(copy)))
