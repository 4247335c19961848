"""Dependences within a basic block: through registers and predicates, memory that may alias, barriers and clocks."""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_CONST, SPACE_GENERIC, SPACE_NONE, SPACE_PARAM, UNIT_CTRL
from rfview.engine.ptx.virtual import VirtualInst

_CLOCKS = {isa.SREG_CLOCK, isa.SREG_CLOCK_HI, isa.SREG_CLOCK64, isa.SREG_GLOBALTIMER, isa.SREG_GLOBALTIMER_LO,
           isa.SREG_GLOBALTIMER_HI}
# lanes exchange data: the set of participating lanes must not change
_TOGETHER = {isa.OP_SHFL, isa.OP_VOTE, isa.OP_MATCH, isa.OP_ACTIVEMASK, isa.OP_REDUX}
_NEVER_STORED = (SPACE_CONST, SPACE_PARAM)

Delay = Callable[[VirtualInst], int]


class Dependences:
    """The dependence graph of a block's instructions. after: {dependent instruction: least cycles between} of each.

    delay: cycles from an instruction's issue to its result.
    """

    def __init__(self, insts: list[VirtualInst], delay: Delay) -> None:
        self.insts = insts
        self.after: list[dict[int, int]] = [{} for _ in insts]
        self.num_before = [0] * len(insts)
        self._registers(delay)
        self._effects()
        self._walls()

    def _order(self, first: int, second: int, cycles: int) -> None:
        if first == second:
            return
        if second not in self.after[first]:
            self.num_before[second] += 1
            self.after[first][second] = cycles
        elif self.after[first][second] < cycles:
            self.after[first][second] = cycles

    def _registers(self, delay: Delay) -> None:
        """Order definitions before their readers, readers before the next definition, and definitions among themselves."""
        writers: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        for place, inst in enumerate(self.insts):
            for var in {*inst.reads()}:
                if var in writers:
                    self._order(writers[var], place, delay(self.insts[writers[var]]))
                readers.setdefault(var, []).append(place)
            for var in {*inst.writes()}:
                for reader in readers.pop(var, ()):
                    self._order(reader, place, 1)
                if var in writers:
                    self._order(writers[var], place, delay(self.insts[writers[var]]))
                writers[var] = place

    def _effects(self) -> None:
        """Order accesses that may alias, and whatever must not move across a barrier, a fence or an ordered access."""
        bases = _bases(self.insts)
        fence = -1
        loads: list[int] = []
        stores: list[int] = []
        together = -1
        for place, inst in enumerate(self.insts):
            lanes = inst.op in _TOGETHER
            if is_fence(inst):
                for earlier in (*loads, *stores, together, fence):
                    if earlier >= 0:
                        self._order(earlier, place, 1)
                fence, loads, stores, together = place, [], [], -1
            elif inst.memory_kind or lanes:
                if fence >= 0:
                    self._order(fence, place, 1)
                if lanes and together >= 0:
                    self._order(together, place, 1)
                if inst.memory_kind:
                    for earlier in stores if inst.memory_kind == MEM_LOAD else stores + loads:
                        if may_meet(self.insts[earlier], inst, bases[earlier], bases[place]):
                            self._order(earlier, place, 1)
                    (loads if inst.memory_kind == MEM_LOAD else stores).append(place)
                together = place if lanes else together

    def _walls(self) -> None:
        """Keep every instruction on its side of clock reads, and before the instruction that ends the block."""
        wall = -1
        last = len(self.insts) - 1
        for place, inst in enumerate(self.insts):
            is_wall = inst.op == isa.OP_SREG and inst.aux in _CLOCKS
            if is_wall or place == last and ends_block(inst):
                for earlier in range(max(wall, 0), place):
                    self._order(earlier, place, 1)
            elif wall >= 0:
                self._order(wall, place, 1)
            wall = place if is_wall else wall


def ends_block(inst: VirtualInst) -> bool:
    """Return whether an instruction ends its block: a branch, or the end of the thread."""
    return inst.target >= 0 or inst.op in (isa.OP_EXIT, isa.OP_TRAP)


def is_fence(inst: VirtualInst) -> bool:
    """Return whether memory accesses must not move across: barriers, fences, exits, atomics, ordered accesses, calls."""
    if inst.memory_kind:
        return inst.is_ordered or inst.memory_kind not in (MEM_LOAD, MEM_STORE)
    return inst.unit == UNIT_CTRL and inst.op != isa.OP_NOP or not inst.is_removable and inst.op not in _TOGETHER


Base = tuple[object, ...]


def _bases(insts: list[VirtualInst]) -> list[Base]:
    """Return the base of each access's address: a register's value, a symbol, or nothing (an absolute address)."""
    versions: dict[int, int] = {}
    bases: list[Base] = []
    for place, inst in enumerate(insts):
        base: Base = ()
        if inst.memory_kind:
            rows = [row for row in inst.src[:2] if row >= 0]
            symbols = [symbol for slot, symbol, _, _ in inst.relocs if slot == 0]
            base = (*rows, *(versions.get(row >> 1, -1) for row in rows)) if rows else ("symbol", *symbols)
        bases.append(base)
        for var in inst.writes():
            versions[var] = place
    return bases


def may_meet(one: VirtualInst, other: VirtualInst, base: Base, other_base: Base) -> bool:
    """Return whether two accesses, one of them a store, may touch the same bytes."""
    spaces = {one.space, other.space}
    if any(inst.memory_kind == MEM_LOAD and (inst.space in _NEVER_STORED or ".nc" in inst.mnemonic)
           for inst in (one, other)):
        return False
    if len(spaces) > 1 and SPACE_GENERIC not in spaces and SPACE_NONE not in spaces:
        return False
    if one.form != "memory" or other.form != "memory":
        return True
    if base != other_base:
        return not (base[0] == other_base[0] == "symbol" and len(base) == len(other_base) == 2)
    first, second = _start(one), _start(other)
    return first < second + other.width * other.count and second < first + one.width * one.count


def _start(inst: VirtualInst) -> int:
    """Return the first byte of an access, relative to its base."""
    if inst.src[0] >= 0:
        return inst.offset
    if inst.relocs:
        return inst.relocs[0][2] + inst.offset
    return inst.imm[0] + (inst.imm[1] << 32) + inst.offset
