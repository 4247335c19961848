"""Spilling of predicates: those without a predicate register live as 0 or 1 in a data register each.

Such a predicate is restored by a comparison with 0 before each use and saved by a selection of 1 or 0 after each write;
the data register may itself be spilled to local memory afterwards. GPU compilers pack several into one register.
"""

from __future__ import annotations

from rfview.engine.ptx.allocate.colouring import colour_predicates
from rfview.engine.ptx.allocate.interference import Interference, interference
from rfview.engine.ptx.allocate.pressure import choose
from rfview.engine.ptx.inserted import hold_predicate, plain, test_held
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram

_ROUNDS = 8


def fit_predicates(program: VirtualProgram, graph: Interference, limit: int) -> Interference:
    """Move predicates to data registers until `limit` predicate registers suffice; return the new interference graph."""
    temporaries: set[int] = set()
    for number in range(_ROUNDS):
        words = program.variables.words
        if colour_predicates(graph, words).count <= limit:
            break
        # one fewer than there are, since spilling data may copy a guard; even fewer in late rounds: orders are not optimal
        chosen = choose(program, graph, limit - 1 - number, temporaries, [int(not count) for count in words])
        hold(program, chosen, temporaries)
        graph = interference(program)
    return graph


def hold(program: VirtualProgram, chosen: set[int], temporaries: set[int]) -> None:
    """Rewrite the program with the predicates `chosen` in data registers; adds the short-lived ones to `temporaries`."""
    variables = program.variables
    homes = {var: variables.new(variables.names[var], 32) for var in sorted(chosen)}

    def new(var: int) -> int:
        temporaries.add(made := variables.new(variables.names[var], 1))
        return made

    for block in program.blocks:
        result: list[VirtualInst] = []
        for inst in block.insts:
            read = {var: new(var) for var in sorted({inst.guard, *inst.psrc} & chosen)}
            written = {var: new(var) for var in sorted({*inst.pdst} & chosen)}
            result += [test_held(inst.line, homes[var], made) for var, made in read.items()]
            inst.guard = read.get(inst.guard, inst.guard)
            inst.psrc = [read.get(var, var) for var in inst.psrc]
            # only the save below reads a temporary, and under the same guard
            inst.kills_when_guarded |= not inst.dst and {*inst.pdst} == {*written} != set()
            inst.pdst = [written.get(var, var) for var in inst.pdst]
            if written and inst.guard in inst.pdst:
                copy = plain("mov", ("pred",), inst.line)
                copy.psrc, copy.psrc_negate, copy.pdst = [inst.guard], [False], [new(inst.guard)]
                inst.guard = copy.pdst[0]
                result.append(copy)
            result.append(inst)
            guard, negate = inst.guard, inst.guard_negate
            result += [hold_predicate(inst.line, made, homes[var]).set_guard(guard, negate) for var, made in written.items()]
        block.insts = result


