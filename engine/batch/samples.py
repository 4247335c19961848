"""Measurements over all cycles of a run: active periods of warps, and lifetimes of register values.

Values are followed per warp-register as instructions issue: a write begins a value and ends the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.chunk import Chunk
from rfview.engine.program import NO_REG
from rfview.engine.stalls import NO_CTA

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator


def sample(simulator: Simulator) -> dict[str, Any]:
    """Run to the end, with the few words of state that are needed recorded, and return the samples. Raises KernelFault."""
    seen = _Sampler(simulator)
    while (chunk := simulator.record_chunk(values=False, lend=True, only=seen.words, logs=False)).num_cycles:
        seen.look_through(chunk)
        chunk.release()
    return seen.result()


class _Sampler:
    """Follows one run. words: (n,) u4, the words of state that it needs of every cycle."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.state = np.zeros(1, simulator.sm_dtype)        # of the cycle that is looked at, as far as `words`
        sm = self.state.view(np.recarray)[0]
        self.active = sm.scheduler["active"]
        self.last_pc = sm.warp["last_pc"]
        self.launch = self.state["launch"]
        self.no_cta = sm.stall_total[NO_CTA : NO_CTA + 1]
        self.state_words = self.state.view(np.uint32)
        self._choose_words()
        self.index = -1
        self.program = [_registers(inst) for inst in simulator.insts]
        self.now_active = [0] * len(self.active)
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

    def _choose_words(self) -> None:
        """Find the words that hold the fields. Cycles in which only the count of empty slots moves are passed over."""
        self.no_cta[:] = -1
        self.is_count = self.state_words != 0
        last_issue = self.state["warp"]["last_issue_cycle"][0]
        last_issue[:] = np.arange(1, len(last_issue) + 1)
        # by word: the warp whose last issue, its low word, is there; or -1
        self.warp_issued = np.where(self.is_count, -1, self.state_words.astype(np.int64) - 1)
        for field in (last_issue, self.active, self.last_pc):
            field[:] = np.iinfo(field.dtype).max
        for name in ("index", "registers"):
            self.launch[name] = np.iinfo(self.launch[name].dtype).max
        self.words = np.flatnonzero(self.state_words).astype(np.uint32)
        self.state_words[:] = np.frombuffer(self.simulator.snapshot().sm.tobytes(), np.uint32)

    def look_through(self, chunk: Chunk) -> None:
        """Process the cycles of a chunk, in which each changed word is a block of its own."""
        first, value = chunk.blocks.first, chunk.blocks.value
        cycle = np.repeat(np.arange(chunk.num_cycles), np.diff(chunk.blocks.end, prepend=0))
        warp = self.warp_issued[first]
        warp[value != (chunk.first_cycle + cycle) & 0xFFFFFFFF] = -1        # set when its CTA began
        begin = 0
        for at in np.unique(cycle[~self.is_count[first]]).tolist():
            end = int(chunk.blocks.end[at])
            self.state_words[first[begin:end]] = value[begin:end]
            self.look(chunk.first_cycle + at, [one for one in warp[begin:end].tolist() if one >= 0])
            begin = end
        self.state_words[first[begin:]] = value[begin:]

    def look(self, now: int, issued: list[int]) -> None:
        """Process a cycle in which these warps issued."""
        is_last = self.simulator.finished and now == self.simulator.cycle - 1
        if int(self.launch["index"][0]) != self.index or is_last:
            self.next_launch(now + 1)
        for scheduler, active in enumerate(self.active.tolist()):
            if active != self.now_active[scheduler]:
                self.change_active(self.now_active[scheduler], active, now)
                self.now_active[scheduler] = active
        for warp in issued:
            self.issue(warp, self.program[int(self.last_pc[warp])])

    def next_launch(self, cycle: int) -> None:
        """Add up the registers of the launch that ended before a cycle, and forget its values."""
        empty = int(self.no_cta[0])
        warps = int(self.simulator.config["sm.num_warps"])
        resident = warps * (cycle - self.before_cycle) - (empty - self.before_empty)
        self.allocated += resident * self.registers
        self.before_cycle, self.before_empty = cycle, empty
        self.index, self.registers = int(self.launch["index"][0]), int(self.launch["registers"][0])
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
        self.next_launch(self.simulator.cycle)
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
