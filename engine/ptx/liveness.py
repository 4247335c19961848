"""Liveness of virtual variables: bit sets as Python integers, per block and inside a block.

Guarded definitions do not kill (decision B0.3). Liveness is that of one thread's control flow; it is right for a warp,
because reconvergence never mixes lanes.
"""

from __future__ import annotations

from engine.ptx.control_flow import predecessors
from engine.ptx.virtual import Block, VirtualInst


def live_sets(blocks: list[Block], size: int) -> tuple[list[int], list[int]]:
    """Give (live in, live out) of each block as bit sets of variables."""
    bit = [1 << index for index in range(size)]
    gen, keep = [0] * len(blocks), [0] * len(blocks)
    everything = (1 << size) - 1
    for index, block in enumerate(blocks):
        used = killed = 0
        for inst in reversed(block.insts):
            if inst.kills:
                for var in inst.writes():
                    used &= ~bit[var]
                    killed |= bit[var]
            for var in inst.reads():
                used |= bit[var]
        gen[index], keep[index] = used, everything ^ killed
    return _solve(blocks, gen, keep)


def _solve(blocks: list[Block], gen: list[int], keep: list[int]) -> tuple[list[int], list[int]]:
    live_in, live_out = list(gen), [0] * len(blocks)
    before = predecessors([block.successors for block in blocks])
    work = list(range(len(blocks)))
    queued = [True] * len(blocks)
    while work:
        index = work.pop()
        queued[index] = False
        out = 0
        for target in blocks[index].successors:
            out |= live_in[target]
        live_out[index] = out
        now = gen[index] | (out & keep[index])
        if now != live_in[index]:
            live_in[index] = now
            for pred in before[index]:
                if not queued[pred]:
                    queued[pred] = True
                    work.append(pred)
    return live_in, live_out


def step_back(inst: VirtualInst, live: int) -> int:
    """Give what is live before `inst` from what is live after it."""
    if inst.kills:
        for var in inst.writes():
            live &= ~(1 << var)
    for var in inst.reads():
        live |= 1 << var
    return live


def reached_sets(blocks: list[Block], suspects: int) -> list[int]:
    """Give, at each block's start, which of `suspects` (variables read without a sure definition) may be defined."""
    made = [0] * len(blocks)
    for index, block in enumerate(blocks):
        for inst in block.insts:
            for var in inst.writes():
                made[index] |= (1 << var) & suspects
    start = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index, block in enumerate(blocks):
            out = start[index] | made[index]
            for target in block.successors:
                if out & ~start[target]:
                    start[target] |= out
                    changed = True
    return start
