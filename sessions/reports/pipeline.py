"""One warp's pipeline, cycle by cycle: where each of its instructions was, from its fetch until its result is written.

Columns are cycles as counted on the screens: column c shows what happened in cycle c - 1. Before an instruction issues,
its cells say why the warp did not issue it. Links name the instructions whose results it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES, WINDOW
from rfview.engine.machine_code import UNIFORM_PREDICATES
from rfview.engine.program import NO_REG
from rfview.engine.stalls import NO_WARP
from rfview.engine.state import COLLECT, EXECUTE, FREE, MEMORY, NONE8, WRITE_BACK, WRITTEN
from rfview.sessions.timeline.base import Timeline

if TYPE_CHECKING:
    from rfview.engine.info import Instruction

# values of a cell other than the stall codes 0..127 of a warp that waits to issue
FETCHED, DECODED, ISSUED, COLLECTING, REFUSED, EXECUTING, IN_MEMORY, WRITING, DONE = range(200, 209)
CONTROL, ALLOCATING, READING, QUEUED = range(209, 213)      # of a sub-core, in place of COLLECTING
EMPTY = 255
STAGES = {COLLECT: COLLECTING, EXECUTE: EXECUTING, MEMORY: IN_MEMORY, WRITE_BACK: WRITING, WRITTEN: DONE}
LETTERS = {FETCHED: "F", DECODED: "-", ISSUED: "I", COLLECTING: "C", REFUSED: "x", EXECUTING: "E", IN_MEMORY: "M",
           WRITING: "W", DONE: "r", CONTROL: "C", ALLOCATING: "A", READING: "R", QUEUED: "q"}
WORDS = {FETCHED: "fetched and decoded", DECODED: "decoded, behind an older one", ISSUED: "issues",
         COLLECTING: "collects operands", REFUSED: "an operand's bank refused", EXECUTING: "in its execution unit",
         IN_MEMORY: "in memory", WRITING: "writes its result", DONE: "written, leaves", CONTROL: "in Control",
         ALLOCATING: "in Allocate", READING: "reads its operands", QUEUED: "waits for its unit or the memory pipeline"}
WRITE_PREDICATES = ("setp", "vote", "and", "or", "xor", "not", "mov")
PREDICATE = re.compile(r"P\d+\b")


@dataclass(frozen=True)
class Life:
    """One instruction of the warp. n: 1 for its first. turn: the first column in which it is the warp's next one.

    issue: the column in which it issues, None if it does not issue within the range. cells: (cycles,) u1, a stall code
    or one of the constants above, EMPTY where it is not in the pipeline. producers: (index in the list of lives,
    register) for every register it reads that an instruction of this range wrote last.
    """

    n: int
    pc: int
    turn: int
    issue: int | None
    cells: np.ndarray
    producers: tuple[tuple[int, str], ...]

    @property
    def end(self) -> int:
        """Return the index of the last cell that is not empty, -1 where there is none."""
        held = np.flatnonzero(self.cells != EMPTY)
        return int(held[-1]) if len(held) else -1


def lives(timeline: Timeline, warp: int, start: int, stop: int) -> list[Life]:
    """Return the instructions of a warp slot that are in the pipeline in cycles start..stop-1, oldest first.

    Instructions that issued before `start` are shown from then on. Raises InputError outside the timeline.
    """
    for cycle in (start, stop - 1):
        timeline.require(cycle)
    states = timeline.states(start, stop)[:, warp]
    counts = timeline.column(f"sm.warp[{warp}].num_issued", start, stop)
    last_pc, pc = (timeline.column(f"sm.warp[{warp}].{name}", start, stop) for name in ("last_pc", "pc"))
    buffered = timeline.column(f"sm.warp[{warp}].ibuffer", start, stop)
    instructions = _under_way(timeline, warp, start, stop)
    issues = np.flatnonzero(states == 0)
    refills = np.flatnonzero(np.diff(buffered.astype(np.int64), prepend=buffered[0]) > 0)
    gone = np.isin(states, _gone(timeline))
    # a slot may hold several warps one after the other, each with instructions counted from 1
    warps = np.cumsum(np.diff(counts.astype(np.int64), prepend=counts[0]) < 0)
    known: dict[tuple[int, int], dict[str, Any]] = {}
    for key, (where, cells) in instructions.items():       # key: the column of the issue, negative before the range
        if key < 0:
            known[0, _number(timeline, warp, start, key, counts)] = {"pc": where, "issue": None, "turn": 0, "cells": cells}
    previous = -1
    for at in issues.tolist():
        where, cells = instructions.get(at, (int(last_pc[at]), np.full(stop - start, EMPTY, np.uint8)))
        turn = _wait(cells, states, gone, refills, previous, at)
        cells[at] = ISSUED
        known[int(warps[at]), int(counts[at])] = {"pc": where, "issue": start + at, "turn": turn, "cells": cells}
        previous = at
    if previous + 1 < len(states) and not gone[-1]:
        cells = np.full(stop - start, EMPTY, np.uint8)
        turn = _wait(cells, states, gone, refills, previous, len(states))
        known[int(warps[-1]), int(counts[-1]) + 1] = {"pc": int(pc[-1]), "issue": None, "turn": turn, "cells": cells}
    rows = sorted(known.items())
    producers = _producers([(of, entry["pc"]) for (of, _), entry in rows], timeline.info.program)
    return [Life(n, entry["pc"], start + entry["turn"], entry["issue"], entry["cells"], links)
            for ((_, n), entry), links in zip(rows, producers, strict=True)]


def _under_way(timeline: Timeline, warp: int, start: int, stop: int) -> dict[int, tuple[int, np.ndarray]]:
    """Return (pc, cells after the issue) of each instruction in flight, by the column of its issue relative to `start`."""
    names = ("stage", "warp", "pc", "issue_cycle", "refused", "unread")
    stage, owner, pc, issued, refused, unread = (timeline.column(f"sm.inflight[*].{name}", start, stop) for name in names)
    rows, slots = np.nonzero((stage != FREE) & (owner == warp))
    if timeline.info.is_machine_code:
        shown = _on_subcore(timeline, warp % NUM_SUBCORES, start, stop, rows, slots)
    else:
        table = np.full(256, EMPTY, np.uint8)
        for code, cell in STAGES.items():
            table[code] = cell
        shown = table[stage[rows, slots]]
        shown[(stage[rows, slots] == COLLECT) & (refused[rows, slots] & unread[rows, slots] != 0)] = REFUSED
    instructions: dict[int, tuple[int, np.ndarray]] = {}
    keys = issued[rows, slots] + 1 - start
    for key in np.unique(keys).tolist():
        mine = keys == key
        cells = np.full(stop - start, EMPTY, np.uint8)
        cells[rows[mine]] = shown[mine]
        last = rows[mine][-1]
        if shown[mine][-1] == EXECUTING and stage[last, slots[mine][-1]] == WRITE_BACK and last + 1 < stop - start:
            cells[last + 1] = WRITING       # in a sub-core's cycle that wrote it, it has left
        instructions[int(key)] = (int(pc[rows[mine][0], slots[mine][0]]), cells)
    return instructions


def _on_subcore(timeline: Timeline, number: int, start: int, stop: int, at: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Return (k,) cells of instructions on a sub-core, in entry slot[k] at cycle start + at[k], which is what one has left.

    An instruction of fixed latency was in Control in the cycle that left it in Allocate, and in Allocate in the one that
    let it go; the next three read its operands (RULES.md, B11).
    """
    names = ("stage", "since_cycle", "pipe", "code")
    stage, since, pipe, code = (timeline.column(f"sm.inflight[*].{name}", start, stop)[at, slot] for name in names)
    control, allocate = (timeline.column(f"rf.core.sub[*].{name}", start, stop)[at, number] == slot + 1
                         for name in ("control", "allocate"))
    age = start + at - 1 - since.astype(np.int64)       # cycles since it came to where it is; column c shows cycle c - 1
    is_fixed, waits, executes, writes = pipe != NONE8, stage == COLLECT, stage == EXECUTE, stage == WRITE_BACK
    return np.select(
        [control | allocate & (age == 0), (allocate | waits) & (code != 0), allocate, waits & (age == 0), waits,
         executes & is_fixed & (age == 0), executes & is_fixed & (age <= WINDOW), executes | writes & is_fixed,
         stage == MEMORY, writes],
        [CONTROL, REFUSED, ALLOCATING, CONTROL, QUEUED, ALLOCATING, READING, EXECUTING, IN_MEMORY, WRITING], DONE)


