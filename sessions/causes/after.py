"""What an instruction delayed: the warps that stood still for it, and for what these issued late, hop by hop.

It is WHY turned round, by the rules of `rules`: an instruction in flight, with its result in the register file, is marked as
an instruction of its own, so that the warp-cycles charged to it are told from those charged to the same one of other warps.
What waited for it is certain; what waited for those waited for it at most as long as they were late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine import state as layout
from rfview.engine.chunk import CLEARED, LOST, REGISTERS_OF_WARP
from rfview.engine.errors import InputError
from rfview.engine.info import RunInfo
from rfview.engine.stalls import NO_WARP
from rfview.sessions.causes.account import charged, writers_before
from rfview.sessions.causes.stretch import ProgramFacts, Stretch
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.decoded import DecodedChunk
from rfview.sessions.warps import check_warp

HOPS = 3                # the instruction itself, what it delayed, and what that delayed
MOST_MARKED = 48        # instructions followed from one hop to the next: those that waited longest
FARTHEST = 1 << 14      # cycles in which a hop is followed
PIECE = 512             # cycles read at a time: most instructions are in flight for less


@dataclass(frozen=True)
class Flying:
    """An instruction in flight. entry: its place in the in-flight table. seq: its number in the order of issue.

    left: the last cycle at which it is in flight. row: of the hop before, in which its warp waited; -1 for the one that was
    asked about. late: the cycles by which it issued late, at most.
    """

    entry: int
    seq: int
    warp: int
    pc: int
    issued: int
    left: int
    row: int = -1
    late: int = FARTHEST


@dataclass(frozen=True)
class Waited:
    """Warp-cycles that stood still for one thing. parent: the row of what it was, -1 for the instruction asked about.

    hop: 1, 2 .. pc: the instruction that waited; -1 outside the program. state: in which. warps: whose. cycles: warp-cycles,
    from hop 2 on at most. since, until: the first and the last of them.
    """

    hop: int
    parent: int
    pc: int
    state: str
    warps: tuple[int, ...]
    cycles: int
    since: int
    until: int


@dataclass(frozen=True)
class After:
    """What an instruction in flight delayed, as charged.

    asked: the (warp, cycle) of the question. is_own: it is the warp's own, which did not wait. rows: parents before their
    children, the most warp-cycles first.
    """

    asked: tuple[int, int]
    subject: Flying
    is_own: bool
    rows: tuple[Waited, ...]

    @property
    def warp_cycles(self) -> int:
        """Return the warp-cycles that stood still for the instruction asked about."""
        return sum(row.cycles for row in self.rows if row.parent == -1)

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        subject = {name: value for name, value in vars(self.subject).items() if name not in ("row", "late")}
        return {"warp": self.asked[0], "cycle": self.asked[1], "instruction": subject, "is_own": self.is_own,
                "warp_cycles": self.warp_cycles, "rows": [vars(row) for row in self.rows]}


class _Marked(ProgramFacts):
    """A program in which some instructions in flight are instructions of their own, numbered on after nobody.

    flights: these. pcs: (k,) of which instruction each mark is a copy, the flights' marks first.
    """

    def __init__(self, info: RunInfo, flights: Sequence[Flying], others: Sequence[int] = ()):
        super().__init__(info)
        self.flights = flights
        at = np.array([*range(self.size + 1), *(one.pc for one in flights), *others])
        for name in ("writes", "source", "unit", "is_shared", "control"):
            setattr(self, name, getattr(self, name)[at])


class _MarkedStretch(Stretch):
    """A stretch whose marked instructions have numbers of their own, in flight and where their results are logged."""

    facts: _Marked

    @cached_property
    def flight_pc(self) -> np.ndarray:
        """(rows, entries) i8 instruction of each in-flight entry, or its mark."""
        pcs = self.pc_of(self.flights("pc"))
        for number, one in enumerate(self.facts.flights):
            if one.entry < self.entries:
                holds = (one.issued <= self.ran) & (self.ran < one.left)
                pcs[holds, one.entry] = self.facts.size + 1 + number
        return pcs

    def accepted(self) -> np.ndarray:
        """Return (k,) i8 the instructions whose results the chunk's log holds, or their marks."""
        pcs = super().accepted()
        part = self.timeline.part(self.timeline.chunk_number(self.start), None)
        cycle = cycles_of(part)
        for number, one in enumerate(self.facts.flights):
            warps = part.writes.register.astype(np.int64) // REGISTERS_OF_WARP
            pcs[(warps == one.warp) & (part.writes.pc == one.pc) & (one.issued <= cycle) & (cycle <= one.left)] = \
                self.facts.size + 1 + number
        return pcs


class _EveryWriteMarked(_MarkedStretch):
    """One cycle in which each logged result has a number of its own, too: after the flights, in the log's order."""

    def accepted(self) -> np.ndarray:
        """Return (k,) i8 the marks of the chunk's log."""
        return self.facts.size + 1 + len(self.facts.flights) + np.arange(len(super().accepted()))


