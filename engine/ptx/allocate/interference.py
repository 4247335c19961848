"""Interference of virtual variables: which of them cannot share a register.

Two variables interfere if one is defined while the other is live and may hold a value; so live ranges may have holes, and
variables on the two sides of a branch can share a register.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rfview.engine.isa import OP_MOV32, OP_MOV64, OP_PRED, PRED_MOV
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.optimise.liveness import live_sets, reached_sets
from rfview.engine.ptx.virtual import Block, VirtualInst, VirtualProgram

# the place of a definition that never comes
_NEVER = np.iinfo(np.int32).max
_BATCH = 4096

Listed = list[tuple[int, np.ndarray]]       # variables, each with a list of others


@dataclass
class Interference:
    """The interference graph: conflicts, moves, definition order, and the most data words live after a definition.

    earlier: of each variable, the neighbours that precede it in `order`. weights: total words of each variable's
    neighbours, a predicate counting one. moves: variables joined by moves. halves: a single word and the pairs whose low
    word is moved to or from it, and vice versa; they may share that word, but not the other. order: the variables by
    their first definition in the text.
    """

    earlier: list[np.ndarray]
    weights: np.ndarray
    moves: dict[int, list[int]]
    halves: dict[int, list[int]]
    order: list[int]
    pressure: int

    @cached_property
    def neighbours(self) -> list[np.ndarray]:
        """All neighbours of each variable, ascending; few kernels need more than `earlier`."""
        own, other = _pairs(list(enumerate(self.earlier)))
        return _grouped(np.concatenate([own, other]), np.concatenate([other, own]), len(self.earlier))


class _Live:
    """The variables live at one point, data and predicates in an array each; weight: words of data."""

    def __init__(self, words: list[int]) -> None:
        self._words = words
        self._listed = (array("i"), array("i"))
        self._places: dict[int, int] = {}
        self.weight = 0

    def begin(self, variables: list[int]) -> None:
        self._listed = (array("i"), array("i"))
        self._places.clear()
        self.weight = 0
        for var in variables:
            self.add(var)

    def add(self, var: int) -> None:
        if var not in self._places:
            listed = self._listed[not self._words[var]]
            self._places[var] = len(listed)
            listed.append(var)
            self.weight += self._words[var]

    def remove(self, var: int) -> bool:
        """Remove a variable; return whether it was live."""
        place = self._places.pop(var, -1)
        if place < 0:
            return False
        listed = self._listed[not self._words[var]]
        last = listed.pop()
        if last != var:
            listed[place] = last
            self._places[last] = place
        self.weight -= self._words[var]
        return True

    def of_kind(self, kind: int) -> np.ndarray:
        """Return the live data variables (0) or predicates (1)."""
        return np.frombuffer(self._listed[kind].tobytes(), np.int32)


class _Conflicts:
    """The conflicts found, each pair at least once.

    first: of each variable, those at one of its definitions. again: (variable, others) at its other definitions.
    """

    def __init__(self) -> None:
        self.first: dict[int, np.ndarray] = {}
        self.again: Listed = []

    def add(self, var: int, others: np.ndarray) -> None:
        if var in self.first:
            self.again.append((var, others))
        else:
            self.first[var] = others


def interference(program: VirtualProgram) -> Interference:
    """Build the interference graph from liveness at every instruction."""
    blocks, words = program.blocks, program.variables.words
    live_in, live_out = live_sets(blocks, len(words))
    suspects = live_in[0] if blocks else 0
    reached = reached_sets(blocks, suspects) if suspects else []
    set_at = np.full(len(words), -1, np.int32) if suspects else None
    live = _Live(words)
    conflicts = _Conflicts()
    moves: dict[int, list[int]] = {}
    halves: dict[int, list[int]] = {}
    pressure = 0
    for index, block in enumerate(blocks):
        if set_at is not None:
            _note_first_writes(block, suspects, reached[index], set_at)
        live.begin(members(live_out[index]))
        for place in range(len(block.insts) - 1, -1, -1):
            inst = block.insts[place]
            source = copied(inst)
            writes = inst.writes()
            if writes:
                pressure = max(pressure, _note(inst, {*writes}, live, words, set_at, place, source, conflicts))
            for var in inst.reads():
                live.add(var)
            if source >= 0:
                moves.setdefault(writes[0], []).append(source)
                moves.setdefault(source, []).append(writes[0])
                if words[source] != words[writes[0]]:
                    halves.setdefault(writes[0], []).append(source)
                    halves.setdefault(source, []).append(writes[0])
    order = list(dict.fromkeys(var for block in blocks for inst in block.insts for var in reversed(inst.writes())))
    earlier = _earlier(conflicts, order, len(words))
    return Interference(earlier, _weights(earlier, words), moves, halves, order, pressure)


def _note(inst: VirtualInst, written: set[int], live: _Live, words: list[int], set_at: np.ndarray | None, place: int,
          source: int, conflicts: _Conflicts) -> int:
    """Record the conflicts of the variables that an instruction writes, and end those that it kills.

    set_at: first place at which each variable may hold a value, None if all do. source: the variable being copied,
    which does not conflict, or -1. Returns the words of data live after the instruction.
    """
    held = [var for var in written if live.remove(var)]
    weight = live.weight if set_at is None else sum(words[var] for var in live.of_kind(0).tolist() if set_at[var] <= place)
    is_source_live = source >= 0 and live.remove(source)
    for var in written:
        others = live.of_kind(not words[var])
        conflicts.add(var, others if set_at is None else others[set_at[others] <= place])
        weight += words[var]
    if len(written) > 1:
        for kind in (False, True):
            same = np.array([var for var in written if (not words[var]) == kind], np.int32)
            conflicts.again += [(var, same) for var in same.tolist()]
    if is_source_live:
        live.add(source)
    if not inst.kills:
        for var in held:
            live.add(var)
    return weight


def copied(inst: VirtualInst) -> int:
    """Return the source variable of an unguarded whole-register move, else -1."""
    if inst.guard >= 0:
        return -1
    if inst.op == OP_MOV32 and len(inst.dst) == 1 and inst.src[0] >= 0 and not inst.src[0] & 1:
        return inst.src[0] >> 1
    if inst.op == OP_MOV64 and inst.src[0] >= 0 and inst.src[1] == inst.src[0] + 1 and inst.dst[1] == inst.dst[0] + 1:
        return inst.src[0] >> 1
    if inst.op == OP_PRED and inst.aux == PRED_MOV and not inst.psrc_negate[0]:
        return inst.psrc[0]
    return -1


def _note_first_writes(block: Block, suspects: int, reached: int, set_at: np.ndarray) -> None:
    """Record the place from which each suspect may hold a value; before that, it conflicts with nothing."""
    set_at[members(suspects & ~reached)] = _NEVER
    set_at[members(suspects & reached)] = -1
    for place, inst in enumerate(block.insts):
        for var in inst.writes():
            if set_at[var] == _NEVER:
                set_at[var] = place


def _earlier(conflicts: _Conflicts, order: list[int], size: int) -> list[np.ndarray]:
    """Return `earlier` (see Interference).

    Nearly always, a variable is written once, and what is live then was written before; so those lists are kept as they
    are, and only the other pairs are sorted, to find which of them are known already.
    """
    rank = np.full(size, size)
    rank[order] = np.arange(len(order))
    earlier = [np.empty(0, np.int32)] * size
    rest = [_pairs(conflicts.again)]
    for batch in _batches(list(conflicts.first.items())):
        own, other = _pairs(batch)
        is_later = rank[other] > rank[own]
        rest.append((own[is_later], other[is_later]))
        partners = other[~is_later]
        ends = np.cumsum([len(others) for _, others in batch])
        ends = (ends - np.append(0, np.cumsum(is_later))[ends]).tolist()
        for (var, _), begin, end in zip(batch, [0, *ends], ends):
            earlier[var] = partners[begin:end]
    own, other = (np.concatenate(side) for side in zip(*rest))
    own, other = own[own != other], other[own != other]
    is_swapped = rank[own] < rank[other]
    own, other = np.where(is_swapped, other, own), np.where(is_swapped, own, other)
    owners = sorted({*own.tolist()})
    known = [earlier[var] for var in owners]
    merged = _grouped(np.append(own, np.repeat(owners, [len(others) for others in known])),
                      np.concatenate([other, *known]), size)
    for var in owners:
        earlier[var] = merged[var]
    return earlier


def _weights(earlier: list[np.ndarray], words: list[int]) -> np.ndarray:
    """Return `weights` (see Interference)."""
    size, counted = len(words), np.maximum(words, 1)
    weights = np.zeros(size, np.int64)
    for batch in _batches(list(enumerate(earlier))):
        own, other = _pairs(batch)
        for one, neighbour in ((own, other), (other, own)):
            weights += np.bincount(one, counted[neighbour], size).astype(np.int64)
    return weights


def _batches(listed: Listed) -> Iterator[Listed]:
    """Cut a list into parts, so that the arrays made of each stay in the processor's cache."""
    return (listed[begin : begin + _BATCH] for begin in range(0, len(listed), _BATCH))


def _pairs(listed: Listed) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second variable of each pair that consists of a variable and one of its list."""
    own = np.repeat(np.array([var for var, _ in listed], np.int64), [len(others) for _, others in listed])
    return own, np.concatenate([np.empty(0, np.int32), *(others for _, others in listed)])


def _grouped(own: np.ndarray, other: np.ndarray, size: int) -> list[np.ndarray]:
    """Return for each `own` variable the `other` variables of its pairs, ascending, each once."""
    pairs = np.sort(own * size + other)
    is_new = np.ones(len(pairs), bool)
    is_new[1:] = pairs[1:] != pairs[:-1]      # np.unique is tens of times slower on these
    pairs = pairs[is_new]
    ends = np.searchsorted(pairs, size * np.arange(1, size + 1)).tolist()
    others = (pairs % max(size, 1)).astype(np.int32)
    return [others[begin:end] for begin, end in zip([0, *ends], ends)]