def _number(timeline: Timeline, warp: int, start: int, key: int, counts: np.ndarray) -> int:
    """Return the warp's instruction that issued `-key` columns before the range."""
    cycle = start + key
    if cycle < timeline.first:
        return int(counts[0]) + key     # before the recording began only the order is known
    return int(timeline.column(f"sm.warp[{warp}].num_issued", cycle, cycle + 1)[0])


def _wait(cells: np.ndarray, states: np.ndarray, gone: np.ndarray, refills: np.ndarray, previous: int, issue: int) -> int:
    """Fill in the cells before an issue: fetch, waiting for its turn, the warp's states; return where its turn begins."""
    before = np.flatnonzero(gone[previous + 1 : issue])
    if len(before):
        previous = previous + 1 + int(before[-1])       # another warp had the slot
    fetched = refills[refills < issue]
    fetch = int(fetched[-1]) if len(fetched) else -1
    own = np.arange(previous + 1, issue)
    cells[own] = states[own]
    if fetch >= 0 and not gone[fetch]:
        if fetch <= previous:
            cells[fetch + 1 : previous + 1] = DECODED
        cells[fetch] = FETCHED
    return min(previous + 1, len(cells) - 1)


def _gone(timeline: Timeline) -> list[int]:
    """Return the state codes of a slot that has nothing to issue."""
    return [entry.code for entry in timeline.info.stalls if entry.name in NO_WARP]


