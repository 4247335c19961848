"""A tiny one-thread interpreter of virtual and allocated code, to check that allocation does not change results."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from rfview.engine import isa
from rfview.engine.program import NO_PRED, NO_REG, SPACE_GLOBAL, SPACE_LOCAL, Kernel
from rfview.engine.ptx.virtual import VirtualProgram

WORD = 0xFFFFFFFF
DOUBLE = (1 << 64) - 1
MAX_STEPS = 20000

BINARY32: dict[int, Callable[[int, int], int]] = {
    isa.OP_ADD32: lambda a, b: a + b, isa.OP_SUB32: lambda a, b: a - b, isa.OP_MUL_LO32: lambda a, b: a * b,
    isa.OP_AND32: lambda a, b: a & b, isa.OP_OR32: lambda a, b: a | b, isa.OP_XOR32: lambda a, b: a ^ b,
    isa.OP_SHL32: lambda a, b: a << b if b < 32 else 0,
}
BINARY64: dict[int, Callable[[int, int], int]] = {
    isa.OP_ADD64: lambda a, b: a + b, isa.OP_SUB64: lambda a, b: a - b, isa.OP_XOR64: lambda a, b: a ^ b,
    isa.OP_AND64: lambda a, b: a & b,
}


class Step:
    """One instruction in the common form of both kinds of code; registers are hashable keys."""

    def __init__(self, inst, src, dst, guard, psrc, pdst, imm, target) -> None:
        self.op, self.aux, self.flags = int(inst["op"]), int(inst["aux"]), int(inst["flags"])
        self.src, self.dst, self.guard, self.psrc, self.pdst = src, dst, guard, psrc, pdst
        self.imm, self.target = imm, target
        self.guard_negate = bool(inst["guard_negate"])
        self.psrc_negate = [bool(n) for n in inst["psrc_negate"]]
        self.space, self.width, self.count = int(inst["space"]), int(inst["width"]), int(inst["count"])
        self.offset = int(inst["offset"])
        self.reg_words = 2 if int(inst["reg_bits"]) == 64 else 1
        self.poison: set[int] = set()   # registers whose value is lost after this step


class Attributes:
    """Lets a VirtualInst be read by field name, as INST records are."""

    def __init__(self, inst) -> None:
        self.inst = inst

    def __getitem__(self, name: str):
        return getattr(self.inst, name)


def virtual_steps(program: VirtualProgram) -> list[Step]:
    starts, count = [], 0
    for block in program.blocks:
        starts.append(count)
        count += len(block.insts)
    return [
        Step(Attributes(inst), [row if row >= 0 else None for row in inst.src], list(inst.dst),
             inst.guard if inst.guard >= 0 else None, list(inst.psrc), list(inst.pdst), list(inst.imm),
             starts[inst.target] if inst.target >= 0 else None)
        for block in program.blocks for inst in block.insts
    ]


def physical_steps(kernel: Kernel) -> list[Step]:
    def some(values, nothing):
        return [int(v) for v in values if v != nothing]

    return [
        Step(inst, [None if r == NO_REG else int(r) for r in inst["src"]], some(inst["dst"], NO_REG),
             None if inst["guard"] == NO_PRED else int(inst["guard"]), some(inst["psrc"], NO_PRED),
             some(inst["pdst"], NO_PRED), [int(v) for v in inst["imm"]], int(inst["target"]))
        for inst in kernel.insts
    ]


class Thread:
    """Registers, predicates and local memory of one thread, and its stores to global memory."""

    def __init__(self, params: bytes, garbage: int) -> None:
        self.registers: dict[object, int] = {}
        self.predicates: dict[object, bool] = {}
        self.garbage = garbage
        self.params = params
        self.local = bytearray(4096)
        self.stores: list[tuple[int, int, int]] = []

    def word(self, step: Step, slot: int) -> int:
        key = step.src[slot]
        return step.imm[slot] if key is None else self.registers.get(key, self.garbage)

    def double(self, step: Step, slot: int) -> int:
        return self.word(step, slot) | self.word(step, slot + 1) << 32

    def condition(self, step: Step, place: int) -> bool:
        return self.predicates.get(step.psrc[place], bool(self.garbage & 1)) != step.psrc_negate[place]

    def write(self, step: Step, value: int) -> None:
        for place, key in enumerate(step.dst):
            self.registers[key] = value >> 32 * place & WORD


def run(steps: list[Step], params: bytes, garbage: int) -> list[tuple[int, int, int]]:
    """Run from pc 0; return the global stores as (address, bytes, value)."""
    thread, pc = Thread(params, garbage), 0
    for _ in range(MAX_STEPS):
        step = steps[pc]
        pc += 1
        if step.guard is not None and thread.predicates.get(step.guard, bool(garbage & 1)) == step.guard_negate:
            continue
        if step.op == isa.OP_EXIT:
            return thread.stores
        if step.op in (isa.OP_BRA, isa.OP_BRA_UNI):
            pc = step.target
        else:
            execute(thread, step)
        for key in step.poison:
            thread.registers[key] = 0xBADBAD
    raise AssertionError("the program does not end")


def execute(thread: Thread, step: Step) -> None:
    op = step.op
    if op in BINARY32:
        thread.write(step, BINARY32[op](thread.word(step, 0), thread.word(step, 2)) & WORD)
    elif op in BINARY64:
        thread.write(step, BINARY64[op](thread.double(step, 0), thread.double(step, 2)) & DOUBLE)
    elif op in (isa.OP_MOV32, isa.OP_ZEXT64):
        thread.write(step, thread.word(step, 0))
    elif op == isa.OP_MOV64:
        thread.write(step, thread.double(step, 0))
    elif op == isa.OP_SREG:
        thread.write(step, 5 + step.aux)
    elif op == isa.OP_SELP32:
        thread.write(step, thread.word(step, 0 if thread.condition(step, 0) else 2))
    elif op == isa.OP_SETP_U32:
        left, right = thread.word(step, 0), thread.word(step, 2)
        holds = {isa.CMP_LT: left < right, isa.CMP_GT: left > right, isa.CMP_NE: left != right}[step.aux]
        for key, value in zip(step.pdst, (holds, not holds)):
            thread.predicates[key] = value
    elif op == isa.OP_PRED:
        bits = sum(thread.condition(step, k) << k for k in range(len(step.psrc)))
        thread.predicates[step.pdst[0]] = bool(step.aux >> bits & 1)
    elif op == isa.OP_CARRY:
        carry_add(thread, step)
    elif op == isa.OP_LDPARAM:
        value = int.from_bytes(thread.params[step.offset : step.offset + step.width], "little")
        thread.write(step, value)
    elif op in (isa.OP_LD, isa.OP_ST):
        access(thread, step)
    else:
        raise AssertionError(f"the interpreter has no {isa.mnemonic(op)}")


def carry_add(thread: Thread, step: Step) -> None:
    total = thread.word(step, 0) + thread.word(step, 2)
    total += bool(step.flags & isa.FLAG_CC_IN and thread.condition(step, 0))
    if step.flags & isa.FLAG_CC_OUT:
        thread.predicates[step.pdst[0]] = bool(total >> 32)
    thread.write(step, total & WORD)


def access(thread: Thread, step: Step) -> None:
    """Access memory: local memory is real; a global load returns a value derived from its address."""
    address = (thread.double(step, 0) + step.offset) & DOUBLE
    words = step.reg_words
    for place in range(step.count):
        here = address + place * step.width
        if step.op == isa.OP_ST:
            value = sum(thread.word(step, 2 + place * words + k) << 32 * k for k in range(words))
            if step.space == SPACE_LOCAL:
                thread.local[here : here + step.width] = value.to_bytes(8, "little")[: step.width]
            else:
                thread.stores.append((here, step.width, value))
        else:
            assert step.space in (SPACE_LOCAL, SPACE_GLOBAL)
            value = (here * 2654435761 & DOUBLE) >> 8
            if step.space == SPACE_LOCAL:
                value = int.from_bytes(thread.local[here : here + step.width], "little")
            for k in range(words):
                thread.registers[step.dst[place * words + k]] = value >> 32 * k & WORD


def pack_params(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def registers_in_range(kernel: Kernel, limit: int) -> bool:
    used = np.concatenate([kernel.insts["src"].ravel(), kernel.insts["dst"].ravel()])
    return bool((used[used != NO_REG] < limit).all())
