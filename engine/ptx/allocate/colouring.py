"""Register allocation: the interference graph is coloured in several orders; the best one is kept.

64-bit variables take even-aligned pairs; predicates have a separate register file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine.ptx.allocate.interference import Interference

_EVEN = sum(1 << k for k in range(0, 1024, 2))   # even registers, far beyond any count before spilling
_GONE = 1 << 30                                  # more than the conflicting words of any variable


@dataclass
class Colouring:
    """The first register of each variable (-1 = none needed) and the number of registers used."""

    registers: list[int]
    count: int


def colour(graph: Interference, words: list[int]) -> Colouring:
    """Colour the data registers; tries orders until one needs no more words than are live at once, and keeps the best."""
    live = [var for var in graph.order if words[var]]
    best = _colour_in_order(graph, graph.earlier, live, words)
    for make in (_pairs_first, _smallest_last):
        if best.count > graph.pressure:
            other = _colour_in_order(graph, graph.neighbours, make(graph, live, words), words)
            if other.count < best.count:
                best = other
    return best


def spread(graph: Interference, colouring: Colouring, words: list[int], aim: int) -> Colouring:
    """Colour again, taking registers round-robin from `aim` of them, so that all are used.

    Returns `colouring`, one within `aim`, if round-robin needs more, since no free pair is left for some value.
    """
    made = _colour_in_order(graph, graph.earlier, [var for var in graph.order if words[var]], words, aim)
    return made if made.count <= aim else colouring


def _pairs_first(graph: Interference, live: list[int], words: list[int]) -> list[int]:
    return [var for var in live if words[var] == 2] + [var for var in live if words[var] == 1]


def _colour_in_order(graph: Interference, before: list[np.ndarray], order: list[int], words: list[int],
                     aim: int = 0) -> Colouring:
    """Assign registers in the given order.

    before: of each variable, the neighbours that precede it in this order, at least. aim: number of registers to take
    round-robin; 0 takes the lowest free one.
    """
    occupied = [0] * len(words)
    registers = [-1] * len(words)
    top = turn = 0
    for var in order:
        taken = 0
        for other in before[var].tolist():
            taken |= occupied[other]
        for other in graph.halves.get(var, ()):
            if words[var] == 1 and registers[other] >= 0:
                taken |= 2 << registers[other]  # the pair's high word
            elif registers[other] & 1 and registers[other] >= 0:
                taken |= 1 << registers[other]  # would be its high word
        register = _hinted(graph, var, words[var], taken, registers)
        if register < 0 and aim:
            register = _in_turn(taken, words[var], turn, aim)
            turn = register + words[var]
        if register < 0:
            register = _lowest_pair(taken) if words[var] == 2 else _lowest_single(taken, top)
        registers[var] = register
        occupied[var] = (3 if words[var] == 2 else 1) << register
        top = max(top, register + words[var])
    return Colouring(registers, top)


def _hinted(graph: Interference, var: int, words: int, taken: int, registers: list[int]) -> int:
    """Return the register of a variable that `var` is moved to or from, if it is free; else -1."""
    for other in graph.moves.get(var, ()):
        register = registers[other]
        if register >= 0 and not taken >> register & (3 if words == 2 else 1):
            if words == 1 or register % 2 == 0:
                return register
    return -1


def _in_turn(taken: int, words: int, turn: int, aim: int) -> int:
    """Return the first free register or even pair from `turn` on, cyclically; -1 if none of the `aim` is free."""
    for step in range(aim):
        register = (turn + step) % aim
        if words == 1 and not taken >> register & 1:
            return register
        if words == 2 and register % 2 == 0 and register + 1 < aim and not taken >> register & 3:
            return register
    return -1


def _lowest_pair(taken: int) -> int:
    register = 0
    while taken >> register & 3:
        register += 2
    return register


def _lowest_single(taken: int, top: int) -> int:
    """Return the lowest free register, preferring halves of half-occupied pairs below the highest register in use."""
    free = ~taken
    half_free = free & ((taken << 1) & 2 * _EVEN | (taken >> 1) & _EVEN)
    below = half_free & ((1 << top) - 1)
    if below:
        return (below & -below).bit_length() - 1
    return (free & -free).bit_length() - 1


def _smallest_last(graph: Interference, live: list[int], words: list[int]) -> list[int]:
    """Order by repeatedly removing the variable with the fewest conflicting words; the last removed comes first.

    Ties go to the variable defined last.
    """
    removable = live[::-1]
    place_of = np.full(len(words), -1)      # the last place stands for all variables that are never removed
    place_of[removable] = np.arange(len(removable))
    left = np.append(graph.weights[removable], _GONE)
    candidates = left[:-1]
    order: list[int] = []
    for _ in removable:
        place = int(candidates.argmin())
        var = removable[place]
        order.append(var)
        left[place_of[graph.neighbours[var]]] -= words[var]
        left[place] = _GONE
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
        for other in graph.earlier[var].tolist():
            if registers[other] >= 0:
                taken |= 1 << registers[other]
        register = _hinted(graph, var, 1, taken, registers)
        if register < 0:
            register = (~taken & (taken + 1)).bit_length() - 1
        registers[var] = register
        count = max(count, register + 1)
    return Colouring(registers, count)
