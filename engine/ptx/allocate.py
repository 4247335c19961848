"""Register allocation: interference of virtual variables, then colouring in several orders; the best one is kept.

64-bit variables take even-aligned pairs, predicates a file of their own. Two variables interfere where one is defined
while the other is live and may hold a value; so live ranges may have holes and the two sides of a branch share.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from engine.isa import OP_MOV32, OP_MOV64, OP_PRED, PRED_MOV
from engine.ptx.liveness import live_sets, reached_sets
from engine.ptx.virtual import Block, VirtualInst, VirtualProgram


_EVEN = sum(1 << k for k in range(0, 1024, 2))   # even registers, far beyond any count before spilling


@dataclass
class Interference:
    """Which variables conflict, which are joined by moves, order of definition, most words live after a definition.

    halves: a single word and the pairs whose low word is moved to or from it; they may share that word, not the other.
    """

    neighbours: list[set[int]]
    moves: dict[int, list[int]]
    halves: dict[int, list[int]]
    order: list[int]
    pressure: int


@dataclass
class Colouring:
    """The first register of each variable (-1 = none needed) and the number of registers used."""

    registers: list[int]
    count: int


def interference(program: VirtualProgram) -> Interference:
    """Build the interference graph from liveness at every instruction."""
    blocks, size = program.blocks, len(program.variables.names)
    words = program.variables.words
    live_in, live_out = live_sets(blocks, size)
    suspects = live_in[0] if blocks else 0
    reached = reached_sets(blocks, suspects) if suspects else [0] * len(blocks)
    adjacent: dict[int, int] = {}
    moves: dict[int, list[int]] = {}
    halves: dict[int, list[int]] = {}
    order: list[int] = []
    pressure = 0
    singles = sum(1 << var for var, count in enumerate(words) if count == 1)
    pairs = sum(1 << var for var, count in enumerate(words) if count == 2)
    for index, block in enumerate(blocks):
        masks = _unset_masks(block, suspects, reached[index]) if suspects else None
        live = live_out[index]
        found: list[int] = []
        for place in range(len(block.insts) - 1, -1, -1):
            inst = block.insts[place]
            writes = inst.writes()
            if writes:
                after = live & ~masks[place] if masks is not None else live
                for var in writes:
                    after |= 1 << var
                pressure = max(pressure, (after & singles).bit_count() + 2 * (after & pairs).bit_count())
                kept = after & ~(1 << copied(inst)) if copied(inst) >= 0 else after
                for var in writes:
                    adjacent[var] = adjacent.get(var, 0) | kept
                found += writes
                if inst.kills:
                    for var in writes:
                        live &= ~(1 << var)
            for var in inst.reads():
                live |= 1 << var
            source = copied(inst)
            if source >= 0:
                moves.setdefault(writes[0], []).append(source)
                moves.setdefault(source, []).append(writes[0])
                if words[source] != words[writes[0]]:
                    halves.setdefault(writes[0], []).append(source)
                    halves.setdefault(source, []).append(writes[0])
        order += reversed(found)
    order = list(dict.fromkeys(order))
    return Interference(_neighbour_sets(adjacent, words), moves, halves, order, pressure)


def copied(inst: VirtualInst) -> int:
    """Give the source variable of an unguarded whole-register move, else -1."""
    if inst.guard >= 0:
        return -1
    if inst.op == OP_MOV32 and len(inst.dst) == 1 and inst.src[0] >= 0 and not inst.src[0] & 1:
        return inst.src[0] >> 1
    if inst.op == OP_MOV64 and inst.src[0] >= 0 and inst.src[1] == inst.src[0] + 1 and inst.dst[1] == inst.dst[0] + 1:
        return inst.src[0] >> 1
    if inst.op == OP_PRED and inst.aux == PRED_MOV and not inst.psrc_negate[0]:
        return inst.psrc[0]
    return -1


def _unset_masks(block: Block, suspects: int, reached: int) -> list[int]:
    """Give, after each instruction, the suspects that cannot hold a value yet: they conflict with nothing."""
    masks = []
    for inst in block.insts:
        for var in inst.writes():
            reached |= 1 << var
        masks.append(suspects & ~reached)
    return masks


def _neighbour_sets(adjacent: dict[int, int], words: list[int]) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in words]
    data = predicates = 0
    for var, count in enumerate(words):
        if count:
            data |= 1 << var
        else:
            predicates |= 1 << var
    for var, mask in adjacent.items():
        mask &= (data if words[var] else predicates) & ~(1 << var)
        own = members(mask)
        neighbours[var].update(own)
        for other in own:
            neighbours[other].add(var)
    return neighbours


def members(mask: int) -> list[int]:
    """List the bits set in a bit set, in order."""
    size = mask.bit_length()
    if size > 256:  # shifting a wide one bit by bit would copy it each time
        raw = np.frombuffer(mask.to_bytes(-(-size // 8), "little"), np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()
        return found
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def colour(graph: Interference, words: list[int]) -> Colouring:
    """Colour the data registers; tries orders until one needs no more than are live at once, and keeps the best."""
    live = [var for var in graph.order if words[var]]
    best = _colour_in_order(graph, live, words)
    for make in (_pairs_first, _smallest_last):
        if best.count > graph.pressure:
            found = _colour_in_order(graph, make(graph, live, words), words)
            if found.count < best.count:
                best = found
    return best


def _pairs_first(graph: Interference, live: list[int], words: list[int]) -> list[int]:
    return [var for var in live if words[var] == 2] + [var for var in live if words[var] == 1]


def _colour_in_order(graph: Interference, order: list[int], words: list[int]) -> Colouring:
    occupied = [0] * len(words)
    registers = [-1] * len(words)
    top = 0
    for var in order:
        taken = 0
        for other in graph.neighbours[var]:
            taken |= occupied[other]
        for other in graph.halves.get(var, ()):
            if words[var] == 1 and registers[other] >= 0:
                taken |= 2 << registers[other]  # the pair's high word
            elif registers[other] & 1 and registers[other] >= 0:
                taken |= 1 << registers[other]  # would be the pair's high word
        register = _hinted(graph, var, words[var], taken, registers)
        if register < 0:
            register = _lowest_pair(taken) if words[var] == 2 else _lowest_single(taken, top)
        registers[var] = register
        occupied[var] = (3 if words[var] == 2 else 1) << register
        top = max(top, register + words[var])
    return Colouring(registers, top)


def _hinted(graph: Interference, var: int, words: int, taken: int, registers: list[int]) -> int:
    """Give the register of a variable that `var` is moved to or from, if it is free; else -1."""
    for other in graph.moves.get(var, ()):
        register = registers[other]
        if register >= 0 and not taken >> register & (3 if words == 2 else 1):
            if words == 1 or register % 2 == 0:
                return register
    return -1


def _lowest_pair(taken: int) -> int:
    register = 0
    while taken >> register & 3:
        register += 2
    return register


def _lowest_single(taken: int, top: int) -> int:
    """Prefer the free half of a pair whose other half is taken, below the highest register in use."""
    free = ~taken
    half_free = free & ((taken << 1) & 2 * _EVEN | (taken >> 1) & _EVEN)
    below = half_free & ((1 << top) - 1)
    if below:
        return (below & -below).bit_length() - 1
    return (free & -free).bit_length() - 1


def _smallest_last(graph: Interference, live: list[int], words: list[int]) -> list[int]:
    """Order by repeatedly removing the variable with the fewest conflicting words; the last removed comes first."""
    degree = {v: sum(words[o] for o in graph.neighbours[v]) for v in live}
    heap = [(degree[v], -place, v) for place, v in enumerate(live)]
    places = {v: -place for place, v in enumerate(live)}
    heapq.heapify(heap)
    gone: set[int] = set()
    order: list[int] = []
    while heap:
        weight, _, var = heapq.heappop(heap)
        if var in gone or weight != degree[var]:
            continue
        gone.add(var)
        order.append(var)
        for other in graph.neighbours[var]:
            if other not in gone and other in degree:
                degree[other] -= words[var]
                heapq.heappush(heap, (degree[other], places[other], other))
    order.reverse()
    return order


def colour_predicates(graph: Interference, words: list[int]) -> Colouring:
    """Give each predicate variable the lowest free predicate register."""
    registers = [-1] * len(words)
    count = 0
    for var in graph.order:
        if words[var]:
            continue
        taken = 0
        for other in graph.neighbours[var]:
            if registers[other] >= 0:
                taken |= 1 << registers[other]
        register = _hinted(graph, var, 1, taken, registers)
        if register < 0:
            register = (~taken & (taken + 1)).bit_length() - 1
        registers[var] = register
        count = max(count, register + 1)
    return Colouring(registers, count)
