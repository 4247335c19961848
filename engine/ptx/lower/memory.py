"""Lowering of memory instructions: ld, st, atom, red, and the .param variables of calls."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.engine import isa
from rfview.engine.program import (GLOBAL_BASE, MEM_ATOMIC, MEM_LOAD, MEM_NONE, MEM_REDUCTION, MEM_STORE,
                                   SPACE_CONST, SPACE_GENERIC, SPACE_GLOBAL, SPACE_LOCAL, SPACE_PARAM, SPACE_SHARED,
                                   UNIT_CTRL, UNIT_SP, WAIT_FIXED, WAIT_LONG, WAIT_SHORT)
from rfview.engine.ptx import forms
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.context import Lowering, is_discarded
from rfview.engine.ptx.lower.names import CallParam, Place, Register
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Number, Operand, Vector
from rfview.engine.ptx.virtual import VirtualInst

SPACES = {
    "global": SPACE_GLOBAL, "shared": SPACE_SHARED, "shared::cta": SPACE_SHARED,
    "shared::cluster": SPACE_SHARED, "local": SPACE_LOCAL,
    "const": SPACE_CONST, "param": SPACE_PARAM, "param::entry": SPACE_PARAM, "param::func": SPACE_PARAM,
}
# spaces in which a 32-bit module's addresses are the low words of the machine's
_WIDE = {SPACE_GLOBAL, SPACE_CONST, SPACE_GENERIC}
_PAST_L1 = {"cg", "cv", "volatile", "mmio", "cluster", "gpu", "sys"}     # of ld: other SMs' stores are seen from L2 on
_ORDERED = {"volatile", "relaxed", "acquire", "release", "mmio", "acq_rel"}
MAX_DATA_ROWS = 4


def access_of(statement: Instruction) -> Access:
    """Read the modifiers of ld, st, atom or red; cache hints and scopes change no value."""
    access = Access(SPACE_GENERIC, "", 1, False)
    for part in statement.opcode.split(".")[1:]:
        if part in SPACES:
            access.space = SPACES[part]
        elif part in isa.TYPE_BITS:
            access.type = part
        elif part in ("v2", "v4", "v8"):
            access.count = int(part[1:])
        elif part in isa.ATOM_OPS:
            access.operation = part
        else:
            access.is_past_l1 |= part in _PAST_L1
            access.is_ordered |= part in _ORDERED
    return access


def set_address(low: Lowering, inst: VirtualInst, operand: object) -> None:
    """Fill slots 0 and 1 and the offset from an address operand; symbols become immediates or relocations."""
    assert isinstance(operand, Address)
    inst.set_imm(1, 0)
    if operand.base is None:
        inst.set_imm(0, operand.offset)
        inst.set_imm(1, operand.offset >> 32)
        return
    base = low.resolve(operand.base)
    if isinstance(base, Register):
        for slot, row in enumerate(low.rows(base)):
            inst.set_row(slot, row)
        if base.bits == 32 and low.module.address_size == 32 and inst.space in _WIDE:
            inst.set_imm(1, GLOBAL_BASE >> 32)
        inst.offset = operand.offset
        if inst.space == SPACE_PARAM and len(low.frames) > 1:
            inst.space, inst.wait_class = SPACE_LOCAL, WAIT_LONG
        return
    if isinstance(base, CallParam):
        base = low.in_local_memory(base)
        inst.space, inst.wait_class = SPACE_LOCAL, WAIT_LONG
    assert isinstance(base, Place)
    if inst.space == SPACE_GENERIC and (own := SPACES[base.space]) not in (SPACE_GLOBAL, SPACE_CONST):
        inst.space, inst.wait_class = own, WAIT_LONG if own == SPACE_LOCAL else WAIT_SHORT
    low.fill_address(inst, 0, base, operand.offset, True)


def elements(operand: Operand) -> list[Operand]:
    """Return the elements of a vector operand, or the one operand."""
    return list(operand.items) if isinstance(operand, Vector) else [operand]


def data_width(low: Lowering, items: Sequence[object], access: Access) -> int:
    """Return the register width of the data operands: 16, 32 or 64 bits; it is the same for all."""
    named = (item for item in items if isinstance(item, Name) and not is_discarded(item))
    return next((low.register(item).bits for item in named), max(8 * access.width, 16))


def base_of(low: Lowering, address: object) -> object:
    """Return what the name in an address stands for, None if it has no name."""
    return low.resolve(address.base) if isinstance(address, Address) and address.base else None


def check_range(low: Lowering, statement: Instruction, access: Access, address: object, base: object) -> None:
    """Refuse an access that begins or ends outside of the parameter that it names."""
    if isinstance(base, CallParam) or isinstance(base, Place) and base.space == "param":
        assert isinstance(address, Address) and address.base is not None
        first, size = address.offset, access.width * access.count
        if first < 0 or first + size > base.size:
            raise low.fail(f"'{statement.opcode}' moves {size} bytes at {first:+}, but parameter '{address.base.text}' has "
                           f"{base.size} bytes")


def lower_load(low: Lowering, statement: Instruction) -> None:
    """Lower ld, ldu; a parameter at a constant address becomes OP_LDPARAM."""
    access = access_of(statement)
    items = elements(statement.operands[0])
    address = statement.operands[1]
    base = base_of(low, address)
    check_range(low, statement, access, address, base)
    bits = data_width(low, items, access)
    if isinstance(base, CallParam) and isinstance(address, Address):
        if load_pieces(low, statement, items, access, base, address.offset):
            return
    insts = []
    for first, part in split(items, bits):
        inst = memory_inst(low, isa.OP_LD, access, statement.opcode, MEM_LOAD)
        set_address(low, inst, address)
        inst.count, inst.reg_bits = len(part), bits
        shift_address(inst, first * access.width)
        inst.dst = low.destinations(part, bits)
        inst.is_removable = False       # a wrong address must fault even if the value is never read
        if isinstance(base, Place) and base.space == "param":
            as_parameter(inst)
        insts.append(low.guard_of(inst, statement))
    emit_parts(low, insts)


def emit_parts(low: Lowering, insts: list[VirtualInst]) -> None:
    """Emit the parts of a split load; an address register that an earlier part overwrites is copied first."""
    written = {row for inst in insts[:-1] for row in inst.dst}
    if len(insts) > 1 and written & set(insts[-1].src[:2]):
        old = [row for row in insts[0].src[:2] if row >= 0]
        copy = low.rows(low.temp(32 * len(old)))
        low.emit(low.move(copy, old))
        for inst in insts:
            for slot, row in enumerate(copy):
                inst.set_row(slot, row)
    for inst in insts:
        low.emit(inst)


def as_parameter(inst: VirtualInst) -> None:
    """Turn a load from a constant parameter address into OP_LDPARAM."""
    inst.op, inst.unit, inst.wait_class, inst.memory_kind = isa.OP_LDPARAM, UNIT_SP, WAIT_SHORT, MEM_NONE
    inst.offset, inst.imm_mask, inst.form = inst.imm[0], 0, "parameter"
    inst.imm = [0] * len(inst.imm)
    inst.is_removable = True


def split(items: Sequence[Operand], bits: int) -> list[tuple[int, Sequence[Operand]]]:
    """Cut a vector into parts of at most MAX_DATA_ROWS rows: (first element, elements)."""
    step = MAX_DATA_ROWS // (bits // 32 or 1)
    return [(first, items[first : first + step]) for first in range(0, len(items), step)]


def shift_address(inst: VirtualInst, count: int) -> None:
    """Advance the address of a later part by `count` bytes."""
    if not count:
        return
    if inst.relocs:
        slot, symbol, addend, wide = inst.relocs[0]
        inst.relocs[0] = (slot, symbol, addend + count, wide)
    if inst.src[0] >= 0:
        inst.offset += count
    else:
        inst.set_imm(0, inst.imm[0] + count)


def lower_store(low: Lowering, statement: Instruction) -> None:
    """Lower st; st.param writes the registers that hold a call parameter."""
    access = access_of(statement)
    items = elements(statement.operands[1])
    address = statement.operands[0]
    base = base_of(low, address)
    check_range(low, statement, access, address, base)
    if isinstance(base, CallParam) and isinstance(address, Address):
        for place, item in enumerate(items):
            store_piece(low, statement, base, address.offset + place * access.width, access, item)
        return
    bits = data_width(low, items, access)
    for first, part in split(items, bits):
        inst = memory_inst(low, isa.OP_ST, access, statement.opcode, MEM_STORE)
        set_address(low, inst, address)
        inst.count, inst.reg_bits = len(part), bits
        shift_address(inst, first * access.width)
        slot = 2
        for item in part:
            low.fill(inst, slot, item, access.type if isinstance(item, Number) else f"b{bits}", is_loose=True)
            slot += 1 + (bits == 64)
        low.emit(low.guard_of(inst, statement))


# --- parameters of calls ----------------------------------------------------------------------------------------------


def store_piece(low: Lowering, statement: Instruction, param: CallParam, offset: int, access: Access,
                item: object) -> None:
    """Copy a value into the register that holds bytes [offset, offset + width) of a call parameter."""
    key = (offset, access.width)
    piece = param.pieces.pop(key, None)
    if piece is None:
        piece = low.temp(max(8 * access.width, 32)).var
    param.pieces[key] = piece       # the last one: pieces that overlap are stored in this order
    if access.width < 4:
        inst = VirtualInst(isa.OP_ZEXT8 if access.width == 1 else isa.OP_ZEXT16, statement.opcode, statement.line)
        inst.types, inst.wait_class = ("u8" if access.width == 1 else "u16",), WAIT_FIXED
    else:
        wide = access.width == 8
        inst = low.move([2 * piece] + [2 * piece + 1] * wide, [], statement.opcode)
    inst.dst = [2 * piece] + [2 * piece + 1] * (access.width == 8)
    low.fill(inst, 0, item, access.type if isinstance(item, Number) else f"b{8 * access.width}", is_loose=True)
    low.emit(low.guard_of(inst, statement))


def load_pieces(low: Lowering, statement: Instruction, items: Sequence[object], access: Access, param: CallParam,
                offset: int) -> bool:
    """Read a call parameter from its registers; return False if it was written in another layout."""
    keys = [(offset + place * access.width, access.width) for place in range(len(items))]
    if any(key not in param.pieces for key in keys) or overlapping(param):
        return False
    for key, item in zip(keys, items, strict=True):
        if is_discarded(item):
            continue
        register, piece = low.register(item), param.pieces[key]
        low.emit(low.guard_of(piece_to_register(low, statement, register, piece, access), statement))
    return True


def overlapping(param: CallParam) -> bool:
    spans = sorted(param.pieces)
    return any(a + size > b for (a, size), (b, _) in zip(spans, spans[1:], strict=False))


def piece_to_register(low: Lowering, statement: Instruction, register: Register, piece: int,
                      access: Access) -> VirtualInst:
    rows = low.rows(register)
    if access.width == 8 or register.bits <= 32 and not (access.signed and access.width < 4):
        wide = len(rows) == 2
        return low.move(rows, [2 * piece] + [2 * piece + 1] * wide, statement.opcode)
    target = f"{'s' if access.signed else 'u'}{register.bits if register.bits > 16 else 32}"
    info = forms.lookup("cvt", (target, access.type.replace("b", "u").replace("f", "u")))
    inst = VirtualInst(info.op, statement.opcode, statement.line)
    inst.flags, inst.aux, inst.wait_class, inst.types = info.flags, info.aux, info.wait_class, info.src_types
    inst.latency_class = info.latency_class
    inst.set_row(0, 2 * piece)
    inst.dst = rows
    return inst


# --- atomics and the rest ---------------------------------------------------------------------------------------------


def lower_atomic(low: Lowering, statement: Instruction) -> None:
    """Lower atom and red: address in slots 0, 1, operand b in 2, 3, operand c in 4, 5."""
    is_atom = statement.opcode.startswith("atom")
    access = access_of(statement)
    if access.count > 1 and access.operation:
        return lower_atomic_vector(low, statement, access)
    operands = statement.operands[is_atom:]
    expected = 3 if access.operation == "cas" else 2
    op, kind = (isa.OP_ATOM, MEM_ATOMIC) if is_atom else (isa.OP_RED, MEM_REDUCTION)
    inst = memory_inst(low, op, access, statement.opcode, kind)
    inst.aux = isa.ATOM_OPS[access.operation] | isa.TYPE_CODES[access.type] << 8
    if is_atom:
        inst.wait_class = WAIT_LONG
    set_address(low, inst, operands[0])
    for slot, operand in zip((2, 4), operands[1:expected], strict=False):
        low.fill(inst, slot, operand, access.type)
    if is_atom:
        inst.dst = low.destination(statement.operands[0], 8 * access.width)
    low.emit(low.guard_of(inst, statement))


def lower_atomic_vector(low: Lowering, statement: Instruction, access: Access) -> None:
    """Lower atom.v2 and the like, which are atomic per element, to one atomic per element."""
    opcode = ".".join(part for part in statement.opcode.split(".") if part != f"v{access.count}")
    columns = [elements(operand) for operand in statement.operands]
    place = next(operand for operand in statement.operands if isinstance(operand, Address))
    for index in range(access.count):
        spot = Address(place.base, place.offset + index * access.width)
        operands = [spot if column[0] is place else column[index] for column in columns]
        lower_atomic(low, Instruction(statement.line, opcode, operands, statement.guard, statement.guard_negate))


def no_operation(low: Lowering, statement: Instruction) -> None:
    """Lower prefetches and hints to a no-operation."""
    inst = VirtualInst(isa.OP_NOP, statement.opcode, statement.line)
    inst.unit, inst.wait_class, inst.is_removable = UNIT_CTRL, WAIT_FIXED, False
    low.emit(low.guard_of(inst, statement))
