"""Lowering of cp.async: loads from global and stores to shared memory, done synchronously; groups are no-operations."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_GLOBAL, SPACE_SHARED
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.arithmetic import lower_table
from rfview.engine.ptx.lower.context import Lowering
from rfview.engine.ptx.lower.mbarrier import lower_copies_arrive
from rfview.engine.ptx.lower.memory import no_operation, set_address, shift_address
from rfview.engine.ptx.lower.names import Register
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand

_ORDER_ONLY = ("commit_group", "wait_group", "wait_all")
_KINDS = ("ca", "cg")
_ARRIVE = "mbarrier"


def is_async_copy(opcode: str) -> bool:
    """Return whether an opcode is lowered here."""
    parts = opcode.split(".")
    return parts[:2] == ["cp", "async"] and parts[2:3] != [] and parts[2] in (*_ORDER_ONLY, *_KINDS, _ARRIVE)


def lower_async_copy(low: Lowering, statement: Instruction) -> None:
    """Lower `cp.async [shared], [global], size {, source size} {, policy}`; bytes beyond the source size become 0."""
    operands = statement.operands
    if statement.opcode.split(".")[2] == _ARRIVE:
        return lower_copies_arrive(low, statement)
    if statement.opcode.split(".")[2] in _ORDER_ONLY:
        return no_operation(low, statement)
    assert isinstance(operands[2], Number)
    size = operands[2].value
    given = operands[3] if len(operands) > 3 else None
    if given is not None and low.is_predicate(given):     # one that says to read nothing
        size_read = fresh(low, "%copy.size")
        lower_table(low, Instruction(statement.line, "selp.u32", [size_read, Number("int", 0), operands[2], given]))
        given = size_read
    if isinstance(given, Name):
        found = low.resolve(given)
        if not isinstance(found, Register) or found.bits != 32:
            given = None  # a cache policy, which has 64 bits
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
    rows = []
    for first in range(0, size, 4):
        value, left, kept = (fresh(low, f"%copy{first}.{part}") for part in ("value", "left", "kept"))
        is_read = fresh(low, f"%copy{first}.read", 1)

        def step(opcode: str, *operands: Operand, guard: str = "") -> None:
            low_statement = Instruction(statement.line, opcode, list(operands), guard)
            lower_table(low, low_statement)

        step("mov.u32", left, source_size)
        step("setp.gt.u32", is_read, left, Number("int", first))
        if statement.guard:
            allowed, negated = low.predicate(Name(statement.guard))
            low.names.table["%copy.allowed"] = Register(allowed, 1)
            if negated != statement.guard_negate:
                step("not.pred", fresh(low, "%copy.denied", 1), Name("%copy.allowed"))
                low.names.table["%copy.allowed"] = low.names.table["%copy.denied"]
            step("and.pred", is_read, is_read, Name("%copy.allowed"))
        step("mov.u32", value, Number("int", 0))
        part = Access(SPACE_GLOBAL, "b32", 1, True, is_past_l1=".cg." in statement.opcode)
        load = memory_inst(low, isa.OP_LD, part, "ld.global.b32", MEM_LOAD)
        set_address(low, load, statement.operands[1])
        shift_address(load, first)
        load.dst = low.destination(value, 32)
        low.emit(load.set_guard(low.predicate(is_read)[0], False))
        step("max.u32", left, left, Number("int", first))
        step("sub.u32", left, left, Number("int", first))
        step("min.u32", left, left, Number("int", 4))
        step("shl.b32", left, left, Number("int", 3))
        step("bmsk.clamp.b32", kept, Number("int", 0), left)
        step("and.b32", value, value, kept)
        rows += low.destination(value, 32)
    store_words(low, statement, Access(SPACE_SHARED, "b32", size // 4, True), rows)


def fresh(low: Lowering, name: str, bits: int = 32) -> Name:
    """Make a new register with a given name, replacing any older one of that name."""
    low.names.table[name] = low.temp(bits)
    return Name(name)
