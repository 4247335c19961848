"""Finds the registers that a kernel may read before it writes them, and what each instruction does with them.

These are registers of the PTX (variables): the machine's own would not do, since variables that are never live at the same
time share one. Each instruction has a list of steps (layout.py), usually an empty one: only variables that some path reads
without a definition are tracked, lane by lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine import isa
from rfview.engine.check.layout import (DATA_ROWS, MAX_FOLLOWED, NO_STEP, STEP, STEP_CHECK, STEP_CHECK_GUARD, STEP_COPY,
                                        STEP_LOAD, STEP_NEVER, STEP_SET, STEP_SET_ALL, STEP_STORE, STEP_STORE_NEVER)
from rfview.engine.compilation import Compilation
from rfview.engine.errors import InputError
from rfview.engine.program import SPACE_GENERIC, Kernel, Module
from rfview.engine.ptx.decode import Decoded
from rfview.engine.ptx.lower.kernel import COPY_SPACES, PASS_ON
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram

Step = tuple[int, int, int]
COMPARISONS = frozenset(number for name, number in vars(isa).items() if name.startswith("OP_SETP_"))


@dataclass(frozen=True)
class Followed:
    """The names of a kernel's tracked variables, by number, and the steps of each of its instructions."""

    names: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]


def followed(kernel: Kernel, module: Module, how: Compilation) -> Followed:
    """Return what to track in a kernel. Raises InputError if it is another program than `how` gives."""
    kernels: Any = module.kernels       # of a module of PTX
    decoded = kernels.decoded(kernel.name, how)
    same = (np.array_equal(decoded.kernel.insts[name], kernel.insts[name]) for name in ("op", "line", "src", "dst"))
    if not all(same):
        raise InputError(f"check: kernel {kernel.name} was decoded with other options than the run has")
    return follow(decoded)


def follow(decoded: Decoded) -> Followed:
    """Return what to track in a decoded kernel."""
    program = decoded.program
    numbers = {var: number for number, var in enumerate(suspects(program)[:MAX_FOLLOWED])}
    combined = combined_only(program)
    names = [program.variables.names[var] for var in numbers]
    steps: list[list[Step]] = []
    late: list[Step] = []       # steps of moves that were optimised away: they belong to the next instruction
    for block, before in zip(program.blocks, decoded.before, strict=True):
        remaining = {id(inst) for inst in block.insts}
        for inst in before:
            if id(inst) not in remaining:
                late += [(STEP_SET_ALL if step[0] == STEP_SET else step[0], *step[1:])
                         for step in steps_of(inst, numbers, combined)]
                continue
            steps.append([*late, *steps_of(inst, numbers, combined)])
            late = []
    lines: dict[tuple[int, bool], int] = {}
    for pc, inst in enumerate(inst for block in program.blocks for inst in block.insts):
        lines.setdefault((inst.line, False), pc)
        lines.setdefault((inst.line, inst.op == isa.OP_ST), pc)
    for line, name, is_guard, row in dict.fromkeys(program.unset):
        is_copy = row >= 0
        if (line, is_copy) in lines:
            if name not in names:
                names.append(name)
            step = (STEP_STORE_NEVER, names.index(name), row) if is_copy else (STEP_NEVER, names.index(name), int(is_guard))
            steps[lines[line, is_copy]].append(step)
    return Followed(tuple(names), tuple(map(tuple, steps)))


def suspects(program: VirtualProgram) -> list[int]:
    """Return the variables that some path reads before it writes them, and those that may hold copies of these."""
    if not program.blocks:
        return []
    variables = dict.fromkeys(members(live_sets(program.blocks, len(program.variables.names))[0][0]))
    insts = [inst for block in program.blocks for inst in block.insts]
    unset = {line for line, *_, row in program.unset if row >= 0}
    holding = {inst.space for inst in insts if inst.op == isa.OP_ST and inst.line in unset}
    grown = bool(variables or holding)
    while grown:
        before = len(variables) + len(holding)
        for inst in insts:
            if passes_on(inst) and not inst.imm_mask and all(var in variables for var in sources(inst)):
                variables.update(dict.fromkeys(inst.writes()))
            elif any(var in variables for var, _ in stored(inst)):
                holding.add(inst.space)
            elif is_load(inst) and (inst.space in holding or SPACE_GENERIC in holding or
                                    (inst.space == SPACE_GENERIC and holding)):
                variables.update(dict.fromkeys(inst.writes()))
        grown = len(variables) + len(holding) > before
    return list(variables)


