"""Hazards while a kernel runs on the sub-core, with the value that was read and the right one.

The core computes what hardware would (RULES.md, B11.6). After each cycle this looks which instructions have just taken their
operands, and which earlier ones of the same warp had not written theirs: a hazard, whose right value shows when they do;
and which results are written to registers that an earlier instruction of variable latency has still to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.hazards.effects import (PREDICATE, TEXTURE_UNIT, UNIFORM, Effects, effects_of, is_on_object, name_of,
                                           places_of)
from rfview.engine.state import COLLECT, EXECUTE, FREE, MEMORY, NONE8, WRITE_BACK, WRITTEN

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator


@dataclass
class Sighting:
    """An operand taken too early: where it happened first with a wrong value, and how often at all.

    lane: the first whose value is wrong, -1 as long as all were right by chance; read, right: that lane's values, 0 or 1 of
    a predicate.
    """

    pc: int
    producer: int
    register: str
    kind: str
    cycle: int
    warp: int
    cta: int
    warp_in_cta: int
    lane: int = -1
    read: int = 0
    right: int = 0
    count: int = 1


@dataclass(frozen=True)
class Awaited:
    """A hazard whose producer (slot, seq, row of its results, or ~index of its predicates) is still to write."""

    place: tuple[int, int, int]
    moment: tuple[int, int, int]        # cycle, warp, pc
    producer: int
    register: int
    lanes: int
    read: Any


class Watch:
    """Looks at a simulator of the sub-core after each cycle."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.effects: list[Effects] = [effects for kernel, _ in simulator.placement.kernels
                                       for effects in effects_of(kernel, kernel.architecture)]
        self.seen: dict[tuple[int, int, str, str], Sighting] = {}
        self._reads_late = np.array([int(inst["op"]) in TEXTURE_UNIT or is_on_object(inst) for inst in simulator.insts])
        self._awaited: list[Awaited] = []
        # what the reuse caches keep: by (sub-core, place, bank), the warp, the register and its value then
        self._kept: dict[tuple[int, int, int], tuple[int, int, np.ndarray]] = {}
        self._unread: dict[tuple[int, int], dict[int, np.ndarray]] = {}

    def run(self) -> None:
        """Run to the end, looking after each cycle. Raises KernelFault."""
        while not self.simulator.finished:
            self.simulator.step(1)
            self.look()

    def look(self) -> None:
        """Look at the cycle that has just run."""
        flights = self.simulator._sm_array["inflight"][0]
        now = self.simulator.cycle - 1
        self._settle(flights)
        stage, since = flights["stage"], flights["since_cycle"]
        is_late = self._reads_late[np.minimum(flights["pc"], len(self._reads_late) - 1)]
        took = (since == now) & np.where(is_late, stage == MEMORY,
                                         (stage == EXECUTE) | (stage == COLLECT) & (flights["collector"] != NONE8))
        issued = (stage != FREE) & (flights["issue_cycle"] == now)
        for slot in np.flatnonzero(took | issued):
            self._check(flights, int(slot), bool(took[slot]), now)
        self._check_reuse(flights, now)
        self._check_overwritten(flights, now)

    def _check(self, flights: np.ndarray, slot: int, took: bool, now: int) -> None:
        """Note what an instruction takes now although an earlier one of its warp has not written it."""
        own = flights[slot]
        effects = self.effects[int(own["pc"])]
        reads = {register for register, role in effects.reads
                 if (role == "guard" or effects.is_control and register >= PREDICATE) != took}
        if not reads:
            return
        others = (flights["stage"] != FREE) & (flights["warp"] == own["warp"]) & (flights["seq"] < own["seq"])
        for other in np.flatnonzero(others):
            flight = flights[other]
            inst = self.simulator.insts[int(flight["pc"])]
            for row in range(int(inst["num_dst"])):
                if int(flight["unwritten"]) >> row & 1 and int(inst["dst"][row]) in reads:
                    self._await(flight, own, int(other), row, int(inst["dst"][row]), now)
            shown = WRITTEN if effects.is_variable else EXECUTE + 1
            if int(flight["stage"]) in (COLLECT, EXECUTE) or self.effects[int(flight["pc"])].is_variable and (
                    int(flight["stage"]) < shown):
                for index in range(2):
                    if PREDICATE + int(inst["pdst"][index]) in reads:
                        self._await(flight, own, int(other), ~index, PREDICATE + int(inst["pdst"][index]), now)

    def _await(self, producer: Any, own: Any, slot: int, row: int, register: int, now: int) -> None:
        warp = int(own["warp"])
        sm, rows = self.simulator.sm, self.simulator.rows.u
        read = (int(sm.warp_cold[warp].pred[register - PREDICATE]) if row < 0 else
                rows[int(sm.warp[warp].reg_base) + register].copy())
        self._awaited.append(Awaited((slot, int(producer["seq"]), row), (now, warp, int(own["pc"])), int(producer["pc"]),
                                     register, int(producer["mask"]) & int(own["active"]), read))

    def _settle(self, flights: np.ndarray) -> None:
        """Compare what was read with the results that have been written since."""
        left = []
        for one in self._awaited:
            slot, seq, row = one.place
            flight = flights[slot]
            is_written = flight["seq"] != seq or flight["stage"] == FREE or (
                not int(flight["unwritten"]) >> row & 1 if row >= 0 else int(flight["stage"]) >= EXECUTE + 2)
            if not is_written:
                left.append(one)
                continue
            if row < 0:
                differ, right = (int(one.read) ^ int(flight["pval"][~row])) & one.lanes, None
            else:
                right = self.simulator.rows.u[int(self.simulator.sm.config.first_result_row) + 4 * slot + row]
                differ = sum(1 << int(lane) for lane in np.flatnonzero(right != one.read)) & one.lanes
            lane = (differ & -differ).bit_length() - 1
            values = (0, 0) if lane < 0 else ((int(one.read) >> lane & 1, int(flight["pval"][~row]) >> lane & 1)
                                             if right is None else (int(one.read[lane]), int(right[lane])))
            self._note(*one.moment, one.producer, name_of(one.register), "RAW", lane, *values)
        self._awaited = left

    def _check_reuse(self, flights: np.ndarray, now: int) -> None:
        """Note operands that came from the reuse cache although their registers have been written since they were kept."""
        sm, rows = self.simulator.sm, self.simulator.rows.u
        for number, sub in enumerate(self.simulator._rf_array["core"]["sub"][0]):
            if not int(sub["allocated"]):
                continue
            flight = flights[int(sub["allocated"]) - 1]
            warp, pc = int(flight["warp"]), int(flight["pc"])
            hits = {at for operand, at in enumerate(places_of(self.simulator.insts[pc])) if int(sub["hits"]) >> operand & 1}
            for at, register, stays in self.effects[pc].reuse:
                place = number, at, register & 1
                right = read = rows[int(sm.warp[warp].reg_base) + register].copy()
                of_warp, of_register, kept = self._kept.pop(place, (-1, -1, right))
                if at in hits and (of_warp, of_register) == (warp, register):
                    read = kept
                    lanes = [int(lane) for lane in np.flatnonzero(read != right) if int(flight["mask"]) >> lane & 1]
                    if lanes:
                        self._note(now, warp, pc, -1, name_of(register), "reuse", lanes[0], int(read[lanes[0]]),
                                   int(right[lanes[0]]))
                if stays:
                    self._kept[place] = warp, register, read

    def _check_overwritten(self, flights: np.ndarray, now: int) -> None:
        """Note what is written before an earlier access, or other instruction of variable latency, has read it.

        The core copies an access's operands when it enters the queue, hardware reads them when it leaves: what it would
        read then is the new value, the right one is what the register held at first.
        """
        sm, rows = self.simulator.sm, self.simulator.rows.u
        waiting = {entry - 1 for sub in self.simulator._rf_array["core"]["sub"][0]
                   for entry in [*map(int, sub["queue"]), *map(int, sub["unit"])] if entry}
        shown = (flights["since_cycle"] == now) & (
            flights["stage"] == np.where(flights["pipe"] == NONE8, WRITTEN, WRITE_BACK))
        before, self._unread = self._unread, {}
        for slot in waiting:
            reader = flights[slot]
            base, key = int(sm.warp[int(reader["warp"])].reg_base), (slot, int(reader["seq"]))
            held = self._unread[key] = before.get(key) or {
                register: rows[base + register].copy() for register, role in self.effects[int(reader["pc"])].reads
                if register < UNIFORM}
            for writer in flights[shown & (flights["warp"] == reader["warp"]) & (flights["seq"] > reader["seq"])]:
                pc = int(writer["pc"])
                for register in set(self.effects[pc].writes) & held.keys():
                    now_there, lanes = rows[base + register], int(reader["mask"]) & int(writer["mask"])
                    differ = [int(lane) for lane in np.flatnonzero(now_there != held[register]) if lanes >> int(lane) & 1]
                    values = (differ[0], int(now_there[differ[0]]), int(held[register][differ[0]])) if differ else (-1, 0, 0)
                    self._note(now, int(writer["warp"]), pc, int(reader["pc"]), name_of(register), "WAR", *values)

    def _note(self, cycle: int, warp: int, pc: int, producer: int, register: str, kind: str, lane: int, read: int,
              right: int) -> None:
        key = pc, producer, register, kind
        known = self.seen.get(key)
        if known is None:
            entry = self.simulator.sm.warp[warp]
            cta = int(self.simulator.sm.cta[int(entry.cta)].id)
            self.seen[key] = Sighting(pc, producer, register, kind, cycle, warp, cta, int(entry.warp_in_cta), lane, read,
                                      right)
            return
        known.count += 1
        if known.lane < 0 <= lane:
            del self.seen[key]
            self._note(cycle, warp, pc, producer, register, kind, lane, read, right)
            self.seen[key].count = known.count