def reads(entry: Instruction) -> list[str]:
    """Return the registers and predicates that an instruction reads, by name."""
    if entry.control is not None:
        return _named(dict.fromkeys(reg for reg in entry.src if reg != NO_REG), entry.uniform_src, entry.predicate_src)
    return [*(f"R{reg}" for reg in dict.fromkeys(entry.src) if reg != NO_REG), *_predicates(entry)[1]]


def writes(entry: Instruction) -> list[str]:
    """Return the registers and predicates that an instruction writes, by name."""
    if entry.control is not None:
        return _named(entry.dst, entry.uniform_dst, entry.predicate_dst)
    return [*(f"R{reg}" for reg in entry.dst if reg != NO_REG), *_predicates(entry)[0]]


def _named(registers: Iterable[int], uniform: Iterable[int], predicates: Iterable[int]) -> list[str]:
    """Return the names of registers of machine code."""
    of_warp = [f"UP{number - UNIFORM_PREDICATES}" if number >= UNIFORM_PREDICATES else f"P{number}" for number in predicates]
    return [*(f"R{reg}" for reg in registers), *(f"UR{reg}" for reg in uniform), *of_warp]


def _predicates(entry: Instruction) -> tuple[list[str], list[str]]:
    """Return (written, read) predicates, from the text: those before the first comma of a setp are written."""
    text = entry.text
    guard, _, rest = text.partition(" ") if text.startswith("@") else ("", "", text)
    head, _, tail = rest.partition(",")
    written = PREDICATE.findall(head) if entry.mnemonic in WRITE_PREDICATES else []
    read = PREDICATE.findall(guard) + PREDICATE.findall(tail if written else rest)
    return written, read


def _producers(rows: list[tuple[int, int]], program: Sequence[Instruction]) -> list[tuple[tuple[int, str], ...]]:
    """Return for each instruction, by (warp of the slot, pc), the earlier rows that last wrote what it reads."""
    last: dict[tuple[int, str], int] = {}
    out = []
    for place, (of, pc) in enumerate(rows):
        entry = program[pc] if pc < len(program) else None
        out.append(tuple((last[of, name], name) for name in reads(entry) if (of, name) in last) if entry else ())
        last.update(((of, name), place) for name in (writes(entry) if entry else ()))
    return out
