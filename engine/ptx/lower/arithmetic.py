"""Lowering of arithmetic and logic: everything forms.lookup knows, the forms of mov, and cvta."""

from __future__ import annotations

from collections.abc import Sequence

from rfview.engine import isa
from rfview.engine.program import GRID_WORKSPACE, WAIT_FIXED
from rfview.engine.ptx import forms
from rfview.engine.ptx.forms.special_registers import OF_CLUSTERS, STAND_INS
from rfview.engine.ptx.lower.context import Lowering, is_discarded
from rfview.engine.ptx.lower.names import Place, Register
from rfview.engine.ptx.parse.syntax import Instruction, Name, Number, Operand, Pair, Vector
from rfview.engine.ptx.virtual import VirtualInst

_SLOT_OF = (0, 2, 4, 5)
_COPIED = ("op", "flags", "aux", "unit", "latency_class", "wait_class")
_IMPURE = {isa.OP_SHFL, isa.OP_VOTE, isa.OP_MATCH, isa.OP_REDUX, isa.OP_ACTIVEMASK}


def from_table(low: Lowering, statement: Instruction) -> tuple[VirtualInst, forms.OpInfo]:
    """Look up an opcode and make its instruction, without operands."""
    base, *modifiers = statement.opcode.split(".")
    try:
        info = forms.lookup(base, tuple(modifiers))
    except forms.UnsupportedOpcode as problem:
        message = f"unsupported instruction '{statement.opcode}'; nearest supported form: '{problem.nearest}'"
        raise low.fail(message) from None
    inst = VirtualInst(info.op, statement.opcode, statement.line)
    for name in _COPIED:
        setattr(inst, name, getattr(info, name))
    inst.is_float = int(info.is_float)
    inst.types = info.src_types
    inst.is_removable = info.op not in _IMPURE
    return inst, info


def lower_table(low: Lowering, statement: Instruction) -> None:
    """Lower an instruction of the opcode table."""
    inst, info = from_table(low, statement)
    operands = list(statement.operands)
    if info.op == isa.OP_LOP3 and isinstance(operands[-1], Number) and len(operands) == 5:
        inst.aux = operands[-1].value & 0xFF
        operands.pop()
    if not (info.op == isa.OP_PRED and lower_predicate_constant(low, inst, operands)):
        fill_sources(low, statement, inst, info, operands[1:])
    widen = fill_destination(low, inst, info, operands[0])
    low.emit(low.guard_of(inst, statement))
    if widen is not None:
        low.emit(low.guard_of(widen, statement))


def lower_predicate_constant(low: Lowering, inst: VirtualInst, operands: Sequence[object]) -> bool:
    """mov.pred p, 0 / 1: a constant truth table without sources."""
    if len(operands) == 2 and isinstance(operands[1], Number) and inst.aux == isa.PRED_MOV:
        inst.aux = isa.PRED_TRUE if operands[1].value else isa.PRED_FALSE
        return True
    return False


def fill_sources(low: Lowering, statement: Instruction, inst: VirtualInst, info: forms.OpInfo,
                 operands: Sequence[object]) -> None:
    """Assign the source operands to value slots and predicate sources."""
    if info.flags & isa.FLAG_CC_IN:
        inst.psrc, inst.psrc_negate = [low.carry_flag()], [False]
    place = 0
    is_loose = statement.opcode.startswith("cvt.")
    for operand in operands:
        if info.num_psrc and low.is_predicate(operand):
            var, negated = low.predicate(operand)
            inst.psrc.append(var)
            inst.psrc_negate.append(negated)
            continue
        if len(inst.psrc) < info.num_psrc and isinstance(operand, Number) and (
                place == len(info.src_types) or info.op == isa.OP_VOTE):
            inst.psrc.append(low.constant_predicate(bool(operand.value)))
            inst.psrc_negate.append(False)
            continue
        low.fill(inst, _SLOT_OF[place], operand, info.src_types[place], is_loose)
        place += 1


def fill_destination(low: Lowering, inst: VirtualInst, info: forms.OpInfo, operand: object) -> VirtualInst | None:
    """Set the destinations. Returns a second, widening instruction if a cvt's register has 64 bits but not its type."""
    if info.flags & isa.FLAG_CC_OUT:
        inst.pdst = [low.carry_flag()]
    first, second = (operand.first, operand.second) if isinstance(operand, Pair) else (operand, None)
    if info.dst_type == "pred":
        inst.pdst = [predicate_result(low, first)]
        if second is not None:
            inst.pdst.append(predicate_result(low, second))
        return None
    if second is not None:
        inst.pdst = [predicate_result(low, second)]
    assert info.dst_type is not None
    bits = isa.TYPE_BITS[info.dst_type]
    inst.dst = low.destination(first, max(bits, 16))
    return fit_destination(low, inst, info, bits)


