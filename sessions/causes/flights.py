"""The instruction in flight that a warp waits for, and the one that holds that up: in a unit, a collector, on a bus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfview.engine import state as layout
from rfview.engine.machine.collectors import MIN_COLLECT_CYCLES
from rfview.engine.program import UNIT_CTRL, UNIT_LDST, UNIT_SFU, UNIT_SP
from rfview.sessions.causes.stretch import Stretch

PIPES_OF = {UNIT_SP: (layout.PIPE_SP0, layout.PIPE_SP1), UNIT_SFU: (layout.PIPE_SFU,)}


@dataclass(frozen=True)
class Waits:
    """Some lost warp-cycles, all in one state. rows, warps: (k,) i8 where. entry: (k,) i8 in-flight entry awaited, or -1.

    stretch: of which they are. code, name: their state. own: (k,) i8 the instructions that wait.
    """

    stretch: Stretch
    code: int
    name: str
    rows: np.ndarray
    warps: np.ndarray
    entry: np.ndarray
    own: np.ndarray

    def of(self, field: str) -> np.ndarray:
        """Return (k,) i8 values of a field of the warps."""
        return self.stretch.of_warp(field, self.rows, self.warps)

    def some(self, chosen: np.ndarray) -> Waits:
        """Return those that a mask chooses."""
        return Waits(self.stretch, self.code, self.name, self.rows[chosen], self.warps[chosen], self.entry[chosen],
                     self.own[chosen])


def awaited(stretch: Stretch, rows: np.ndarray, warps: np.ndarray) -> np.ndarray:
    """Return (k,) i8 the in-flight entries that lost warp-cycles wait for, -1 for those that wait for no instruction.

    A warp that waits stays at its instruction, so the entry is looked up once per run of cycles with the same state. rows,
    warps: sorted by warp, then row.
    """
    kind = stretch.of_warp("blocker_kind", rows, warps)
    if not len(rows):
        return kind
    what, pc = stretch.of_warp("blocker", rows, warps), stretch.of_warp("pc", rows, warps)
    begins = np.ones(len(rows), bool)
    for column in (warps, kind, what, pc, *_counter(stretch, rows, warps, what)):
        begins[1:] &= column[1:] == column[:-1]
    begins[1:] = ~(begins[1:] & (rows[1:] == rows[:-1] + 1))
    at = np.flatnonzero(begins)
    found = _entries(stretch, rows[at], warps[at], kind[at], what[at])
    return found[np.cumsum(begins) - 1]


def _entries(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, kind: np.ndarray, what: np.ndarray) -> np.ndarray:
    """Return the in-flight entries that warps wait for, from their blockers."""
    found = np.full(len(rows), -1)
    of_register = _counting if stretch.timeline.info.is_machine_code else _writing
    for is_kind, find in ((layout.BLOCK_REGISTER, of_register), (layout.BLOCK_READER, _reading),
                          (layout.BLOCK_PREDICATE, _setting)):
        chosen = np.flatnonzero(kind == is_kind)
        if len(chosen):
            found[chosen] = find(stretch, rows[chosen], warps[chosen], what[chosen])
    return found


def in_flight(stretch: Stretch, rows: np.ndarray, warps: np.ndarray) -> np.ndarray:
    """Return (k, entries) bool: which entries hold an instruction of these warps."""
    return (stretch.flights("stage")[rows] != layout.FREE) & (stretch.flights("warp")[rows] == warps[:, None])


def _counter(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, what: np.ndarray) -> list[np.ndarray]:
    """Return, of machine code, (k,) values of the dependence counters that warps may wait for: holders change with them."""
    if not stretch.timeline.info.is_machine_code:
        return []
    return [stretch.column("rf.core.warp[*].counter[*]")[rows, warps, np.minimum(what, 5)]]


def _counting(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Return the youngest instructions that hold dependence counters, without those that a DEPBAR.LE leaves in flight."""
    code, stage = stretch.facts.control[stretch.flight_pc[rows]], stretch.flights("stage")[rows]
    reads = (code >> 8 & 7 == counters[:, None]) & (stage == layout.COLLECT)
    match = in_flight(stretch, rows, warps) & ((code >> 5 & 7 == counters[:, None]) | reads)
    limit, most = (stretch.column(f"rf.core.warp[*].{name}")[rows, warps].astype(np.int64) for name in ("limit", "most"))
    left = np.where(limit == counters + 1, most, 0)
    order = np.argsort(np.where(match, stretch.flights("seq")[rows].astype(np.int64), -1), axis=1)[:, ::-1]
    chosen = order[np.arange(len(rows)), np.minimum(left, order.shape[1] - 1)]
    return np.where(match.sum(axis=1) > left, chosen, -1)


