"""Watches a machine cycle by cycle from outside: what each read returns, what each result stores, and through which ports.

A shadow of the register file follows only the program's rules: a warp begins with zeros, and a result that the design
accepts becomes the register's newest value in its lanes. Every read must return that value, wherever the design keeps it:
so no write is lost, and nothing is dropped that is read later. A shadow that begins in the middle of a run knows a
register from its first read or write on.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rfview.engine import hooks
from rfview.engine.events import RF_READS, RF_WRITES
from rfview.engine.simulator import Simulator
from rfview.engine.state import FREE, MAX_INFLIGHT, MAX_WARPS

ALL = 0xFFFFFFFF
LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)
REGS = 64
DIRECT = ("sram", "stt", "edram", "hcrf")      # a result is written to its bank in the cycle in which it is accepted


def lanes_of(mask: int) -> np.ndarray:
    """Return the (32,) bool lanes of a mask."""
    return (np.uint32(mask) & LANE_BITS) != 0


class Watch:
    """Runs a machine one cycle at a time and collects what is wrong, in words.

    exact: False if lower half words may decay (approximate eDRAM); then only upper half words are compared.
    reads, writes, cycles: how many were observed.
    """

    def __init__(self, simulator: Simulator, *, exact: bool = True) -> None:
        self.simulator = simulator
        self.bits = np.uint32(ALL if exact else 0xFFFF0000)
        self.wrong: list[str] = []
        self.cycles = self.reads = self.writes = self.main_reads = 0
        self.events = (int(simulator.sm.events[RF_READS]), int(simulator.sm.events[RF_WRITES]))
        record = simulator._sm_array[0]
        self.flight = {name: record["inflight"][name] for name in
                       ("seq", "unread", "unwritten", "stage", "warp", "pc", "mask", "collector")}
        self.collector_bank = record["collector"]["bank"]
        self.warp_age, self.warp_base = record["warp"]["age"], record["warp"]["reg_base"]
        self.sb_write = record["warp"]["sb_write"]
        self.state_count = record["state_count"]
        self.bank_read, self.bank_written = record["bank"]["read"], record["bank"]["written"]
        self.bank_until = record["bank"]["until_cycle"]
        config = simulator.sm.config
        self.first_collector, self.first_result = int(config.first_collector_row), int(config.first_result_row)
        self.num_banks, self.ports = int(config.num_banks), int(config.bank_ports)
        self.num_warps = int(config.num_warps)
        self.rows = simulator.rows.u
        self.insts = [([int(r) for r in inst["src"]], int(inst["src_mask"]), [int(r) for r in inst["dst"]])
                      for inst in simulator.insts]
        self.main = simulator.built.chain[-1]
        self.outer = simulator.built.chain[0]
        values = simulator.built.values
        self.read_ports = int(values["hrf.read_ports"]) if self.main == "hrf" else 1
        self.result_ports = {"hrf": values.get("hrf.wb_write_ports"), "rfc": values.get("rfc.write_ports")}.get(self.outer)
        self.forget()

    def forget(self) -> None:
        """Forget all registers' values."""
        self.value = np.zeros((MAX_WARPS, REGS, 32), np.uint32)
        self.known = np.zeros((MAX_WARPS, REGS), np.uint32)
        self.lost = np.zeros((MAX_WARPS, REGS), np.uint32)
        self.resident = int(self.simulator.sm.resident)
        self.age = self.warp_age.copy()
        self.launch = int(self.simulator.sm.launch.index)

    def say(self, text: str) -> None:
        """Record something wrong."""
        if len(self.wrong) < 20:
            self.wrong.append(f"cycle {self.simulator.cycle - 1:,}: {text}")

    def step(self) -> bool:
        """Run one cycle and check it; return whether one ran."""
        before = {name: column.copy() for name, column in self.flight.items()}
        if not self.simulator.step(1):
            return False
        self.cycles += 1
        if int(self.state_count.sum()) != self.num_warps:
            self.say(f"{int(self.state_count.sum())} warp states for {self.num_warps} warps")
        if int(self.simulator.sm.launch.index) != self.launch:
            self.forget()
        same = before["seq"] == self.flight["seq"]
        self._writes(before, same)
        self._reads(before, same)
        self._write_ports()
        self._warps()
        return True

    # --- results -----------------------------------------------------------------------------------------------------

    def _writes(self, before: dict[str, np.ndarray], same: np.ndarray) -> None:
        """Add the results accepted in this cycle to the shadow."""
        left = np.where(same & (self.flight["stage"] != FREE), self.flight["unwritten"], 0)
        taken = np.where(before["stage"] != FREE, before["unwritten"] & ~left, 0)
        per_bank: dict[int, int] = {}
        total = 0
        for slot in np.flatnonzero(taken):
            if slot == MAX_INFLIGHT - 1:
                continue
            warp, mask = int(before["warp"][slot]), int(before["mask"][slot])
            for row in range(4):
                if int(taken[slot]) >> row & 1:
                    reg = self.insts[int(before["pc"][slot])][2][row]
                    lanes = lanes_of(mask)
                    self.value[warp, reg][lanes] = self.rows[self.first_result + int(slot) * 4 + row][lanes]
                    self.known[warp, reg] |= np.uint32(mask)
                    self.lost[warp, reg] &= np.uint32(~mask & ALL)
                    bank = (int(self.warp_base[warp]) + reg) % self.num_banks
                    per_bank[bank] = per_bank.get(bank, 0) + 1
                    total += 1
        self.writes += total
        self.written_banks = per_bank

    def _write_ports(self) -> None:
        """Check that a bank took at most one result, and none together with a read if it has only one port."""
        if self.outer not in (*DIRECT, "racetrack"):
            return
        for bank, count in self.written_banks.items():
            if count > 1:
                self.say(f"{count} writes of bank {bank} in one cycle")
            if self.outer in DIRECT and self.ports == 1 and bank in self.served_banks:
                self.say(f"a read and a write of bank {bank}, which has one port")

    # --- operands ----------------------------------------------------------------------------------------------------

    def _reads(self, before: dict[str, np.ndarray], same: np.ndarray) -> None:
        """Check the operands served in this cycle, by the main file and, at issue, by what is in front of it."""
        now, used = self.flight["unread"], self.flight["stage"] != FREE
        given = np.where(same, before["unread"] & ~now, 0)
        per_bank: dict[int, int] = {}
        for slot in np.flatnonzero(given):
            collector = int(before["collector"][slot])
            for operand in range(6):
                if int(given[slot]) >> operand & 1:
                    bank = int(self.collector_bank[collector][operand])
                    per_bank[bank] = per_bank.get(bank, 0) + 1
                    self._read(int(slot), collector, operand)
        for slot in np.flatnonzero(used & ~same):
            src_mask = self.insts[int(self.flight["pc"][slot])][1]
            early = src_mask & ~int(now[slot])
            for operand in range(6):
                if early >> operand & 1:
                    self._read(int(slot), int(self.flight["collector"][slot]), operand)
        for bank, count in per_bank.items():
            if count > self.read_ports:
                self.say(f"{count} reads of bank {bank} through {self.read_ports} port(s)")
        self.served_banks = per_bank
        self.main_reads += sum(per_bank.values())

    def _read(self, slot: int, collector: int, operand: int) -> None:
        """Check one operand in its latch."""
        if slot == MAX_INFLIGHT - 1:
            return
        self.reads += 1
        warp, mask = int(self.flight["warp"][slot]), int(self.flight["mask"][slot])
        reg = self.insts[int(self.flight["pc"][slot])][0][operand]
        got = self.rows[self.first_collector + collector * 6 + operand]
        if lost := int(self.lost[warp, reg]) & mask:
            self.say(f"warp {warp} reads R{reg}, which was dropped in lanes {lost:08x}")
        known = int(self.known[warp, reg])
        checked = known & mask
        if checked and ((got ^ self.value[warp, reg]) & self.bits)[lanes_of(checked)].any():
            self.say(f"warp {warp} reads R{reg} = {got[:4]}.., not its newest value {self.value[warp, reg][:4]}..")
        if mask & ~known:
            lanes = lanes_of(mask & ~known)
            self.value[warp, reg][lanes] = got[lanes]
            self.known[warp, reg] |= np.uint32(mask)

    def _warps(self) -> None:
        """Set the registers of newly resident warps to zero."""
        resident = int(self.simulator.sm.resident)
        changed = np.flatnonzero(self.warp_age != self.age)
        if resident == self.resident and not len(changed):
            return
        fresh = resident & ~self.resident
        for warp in {*(w for w in range(MAX_WARPS) if fresh >> w & 1), *map(int, changed)}:
            if resident >> warp & 1:
                self.value[warp] = 0
                self.known[warp] = np.uint32(ALL)
                self.lost[warp] = 0
        self.resident, self.age = resident, self.warp_age.copy()

    def check_events(self) -> None:
        """Check that the machine counted the observed reads and, unless there is a cache, the observed results."""
        events = self.simulator.sm.events
        reads, writes = int(events[RF_READS]) - self.events[0], int(events[RF_WRITES]) - self.events[1]
        if reads != self.main_reads:
            self.say(f"{reads} reads of the register file counted, {self.main_reads} seen")
        if self.outer != "rfc" and writes != self.writes:
            self.say(f"{writes} results counted, {self.writes} seen")

    # --- places ------------------------------------------------------------------------------------------------------

    def settled(self, warp: int, reg: int) -> bool:
        """Return whether a register belongs to a resident warp and has no pending result."""
        return bool(self.resident >> warp & 1) and not int(self.sb_write[warp]) >> reg & 1

    def check_place(self, warp: int, reg: int) -> None:
        """Check that a register's newest value is where the design locates it."""
        simulator = self.simulator
        if not self.settled(warp, reg):
            return
        lanes = int(self.known[warp, reg]) & ~int(self.lost[warp, reg]) & ~int(simulator.sm.warp[warp].exited)
        for lane in range(32):
            if lanes >> lane & 1:
                row = int(hooks.locate(simulator.sm, simulator.rf, simulator.spec_record, warp, reg, lane))
                got = self.rows[row][lane]
                if (got ^ self.value[warp, reg][lane]) & self.bits:
                    self.say(f"warp {warp} R{reg} lane {lane} is {got} in row {row}, its newest value "
                             f"{self.value[warp, reg][lane]}")
                    return

    def check_places(self, registers: Iterable[tuple[int, int]]) -> None:
        """Check the locations of several registers."""
        for warp, reg in registers:
            self.check_place(warp, reg)

    def held(self) -> list[tuple[int, int]]:
        """Return the registers of resident warps that the shadow knows, as (warp, register)."""
        number = int(self.simulator.sm.launch.registers)
        return [(int(warp), int(reg)) for warp, reg in zip(*np.nonzero(self.known[:, :number]))
                if self.resident >> int(warp) & 1]

