"""What an instruction of machine code reads and writes, and what its control code says.

Registers are numbers: R0.. from 0, UR0.. from UNIFORM, P0.. and UP0.. from PREDICATE on. The role of a read says who takes
it: "guard", "predicate", "uniform", "address" and "data" (of accesses), "late" (the upper word that IMAD.WIDE adds), else
"operand".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rfview.engine import isa
from rfview.engine.machine.cores.subcore.classes import NO_BARRIER, base_opcode, class_of
from rfview.engine.machine.cores.subcore.issue import STALL_OF_ZERO
from rfview.engine.machine.cores.subcore.state import CLASSES, NUM_OPERANDS
from rfview.engine.machine_code import UNIFORM_PREDICATES
from rfview.engine.program import MEM_NONE, NO_PRED, NO_REG, Kernel

UNIFORM, PREDICATE = 256, 512
FIRST_ACCESS, FIRST_VARIABLE = CLASSES.index("load_global"), CLASSES.index("xu")
NUM_PREDICATES = 7
OTHERS = {"VOTEU": "uniform", "VIADD": "either"}    # either: done by the units of ALU or of FMA
# architectures whose FP64 instructions have dependence counters (mined from ptxas's code); others give them a latency
COUNTED_DOUBLE = frozenset({75, 80, 86, 87, 89, 103, 110, 120, 121})
# .. and of them, those with units of their own for it, which read their operands on time
OWN_DOUBLE = frozenset({80})
# .. and those in which one without a counter has ended after FAR cycles (mined: chains of DFMA with NOPs between)
TIMED_DOUBLE = frozenset({103, 110, 120, 121})
# .. in which the two words of IMAD.WIDE, and of the addend of it and IMAD.HI, are two cycles apart (mined)
LATE_WIDE = frozenset({90, 100, 103, 110, 120, 121})
EARLY_VOTE = {75: 2, 90: 1}     # cycles until uniform instructions can read a vote's predicate, where they are fewer (mined)

TEXTURE_PIPE = len(CLASSES)
TEXTURE_UNIT = (isa.OP_TEX, isa.OP_SULD, isa.OP_SUST)       # their registers are read when they leave the queue (B11.5)

Guard = tuple[int, int]     # predicate, whether it is negated


@dataclass(frozen=True)
class Effects:
    """One instruction. reads: (register, role). reuse: (operand, register, whether its reuse bit is set) per row slot.

    queue: instructions of one queue read their operands in order; pipe: those of one pipe finish in order; -1 = of fixed
    latency. write, read: bits of the counters that say that its results are written and its operands read. wait: counters
    that it waits for to be 0, DEPBAR before the next instruction (holds_next). at_most: the counter, as a bit, that DEPBAR
    waits for to be as low as a number. gap: cycles to the next instruction.
    """

    reads: tuple[tuple[int, str], ...]
    writes: tuple[int, ...]
    guard: Guard | None
    kind: str
    queue: int
    pipe: int
    write: int
    read: int
    wait: int
    at_most: tuple[int, int]
    holds_next: bool
    gap: int
    reuse: tuple[tuple[int, int, bool], ...]
    is_barrier: bool
    is_control: bool

    @property
    def is_variable(self) -> bool:
        """Return whether counters, not stall counts, cover its results."""
        return self.queue >= 0


def effects_of(kernel: Kernel, sm: int) -> list[Effects]:
    """Return the effects of each instruction of a kernel; sm: 80 for sm_80."""
    return [_effects(inst, text, sm) for inst, text in zip(kernel.insts, kernel.texts, strict=True)]


def places_of(inst: Any) -> list[int]:
    """Return at which place of the encoding each operand is: that of its reuse bit, and in the reuse cache."""
    return [(operand + int(moved)) % NUM_OPERANDS for operand, moved in enumerate(inst["moved"])]


def gap_of(control: int) -> int:
    """Return the least number of cycles from an instruction's issue to that of the next one of its warp."""
    stall = control & 15
    if stall == 0:
        return STALL_OF_ZERO
    return stall if stall > 1 or control >> 4 & 1 else 2


