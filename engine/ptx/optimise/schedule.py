"""A list scheduler: orders the instructions of each basic block to hide latency within a limit on live values.

Among the ready instructions, the one with the longest critical path to the block's end goes first. Those that would make
more values live than the limit are skipped; if all would, the one that makes the fewest live goes first. Nothing moves
between blocks.
"""

from __future__ import annotations

from bisect import insort

from rfview.engine import isa
from rfview.engine.compilation import Latencies
from rfview.engine.program import SPACE_CONST, SPACE_PARAM, SPACE_SHARED
from rfview.engine.ptx.optimise.bitsets import members
from rfview.engine.ptx.optimise.dependences import Delay, Dependences
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram

# Scheduling takes quadratic time, so longer blocks are scheduled in stretches of this many instructions.
LONGEST = 1000


def delays(latencies: Latencies) -> Delay:
    """Return a function that returns the cycles from an instruction's issue to its result."""
    by_space = {SPACE_SHARED: latencies.shared, SPACE_CONST: latencies.const, SPACE_PARAM: latencies.param}

    def delay(inst: VirtualInst) -> int:
        if inst.op == isa.OP_LDPARAM:
            return latencies.param
        if inst.memory_kind:
            return by_space.get(inst.space, latencies.memory)
        return latencies.classes[inst.latency_class]

    return delay


def schedule(program: VirtualProgram, latencies: Latencies, limit: int) -> None:
    """Reorder the instructions of every block. limit: words of data that may be live at once."""
    delay = delays(latencies)
    words = program.variables.words
    _, live_out = live_sets(program.blocks, len(words))
    for block, after in zip(program.blocks, live_out, strict=True):
        parts = [_Stretch(insts, before, behind, words, delay, limit).run()
                 for insts, before, behind in stretches(block.insts, {*members(after)})]
        block.insts = [inst for part in parts for inst in part]


def stretches(insts: list[VirtualInst], live: set[int]) -> list[tuple[list[VirtualInst], set[int], set[int]]]:
    """Cut a block into stretches; return the instructions of each, and the variables live before and after it.

    live: the variables live at the end of the block; changed in place.
    """
    parts = []
    for start in reversed(range(0, len(insts), LONGEST)):
        part, behind = insts[start : start + LONGEST], set(live)
        for inst in reversed(part):
            if inst.kills:
                live.difference_update(inst.writes())
            live.update(inst.reads())
        parts.append((part, set(live), behind))
    return parts[::-1]


class _Stretch:
    """Instructions being scheduled: which are ready, when their operands arrive, and what is live."""

    def __init__(self, insts: list[VirtualInst], live_in: set[int], live_out: set[int], words: list[int], delay: Delay,
                 limit: int) -> None:
        self.insts, self.words, self.limit = insts, words, limit
        self.graph = Dependences(insts, delay)
        self.priority = self._priorities(delay)
        self.earliest = [0] * len(self.insts)
        self.live, self.live_out = set(live_in), live_out
        self.pressure = sum(words[var] for var in self.live)
        self.reads = [{*inst.reads()} for inst in self.insts]
        self.writes = [{*inst.writes()} for inst in self.insts]
        self.readers: dict[int, int] = {}
        for read in self.reads:
            for var in read:
                self.readers[var] = self.readers.get(var, 0) + 1

    def _priorities(self, delay: Delay) -> list[int]:
        """Return the cycles from each instruction to the end of the stretch along the critical path."""
        cycles_left = [0] * len(self.insts)
        for place in range(len(self.insts) - 1, -1, -1):
            ways = [cycles + cycles_left[later] for later, cycles in self.graph.after[place].items()]
            cycles_left[place] = max(ways, default=delay(self.insts[place]))
        return cycles_left

    def run(self) -> list[VirtualInst]:
        """Return the instructions in their new order."""
        waiting = list(self.graph.num_before)
        ready = sorted((-self.priority[place], place) for place, count in enumerate(waiting) if not count)
        order: list[VirtualInst] = []
        now = 0
        while ready:
            _, place = chosen = self._best(ready, now)
            ready.remove(chosen)
            now = max(now, self.earliest[place])
            order.append(self.insts[place])
            self._take(place)
            for later, cycles in self.graph.after[place].items():
                self.earliest[later] = max(self.earliest[later], now + cycles)
                waiting[later] -= 1
                if not waiting[later]:
                    insort(ready, (-self.priority[later], later))
            now += 1
        return order

    def _best(self, ready: list[tuple[int, int]], now: int) -> tuple[int, int]:
        """Choose among the ready instructions, most urgent first."""
        first: tuple[int, int] | None = None     # among those within the limit, the one whose operands arrive first
        for entry in ready:
            place = entry[1]
            growth = self._growth(place)
            if growth > 0 and self.pressure + growth > self.limit:
                continue
            if self.earliest[place] <= now:
                return entry
            if first is None or self.earliest[place] < self.earliest[first[1]]:
                first = entry
        return first or min(ready, key=lambda entry: (self._growth(entry[1]), entry[1]))

    def _growth(self, place: int) -> int:
        """Return the change in the number of live words that an instruction causes."""
        born = sum(self.words[var] for var in self.writes[place] - self.live)    # even an unread result, briefly
        return born - sum(self.words[var] for var in self._ended(place))

    def _ended(self, place: int) -> list[int]:
        """List the variables whose last reader is this instruction and which do not outlive the stretch."""
        return [var for var in (self.reads[place] - self.writes[place]) & self.live
                if self.readers[var] == 1 and var not in self.live_out]

    def _take(self, place: int) -> None:
        """Update the live variables for an instruction that has been placed."""
        ended = self._ended(place)
        for var in self.reads[place]:
            self.readers[var] -= 1
        born = {var for var in self.writes[place] - self.live if self.readers.get(var) or var in self.live_out}
        self.live.difference_update(ended)
        self.live |= born
        self.pressure += sum(self.words[var] for var in born) - sum(self.words[var] for var in ended)