def fit_destination(low: Lowering, inst: VirtualInst, info: forms.OpInfo, bits: int) -> VirtualInst | None:
    """Fit the result of a cvt into a wider register. Returns as fill_destination."""
    is_cvt = inst.mnemonic.startswith("cvt.")
    if (bits == 64) == (len(inst.dst) == 2):
        if is_cvt and bits < 32 and info.op == isa.OP_CVT and low_bits(low, inst) == 32:
            inst.flags |= isa.FLAG_WIDE_DST
        return None
    wide, narrow = inst.dst, low.temp(32)
    inst.dst = low.rows(narrow)
    if bits < 32 and info.op == isa.OP_CVT:
        inst.flags |= isa.FLAG_WIDE_DST
    signed = (info.dst_type or "u")[0] == "s"
    op, name = (isa.OP_SEXT64, "cvt.s64.s32") if signed else (isa.OP_ZEXT64, "cvt.u64.u32")
    second = VirtualInst(op, name, low.line)
    second.wait_class, second.types = WAIT_FIXED, ("s32" if signed else "u32",)
    second.set_row(0, inst.dst[0])
    second.dst = wide
    return second


def low_bits(low: Lowering, inst: VirtualInst) -> int:
    """Return the bits of a one-row destination register: 16 or 32."""
    return low.variables.bits[inst.dst[0] >> 1]


def predicate_result(low: Lowering, operand: object) -> int:
    if is_discarded(operand):
        return low.temp(1).var
    return low.predicate(operand)[0]


# --- mov -------------------------------------------------------------------------------------------------------------


def lower_mov(low: Lowering, statement: Instruction) -> None:
    """Lower mov: registers, immediates, special registers, addresses, packs and unpacks, predicates."""
    dst, src = statement.operands
    if isinstance(src, Name) and src.text.startswith("%") and low.names.find(src.text) is None:
        src = in_the_machine(low, src)
        statement = Instruction(statement.line, statement.opcode, [dst, src], statement.guard, statement.guard_negate)
    if isinstance(dst, Vector) and len(dst.items) > 1:
        unpack(low, statement, dst.items, src)
    elif isinstance(src, Vector) and len(src.items) > 1:
        pack(low, statement, dst, src.items)
    elif isinstance(src, Name) and src.text in isa.SREGS and low.names.find(src.text) is None:
        special(low, statement, dst, src.text)
    elif isinstance(src, Name) and isinstance(low.names.find(src.text), Register):
        lower_table(low, statement)
    elif isinstance(src, Name) and statement.opcode != "mov.pred":
        address_of(low, statement, dst, src)
    else:
        lower_table(low, statement)


def in_the_machine(low: Lowering, name: Name) -> Name | Number:
    """Replace a special register that the machine does not have by what stands for it; keep other names."""
    vector, dot, axis = name.text.rpartition(".")
    text = f"{vector}.{'xyzw'['rgba'.index(axis)]}" if dot and axis in "rgba" else name.text
    if text.startswith(OF_CLUSTERS):
        low.check_clusters()
    stand_in = STAND_INS.get(text, text)
    return Name(stand_in) if isinstance(stand_in, str) else Number("int", stand_in)


def special(low: Lowering, statement: Instruction, dst: object, name: str) -> None:
    """Read a special register; %envreg1 and %envreg2 hold the high and low word of the grid barrier's address."""
    if name in ("%envreg1", "%envreg2"):
        address = low.rows(low.temp(64))
        inst = low.move(address, [])
        low.fill_address(inst, 0, Place("global", symbol=GRID_WORKSPACE), 0, True)
        low.emit(inst)
        part = address[1] if name == "%envreg1" else address[0]
        low.emit(low.guard_of(low.move(low.destination(dst, 32), [part], statement.opcode), statement))
        return
    low.emit(low.guard_of(low.special_inst(low.destination(dst, 32), name, statement.opcode), statement))


