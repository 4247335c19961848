"""Liveness of virtual variables: bit sets as Python integers, per block and inside a block.

Guarded definitions do not kill (rule B0.3). Liveness is that of one thread's control flow; it is right for a warp,
because reconvergence never mixes lanes.
"""

from __future__ import annotations

from rfview.engine.ptx.optimise.bitsets import bits_of
from rfview.engine.ptx.optimise.control_flow import predecessors
from rfview.engine.ptx.virtual import Block


def live_sets(blocks: list[Block], size: int) -> tuple[list[int], list[int]]:
    """Return (live in, live out) of each block as bit sets of variables."""
    gen, killed = [0] * len(blocks), [0] * len(blocks)
    for index, block in enumerate(blocks):
        used: set[int] = set()
        ended: set[int] = set()
        for inst in reversed(block.insts):
            if inst.kills:
                written = inst.writes()
                used.difference_update(written)
                ended.update(written)
            used.update(inst.reads())
        gen[index], killed[index] = bits_of(used, size), bits_of(ended, size)
    return _solve(blocks, gen, killed)


def _solve(blocks: list[Block], gen: list[int], killed: list[int]) -> tuple[list[int], list[int]]:
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
        now = gen[index] | (out & ~killed[index])
        if now != live_in[index]:
            live_in[index] = now
            for pred in before[index]:
                if not queued[pred]:
                    queued[pred] = True
                    work.append(pred)
    return live_in, live_out


def reached_sets(blocks: list[Block], suspects: int) -> list[int]:
    """Return which of `suspects` (variables that may be read undefined) may be defined at the start of each block."""
    size = suspects.bit_length()
    made = [0] * len(blocks)
    for index, block in enumerate(blocks):
        written = {var for inst in block.insts for var in inst.writes() if var < size}
        made[index] = suspects & bits_of(written, size)
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
