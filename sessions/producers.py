"""Finds the instruction in flight that a warp or register waits for, from the in-flight table, the only record of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.state import BLOCK_PREDICATE, BLOCK_READER, BLOCK_REGISTER, COLLECT, FREE, NONE8

if TYPE_CHECKING:
    from rfview.engine.info import Instruction


def writers(inflight: Any, program: Sequence[Instruction]) -> dict[tuple[int, int], int]:
    """Return the in-flight entry that will write each (warp, register), the youngest if there are several.

    inflight: the in-flight table, (entries,) records of state.INFLIGHT. program: the instructions as in a run's info. An
    instruction counts until it retires; `warp.sb_write` says whether a register is still reserved.
    """
    held = np.flatnonzero(inflight["stage"] != FREE)
    held = held[np.argsort(inflight["seq"][held])]
    entries = {}
    for entry, warp, pc in zip(held.tolist(), inflight["warp"][held].tolist(), inflight["pc"][held].tolist(), strict=True):
        for reg in program[pc].dst if pc < len(program) else ():
            if reg != NONE8:
                entries[warp, reg] = entry
    return entries


def operands(program: Sequence[Instruction], pc: int, slots: int) -> list[int]:
    """Return the source registers of an instruction in some of its row slots (a bit each), once each, in slot order."""
    sources = program[pc].src if pc < len(program) else ()
    return list(dict.fromkeys(int(reg) for slot, reg in enumerate(sources) if (slots >> slot) & 1 and reg != NONE8))


def unread(flight: Any, program: Sequence[Instruction]) -> list[int]:
    """Return the registers that an instruction in flight still has to read; flight: a record of state.INFLIGHT."""
    return operands(program, int(flight["pc"]), int(flight["unread"]))


def by_place(entry: Instruction) -> list[tuple[int, tuple[int, ...]]]:
    """Return the place in the encoding, and the registers, of each operand of machine code; -1: not from the reuse cache."""
    operands = enumerate(zip(entry.src[::2], entry.src[1::2], strict=True))
    return [(entry.places[number] if number < len(entry.places) else -1, regs) for number, pair in operands
            if (regs := tuple(reg for reg in pair if reg != NONE8))]


def missed(sub: Any, entry: Instruction, warp: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return what banks have to read for an instruction, as `by_place` does; sub: its sub-core, with the reuse cache."""
    def is_held(place: int, reg: int) -> bool:
        bank = reg & 1
        return place >= 0 and (int(sub["cache_warp"][place, bank]), int(sub["cache_reg"][place, bank])) == (warp + 1, reg)

    return [(place, regs) for place, regs in by_place(entry) if not all(is_held(place, reg) for reg in regs)]


def counted(sm: Any, own: Any, program: Sequence[Instruction], warp: int) -> int | None:
    """Return the in-flight entry of machine code that holds the dependence counter that a warp waits for, None if none does.

    own: the warp's record of counters. Of several, the youngest is returned that has to be done: DEPBAR.LE leaves some.
    """
    if int(sm["warp"][warp]["blocker_kind"]) != BLOCK_REGISTER:
        return None
    counter, table = int(sm["warp"][warp]["blocker"]), sm["inflight"]
    held = np.flatnonzero((table["stage"] != FREE) & (table["warp"] == warp))
    holders = []
    for entry in held[np.argsort(table["seq"][held])].tolist():
        pc = int(table[entry]["pc"])
        code = program[pc].control or 0 if pc < len(program) else 0
        if code >> 5 & 7 == counter or (code >> 8 & 7 == counter and table[entry]["stage"] == COLLECT):
            holders.append(entry)
    left = int(own["most"]) if int(own["limit"]) == counter + 1 else 0
    return holders[-1 - left] if len(holders) > left else None


def awaited(sm: Any, program: Sequence[Instruction], warp: int, known: Mapping[tuple[int, int], int]) -> int | None:
    """Return the in-flight entry that holds the register or predicate that a warp waits for; None if there is none.

    sm: a snapshot's plain record. known: its `writers`. Of several readers, the oldest is returned.
    """
    kind, what, table = int(sm["warp"][warp]["blocker_kind"]), int(sm["warp"][warp]["blocker"]), sm["inflight"]
    if kind == BLOCK_REGISTER:
        return known.get((warp, what))
    held = (table["stage"] != FREE) & (table["warp"] == warp)
    if kind == BLOCK_READER:
        waiting = [(int(table[at]["seq"]), int(at)) for at in held.nonzero()[0] if what in unread(table[at], program)]
        return min(waiting)[1] if waiting else None
    if kind != BLOCK_PREDICATE or what >= 32:
        return None
    entry = int(sm["warp_cold"][warp]["pred_producer"][what])
    return entry if entry != NONE8 and held[entry] else None