def passes_on(inst: VirtualInst) -> bool:
    """Say whether an instruction only passes on the values that it reads."""
    return inst.op in PASS_ON or (inst.op == isa.OP_PRED and inst.aux == isa.PRED_MOV)


def sources(inst: VirtualInst) -> list[int]:
    """Return the variables whose values an instruction passes on to its result."""
    data = [row >> 1 for row in inst.src if row >= 0]
    return list(dict.fromkeys(data if inst.op != isa.OP_PRED else [var for var in inst.psrc if var >= 0]))


def stored(inst: VirtualInst) -> list[tuple[int, int]]:
    """Return (variable, row of data) for what an instruction copies to shared or local memory.

    At a generic address only the access shows whether it is that.
    """
    if inst.op != isa.OP_ST or inst.space not in COPY_SPACES:
        return []
    return [(row >> 1, place) for place, row in enumerate(inst.src[2:]) if row >= 0]


def is_load(inst: VirtualInst) -> bool:
    """Say whether an instruction loads what may be a copy in shared or local memory."""
    return inst.op == isa.OP_LD and inst.space in COPY_SPACES


def shuffled(inst: VirtualInst) -> list[int]:
    """Return the variable that a shuffle exchanges: often only one lane's value is used, so reading it is no use."""
    return [inst.src[0] >> 1] if inst.op == isa.OP_SHFL and inst.src[0] >= 0 else []


def combined_only(program: VirtualProgram) -> set[int]:
    """Return the predicates that are read only by `and` and `or`.

    Of `if (i < n && x[i] > 0)` compilers evaluate both sides, the second one even in lanes in which the first kept x[i]
    from being loaded; only the result matters. A comparison for such a predicate is no use of the compared values.
    """
    combined: set[int] = set()
    others: set[int] = set()
    for block in program.blocks:
        for inst in block.insts:
            is_combining = inst.op == isa.OP_PRED and inst.aux in (isa.PRED_AND, isa.PRED_OR)
            (combined if is_combining else others).update(var for var in inst.psrc if var >= 0)
            if inst.guard >= 0:
                others.add(inst.guard)
    return combined - others


def steps_of(inst: VirtualInst, numbers: dict[int, int], combined: set[int]) -> list[Step]:
    """Return the steps of an instruction for the tracked variables: reads first, then writes."""
    if not numbers:
        return []
    steps: list[Step] = []
    if inst.guard in numbers:
        steps.append((STEP_CHECK_GUARD, numbers[inst.guard], 0))
    passed = sources(inst) if passes_on(inst) else []
    copied = stored(inst)
    data = {var for var, _ in copied} - {row >> 1 for row in inst.src[:2]}
    is_combined = inst.op in COMPARISONS and all(var < 0 or var in combined for var in inst.pdst)
    compared = [row >> 1 for row in inst.src if row >= 0] if is_combined else []
    unused = [*passed, *data, *shuffled(inst), *compared]
    read = [var for var in dict.fromkeys(inst.reads()) if var in numbers and var != inst.guard and var not in unused]
    steps += [(STEP_CHECK, numbers[var], 0) for var in read]
    steps += [(STEP_STORE, numbers[var], row) for var, row in copied if var in numbers]
    is_copy = bool(passed) and not inst.imm_mask and all(var in numbers for var in passed)
    for var in dict.fromkeys(inst.writes()):
        if var in numbers:
            steps.append((STEP_COPY, numbers[var], numbers[passed[0]]) if is_copy else (STEP_SET, numbers[var], 0))
    if is_load(inst):
        steps += [(STEP_LOAD, numbers[row >> 1], place) for place, row in enumerate(inst.dst[:DATA_ROWS])
                  if row >> 1 in numbers]
    return steps


def packed(kernels: list[Followed]) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) u4 indices, by instruction, into the second, (m,) STEP: lists of steps, each ending in NO_STEP."""
    firsts, packed_steps = [], [(NO_STEP, 0, 0)]       # the first list is the empty one
    for kernel in kernels:
        for steps in kernel.steps:
            firsts.append(len(packed_steps) if steps else 0)
            if steps:
                packed_steps += [*steps, (NO_STEP, 0, 0)]
    return np.array(firsts, np.uint32), np.array(packed_steps, STEP)
