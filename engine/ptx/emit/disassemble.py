"""Formats instructions with physical registers, as the views show them."""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.program import MEM_ATOMIC, MEM_REDUCTION, MEM_STORE
from rfview.engine.ptx.virtual import VirtualInst

_SLOT_OF = (0, 2, 4, 5)


class Namer:
    """Names rows and predicates by their physical registers."""

    def __init__(self, registers: list[int], predicates: list[int]) -> None:
        self.registers, self.predicates = registers, predicates

    def row(self, row: int) -> str:
        return f"R{self.registers[row >> 1] + (row & 1)}"

    def predicate(self, var: int, negated: bool = False) -> str:
        return f"{'!' if negated else ''}P{self.predicates[var]}"

    def slot(self, inst: VirtualInst, slot: int, type_name: str) -> str:
        """Format what a slot (and the next, for 64 bits) holds: a register, a number, or a symbol's address."""
        if inst.src[slot] >= 0:
            return self.row(inst.src[slot])
        for at, symbol, addend, _ in inst.relocs:
            if at == slot:
                return symbol + (f"{addend:+d}" if addend else "")
        wide = isa.TYPE_BITS.get(type_name, 32) == 64
        value = inst.imm[slot] | (inst.imm[slot + 1] << 32 if wide else 0)
        if type_name == "f32":
            return f"0f{value:08X}"
        if type_name == "f64":
            return f"0d{value:016X}"
        bits = isa.TYPE_BITS.get(type_name, 32)
        if type_name[0] in "sb" and value >> (bits - 1) & 1 and value > (1 << bits) - 65536:
            value -= 1 << bits
        return str(value)


def text_of(inst: VirtualInst, namer: Namer, target_pc: int) -> str:
    """Format one instruction."""
    parts = results(inst, namer)
    if inst.form == "memory":
        parts = memory_parts(inst, namer, parts)
    elif inst.form == "texture":
        coords = [2 + k for k in range(inst.count)] + [5] * (inst.src[5] >= 0)
        coordinates = ", ".join(namer.slot(inst, slot, "b32") for slot in coords)
        parts.append(f"[{namer.slot(inst, 0, 'u64')}, {{{coordinates}}}]")
    elif inst.form == "parameter":
        parts.append(f"[{inst.offset:#x}]")
    elif inst.form == "branch":
        parts.append(f"-> {target_pc}")
    elif inst.form == "special":
        parts.append(inst.note)
    elif inst.form == "pack":
        slots = (0, 1) if inst.op == isa.OP_MOV64 else _SLOT_OF[: inst.count]
        parts.append("{" + ", ".join(namer.slot(inst, slot, "b32") for slot in slots) + "}")
    else:
        parts += [namer.slot(inst, slot, kind) for slot, kind in zip(_SLOT_OF, inst.types, strict=False)]
        parts += [namer.predicate(p, n) for p, n in zip(inst.psrc, inst.psrc_negate, strict=True)]
        if inst.op == isa.OP_LOP3:
            parts.append(f"{inst.aux:#x}")
    guard = f"@{namer.predicate(inst.guard, inst.guard_negate)} " if inst.guard >= 0 else ""
    return guard + inst.mnemonic + (" " + ", ".join(parts) if parts else "")


def results(inst: VirtualInst, namer: Namer) -> list[str]:
    """Format the destinations: a pair by its low register, a vector in braces, predicates after a bar."""
    names = [namer.row(row) for row in inst.dst if not (row & 1 and row - 1 in inst.dst)]
    texts = ["{" + ", ".join(names) + "}"] if len(names) > 1 else names
    predicates = [namer.predicate(p) for p in inst.pdst]
    if not predicates:
        return texts
    return ["|".join(texts + predicates)]


def memory_parts(inst: VirtualInst, namer: Namer, parts: list[str]) -> list[str]:
    """Add the address and the data of a memory instruction."""
    base = namer.slot(inst, 0, "u64")
    address = f"[{base}{inst.offset:+d}]" if inst.offset else f"[{base}]"
    wide = inst.reg_bits == 64
    kind = "b64" if wide else "b32"
    if inst.memory_kind == MEM_STORE:
        data = [namer.slot(inst, 2 + k * (1 + wide), kind) for k in range(inst.count)]
        return [address, data[0] if len(data) == 1 else "{" + ", ".join(data) + "}"]
    parts = parts + [address]
    if inst.memory_kind in (MEM_ATOMIC, MEM_REDUCTION):
        parts.append(namer.slot(inst, 2, kind))
        if inst.aux & 0xFF == isa.ATOM_CAS:
            parts.append(namer.slot(inst, 4, kind))
    return parts
