"""Live ranges of the virtual variables for the views: (name, first pc, last pc, register, words)."""

from __future__ import annotations

from rfview.engine.ptx.optimise.bitsets import bits_of, members
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.virtual import VirtualProgram

Range = tuple[str, int, int, int, int]
Piece = tuple[int, int, bool]  # first pc, last pc, begins with a definition


def live_ranges(program: VirtualProgram, registers: list[int]) -> tuple[Range, ...]:
    """List the live ranges of the data variables by first pc; a range with holes becomes several entries.

    A range begins at the pc that defines the value (or at a block's start) and ends at its last reader.
    """
    variables = program.variables
    live_in, live_out = live_sets(program.blocks, len(variables.names))
    pieces: dict[int, list[Piece]] = {}
    through = 0  # variables live through every block since `begins`
    begins: dict[int, int] = {}
    start = 0
    for block, before, after in zip(program.blocks, live_in, live_out, strict=True):
        last = start + len(block.insts) - 1
        written = bits_of({var for inst in block.insts for var in inst.writes()}, len(variables.names))
        passing = before & after & ~written
        staying = passing & through
        for var in members(through & ~staying):
            pieces[var].append((begins[var], start - 1, False))
        ends = {var: last for var in members(after & ~staying)}
        for pc in range(last, start - 1, -1):
            inst = block.insts[pc - start]
            for var in inst.writes():
                if inst.kills or var not in ends:  # a guarded definition continues the previous value's range
                    pieces.setdefault(var, []).append((pc, ends.pop(var, pc), True))
            for var in inst.reads():
                ends.setdefault(var, pc)
        for var in members(before & ~staying):
            own = pieces.setdefault(var, [])
            if passing >> var & 1:
                begins[var] = start
            else:
                own.append((start, ends.get(var, start), False))
        through = passing
        start += len(block.insts)
    for var in members(through):
        pieces[var].append((begins[var], start - 1, False))
    ranges: list[Range] = []
    for var, spans in pieces.items():
        if variables.words[var] and registers[var] >= 0:
            for first, end in merged(spans):
                ranges.append((variables.names[var], first, end, registers[var], variables.words[var]))
    return tuple(sorted(ranges, key=lambda item: (item[1], item[3])))


def merged(pieces: list[Piece]) -> list[tuple[int, int]]:
    """Join pieces that overlap, and adjacent ones whose value carries over from one block into the next."""
    parts: list[tuple[int, int]] = []
    for first, end, is_new in sorted(pieces):
        if parts and (first <= parts[-1][1] or first == parts[-1][1] + 1 and not is_new):
            parts[-1] = (parts[-1][0], max(parts[-1][1], end))
        elif first <= end:
            parts.append((first, end))
    return parts
