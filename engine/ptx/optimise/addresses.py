"""Addresses in one register: 64-bit values of which only the low word is needed become 32-bit ones.

All global addresses share one upper word, so an access needs only the low word of its address. The low words of sums,
products, left shifts and the like do not depend on the operands' upper words, so a value whose readers need no more is
computed in 32 bits, exactly. If something needs the upper word (a comparison, a store of the pointer, a generic access),
the value stays a pair, and so do its operands.
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import ADDRESS_ROOM, GLOBAL_BASE, SPACE_CONST, SPACE_GENERIC, SPACE_GLOBAL, SPACE_NONE
from rfview.engine.ptx.inserted import plain
from rfview.engine.ptx.virtual import Block, Variables, VirtualInst, VirtualProgram

UPPER_WORD = GLOBAL_BASE >> 32
_WORD = ("b32",)
# 64-bit operations whose low word depends only on their operands' low words, and the 32-bit form that computes it
_NARROW: dict[int, tuple[str, tuple[str, ...]]] = {
    isa.OP_MOV64: ("mov", _WORD), isa.OP_ADD64: ("add", ("s32",)), isa.OP_SUB64: ("sub", ("s32",)),
    isa.OP_MUL_LO64: ("mul", ("lo", "s32")), isa.OP_NEG64: ("neg", ("s32",)), isa.OP_AND64: ("and", _WORD),
    isa.OP_OR64: ("or", _WORD), isa.OP_XOR64: ("xor", _WORD), isa.OP_NOT64: ("not", _WORD), isa.OP_SHL64: ("shl", _WORD),
    isa.OP_SELP64: ("selp", _WORD), isa.OP_SEXT64: ("mov", _WORD), isa.OP_ZEXT64: ("mov", _WORD),
    isa.OP_MUL_WIDE_U32: ("mul", ("lo", "s32")), isa.OP_MUL_WIDE_S32: ("mul", ("lo", "s32")),
    isa.OP_MAD_WIDE_U32: ("mad", ("lo", "s32")), isa.OP_MAD_WIDE_S32: ("mad", ("lo", "s32")),
}
_MAD64 = {isa.INT_MAD_LO | code << 8 for code in (isa.T_U64, isa.T_S64)}


def narrow_addresses(program: VirtualProgram) -> str:
    """Narrow 64-bit values to 32 bits where that is exact; return which accesses keep a pair and why, "" if none does."""
    variables, blocks = program.variables, program.blocks
    narrow, reasons = _asked_for_low(blocks, variables)
    for block in blocks:
        block.insts = [made for inst in block.insts for made in _rewritten(inst, narrow, variables)]
    for var in narrow:
        variables.words[var], variables.bits[var] = 1, 32
    return _kept(blocks, reasons)


def _asked_for_low(blocks: list[Block], variables: Variables) -> tuple[set[int], dict[int, VirtualInst]]:
    """Return the variables of which only the low word is needed; for the others, the instruction that needs more."""
    narrow = {var for var, words in enumerate(variables.words) if words == 2}
    reasons: dict[int, VirtualInst] = {}
    for inst in (inst for block in blocks for inst in block.insts):
        for row in inst.dst:
            # the high word is written separately, or the instruction overwrites its own guard
            if row & 1 and (row - 1 not in inst.dst or inst.guard >= 0 and inst.guard in inst.pdst):
                narrow.discard(row >> 1)
                reasons.setdefault(row >> 1, inst)
    before = -1
    while before != len(narrow):
        before = len(narrow)
        for inst in (inst for block in blocks for inst in block.insts):
            for var in _upper_words(inst, narrow) & narrow:
                narrow.discard(var)
                reasons[var] = inst
    return narrow, reasons


def _upper_words(inst: VirtualInst, narrow: set[int]) -> set[int]:
    """Return the variables whose upper word an instruction needs, given that the variables in `narrow` have none."""
    upper = {slot for slot, row in enumerate(inst.src) if row >= 0 and row & 1}
    if not upper:
        return set()
    if _shrinks(inst, narrow):
        upper -= {1, 3, 5}
    elif 1 in upper and _needs_low_address(inst):
        upper.discard(1)
    return {inst.src[slot] >> 1 for slot in upper}


def _shrinks(inst: VirtualInst, narrow: set[int]) -> bool:
    """Return whether an instruction computes one variable of `narrow` and has a 32-bit form."""
    is_known = inst.op in _NARROW or inst.op == isa.OP_INT and inst.aux in _MAD64
    return is_known and len(inst.dst) == 2 and inst.dst[0] >> 1 in narrow and inst.dst == [inst.dst[0] & ~1, inst.dst[0] | 1]


def _needs_low_address(inst: VirtualInst) -> bool:
    """Return whether an access needs only the low word of the address in slots 0 and 1."""
    if inst.form != "memory" or inst.space in (SPACE_GENERIC, SPACE_NONE):
        return False
    if inst.src[0] < 0 or inst.src[1] != inst.src[0] + 1:
        return False
    return inst.space not in (SPACE_GLOBAL, SPACE_CONST) or abs(inst.offset) < ADDRESS_ROOM


def _rewritten(inst: VirtualInst, narrow: set[int], variables: Variables) -> list[VirtualInst]:
    """Return the instructions that replace one."""
    if inst.form == "memory" and inst.src[0] >= 0 and inst.src[0] >> 1 in narrow and inst.src[1] == inst.src[0] + 1:
        inst.set_imm(1, UPPER_WORD if inst.space in (SPACE_GLOBAL, SPACE_CONST) else 0)
    if not any(row & 1 and row >> 1 in narrow for row in inst.dst):
        return [inst]
    if inst.op == isa.OP_LDPARAM and len(inst.dst) == 2 and inst.width in (4, 8):
        inst.dst, inst.width, inst.reg_bits, inst.signed, inst.mnemonic = inst.dst[:1], 4, 32, 0, "ld.param.b32"
        return [inst]
    return [_shrunk(inst)] if _shrinks(inst, narrow) else _through_pairs(inst, narrow, variables)


def _shrunk(inst: VirtualInst) -> VirtualInst:
    """Make the 32-bit operation that computes the low word."""
    made = plain(*_NARROW.get(inst.op, ("mad", ("lo", "s32"))), inst.line)
    for slot in (0, 2, 4):
        if inst.imm_mask >> slot & 1:
            made.set_imm(slot, inst.imm[slot])
        made.src[slot] = inst.src[slot]
    made.dst, made.note = inst.dst[:1], inst.note
    made.psrc, made.psrc_negate = inst.psrc, inst.psrc_negate
    made.relocs = [(slot, symbol, addend, False) for slot, symbol, addend, _ in inst.relocs]
    return made.set_guard(inst.guard, inst.guard_negate)


def _through_pairs(inst: VirtualInst, narrow: set[int], variables: Variables) -> list[VirtualInst]:
    """Let an instruction write 64-bit pairs as before, and move their low words to the narrow variables."""
    pairs: dict[int, int] = {}
    for place, row in enumerate(inst.dst):
        var = row >> 1
        if var in narrow:
            if var not in pairs:
                pairs[var] = variables.new(variables.names[var], 64)
            inst.dst[place] = 2 * pairs[var] + (row & 1)
    moves = []
    for var, pair in pairs.items():
        move = plain("mov", _WORD, inst.line)
        move.src[0], move.dst = 2 * pair, [2 * var]
        moves.append(move.set_guard(inst.guard, inst.guard_negate))
    return [inst, *moves]


def _root(inst: VirtualInst, reasons: dict[int, VirtualInst]) -> VirtualInst:
    """Return the instruction that ultimately needs the upper word of an access's address, directly or in a derived value."""
    why = reasons.get(inst.src[0] >> 1, inst)
    seen = {id(inst)}
    while why.op in _NARROW and why.dst[0] >> 1 in reasons and id(why) not in seen:
        seen.add(id(why))
        why = reasons[why.dst[0] >> 1]
    return why


def _kept(blocks: list[Block], reasons: dict[int, VirtualInst]) -> str:
    """Say how many accesses still need a pair, and what needs the first one's upper word; "" if none does."""
    insts = [inst for block in blocks for inst in block.insts if inst.memory_kind and inst.src[0] >= 0]
    wide = [inst for inst in insts if inst.src[1] == inst.src[0] + 1]
    if not wide:
        return ""
    why = _root(wide[0], reasons)
    what = "is generic" if why.memory_kind and why.space == SPACE_GENERIC else "needs the upper word"
    return (f"{len(wide)} of {len(insts)} accesses keep a 64-bit address; that of line {wide[0].line} because "
            f"{why.mnemonic} of line {why.line} {what}")
