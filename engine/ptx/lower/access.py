"""Plain memory instructions: an access with its modifiers, and the loads and stores that calls and stacks need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rfview.engine import isa
from rfview.engine.isa import TYPE_BITS
from rfview.engine.program import (MEM_LOAD, MEM_STORE, SPACE_GENERIC, SPACE_GLOBAL, SPACE_LOCAL, UNIT_LDST,
                                   WAIT_LONG, WAIT_SHORT)
from rfview.engine.ptx.lower.names import CallParam, Register
from rfview.engine.ptx.virtual import VirtualInst

if TYPE_CHECKING:
    from rfview.engine.ptx.lower.context import Lowering

_LONG = {SPACE_GLOBAL, SPACE_LOCAL, SPACE_GENERIC}


@dataclass
class Access:
    """The modifiers of a memory instruction; is_ordered: volatile, relaxed ..; is_past_l1: a load that L2 serves."""

    space: int
    type: str
    count: int
    is_ordered: bool
    operation: str = ""
    is_past_l1: bool = False

    @property
    def width(self) -> int:
        return TYPE_BITS[self.type] // 8

    @property
    def signed(self) -> int:
        return int(self.type[0] == "s")


def memory_inst(low: Lowering, op: int, access: Access, mnemonic: str, kind: int) -> VirtualInst:
    inst = VirtualInst(op, mnemonic, low.line)
    inst.unit, inst.form, inst.memory_kind = UNIT_LDST, "memory", kind
    inst.space, inst.width, inst.count, inst.signed = access.space, access.width, access.count, access.signed
    inst.wait_class = WAIT_LONG if access.space in _LONG else WAIT_SHORT
    inst.reg_bits = max(8 * access.width, 16)
    inst.is_removable = kind == MEM_LOAD and not access.is_ordered
    inst.is_ordered = access.is_ordered
    if kind == MEM_LOAD:
        inst.flags = isa.FLAG_PAST_L1 * access.is_past_l1 | isa.FLAG_ORDERED * access.is_ordered
    return inst


def store_pieces(low: Lowering, param: CallParam) -> None:
    """Store the pieces of a call parameter in its local memory, in the order in which the program wrote them last."""
    for (offset, width), piece in param.pieces.items():
        access = Access(SPACE_LOCAL, f"b{8 * width}", 1, False)
        inst = memory_inst(low, isa.OP_ST, access, f"st.local.b{8 * width}", MEM_STORE)
        inst.set_imm(0, param.local_offset + offset)
        inst.set_imm(1, 0)
        inst.reg_bits = max(32, 8 * width)
        inst.set_row(2, 2 * piece)
        if width == 8:
            inst.set_row(3, 2 * piece + 1)
        low.emit(inst)


def store_to_stack(low: Lowering, pointer: Register, offset: int, var: int, size: int) -> VirtualInst:
    """Make the store of a variable of 4 or 8 bytes at an offset from the stack pointer, without emitting it."""
    inst = _stack_access(low, isa.OP_ST, pointer, offset, size)
    for word in range(size // 4):
        inst.set_row(2 + word, 2 * var + word)
    return inst


def load_from_stack(low: Lowering, pointer: Register, offset: int, var: int, size: int) -> VirtualInst:
    """Make the load that restores what `store_to_stack` stored, without emitting it."""
    inst = _stack_access(low, isa.OP_LD, pointer, offset, size)
    inst.dst = [2 * var + word for word in range(size // 4)]
    return inst


def _stack_access(low: Lowering, op: int, pointer: Register, offset: int, size: int) -> VirtualInst:
    is_load = op == isa.OP_LD
    name = f"{'ld' if is_load else 'st'}.local.b{8 * size}"
    inst = memory_inst(low, op, Access(SPACE_LOCAL, f"b{8 * size}", 1, False), name, MEM_LOAD if is_load else MEM_STORE)
    inst.set_row(0, low.rows(pointer)[0])
    inst.set_imm(1, 0)
    inst.offset, inst.reg_bits = offset, 8 * size
    return inst
