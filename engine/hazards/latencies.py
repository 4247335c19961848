"""How many cycles must lie between the issue of a producer of fixed latency and that of its consumer.

Mined: the least distances in ptxas's own code of the bundled kernels, over all paths; they agree with the tables that NVIDIA
gave to Mesa's NAK (RULES.md, B11.8). Where ptxas's code has no such pair, the bound of the nearest pair that it has.
"""

from __future__ import annotations

from rfview.engine.hazards.effects import EARLY_VOTE, FIRST_ACCESS, PREDICATE, TEXTURE_PIPE, UNIFORM, Effects
from rfview.engine.machine.cores.subcore.state import CLASSES

FMA = ("fma", "imad", "wide", "wide.late")
TENSOR = ("tensor", "tensor_half", "tensor_small")
# per producer: of consumers alu, fma, memory, other variable, branch, double; Turing (sm_75) and later
_BOUNDS = {
    "alu": ((4, 5, 6, 6, 6, 6), (4, 5, 5, 4, 4, 6)),
    "fma": ((5, 4, 8, 6, 6, 6), (5, 4, 5, 4, 4, 6)),
    "either": ((4, 4, 6, 6, 6, 6), (4, 4, 5, 4, 4, 6)),
    "half": ((8, 8, 8, 8, 8, 8), (5, 5, 5, 4, 5, 6)),
    "half.mma": ((10, 10, 7, 7, 6, 10), (10, 10, 7, 7, 6, 10)),
    "double": ((10, 10, 7, 6, 6, 8), (10, 10, 7, 6, 6, 8)),
    "tensor": ((24, 24, 24, 24, 24, 24), (24, 24, 23, 23, 24, 24)),
    "tensor_half": ((14, 14, 14, 14, 14, 14), (16, 16, 15, 15, 16, 16)),
    "tensor_small": ((10, 10, 10, 10, 10, 10), (13, 13, 12, 13, 13, 13)),
    "none": ((6, 6, 6, 6, 6, 6), (6, 6, 5, 6, 6, 6)),
}
ALU, FP, MEMORY, VARIABLE, BRANCH, DOUBLE = range(6)
OF_BLACKWELL = {("half", BRANCH): 4, ("none", FP): 5}      # where it needs fewer
UNIFORM_CYCLES, UNIFORM_PREDICATE_CYCLES, UNIFORM_GUARD_CYCLES = 2, 4, 5
MOVED_CYCLES = 13       # until a uniform instruction can read what R2UR of sm_90 moved (of two pairs in other code)
# of R2UR's predicates, in the loops over the handles of textures: until a result can be read other than as a guard, and from
# PLOP3 until .OR reads one
MOVED_PREDICATE_CYCLES, MOVED_OPERAND_CYCLES = 8, 2
TEXTURE_EARLY = {"half.mma": 1}     # the texture unit reads registers sooner behind these than the rest of variable latency
WIDE_CYCLES = 2         # between the words of IMAD.WIDE, and of its addend
HALF_CYCLES = (6, 4)    # between halves; Turing and later
HALF_TENSOR_CYCLES = 6  # between halves by the tensor unit (of sm_80, in code of other programs)
TENSOR_OPERAND = (6, 7)     # from an instruction of fixed latency to one for tensor cores
# a predicate as an operand: of FMA a cycle later, but for FMA's own; as a guard or a branch's condition
PREDICATE_CYCLES, GUARD_CYCLES, GUARD_CYCLES_TURING, DOUBLE_PREDICATE, DOUBLE_GUARD = 4, 13, 12, 6, 14


def needed(producer: Effects, register: int, consumer: Effects, role: str, sm: int) -> int:
    """Return the cycles from issue to issue after which a consumer reads a producer's result of fixed latency."""
    if register >= PREDICATE:
        return _of_predicate(producer, consumer, role, sm)
    if producer.kind == "uniform.moved":
        return MOVED_CYCLES
    if producer.kind == "uniform" or register >= UNIFORM:
        return UNIFORM_CYCLES
    if producer.kind == consumer.kind == "half":
        return HALF_CYCLES[sm > 75]
    if producer.kind == consumer.kind == "half.mma":
        return HALF_TENSOR_CYCLES
    kind = "alu" if producer.kind == "branch" else "fma" if producer.kind in FMA else producer.kind
    bounds = _BOUNDS[kind][sm > 75]
    if sm >= 100 and (kind, _column(consumer, role)) in OF_BLACKWELL:
        return OF_BLACKWELL[kind, _column(consumer, role)]
    if consumer.kind in TENSOR and producer.kind not in TENSOR:
        return max(TENSOR_OPERAND[sm > 75], bounds[FP])
    early = WIDE_CYCLES * (role == "late" or producer.kind == "wide.late" and register + 1 in producer.writes)
    early += TEXTURE_EARLY.get(kind, 0) * (consumer.pipe == TEXTURE_PIPE)
    return (min(bounds[:2]) if consumer.kind == "either" else bounds[_column(consumer, role)]) - early


def _column(consumer: Effects, role: str) -> int:
    if consumer.kind == "double":
        return DOUBLE
    if consumer.is_control:
        return BRANCH
    if consumer.is_variable:
        leaves_late = CLASSES.index(consumer.kind) >= FIRST_ACCESS and (role != "operand" or consumer.kind == "shuffle")
        return MEMORY if leaves_late else VARIABLE
    return FP if consumer.kind in (*FMA, "half", "half.mma", *TENSOR) else ALU


def _of_predicate(producer: Effects, consumer: Effects, role: str, sm: int) -> int:
    is_condition = role == "guard" or consumer.is_control
    if producer.kind == "uniform.vote" and consumer.kind == "uniform" and not is_condition:
        return EARLY_VOTE[sm]
    if producer.kind in ("uniform", "uniform.vote"):
        return UNIFORM_GUARD_CYCLES if is_condition else UNIFORM_PREDICATE_CYCLES
    if producer.kind == "double":
        return DOUBLE_GUARD if is_condition else DOUBLE_PREDICATE
    if producer.kind == "uniform.moved" and not is_condition:
        return MOVED_PREDICATE_CYCLES
    if consumer.kind == "uniform.moved" and not is_condition:
        return MOVED_OPERAND_CYCLES
    if is_condition:
        return GUARD_CYCLES if sm > 75 else GUARD_CYCLES_TURING
    return PREDICATE_CYCLES + (consumer.kind in FMA and producer.kind not in FMA)


def result_cycles(effects: Effects, register: int, sm: int) -> int:
    """Return the cycles after which the next instruction of the same kind can read a result: its place in write order."""
    if effects.kind == "uniform.moved":
        return MOVED_PREDICATE_CYCLES if register >= PREDICATE else MOVED_CYCLES - 1
    if effects.kind in ("uniform", "uniform.vote", "branch") or UNIFORM <= register < PREDICATE:
        return 1
    bounds = _BOUNDS["fma" if effects.kind in FMA else effects.kind][sm > 75]
    if effects.kind in (*TENSOR, "none"):
        return bounds[ALU] - 1          # mined: their results may be overwritten by ones that come in the same cycle
    return bounds[DOUBLE] if effects.kind == "double" else min(bounds[:2])