def _writing(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, regs: np.ndarray) -> np.ndarray:
    """Return the youngest instructions that write registers."""
    writes = stretch.facts.writes[stretch.flight_pc[rows]] >> np.minimum(regs, 63).astype(np.uint64)[:, None]
    return stretch.last(rows, in_flight(stretch, rows, warps) & (writes & np.uint64(1) != 0))


def unread(stretch: Stretch, rows: np.ndarray, regs: np.ndarray) -> np.ndarray:
    """Return (k, entries) bool: which entries still have to read a register."""
    slots, source = stretch.flights("unread")[rows], stretch.facts.source[stretch.flight_pc[rows]]
    bits = (slots[:, :, None] >> np.arange(source.shape[2], dtype=np.uint8)) & 1
    return ((source == regs[:, None, None]) & (bits != 0)).any(axis=2)


def _reading(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, regs: np.ndarray) -> np.ndarray:
    """Return the oldest instructions that still have to read registers."""
    return stretch.first(rows, in_flight(stretch, rows, warps) & unread(stretch, rows, regs))


def _setting(stretch: Stretch, rows: np.ndarray, warps: np.ndarray, preds: np.ndarray) -> np.ndarray:
    """Return the instructions that will write predicates."""
    found = np.full(len(rows), -1)
    for pred in sorted(set(preds.tolist())):
        if pred < 32:
            chosen = preds == pred
            producer = stretch.column(f"sm.warp_cold[*].pred_producer[{pred}]")
            found[chosen] = producer[rows[chosen], warps[chosen]]
    return np.where(found < stretch.entries, found, -1)


def of_units(stretch: Stretch, unit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows,) i8 the in-flight entries that a unit works on, and the oldest in a collector for it; -1 = none."""
    rows = np.arange(len(stretch.ran))
    waiting = (stretch.flights("stage") == layout.COLLECT) & (stretch.flights("unit") == unit)
    oldest = stretch.first(rows, waiting)
    if unit == UNIT_LDST:
        return stretch.head, oldest
    busy, until = np.full(len(rows), -1), np.full(len(rows), np.iinfo(np.int64).max)
    for pipe in PIPES_OF.get(unit, ()):
        end, entry = (stretch.column(f"sm.pipe[{pipe}].{name}").astype(np.int64) for name in ("until_cycle", "inflight"))
        sooner = (end > stretch.ran) & (end < until) & (entry < stretch.entries)
        busy, until = np.where(sooner, entry, busy), np.where(sooner, end, until)
    return busy, oldest


def holders_of_unit(stretch: Stretch, rows: np.ndarray, unit: int) -> np.ndarray:
    """Return (k,) i8 the instructions that keep a unit from taking another: the one it works on, else the first in line."""
    busy, oldest = of_units(stretch, unit)
    return stretch.instruction(rows, np.where(busy < 0, oldest, busy)[rows])


def holding(stretch: Stretch, rows: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Return (k,) i8 what delays instructions in flight: the one in the unit they need, the refused result that has their
    bus, and otherwise the instructions themselves.
    """
    pcs = stretch.instruction(rows, entries)
    stage, code = stretch.of_flight("stage", rows, entries), stretch.of_flight("code", rows, entries)
    issued = stretch.of_flight("issue_cycle", rows, entries)
    units = np.where(entries < 0, UNIT_CTRL, stretch.facts.unit[pcs])
    waits = (entries >= 0) & (stage == layout.COLLECT) & (code == 0) & (stretch.of_flight("unread", rows, entries) == 0)
    waits &= issued + MIN_COLLECT_CYCLES <= stretch.ran[rows]
    for unit in (UNIT_SP, UNIT_SFU, UNIT_LDST):
        chosen = np.flatnonzero(waits & (units == unit))
        if len(chosen):
            busy = of_units(stretch, unit)[0][rows[chosen]]
            pcs[chosen] = np.where(busy < 0, pcs[chosen], stretch.instruction(rows[chosen], busy))
    chosen = np.flatnonzero((entries >= 0) & (stage == layout.WRITE_BACK) & (code == 0))
    if len(chosen):
        ahead = _refused_before(stretch, rows[chosen], entries[chosen], units[chosen])
        pcs[chosen] = np.where(ahead < 0, pcs[chosen], stretch.instruction(rows[chosen], ahead))
    return pcs


def _refused_before(stretch: Stretch, rows: np.ndarray, entries: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the oldest refused results on the bus of results that wait for one; -1 if they wait for none."""
    is_memory = (stretch.flights("unit")[rows] == UNIT_LDST) == (units == UNIT_LDST)[:, None]
    older = stretch.flights("seq")[rows] < stretch.of_flight("seq", rows, entries)[:, None]
    match = (stretch.flights("stage")[rows] == layout.WRITE_BACK) & (stretch.flights("code")[rows] != 0) & is_memory & older
    return stretch.first(rows, match)