def address_of(low: Lowering, statement: Instruction, dst: object, src: Name) -> None:
    """mov of a variable's address: an immediate, with a relocation for .global and .const."""
    place = low.resolve(src)
    rows = low.destination(dst, 32)
    inst = low.move(rows, [], statement.opcode)
    if not isinstance(place, Place) and type(place).__name__ != "CallParam":
        raise low.fail(f"expected a register, number or variable, found '{src.text}'")
    low.fill_address(inst, 0, place, src.addend, len(rows) == 2)
    inst.note = src.text
    low.emit(low.guard_of(inst, statement))


def pack(low: Lowering, statement: Instruction, dst: Operand, items: Sequence[Operand]) -> None:
    """mov.b64 d, {lo, hi} and the 16-bit and 8-bit packs."""
    rows = low.destination(dst, 32)
    part = 32 * len(rows) // len(items)
    if len(rows) == 1 and low.variables.bits[rows[0] >> 1] == 16:
        if statement.opcode == "mov.b16" and len(items) == 2:       # two bytes, padded with two zeros
            items = [*items, Number("int", 0), Number("int", 0)]
        part = 32 // len(items) if statement.opcode == "mov.b16" else 16 // len(items)
    if part == 32:
        inst = low.move(rows, [], statement.opcode)
        inst.form = "pack"
        slots: Sequence[int] = (0, 1)
    else:
        op = {(32, 2): isa.OP_PACK16, (64, 4): isa.OP_PACK16X4, (32, 4): isa.OP_PACK8X4}[32 * len(rows), len(items)]
        inst = VirtualInst(op, statement.opcode, statement.line)
        inst.wait_class, inst.form, slots = WAIT_FIXED, "pack", _SLOT_OF
    for slot, item in zip(slots, items, strict=False):
        low.fill(inst, slot, item, f"b{max(part, 8)}")
    inst.dst = rows
    inst.count = len(items)
    low.emit(low.guard_of(inst, statement))


def unpack(low: Lowering, statement: Instruction, items: Sequence[Operand], src: Operand) -> None:
    """mov.b64 {lo, hi}, s and the 16-bit and 8-bit unpacks; a `_` half is not moved."""
    total = int(statement.opcode[5:])
    if (total, len(items)) == (16, 2):      # two bytes: the lower two of four
        total, items = 32, [*items, Name("_"), Name("_")]
    part = total // len(items)
    used = [k for k, item in enumerate(items) if not is_discarded(item)]
    if part == 32 and len(items) == 2:
        probe = low.move([], [], statement.opcode)
        low.fill(probe, 0, src, "b64")
        rows = low.destinations([items[k] for k in used], 32)
        inst = low.move(rows, [], statement.opcode)
        for slot, k in enumerate(used):
            inst.src[slot], inst.imm[slot] = probe.src[k], probe.imm[k]
            inst.imm_mask |= (probe.imm_mask >> k & 1) << slot
        inst.relocs = [r for r in probe.relocs if len(used) == 2]
        inst.form = "unpack" if len(used) == 2 else "plain"
        inst.types = ("b64",) if len(used) == 2 else ("b32",)
    else:
        op = {(32, 2): isa.OP_UNPACK16, (64, 4): isa.OP_UNPACK16X4, (32, 4): isa.OP_UNPACK8X4}[total, len(items)]
        inst = VirtualInst(op, statement.opcode, statement.line)
        inst.wait_class, inst.form, inst.types = WAIT_FIXED, "unpack", (f"b{total}",)
        low.fill(inst, 0, src, statement.opcode[4:])
        inst.dst = low.destinations(items, 16)
        inst.count = len(items)
    low.emit(low.guard_of(inst, statement))


def lower_cvta(low: Lowering, statement: Instruction) -> None:
    """Lower cvta: a plain move for .global and .const; the window's address arithmetic for the others.

    In an inlined function, parameters live in local memory, so cvta.param converts from there.
    """
    inst, info = from_table(low, statement)
    bits = isa.TYPE_BITS[info.src_types[0]]
    if info.aux == isa.CVTA_IDENTITY:
        inst.op = isa.OP_MOV64 if bits == 64 else isa.OP_MOV32
        inst.aux = 0
    elif len(low.frames) > 1 and info.aux in (isa.CVTA_FROM_PARAM, isa.CVTA_TO_PARAM):
        inst.aux = isa.CVTA_FROM_LOCAL if info.aux == isa.CVTA_FROM_PARAM else isa.CVTA_TO_LOCAL
    low.fill(inst, 0, statement.operands[1], info.src_types[0])
    inst.dst = low.destination(statement.operands[0], bits)
    low.emit(low.guard_of(inst, statement))
