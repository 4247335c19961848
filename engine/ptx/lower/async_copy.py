"""Lowering of cp.async: loads from global and stores to shared memory, done synchronously; groups are no-operations."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_GLOBAL, SPACE_SHARED
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.memory import set_address, shift_address
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand


def lower_async_copy(low: Lowering, statement: Instruction) -> None:
    """Lower `cp.async [shared], [global], size {, source size}`; bytes beyond the source size become 0."""
    operands = statement.operands
    assert isinstance(operands[2], Number)
    size = operands[2].value
    given = operands[3] if len(operands) > 3 else None
    if given is not None and low.is_predicate(given):     # one that says to read nothing
        given = Steps(low, Instruction(statement.line, statement.opcode, [])).value("selp.u32", 0, size, given)
    if given is None or isinstance(given, Number) and given.value >= size:
        return whole_copy(low, statement, size)
    copy_with_zeros(low, statement, size, given)


def whole_copy(low: Lowering, statement: Instruction, size: int) -> None:
    """Copy all bytes with one load and one store."""
    bits = 32 if size == 4 else 64
    part = Access(SPACE_GLOBAL, f"b{bits}", size * 8 // bits, True, is_past_l1=".cg." in statement.opcode)
    rows = [row for _ in range(part.count) for row in low.rows(low.temp(bits))]
    load = memory_inst(low, isa.OP_LD, part, f"ld.global.b{bits}", MEM_LOAD)
    set_address(low, load, statement.operands[1])
    load.dst, load.reg_bits = rows, bits
    low.emit(low.guard_of(load, statement))
    store_words(low, statement, Access(SPACE_SHARED, f"b{bits}", part.count, True), rows)


def store_words(low: Lowering, statement: Instruction, access: Access, rows: list[int]) -> None:
    """Store the registers of a copy to its shared address."""
    store = memory_inst(low, isa.OP_ST, access, f"st.shared.{access.type}", MEM_STORE)
    set_address(low, store, statement.operands[0])
    store.reg_bits = 8 * access.width
    for place, row in enumerate(rows):
        store.set_row(2 + place, row)
    low.emit(low.guard_of(store, statement))


def copy_with_zeros(low: Lowering, statement: Instruction, size: int, source_size: Operand) -> None:
    """Copy word by word: a word entirely beyond the source size is not read, one partly beyond it is masked."""
    steps, rows = Steps(low, Instruction(statement.line, statement.opcode, [])), []
    for first in range(0, size, 4):
        value, left, mask, is_read = steps.new(), steps.new(), steps.new(), steps.new(1)
        steps.emit("mov.u32", left, source_size)
        steps.emit("setp.gt.u32", is_read, left, first)
        if statement.guard:
            allowed = Name(statement.guard)
            if statement.guard_negate:
                allowed = steps.value("not.pred", allowed, bits=1)
            steps.emit("and.pred", is_read, is_read, allowed)
        steps.emit("mov.u32", value, 0)
        part = Access(SPACE_GLOBAL, "b32", 1, True, is_past_l1=".cg." in statement.opcode)
        load = memory_inst(low, isa.OP_LD, part, "ld.global.b32", MEM_LOAD)
        set_address(low, load, statement.operands[1])
        shift_address(load, first)
        load.dst = low.destination(value, 32)
        low.emit(load.set_guard(low.predicate(is_read)[0], False))
        steps.emit("max.u32", left, left, first)
        steps.emit("sub.u32", left, left, first)
        steps.emit("min.u32", left, left, 4)
        steps.emit("shl.b32", left, left, 3)
        steps.emit("bmsk.clamp.b32", mask, 0, left)
        steps.emit("and.b32", value, value, mask)
        rows += low.destination(value, 32)
    store_words(low, statement, Access(SPACE_SHARED, "b32", size // 4, True), rows)
