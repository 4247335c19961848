"""Spilling: variables without a register live in local memory, loaded before each use, stored after each write.

A row is 2 * variable + word, as everywhere before register allocation (virtual.py).
"""

from __future__ import annotations

from rfview.engine import isa
from rfview.engine.errors import PtxError
from rfview.engine.program import MEM_LOAD, MEM_STORE, SPACE_LOCAL, UNIT_LDST, WAIT_FIXED, WAIT_LONG
from rfview.engine.ptx.allocate.colouring import Colouring, colour
from rfview.engine.ptx.allocate.interference import Interference, interference
from rfview.engine.ptx.allocate.pressure import choose, choose_uncoloured
from rfview.engine.ptx.optimise.cleanup import definition_counts, is_sinkable
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram, align_up

MAX_ROUNDS = 40


class TooFewRegisters(PtxError):
    """Even with everything spilled, one instruction needs more registers than there are."""


def allocate_data(program: VirtualProgram, graph: Interference, limit: int) -> tuple[Interference, Colouring]:
    """Colour the data registers within `limit`, spilling to local memory as needed. Raises TooFewRegisters.

    graph: the program's interference graph. Returns the graph after spilling, and the colouring.
    """
    temporaries: set[int] = set()
    colouring = colour(graph, program.variables.words)
    rounds = 0
    while colouring.count > limit:
        rounds += 1
        # late rounds aim for lower pressure, since pairs and long vectors waste single registers
        chosen = choose(program, graph, limit - rounds // 4, temporaries, program.variables.words)
        if not chosen:
            chosen = choose_uncoloured(program, graph, colouring, limit, temporaries)
        if not chosen or rounds > MAX_ROUNDS:
            raise TooFewRegisters(f"needs more than {limit} registers for a single instruction; raise max_registers "
                                  "or registers")
        spill(program, chosen, temporaries)
        graph = interference(program)
        colouring = colour(graph, program.variables.words)
    return graph, colouring


def spill(program: VirtualProgram, chosen: set[int], temporaries: set[int]) -> None:
    """Rewrite the program with `chosen` in local memory, or rematerialised before each use if one instruction suffices."""
    variables = program.variables
    remade = _remade(program, chosen)
    homes: dict[int, int] = {}
    for var in sorted(chosen - set(remade)):
        size = 4 * variables.words[var]
        homes[var] = align_up(program.local_bytes, size)
        program.local_bytes = homes[var] + size
        program.spilled_words += variables.words[var]
    for block in program.blocks:
        result: list[VirtualInst] = []
        for inst in block.insts:
            if inst.dst and inst.dst[0] >> 1 in remade and len({row >> 1 for row in inst.dst}) == 1:
                continue
            before, after = _around(program, inst, homes, remade, temporaries)
            result += [*before, inst, *after]
        block.insts = result


def _remade(program: VirtualProgram, chosen: set[int]) -> dict[int, VirtualInst]:
    """Return the chosen variables whose only definition is a constant, a parameter or an unchanging special register."""
    counts, words = definition_counts(program.blocks), program.variables.words
    return {
        inst.dst[0] >> 1: inst
        for block in program.blocks for inst in block.insts
        if inst.dst and inst.dst[0] >> 1 in chosen
        and is_sinkable(inst, counts) and len(inst.dst) <= words[inst.dst[0] >> 1]
    }


def _around(program: VirtualProgram, inst: VirtualInst, homes: dict[int, int], remade: dict[int, VirtualInst],
            temporaries: set[int]) -> tuple[list[VirtualInst], list[VirtualInst]]:
    """Replace spilled operands by temporaries; return the loads before and the stores after the instruction."""
    variables = program.variables
    before: list[VirtualInst] = []
    after: list[VirtualInst] = []
    temps: dict[int, int] = {}
    stored: set[int] = set()

    def temp(var: int) -> int:
        if var not in temps:
            temps[var] = variables.new(variables.names[var], variables.bits[var])
            temporaries.add(temps[var])
        return temps[var]

    for slot, row in enumerate(inst.src):
        var = row >> 1
        if row >= 0 and (var in homes or var in remade):
            if var not in temps:
                before.append(_reload(inst, var, temp(var), homes, remade, variables.words[var]))
            inst.src[slot] = 2 * temp(var) + (row & 1)
    for place, row in enumerate(inst.dst):
        var = row >> 1
        if row >= 0 and var in homes:
            if var not in stored:
                stored.add(var)
                after.append(_store(inst, homes[var], temp(var), variables.words[var]))
            inst.dst[place] = 2 * temp(var) + (row & 1)
    if inst.guard >= 0 and after:
        _keep_guard(program, inst, before, after)
    return before, after


def _keep_guard(program: VirtualProgram, inst: VirtualInst, before: list[VirtualInst],
                after: list[VirtualInst]) -> None:
    """Guard the stores as the instruction is guarded; if it overwrites its guard, by a copy made before it."""
    guard = inst.guard
    if guard in inst.pdst:
        copy = program.variables.new(program.variables.names[guard], 1)
        move = VirtualInst(isa.OP_PRED, "mov.pred", inst.line)
        move.aux, move.wait_class = isa.PRED_MOV, WAIT_FIXED
        move.psrc, move.psrc_negate, move.pdst = [guard], [False], [copy]
        before.append(move)
        guard = copy
    stored = {row for store in after for row in store.src}
    inst.kills_when_guarded = all(row in stored and row not in inst.src for row in inst.dst) and not inst.pdst
    for store in after:
        store.set_guard(guard, inst.guard_negate)


def _local(inst: VirtualInst, op: int, home: int, words: int, kind: int) -> VirtualInst:
    name = "st.local" if kind == MEM_STORE else "ld.local"
    made = VirtualInst(op, f"{name}.b{32 * words}", inst.line)
    made.unit, made.form, made.memory_kind = UNIT_LDST, "memory", kind
    made.space, made.wait_class = SPACE_LOCAL, WAIT_LONG
    made.width, made.count, made.reg_bits = 4 * words, 1, 32 * words
    made.is_removable = False
    made.set_imm(0, home)
    made.set_imm(1, 0)
    return made


def _reload(inst: VirtualInst, var: int, temp: int, homes: dict[int, int], remade: dict[int, VirtualInst],
            words: int) -> VirtualInst:
    rows = [2 * temp + word for word in range(words)]
    if var in remade:
        made = remade[var].copy()
        made.line = inst.line
        made.dst = rows
        return made
    made = _local(inst, isa.OP_LD, homes[var], words, MEM_LOAD)
    made.dst = rows
    return made


def _store(inst: VirtualInst, home: int, temp: int, words: int) -> VirtualInst:
    made = _local(inst, isa.OP_ST, home, words, MEM_STORE)
    for word in range(words):
        made.set_row(2 + word, 2 * temp + word)
    return made
