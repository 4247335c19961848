"""A nudge: loads that take one cycle longer for a short while. It changes when warps meet, and nothing that they compute.

Eight nudged runs show by how much the end of a run moves by chance: a change of a setting that moves it by less than twice
that range says nothing about the setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

NUMBER = 8              # nudged runs, unless another number is asked for
MOST = 64
APART, LENGTH = 50, 100     # cycles: nudge k begins at k * APART, so that eight fall into the first loads of small runs
LATENCIES = ("l1_hit_cycles", "l2_hit_cycles", "dram_cycles", "fixed_memory_cycles", "shared_cycles", "const_cycles",
             "param_cycles")
WHAT = f"every latency of memory one cycle longer for {LENGTH} cycles, from cycle {APART}, {2 * APART} .. on"


@dataclass(frozen=True)
class Chance:
    """The cycles of a run, and of nudged ones. planned: how many nudged runs there will be."""

    cycles: int
    nudged: tuple[int, ...]
    planned: int = NUMBER

    @property
    def ends(self) -> tuple[int, int]:
        """The earliest and the latest end, that of the run itself included."""
        return min(self.cycles, *self.nudged, self.cycles), max(self.cycles, *self.nudged, self.cycles)

    @property
    def is_known(self) -> bool:
        """Whether all planned runs are there, and there are some."""
        return 0 < self.planned <= len(self.nudged)

    def is_beyond(self, cycles: int) -> bool:
        """Return whether another end differs by more than twice the range; False as long as that is not known."""
        low, high = self.ends
        return self.is_known and abs(cycles - self.cycles) > 2 * (high - low)

    @property
    def text(self) -> str:
        """Return the range as "-0.5 % to +0.0 %", "0.0 %" if none moves the end, or how many runs are missing."""
        if not self.is_known:
            return f"{len(self.nudged)} of {self.planned} nudged runs" if self.planned else "not measured"
        ends = [round(100 * (end - self.cycles) / max(1, self.cycles), 1) for end in self.ends]
        return " to ".join(f"{end:+.1f} %" for end in ends) if any(ends) else "0.0 %"


def steps(simulator: Simulator, number: int, pace: int = 1 << 20) -> Iterator[int]:
    """Run a simulator to its end, nudged; number: which nudge, from 1, 0 for none. Yields its cycle every `pace` cycles.

    Raises KernelFault.
    """
    config = simulator.sm.config
    normal = {name: int(config[name]) for name in LATENCIES}
    plan = ((number * APART, 1), (number * APART + LENGTH, 0)) if number else ()
    for at, by in plan:
        while not simulator.finished and simulator.cycle < at:
            simulator.step(min(pace, at - simulator.cycle))
            yield simulator.cycle
        for name, cycles in normal.items():
            if cycles:          # 0 turns a latency off
                config[name] = cycles + by
    while not simulator.finished:
        simulator.step(pace)
        yield simulator.cycle


def run(simulator: Simulator, number: int) -> None:
    """Run a simulator to its end, nudged. Raises KernelFault."""
    for _ in steps(simulator, number):
        pass