def _effects(inst: Any, text: str, sm: int) -> Effects:
    control = int(inst["control"])
    kind = kind_of(text, control, sm)
    number = CLASSES.index(kind.partition(".")[0]) if kind != "either" else 0
    pipe = CLASSES.index("load_shared") if kind == "shuffle" else number        # of shared memory
    if int(inst["op"]) in TEXTURE_UNIT:
        pipe = TEXTURE_PIPE
    is_variable = number >= FIRST_VARIABLE or kind == "double" and sm in COUNTED_DOUBLE
    write, read = (0 if counter == NO_BARRIER else 1 << counter for counter in (control >> 5 & 7, control >> 8 & 7))
    guard = guard_of(inst)
    wait, at_most = control >> 11 & 63, (0, 0)
    if base_opcode(text) == "DEPBAR" and int(inst["aux"]):
        counter, most, listed = int(inst["aux"]) & 255, int(inst["aux"]) >> 8 & 255, int(inst["aux"]) >> 16
        wait |= listed
        at_most = 1 << counter - 1, most
    places = places_of(inst)
    reuse = () if is_variable else tuple(
        (places[slot // 2], int(inst["src"][slot]), bool(control >> 17 + places[slot // 2] & 1))
        for slot in range(2 * NUM_OPERANDS) if inst["src_mask"] >> slot & 1)
    reads = reads_of(inst, guard)
    if kind == "wide.late":
        reads = [(register, "late" if role == "operand" and register == int(inst["src"][5]) else role)
                 for register, role in reads]
    return Effects(tuple(reads), tuple(writes_of(inst)), guard, kind,
                   -1 if not is_variable else number if kind == "double" else FIRST_VARIABLE, pipe if is_variable else -1,
                   write, read, wait, at_most, base_opcode(text) == "DEPBAR", gap_of(control), reuse,
                   int(inst["op"]) == isa.OP_BAR, number == CLASSES.index("branch"))


def kind_of(text: str, control: int, sm: int) -> str:
    """Return an instruction's class, or a kind of it that takes longer or less: "half.mma" (by the tensor unit), "either",
    "wide.late", "uniform.moved" (R2UR without a counter), "uniform.vote" (whose predicate is there sooner).
    """
    if "HFMA2.MMA" in text:
        return "half.mma"
    opcode = base_opcode(text)
    if sm in LATE_WIDE and CLASSES[class_of(text, control)] == "wide":
        return "wide.late"
    if opcode in OTHERS:
        return f"{OTHERS[opcode]}.vote" if opcode == "VOTEU" and sm in EARLY_VOTE else OTHERS[opcode]
    name = CLASSES[class_of(text, control)]
    return "uniform.moved" if opcode == "R2UR" and name == "uniform" else name


def guard_of(inst: Any) -> Guard | None:
    """Return an instruction's guard, None if it has none."""
    return None if int(inst["guard"]) == NO_PRED else (PREDICATE + int(inst["guard"]), int(inst["guard_negate"]))


def reads_of(inst: Any, guard: Guard | None) -> list[tuple[int, str]]:
    """Return (register, role) of everything that an instruction reads."""
    is_access = int(inst["memory_kind"]) != MEM_NONE and int(inst["op"]) not in TEXTURE_UNIT and not is_on_object(inst)
    reads = [] if guard is None else [(guard[0], "guard")]
    for slot in range(len(inst["src"])):
        if inst["src_mask"] >> slot & 1:
            reads.append((int(inst["src"][slot]), "operand" if not is_access else "address" if slot < 2 else "data"))
        if inst["uniform_mask"] >> slot & 1:
            reads.append((UNIFORM + int(inst["imm"][slot]), "uniform"))
    reads += [(PREDICATE + int(one), "predicate") for one in inst["psrc"] if one != NO_PRED]
    if int(inst["op"]) == isa.OP_P2R:
        mask = int(inst["imm"][0]) if inst["imm_mask"] & 1 else (1 << NUM_PREDICATES) - 1
        reads += [(number, "predicate") for number in _packed(mask, int(inst["aux"]) & isa.P2R_UNIFORM)]
    return reads


def is_on_object(inst: Any) -> bool:
    """Return whether an instruction is SYNCS, whose registers ALU may write four cycles before (mined)."""
    return int(inst["op"]) in (isa.OP_ATOM, isa.OP_RED) and int(inst["aux"]) & 255 in (isa.ATOM_SYNC, isa.ATOM_PHASE)


def writes_of(inst: Any) -> list[int]:
    """Return the registers that an instruction writes."""
    first = UNIFORM if inst["dst_uniform"] else 0
    writes = [first + int(reg) for reg in inst["dst"][: int(inst["num_dst"])] if reg != NO_REG]
    writes += [PREDICATE + int(one) for one in inst["pdst"] if one != NO_PRED]
    if int(inst["op"]) == isa.OP_R2P:
        writes += _packed(int(inst["aux"]), int(inst["aux"]) & isa.R2P_UNIFORM)
    return writes


def _packed(mask: int, is_uniform: int) -> list[int]:
    """Return the predicates of a mask."""
    first = PREDICATE + (UNIFORM_PREDICATES if is_uniform else 0)
    return [first + number for number in range(NUM_PREDICATES) if mask >> number & 1]


def name_of(register: int) -> str:
    """Return a register's name."""
    if register >= PREDICATE:
        number = register - PREDICATE
        return f"UP{number - UNIFORM_PREDICATES}" if number >= UNIFORM_PREDICATES else f"P{number}"
    return f"UR{register - UNIFORM}" if register >= UNIFORM else f"R{register}"
