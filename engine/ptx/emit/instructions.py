"""Allocated instructions to INST arrays: masks, last-use and long-source bits, texts, live ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine.isa import OP_BRA_UNI, OP_EXIT, OP_MOV32, OP_MOV64, OP_TRAP
from rfview.engine.program import (INST, NO_PC, NO_PRED, NO_REG, NUM_DST_ROWS, NUM_SRC_ROWS, WAIT_LONG, Reloc, fill_derived,
                                   source_masks)
from rfview.engine.ptx.optimise.cleanup import use_classes
from rfview.engine.ptx.optimise.control_flow import immediate_post_dominators
from rfview.engine.ptx.emit.disassemble import Namer, text_of
from rfview.engine.ptx.emit.ranges import Range, live_ranges
from rfview.engine.ptx.virtual import Block, VirtualInst, VirtualProgram

_PLAIN_FIELDS = (
    "op", "flags", "aux", "line", "imm_mask", "unit", "latency_class", "wait_class", "space", "width", "count",
    "signed", "reg_bits", "is_float", "memory_kind", "offset",
)


@dataclass
class Emitted:
    """The arrays of a kernel: instructions, their texts, relocations and live ranges of the virtual variables."""

    insts: np.ndarray
    texts: tuple[str, ...]
    relocs: tuple[Reloc, ...]
    virtual: tuple[Range, ...]


def emit(program: VirtualProgram, registers: list[int], predicates: list[int]) -> Emitted:
    """Flatten the blocks, number the instructions and fill the arrays."""
    blocks = program.blocks
    starts, count = [], 0
    for block in blocks:
        starts.append(count)
        count += len(block.insts)
    flat = [inst for block in blocks for inst in block.insts]
    rows = physical_rows(flat, registers)
    insts = fill_arrays(flat, rows, predicates)
    fill_branches(insts, blocks, starts)
    mark_last_uses(insts, flat, blocks, starts)
    mark_long_sources(insts, flat, blocks, starts)
    namer = Namer(registers, predicates)
    targets = insts["target"].tolist()
    texts = tuple(text_of(inst, namer, targets[pc]) for pc, inst in enumerate(flat))
    relocs = tuple(Reloc(pc, slot, symbol, addend, wide)
                   for pc, inst in enumerate(flat) for slot, symbol, addend, wide in inst.relocs)
    return Emitted(insts, texts, relocs, live_ranges(program, registers))


def drop_identity_moves(program: VirtualProgram, registers: list[int]) -> None:
    """Remove moves of a register to itself, unless they join a float and an integer use (rule B4.3)."""
    classes = use_classes(program.blocks, len(program.variables.names))
    for block in program.blocks:
        block.insts = [inst for inst in block.insts if not is_identity(inst, registers, classes)]


def is_identity(inst: VirtualInst, registers: list[int], classes: list[int]) -> bool:
    if inst.op not in (OP_MOV32, OP_MOV64) or inst.imm_mask:
        return False
    for source, target in zip(inst.src, inst.dst, strict=False):
        if place(registers, source) != place(registers, target):
            return False
        own, other = classes[source >> 1], classes[target >> 1]
        if own != other and own | other == 3:
            return False
    return True


def place(registers: list[int], row: int) -> int:
    return registers[row >> 1] + (row & 1)


def physical_rows(flat: list[VirtualInst], registers: list[int]) -> list[tuple[list[int], list[int]]]:
    """Return (source slots, destinations) of each instruction as physical registers."""
    rows = []
    for inst in flat:
        src = [NO_REG if row < 0 else registers[row >> 1] + (row & 1) for row in inst.src]
        dst = [registers[row >> 1] + (row & 1) for row in inst.dst]
        rows.append((src, dst + [NO_REG] * (NUM_DST_ROWS - len(dst))))
    return rows


def fill_arrays(flat: list[VirtualInst], rows: list[tuple[list[int], list[int]]], predicates: list[int]) -> np.ndarray:
    insts = np.zeros(len(flat), INST)
    for name in _PLAIN_FIELDS:
        insts[name] = [getattr(inst, name) for inst in flat]
    insts["src"] = np.array([src for src, _ in rows], np.uint8).reshape(-1, NUM_SRC_ROWS)
    insts["dst"] = np.array([dst for _, dst in rows], np.uint8).reshape(-1, NUM_DST_ROWS)
    insts["num_dst"] = [len(inst.dst) for inst in flat]
    insts["imm"] = np.array([inst.imm for inst in flat], np.uint32).reshape(-1, NUM_SRC_ROWS)
    insts["target"] = insts["reconv"] = NO_PC
    read = [mask_of(src) for src, _ in rows]
    written = [mask_of(dst) for _, dst in rows]
    masks = [source_masks(src) for src, _ in rows]
    insts["src_mask"], insts["repeats"] = [read for read, _ in masks], [repeats for _, repeats in masks]
    insts["dst_regs"] = np.array(written, np.uint64)
    insts["need_regs"] = np.array([a | b for a, b in zip(read, written, strict=True)], np.uint64)
    fill_predicates(insts, flat, predicates)
    fill_derived(insts)
    return insts


def mask_of(registers: list[int]) -> int:
    mask = 0
    for register in registers:
        if register != NO_REG:
            mask |= 1 << register
    return mask


def fill_predicates(insts: np.ndarray, flat: list[VirtualInst], predicates: list[int]) -> None:
    def two(values: list[int]) -> list[int]:
        numbers = [predicates[var] for var in values]
        return numbers + [NO_PRED] * (2 - len(numbers))

    guards = [predicates[inst.guard] if inst.guard >= 0 else NO_PRED for inst in flat]
    sources, results = [two(inst.psrc) for inst in flat], [two(inst.pdst) for inst in flat]
    insts["guard"] = guards
    insts["guard_negate"] = [inst.guard_negate for inst in flat]
    insts["psrc"] = np.array(sources, np.uint8).reshape(-1, 2)
    insts["pdst"] = np.array(results, np.uint8).reshape(-1, 2)
    insts["psrc_negate"] = np.array(
        [[*map(int, inst.psrc_negate), 0, 0][:2] for inst in flat], np.uint8).reshape(-1, 2)
    written = [mask_of(own) for own in results]
    insts["dst_preds"] = written
    insts["need_preds"] = [mask_of([g, *s]) | w for g, s, w in zip(guards, sources, written, strict=True)]


def fill_branches(insts: np.ndarray, blocks: list[Block], starts: list[int]) -> None:
    """Set target and reconvergence pcs; blocks that end in a trap or only exit do not delay reconvergence."""
    successors = [block.successors for block in blocks]
    traps = frozenset(
        index for index, block in enumerate(blocks)
        if not block.successors and block.insts and block.insts[-1].op == OP_TRAP)
    post = immediate_post_dominators(successors, traps, bare_exits(blocks))
    for index, block in enumerate(blocks):
        if block.insts and block.insts[-1].target >= 0:
            pc = starts[index] + len(block.insts) - 1
            insts["target"][pc] = starts[block.insts[-1].target]
            insts["reconv"][pc] = starts[post[index]] if post[index] >= 0 else NO_PC


def bare_exits(blocks: list[Block]) -> frozenset[int]:
    """Find the blocks that do nothing but end the thread, directly or by a branch to such a block."""
    exits: set[int] = set()
    while True:
        more = {
            index for index, block in enumerate(blocks)
            if index not in exits and len(block.insts) == 1 and block.insts[0].guard < 0
            and (block.insts[0].op == OP_EXIT or block.insts[0].op == OP_BRA_UNI and set(block.successors) <= exits)}
        if not more:
            return frozenset(exits)
        exits |= more


def mark_last_uses(insts: np.ndarray, flat: list[VirtualInst], blocks: list[Block], starts: list[int]) -> None:
    """Set `last_use`: the register is dead after this read on every path (guarded writes do not kill its value)."""
    written, read = insts["dst_regs"].tolist(), _read_masks(insts)
    kills = [written[pc] if inst.kills else 0 for pc, inst in enumerate(flat)]
    sources = insts["src"].tolist()
    marks = [0] * len(flat)
    live_in, changed = [0] * len(blocks), True
    while changed:
        changed = False
        for index in range(len(blocks) - 1, -1, -1):
            live = 0
            for target in blocks[index].successors:
                live |= live_in[target]
            for pc in range(starts[index] + len(blocks[index].insts) - 1, starts[index] - 1, -1):
                live &= ~kills[pc]
                marks[pc] = live
                live |= read[pc]
            if live != live_in[index]:
                live_in[index], changed = live, True
    insts["last_use"] = [
        sum(1 << slot for slot, reg in enumerate(sources[pc]) if reg != NO_REG and not marks[pc] >> reg & 1)
        for pc in range(len(flat))
    ]


def _read_masks(insts: np.ndarray) -> list[int]:
    return [mask_of(src) for src in insts["src"].tolist()]


def mark_long_sources(insts: np.ndarray, flat: list[VirtualInst], blocks: list[Block], starts: list[int]) -> None:
    """Set `long_source`: some definition that reaches this read is a long-latency operation."""
    written, sources = insts["dst_regs"].tolist(), insts["src"].tolist()
    is_long = [inst.wait_class == WAIT_LONG for inst in flat]
    before, state, changed = [0] * len(flat), [0] * len(blocks), True
    while changed:
        changed = False
        for index, block in enumerate(blocks):
            now = state[index]
            for pc in range(starts[index], starts[index] + len(block.insts)):
                before[pc] = now
                if is_long[pc]:
                    now |= written[pc]
                elif flat[pc].kills:
                    now &= ~written[pc]
            for target in block.successors:
                if now & ~state[target]:
                    state[target] |= now
                    changed = True
    insts["long_source"] = [
        sum(1 << slot for slot, reg in enumerate(sources[pc]) if reg != NO_REG and before[pc] >> reg & 1)
        for pc in range(len(flat))
    ]
