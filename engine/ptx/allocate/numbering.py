"""Renumbers registers so that the sources of an instruction lie in different banks of the register file.

Whole registers are exchanged after allocation, so neither their count nor their live ranges change. A warp's registers
lie in consecutive banks wherever the first one is: two of them share a bank if their numbers differ by a multiple of
the number of banks.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rfview.engine.ptx.allocate.colouring import Colouring
from rfview.engine.ptx.optimise.control_flow import immediate_dominators, loop_depths, tree_depths
from rfview.engine.ptx.virtual import VirtualProgram

_PER_LOOP = 8       # how much more often a loop's body is assumed to run than the code around it
_DEEPEST = 4

Exchange = tuple[list[int], list[int]]


def numbered_for_banks(program: VirtualProgram, colouring: Colouring, num_banks: int) -> Colouring:
    """Exchange registers until no exchange reduces the bank conflicts of sources; return the renumbered colouring."""
    if colouring.count <= num_banks:
        return colouring
    weights = together(program, colouring)
    numbers = np.arange(colouring.count)
    pairs, singles = exchanges(program, colouring)
    for swaps in (pairs, singles):      # in this order: exchanging single registers breaks up the pairs
        exchange(numbers, swaps, weights, num_banks)
    return Colouring([int(numbers[first]) if first >= 0 else first for first in colouring.registers], colouring.count)


def exchange(numbers: np.ndarray, swaps: list[Exchange], weights: np.ndarray, num_banks: int) -> None:
    """Apply exchanges to `numbers` as long as one reduces the conflicts."""
    least = conflicts(weights, numbers, num_banks)
    improved = least > 0
    while improved:
        improved = False
        for one, other in swaps:
            trial = numbers.copy()
            trial[one], trial[other] = numbers[other], numbers[one]
            cost = conflicts(weights, trial, num_banks)
            if cost < least:
                numbers[:], least, improved = trial, cost, True


def together(program: VirtualProgram, colouring: Colouring) -> np.ndarray:
    """Return how often each two registers are sources of one instruction, weighted by loop depth: (count, count) f8."""
    successors = [block.successors for block in program.blocks]
    idom = immediate_dominators(successors, 0)
    loops = loop_depths(successors, idom, tree_depths(idom))
    weights = np.zeros((colouring.count, colouring.count))
    for block, depth in zip(program.blocks, loops, strict=True):
        for inst in block.insts:
            read = sorted({colouring.registers[row >> 1] + (row & 1) for row in inst.src if row >= 0})
            for one, other in combinations(read, 2):
                weights[one, other] += _PER_LOOP ** min(depth, _DEEPEST)
    return weights


def conflicts(weights: np.ndarray, numbers: np.ndarray, num_banks: int) -> float:
    """Return the total weight of the pairs of sources that share a bank."""
    banks = numbers % num_banks
    return float(weights[banks[:, None] == banks[None, :]].sum())


def exchanges(program: VirtualProgram, colouring: Colouring) -> tuple[list[Exchange], list[Exchange]]:
    """List the possible exchanges: of whole even pairs, and of single registers outside pairs that hold 64-bit values."""
    words = program.variables.words
    paired = {first // 2 for var, first in enumerate(colouring.registers) if first >= 0 and words[var] == 2}
    singles = [register for register in range(colouring.count) if register // 2 not in paired]
    pairs = [[2 * unit, 2 * unit + 1] for unit in range(colouring.count // 2)]
    return list(combinations(pairs, 2)), [([one], [other]) for one, other in combinations(singles, 2)]
