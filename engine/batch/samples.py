"""Measurements that need stepping through a run: active periods of warps, and lifetimes of register values.

Values are followed per warp-register as instructions issue: a write begins a value and ends the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine.program import NO_REG
from rfview.engine.stalls import NO_CTA
from rfview.engine.state import NONE8

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator


def sample(simulator: Simulator) -> dict[str, Any]:
    """Run to the end, cycle by cycle, and return the samples. Raises KernelFault."""
    seen = _Sampler(simulator)
    while not simulator.finished:
        if simulator.step(1):
            seen.look()
    return seen.result()


class _Sampler:
    """Follows one run."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        sm = simulator.sm
        self.number = int(simulator.config["sm.num_schedulers"])
        self.issued = sm.issued_warp
        self.active = sm.scheduler["active"]
        self.last_pc = sm.warp["last_pc"]
        self.no_cta = sm.stall_total[NO_CTA : NO_CTA + 1]
        self.index = -1
        self.program = [_registers(inst) for inst in simulator.insts]
        self.now_active = [0] * self.number
        self.began: dict[int, int] = {}
        self.ended: dict[int, int] = {}
        self.periods: list[int] = []
        self.distances: list[int] = []
        self.values: dict[tuple[int, int], list[int]] = {}
        self.read_counts = [0, 0, 0, 0]      # values by number of reads: 0, 1, 2, more
        self.short = 0                       # values read once, within three instructions
        self.instructions = 0
        self.clock = [0] * int(simulator.config["sm.num_warps"])
        self.allocated = self.before_cycle = self.before_empty = self.registers = 0

    def look(self) -> None:
        """Process the cycle that has just run."""
        now = self.simulator.cycle - 1
        if self.simulator.sm.launch.index != self.index or self.simulator.finished:
            self.next_launch()
        for scheduler in range(self.number):
            active = int(self.active[scheduler])
            if active != self.now_active[scheduler]:
                self.change_active(self.now_active[scheduler], active, now)
                self.now_active[scheduler] = active
            warp = int(self.issued[scheduler])
            if warp != NONE8:
                self.issue(warp, self.program[int(self.last_pc[warp])])

    def next_launch(self) -> None:
        """Add up the registers of the launch, and forget its values."""
        simulator = self.simulator
        cycle, empty = simulator.cycle, int(self.no_cta[0])
        warps = int(simulator.config["sm.num_warps"])
        resident = warps * (cycle - self.before_cycle) - (empty - self.before_empty)
        self.allocated += resident * self.registers
        self.before_cycle, self.before_empty = cycle, empty
        self.index = int(simulator.sm.launch.index)
        self.registers = int(simulator.sm.launch.registers)
        for place in list(self.values):
            self.close(place)
        self.ended.clear()

    def change_active(self, before: int, after: int, now: int) -> None:
        """Process warps that left or joined the active set."""
        for warp in _bits(before & ~after):
            self.periods.append(now - self.began.pop(warp, now))
            self.ended[warp] = now
        for warp in _bits(after & ~before):
            self.began[warp] = now
            if warp in self.ended:
                self.distances.append(now - self.ended.pop(warp))

    def issue(self, warp: int, registers: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        """Process an instruction's reads and writes."""
        self.instructions += 1
        self.clock[warp] += 1
        at = self.clock[warp]
        for reg in registers[0]:
            place = warp, reg
            if place in self.values:
                entry = self.values[place]
                entry[1] += 1
                entry[2] = at
        for reg in registers[1]:
            place = warp, reg
            self.close(place)
            self.values[place] = [at, 0, 0]

    def close(self, place: tuple[int, int]) -> None:
        """End a value."""
        entry = self.values.pop(place, None)
        if entry is not None:
            self.read_counts[min(entry[1], 3)] += 1
            self.short += entry[1] == 1 and entry[2] - entry[0] <= 3

    def result(self) -> dict[str, Any]:
        """Return the samples."""
        self.next_launch()
        rows = self.simulator.main_rows
        cycles = max(self.simulator.cycle, 1)
        return {
            "active_period": _mean(self.periods), "num_periods": len(self.periods),
            "inter_active_distance": _mean(self.distances), "num_distances": len(self.distances),
            "unallocated_share": 1 - self.allocated / (rows * cycles), "allocated_rows": self.allocated / cycles,
            "values_by_reads": self.read_counts, "values_short": self.short,
            "instructions_seen": self.instructions,
        }


def _registers(inst: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the registers that an instruction reads and writes, each once."""
    reads = {int(reg) for slot, reg in enumerate(inst["src"]) if int(inst["src_mask"]) >> slot & 1 and reg != NO_REG}
    writes = {int(reg) for reg in inst["dst"][: int(inst["num_dst"])] if reg != NO_REG}
    return tuple(reads), tuple(writes)


def _bits(mask: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _mean(values: list[int]) -> float:
    """Return the mean; 0 if there are no values."""
    return sum(values) / len(values) if values else 0.0
