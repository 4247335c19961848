"""Clean-up as in ptxas: copy and constant propagation, dead code elimination, sinking of parameter loads.

No pass changes what an instruction computes. A value is propagated only if the copied variable has a single definition
that dominates the use. Copies that join a float and an integer use stay (rule B4.3).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from rfview.engine import isa
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.optimise.control_flow import dominates, immediate_dominators, loop_depths, tree_depths
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.virtual import Block, VirtualInst, VirtualProgram

_MOVES = (isa.OP_MOV32, isa.OP_MOV64)
_CLOCKS = {
    isa.SREG_CLOCK, isa.SREG_CLOCK_HI, isa.SREG_CLOCK64, isa.SREG_GLOBALTIMER, isa.SREG_GLOBALTIMER_LO,
    isa.SREG_GLOBALTIMER_HI,
}
_FLOAT, _INT = 1, 2

# value of one word: ("row", row), ("imm", value), or ("low" / "high", symbol, addend) for a relocation
Word = tuple[object, ...]


def clean_up(program: VirtualProgram) -> None:
    """Run all passes."""
    Propagation(program).run()
    drop_dead(program)
    sink_parameters(program)


def use_classes(blocks: list[Block], size: int) -> list[int]:
    """Return for each variable a mask: whether float (bit 0) and integer (bit 1) instructions use it."""
    classes = [0] * size
    for block in blocks:
        for inst in block.insts:
            if inst.op in _MOVES or inst.form in ("memory", "parameter", "texture"):
                if inst.form in ("memory", "texture"):
                    for row in inst.src[:2]:
                        if row >= 0:
                            classes[row >> 1] |= _INT
                continue
            bit = _FLOAT if inst.is_float else _INT
            for row in inst.src + inst.dst:
                if row >= 0:
                    classes[row >> 1] |= bit
    return classes


def definition_counts(blocks: list[Block]) -> Counter[int]:
    """Count definitions per variable; a guarded one counts twice, so that 1 means a single unconditional definition."""
    counts: Counter[int] = Counter()
    for block in blocks:
        for inst in block.insts:
            for var in set(inst.writes()):
                counts[var] += 1 if inst.guard < 0 else 2
    return counts


class Propagation:
    """Copy and constant propagation over the dominator tree."""

    def __init__(self, program: VirtualProgram) -> None:
        self.blocks = program.blocks
        self.words = program.variables.words
        successors = [block.successors for block in self.blocks]
        self.idom = immediate_dominators(successors, 0)
        self.depth = tree_depths(self.idom)
        self.counts = definition_counts(self.blocks)
        self.classes = use_classes(self.blocks, len(self.words))
        self.values: dict[int, tuple[int, list[Word]]] = {}
        self.conditions: dict[int, tuple[int, int, bool]] = {}
        self.block = 0

    def run(self) -> None:
        for self.block in self._dominator_order():
            for inst in self.blocks[self.block].insts:
                self._rewrite_slots(inst)
                self._rewrite_predicates(inst)
                self._record(inst)

    def _dominator_order(self) -> list[int]:
        return sorted(range(len(self.blocks)), key=lambda index: self.depth[index])

    def _dominated(self, home: int) -> bool:
        return dominates(self.idom, self.depth, home, self.block)

    def _value(self, row: int) -> Word | None:
        value = self.values.get(row >> 1)
        if value is None or not self._dominated(value[0]):
            return None
        return value[1][row & 1]

    def _rewrite_slots(self, inst: VirtualInst) -> None:
        slot = 0
        while slot < 6:
            row = inst.src[slot]
            if row < 0:
                slot += 1
                continue
            is_pair = not slot & 1 and not row & 1 and inst.src[slot + 1] == row + 1
            if is_pair:
                self._rewrite_pair(inst, slot, row)
            else:
                value = self._value(row)
                if value is not None and value[0] in ("row", "imm"):
                    put(inst, slot, value)
            slot += 2 if is_pair else 1

    def _rewrite_pair(self, inst: VirtualInst, slot: int, row: int) -> None:
        low, high = self._value(row), self._value(row + 1)
        if low is None or high is None:
            return
        if low[0] == "low":
            put(inst, slot, ("imm", low[2]))
            put(inst, slot + 1, ("imm", int(low[2]) >> 32))  # type: ignore[call-overload]
            inst.relocs.append((slot, str(low[1]), int(low[2]), True))  # type: ignore[call-overload]
            return
        is_number = low[0] == high[0] == "imm"
        is_pair = low[0] == high[0] == "row" and int(low[1]) & 1 == 0 and high[1] == int(low[1]) + 1  # type: ignore
        if is_number or is_pair or inst.op == isa.OP_MOV64 and "high" not in (low[0], high[0]):
            put(inst, slot, low)
            put(inst, slot + 1, high)

    def _rewrite_predicates(self, inst: VirtualInst) -> None:
        if inst.guard >= 0:
            condition = self.conditions.get(inst.guard)
            if condition is not None and self._dominated(condition[0]):
                inst.guard, inst.guard_negate = condition[1], inst.guard_negate != condition[2]
        for place, var in enumerate(inst.psrc):
            condition = self.conditions.get(var)
            if condition is not None and self._dominated(condition[0]):
                inst.psrc[place], inst.psrc_negate[place] = condition[1], inst.psrc_negate[place] != condition[2]

    def _record(self, inst: VirtualInst) -> None:
        """Record the value that a move, pack or predicate move gives its destination."""
        if inst.guard >= 0:
            return
        if inst.op == isa.OP_PRED and inst.aux in (isa.PRED_MOV, isa.PRED_NOT):
            if self.counts[inst.pdst[0]] == 1 and self.counts[inst.psrc[0]] == 1:
                self.conditions[inst.pdst[0]] = (
                    self.block, inst.psrc[0], inst.psrc_negate[0] != (inst.aux == isa.PRED_NOT))
            return
        if inst.op not in _MOVES or self.counts[inst.dst[0] >> 1] != 1 or len({row >> 1 for row in inst.dst}) > 1:
            return
        target = inst.dst[0] >> 1
        words = [self._word(inst, slot, target) for slot in range(len(inst.dst))]
        if all(word is not None for word in words):
            self.values[target] = (self.block, [word for word in words if word is not None])

    def _word(self, inst: VirtualInst, slot: int, target: int) -> Word | None:
        if inst.relocs:
            _, symbol, addend, wide = inst.relocs[0]
            return ("low" if slot == 0 else "high", symbol, addend) if wide else None
        row = inst.src[slot]
        if row < 0:
            return ("imm", inst.imm[slot])
        source = row >> 1
        if self.counts[source] != 1 or self.words[source] != self.words[target] and self.words[source] == 2:
            return None
        own, other = self.classes[source], self.classes[target]
        if own | other == _FLOAT | _INT and own != other:
            return None
        return ("row", row)


def put(inst: VirtualInst, slot: int, word: Word) -> None:
    if word[0] == "row":
        inst.set_row(slot, int(word[1]))  # type: ignore[call-overload]
    else:
        inst.set_imm(slot, int(word[1]))  # type: ignore[call-overload]


def drop_dead(program: VirtualProgram) -> None:
    """Remove instructions without side effects whose results are never read."""
    blocks, size = program.blocks, len(program.variables.names)
    settled = [-1] * len(blocks)        # what was live after each block when nothing of it could be dropped
    changed = True
    while changed:
        changed = False
        _, live_out = live_sets(blocks, size)
        for index, (block, live_after) in enumerate(zip(blocks, live_out, strict=True)):
            if live_after == settled[index]:
                continue
            live = set(members(live_after))
            used = []
            for inst in reversed(block.insts):
                writes = inst.writes()
                if inst.is_removable and writes and live.isdisjoint(writes):
                    changed = True
                    continue
                if inst.kills:
                    live.difference_update(writes)
                live.update(inst.reads())
                used.append(inst)
            used.reverse()
            if len(used) == len(block.insts):
                settled[index] = live_after
            block.insts = used


def is_sinkable(inst: VirtualInst, counts: Counter[int]) -> bool:
    """Return whether an instruction may be sunk: it reads only constants, parameters or unchanging special registers."""
    if inst.guard >= 0 or any(counts[row >> 1] != 1 for row in inst.dst):
        return False
    if inst.op == isa.OP_SREG:
        return inst.aux not in _CLOCKS
    return inst.op == isa.OP_LDPARAM or inst.op in _MOVES and not any(row >= 0 for row in inst.src)


def sink_parameters(program: VirtualProgram) -> None:
    """Sink loads of parameters, special registers and constants to just before their first use, never into a deeper loop.

    ptxas reads them as operands or late, whereas nvcc's PTX loads all of them at the top. Places in a block are those that
    its instructions had before; what sinks is kept apart, by the place that it goes before, until the end.
    """
    blocks = program.blocks
    successors = [block.successors for block in blocks]
    idom = immediate_dominators(successors, 0)
    depth = tree_depths(idom)
    loops = loop_depths(successors, idom, depth)
    counts = definition_counts(blocks)
    sinkable = {id(inst): inst for block in blocks for inst in block.insts if is_sinkable(inst, counts)}
    reads = _places_of_reads(blocks, {row >> 1 for inst in sinkable.values() for row in inst.dst})
    sunk: list[dict[int, list[VirtualInst]]] = [{} for _ in blocks]
    for index, block in enumerate(blocks):
        arrived, sunk[index] = sunk[index], {}
        own = {place: inst for place, inst in enumerate(block.insts) if id(inst) in sinkable}
        for place in sorted(arrived.keys() | own.keys()):
            for inst in [*arrived.get(place, ()), *([own[place]] if place in own else ())]:
                target, before = index, place
                homes = {home for row in inst.dst for home in reads.get(row >> 1, ())}
                if homes and all(dominates(idom, depth, index, home) for home in homes):
                    target = _common_dominator(homes, idom, depth)
                    while loops[target] > loops[index]:
                        target = idom[target]
                    before = _first_read(blocks[target], [reads.get(row >> 1, {}).get(target, []) for row in inst.dst],
                                         place if target == index else 0)
                sunk[target].setdefault(before, []).append(inst)
    for block, there in zip(blocks, sunk, strict=True):
        insts: list[VirtualInst] = []
        for place, inst in enumerate(block.insts):
            insts += there.get(place, ())
            if id(inst) not in sinkable:
                insts.append(inst)
        block.insts = insts + there.get(len(block.insts), [])


def _places_of_reads(blocks: list[Block], variables: set[int]) -> dict[int, dict[int, list[int]]]:
    """Return of each of these variables, by block, the places of the instructions that read it, ascending."""
    places: dict[int, dict[int, list[int]]] = {}
    for index, block in enumerate(blocks):
        for place, inst in enumerate(block.insts):
            for var in inst.reads():
                if var in variables:
                    places.setdefault(var, {}).setdefault(index, []).append(place)
    return places


def _common_dominator(homes: set[int], idom: list[int], depth: list[int]) -> int:
    """Return the deepest block that dominates all of these."""
    target, *others = homes
    for home in others:
        while target != home:
            if depth[target] >= depth[home]:
                target = idom[target]
            else:
                home = idom[home]
    return target


def _first_read(block: Block, reads: list[list[int]], start: int) -> int:
    """Return the first place from `start` on in any of the ascending lists, else that of the block's branch or end."""
    end = len(block.insts) - (1 if block.insts and block.insts[-1].target >= 0 else 0)
    firsts = (places[bisect_left(places, start):][:1] for places in reads)
    return min([end, *(place for first in firsts for place in first)])