def cycles_of(part: DecodedChunk) -> np.ndarray:
    """Return (k,) i8 the cycles in which the results in a chunk's log were accepted."""
    return part.first + np.searchsorted(part.writes.end, np.arange(len(part.writes.register)), side="right")


def after(session: Session, warp: int, cycle: int | None = None) -> After:
    """Return what the instruction delayed that holds a warp up at a cycle; if it does not wait, the one it issued last.

    cycle: None for the cursor. Raises InputError for a cycle or warp that does not exist, and if no instruction that has
    issued holds the warp up.
    """
    timeline = session.timeline
    at = session.cycle if cycle is None else cycle
    timeline.require(at)
    check_warp(warp, timeline.info.num_warps, "after")
    subject, is_own = _subject(timeline, warp, at)
    rows: list[Waited] = []
    frontier = [subject]
    for hop in range(1, HOPS + 1):
        found, frontier = _hop(session, hop, frontier, len(rows))
        rows += found
        if not frontier:
            break
    return After((warp, at), subject, is_own, tuple(rows))


def _subject(timeline: Timeline, warp: int, cycle: int) -> tuple[Flying, bool]:
    """Return the instruction that holds a warp up, or its youngest own one in flight, and whether it is that."""
    if cycle <= timeline.first:
        raise InputError(f"after: cycle {cycle:,} is the session's first: nothing is in flight yet; go on a little")
    state = timeline.info.stall_names.get(int(timeline.states(cycle, cycle + 1)[0, warp]), "")
    if state in NO_WARP:
        raise InputError(f"after: w{warp} has no instruction at cycle {cycle:,}: {state}; ask about a warp that runs")
    table = timeline.at(cycle).sm["inflight"]
    flights = [_flying(timeline, table, entry) for entry in np.flatnonzero(table["stage"] != layout.FREE).tolist()]
    start, stop, number = timeline.stretches(cycle, cycle + 1)[0]
    before = writers_before(timeline, ProgramFacts(timeline.info), start)
    pcs = np.append(timeline.part(number, None).writes.pc.astype(np.int64), before)
    facts = _Marked(timeline.info, flights, np.where((pcs < 0) | (pcs > len(timeline.info.program)), 0, pcs).tolist())
    first_mark = facts.size + 1 + len(flights)
    logged = len(pcs) - len(before)
    marks = np.where(before < 0, -1, first_mark + logged + np.arange(len(before)))
    _, warps, _, _, holders = charged(_EveryWriteMarked(timeline, start, stop, facts, marks))
    held = holders[warps == warp]
    if not len(held):
        own = [one for one in flights if one.warp == warp]
        if not own:
            raise InputError(f"after: w{warp} does not wait at cycle {cycle:,}, and has nothing in flight; "
                             "ask at a cycle in which it waits")
        return max(own, key=lambda one: one.seq), True
    holder = int(held[0])
    if holder >= first_mark:
        return _writer(timeline, number, holder - first_mark, logged), False
    if holder > facts.size:
        return flights[holder - facts.size - 1], False
    whom = "no instruction holds" if holder == facts.size else \
        f"{timeline.info.program[holder].text} at PC {holder}, which is not in flight, holds"
    raise InputError(f"after: {whom} w{warp} up at cycle {cycle:,} ({state}); `after` is about one in flight or its result; "
                     f"`why {warp}` says what the warp waits for")


def _flying(timeline: Timeline, table: np.ndarray, entry: int, row: int = -1, late: int = FARTHEST) -> Flying:
    """Return an entry of an in-flight table as an instruction. row, late: as in Flying."""
    seq, warp, pc, issued = (int(table[entry][name]) for name in ("seq", "warp", "pc", "issue_cycle"))
    return Flying(entry, seq, warp, pc, issued, _left(timeline, entry, seq, issued), row, late)


def _left(timeline: Timeline, entry: int, seq: int, issued: int) -> int:
    """Return the last cycle at which an instruction is in flight, the last one there is if it stays so."""
    cycle = max(issued + 1, timeline.first)
    while cycle <= timeline.last:
        start, stop, _ = timeline.stretches(cycle, min(cycle + PIECE, timeline.last + 1))[0]
        path = f"sm.inflight[{entry}]"
        is_there = (timeline.column(f"{path}.seq", start, stop) == seq) & (
            timeline.column(f"{path}.stage", start, stop) != layout.FREE)
        if not is_there.all():
            return start + int(is_there.argmin()) - 1
        cycle = stop
    return timeline.last


