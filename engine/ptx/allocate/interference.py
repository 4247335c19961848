"""Interference of virtual variables: which of them cannot share a register.

Two variables interfere if one is defined while the other is live and may hold a value; so live ranges may have holes, and
variables on the two sides of a branch can share a register.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine.isa import OP_MOV32, OP_MOV64, OP_PRED, PRED_MOV
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.optimise.liveness import live_sets, reached_sets
from rfview.engine.ptx.virtual import Block, VirtualInst, VirtualProgram

# the place of a definition that never comes
_NEVER = np.iinfo(np.int32).max


@dataclass
class Interference:
    """The interference graph: conflicts, moves, definition order, and the most data words live after a definition.

    neighbours: of each variable, ascending. weights: total words of each variable's neighbours, a predicate counting one.
    moves: variables joined by moves. halves: a single word and the pairs whose low word is moved to or from it, and vice
    versa; they may share that word, but not the other.
    """

    neighbours: list[np.ndarray]
    weights: np.ndarray
    moves: dict[int, list[int]]
    halves: dict[int, list[int]]
    order: list[int]
    pressure: int


class _Live:
    """The variables live at one point, each kind (data, predicates) contiguous in an array; weight: words of data."""

    def __init__(self, words: list[int]) -> None:
        self._words = words
        self._listed = np.empty((2, len(words)), np.int32)
        self._counts = [0, 0]
        self._places: dict[int, int] = {}
        self.weight = 0

    def begin(self, variables: list[int]) -> None:
        self._counts = [0, 0]
        self._places.clear()
        self.weight = 0
        for var in variables:
            self.add(var)

    def add(self, var: int) -> bool:
        """Add a variable; return whether it was not live before."""
        if var in self._places:
            return False
        kind = int(not self._words[var])
        place = self._counts[kind]
        self._listed[kind, place] = var
        self._places[var] = place
        self._counts[kind] = place + 1
        self.weight += self._words[var]
        return True

    def remove(self, var: int) -> None:
        place = self._places.pop(var)
        kind = int(not self._words[var])
        last = self._counts[kind] = self._counts[kind] - 1
        if place != last:
            moved = int(self._listed[kind, last])
            self._listed[kind, place] = moved
            self._places[moved] = place
        self.weight -= self._words[var]

    def of_kind(self, kind: int) -> np.ndarray:
        """Return a copy of the live data variables (0) or predicates (1)."""
        return self._listed[kind, : self._counts[kind]].copy()


def interference(program: VirtualProgram) -> Interference:
    """Build the interference graph from liveness at every instruction."""
    blocks, words = program.blocks, program.variables.words
    live_in, live_out = live_sets(blocks, len(words))
    suspects = live_in[0] if blocks else 0
    reached = reached_sets(blocks, suspects) if suspects else []
    set_at = np.full(len(words), -1, np.int32)
    live = _Live(words)
    conflicts: list[tuple[int, np.ndarray]] = []
    moves: dict[int, list[int]] = {}
    halves: dict[int, list[int]] = {}
    order: list[int] = []
    pressure = 0
    for index, block in enumerate(blocks):
        if suspects:
            _note_first_writes(block, suspects, reached[index], set_at)
        live.begin(members(live_out[index]))
        found: list[int] = []
        for place in range(len(block.insts) - 1, -1, -1):
            inst = block.insts[place]
            source = copied(inst)
            writes = inst.writes()
            if writes:
                fresh = [var for var in writes if live.add(var)]
                pressure = max(pressure, _note(inst, live, words, set_at if suspects else None, place, source, conflicts))
                for var in {*writes} if inst.kills else fresh:
                    live.remove(var)
                found += writes
            for var in inst.reads():
                live.add(var)
            if source >= 0:
                moves.setdefault(writes[0], []).append(source)
                moves.setdefault(source, []).append(writes[0])
                if words[source] != words[writes[0]]:
                    halves.setdefault(writes[0], []).append(source)
                    halves.setdefault(source, []).append(writes[0])
        order += reversed(found)
    order = list(dict.fromkeys(order))
    neighbours, weights = _neighbours(conflicts, words)
    return Interference(neighbours, weights, moves, halves, order, pressure)


def _note(inst: VirtualInst, live: _Live, words: list[int], set_at: np.ndarray | None, place: int, source: int,
          conflicts: list[tuple[int, np.ndarray]]) -> int:
    """Record the conflicts of the variables that an instruction writes; return the words of data live after it.

    set_at: first place at which each variable may hold a value, None if all do. source: the variable being copied,
    which does not conflict, or -1.
    """
    weight = live.weight
    for kind in (0, 1):
        written = {var for var in inst.writes() if (words[var] == 0) == kind}
        if written or set_at is not None:
            others = live.of_kind(kind)
            if set_at is not None:
                others = others[set_at[others] <= place]
                if kind == 0:
                    weight = sum(words[var] for var in others.tolist())
            if source >= 0:
                others = others[others != source]
            conflicts += [(var, others) for var in written]
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


def _neighbours(conflicts: list[tuple[int, np.ndarray]], words: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return neighbours and weights (see Interference) from lists that contain each conflict at least once."""
    size = len(words)
    one = np.repeat(np.array([var for var, _ in conflicts], np.int64), [len(others) for _, others in conflicts])
    other = np.concatenate([np.empty(0, np.int64), *(others for _, others in conflicts)])
    one, other = one[one != other], other[one != other]
    pairs = np.sort(np.concatenate([one * size + other, other * size + one]))
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]      # np.unique is tens of times slower on these
    ends = np.searchsorted(pairs, size * np.arange(1, size + 1)).tolist()
    own, conflicting = np.divmod(pairs, max(size, 1))
    weights = np.bincount(own, np.maximum(words, 1)[conflicting], minlength=size).astype(np.int64)
    return [conflicting[begin:end] for begin, end in zip([0, *ends], ends)], weights