def _writer(timeline: Timeline, number: int, mark: int, logged: int) -> Flying:
    """Return the instruction that wrote a logged result. mark: its place in the log of chunk `number`, of `logged` results;
    from there on, the number of a register that an earlier chunk wrote last.
    """
    if mark >= logged:
        number, mark = next((earlier, int(found[-1])) for earlier in range(number - 1, -1, -1) if len(
            found := np.flatnonzero(_is_result(timeline, earlier) & (
                timeline.part(earlier, None).writes.register == mark - logged))))
    part = timeline.part(number, None)
    cycle = int(cycles_of(part)[mark])
    warp, pc = int(part.writes.register[mark]) // REGISTERS_OF_WARP, int(part.writes.pc[mark])
    table = timeline.at(cycle).sm["inflight"]
    mine = np.flatnonzero((table["stage"] != layout.FREE) & (table["warp"] == warp) & (table["pc"] == pc))
    if not len(mine):
        raise InputError(f"after: the instruction that wrote w{warp}'s result in cycle {cycle:,} is not in this session's "
                         "history; `why` says what the warp waits for")
    return _flying(timeline, table, int(mine[table["seq"][mine].argmin()]))


def _is_result(timeline: Timeline, number: int) -> np.ndarray:
    """Return (k,) bool: which entries of a chunk's log are results of instructions."""
    pcs = timeline.part(number, None).writes.pc
    return np.asarray((pcs != LOST) & (pcs != CLEARED))


def _hop(session: Session, hop: int, flights: list[Flying], begin: int) -> tuple[list[Waited], list[Flying]]:
    """Return who stood still for some instructions or their results, and what these warps issued next.

    It is followed until all have left and nothing has been charged to them for a while. begin: the number of the first row.
    """
    timeline = session.timeline
    facts = _Marked(timeline.info, flights)
    first = max(timeline.first + 1, min(one.issued for one in flights) + 1)
    left = max(one.left for one in flights)
    parts: list[np.ndarray] = []
    issues: list[np.ndarray] = []
    before, end = writers_before(timeline, facts, first), first
    while end <= timeline.last and end - first < FARTHEST:
        if session.interrupted(end):
            raise InputError("after: stopped")
        start, stop, _ = timeline.stretches(end, min(end + PIECE, timeline.last + 1))[0]
        stretch = _MarkedStretch(timeline, start, stop, facts, before)
        rows, warps, codes, own, holders = charged(stretch)
        mine = holders > facts.size
        parts.append(np.stack((rows + start, warps, codes, own, holders - facts.size - 1))[:, mine])
        issues.append(_issued(stretch))
        if stop >= timeline.window(start)[1]:
            stretch.remember()
        end = stop
        if start > left and not mine.any():
            break
    return _rows(timeline, hop, flights, np.hstack(parts), np.hstack(issues), begin)


def _issued(stretch: Stretch) -> np.ndarray:
    """Return (3, k) i8 of what was issued and is in flight: the cycle whose state first shows it, warp, entry."""
    rows, entries = np.nonzero((stretch.flights("stage") != layout.FREE)
                               & (stretch.flights("issue_cycle") == stretch.ran[:, None]))
    return np.stack((rows + stretch.start, stretch.flights("warp")[rows, entries], entries)).astype(np.int64)


def _rows(timeline: Timeline, hop: int, flights: list[Flying], charges: np.ndarray, issues: np.ndarray,
          begin: int) -> tuple[list[Waited], list[Flying]]:
    """Return rows of charged warp-cycles by what held them, instruction and state; and what their warps issued after them.

    charges: (5, k) cycles, warps, states, instructions, numbers of the flights.
    """
    rows: list[Waited] = []
    following: list[tuple[int, int, int, int]] = []     # (late by at most, cycle that shows the issue, entry, row)
    parents = np.array([one.row for one in flights])[charges[4]]
    groups, group = np.unique(np.stack((parents, charges[3], charges[2])), axis=1, return_inverse=True)
    weight = np.bincount(group.reshape(-1), minlength=groups.shape[1])
    for number in np.lexsort((-weight, groups[0])).tolist():
        mine = charges[:, group.reshape(-1) == number]
        parent, pc, code = groups[:, number].tolist()
        state, cycles = timeline.info.stall_names.get(code, ""), 0
        warps = np.unique(mine[1]).tolist()
        for warp in warps:      # a delay passed on is not longer for it, however much of it is waited for
            waits = mine[:, mine[1] == warp]
            late = min(waits.shape[1], max(flights[flight].late for flight in waits[4].tolist()))
            cycles += late
            next_ones = np.flatnonzero((issues[1] == warp) & (issues[0] > waits[0].max()))
            if len(next_ones):
                following.append((late, *issues[::2, next_ones[0]].tolist(), begin + len(rows)))
        rows.append(Waited(hop, parent, pc if pc < len(timeline.info.program) else -1, state, tuple(warps), cycles,
                           int(mine[0].min()), int(mine[0].max())))
    best: dict[tuple[int, int], tuple[int, int]] = {}
    for late, at, entry, row in sorted(following, reverse=True):
        best.setdefault((at, entry), (row, late))
    return rows, [_flying(timeline, timeline.at(at).sm["inflight"], entry, *where)
                  for (at, entry), where in [*best.items()][:MOST_MARKED]]
