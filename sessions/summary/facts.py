"""What the rules of a summary may use: counts of the whole run and, if they were counted, who held whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from rfview.engine.info import Instruction, RunInfo
from rfview.engine.stalls import NO_WARP
from rfview.engine.state import NONE8
from rfview.engine.wording import plural
from rfview.sessions.causes.account import Causes
from rfview.sessions.summary.floors import Floor, all_floors

NOT_DATA = ("param", "const", "local")      # memory that holds arguments, constants and spilled registers


@dataclass(frozen=True)
class Facts:
    """A run. totals: warp-cycles by state. counts: events by name. config: the machine's numbers in use.

    by_pc: what was lost by instruction, None if nobody counted it; causes: the same by line. issued: (n,) i8 instructions.
    line_of: (n,) i8 line of each instruction; the last one, num_lines, stands for none. counted: resident warp-cycles of
    what was counted. window: the cycles first..last-1 in which it was, None for all. name_of: the name of a
    line. cycles: of the run.
    """

    info: RunInfo
    cycles: int
    totals: Mapping[str, int]
    counts: Mapping[str, int]
    config: Mapping[str, int]
    by_pc: Causes | None = None
    issued: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    line_of: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    num_lines: int = 0
    counted: int = 0
    window: tuple[int, int] | None = None
    name_of: Callable[[int], str] = str

    @cached_property
    def causes(self) -> Causes | None:
        """Who held whom, by line; None if nobody counted it."""
        return None if self.by_pc is None else self.by_pc.grouped(self.line_of, self.num_lines + 1)

    def pcs(self, fits: Callable[[Instruction], bool]) -> np.ndarray:
        """Return (n,) bool: which instructions fit."""
        return np.array([fits(entry) for entry in self.info.program], bool)

    @cached_property
    def local(self) -> np.ndarray:
        """(n,) bool: which instructions access local memory, where spilled registers go."""
        return self.pcs(lambda entry: entry.space == "local")

    @cached_property
    def by_data(self) -> np.ndarray:
        """(n,) bool: which accesses have an address that comes from memory, as an index or a pointer that was loaded.

        By the last write of each register that precedes the access in the program; a register that a loop's end writes anew
        counts as what it was before the loop.
        """
        loaded: set[int] = set()
        found, kernel = [], ""
        for entry in self.info.program:
            if entry.kernel != kernel:
                loaded, kernel = set(), entry.kernel
            sources = {reg for reg in entry.src if reg != NONE8}
            is_access = entry.space not in ("", *NOT_DATA)
            found.append(is_access and bool(entry.src) and entry.src[0] in loaded)     # the address comes first
            if is_access or (not entry.space and sources & loaded):
                loaded |= {*entry.dst}
            else:
                loaded -= {*entry.dst}
        return np.array(found, bool)

    @cached_property
    def resident(self) -> int:
        """The warp-cycles of resident warps: the one denominator."""
        return max(1, sum(count for name, count in self.totals.items() if name not in NO_WARP))

    @cached_property
    def floors(self) -> list[Floor]:
        """The floors of all units, the highest first."""
        return all_floors(tuple(self.info.design_spec.chain), self.counts, self.info.parameters, self.config, self.cycles)

    @property
    def filled(self) -> float:
        """The share of the cycles that the highest floor takes."""
        return self.floors[0].cycles / max(1, self.cycles)

    @property
    def counted_cycles(self) -> int:
        """The cycles in which it was counted who held whom."""
        return self.cycles if self.window is None else self.window[1] - self.window[0]

    @property
    def kept_out(self) -> float:
        """The ready warps that each scheduler's active set keeps out, on average; 0 without active sets."""
        return self.totals.get("suspended", 0) / max(1, self.cycles * self.config["num_schedulers"])

    def share(self, *names: str) -> float:
        """Return the share of the resident warp-cycles that states have."""
        return sum(self.totals.get(name, 0) for name in names) / self.resident

    def named(self, state: str) -> str:
        """Return a state with its meaning, "wait (fixed-latency result)"."""
        meaning = next((stall.meaning for stall in self.info.stalls if stall.name == state), "")
        return f"{state} ({meaning})" if meaning else state

    def codes(self, names: Iterable[str]) -> list[int]:
        """Return the codes of those states that the run knows."""
        return [self.info.stall_codes[name] for name in names if name in self.info.stall_codes]

    def of_family(self, family: str) -> dict[str, float]:
        """Return the shares of the states of a family, the highest first."""
        found = {stall.name: self.share(stall.name) for stall in self.info.stalls if stall.family == family}
        return dict(sorted(((name, share) for name, share in found.items() if share), key=lambda pair: -pair[1]))

    def by_line(self, weights: np.ndarray) -> np.ndarray:
        """Return (lines + 1,) sums of (n,) weights of instructions."""
        return np.bincount(self.line_of, weights, self.num_lines + 1)

    def held(self, chosen: np.ndarray) -> np.ndarray:
        """Return (lines + 1,) shares of the counted resident warp-cycles that the chosen instructions hold up, by line."""
        assert self.by_pc is not None
        return self.by_line(np.where(chosen, self.by_pc.caused[:-1], 0)) / max(1, self.counted)

    def waiter(self, *names: str) -> int | None:
        """Return the line that loses most warp-cycles in states; None if nothing was counted, or it is no line."""
        pair = self._pair(names)
        return None if pair is None or pair[0] > self.num_lines else pair[0]

    def place(self, *names: str) -> str:
        """Return ", most at mm.cu:12, which waits for mm.cu:11" of states; "" if nothing was counted.

        Without the part about whom, if that is itself, nobody, or code that has no line.
        """
        pair = self._pair(names)
        if pair is None or self.causes is None:
            return ""
        waiter, holder = pair
        whom = f", which waits for {self.name_of(holder)}" if holder != waiter and holder < self.num_lines else ""
        return f", most at {self.name_of(waiter)}{whom}"

    def _pair(self, names: tuple[str, ...]) -> tuple[int, int] | None:
        """Return the line that loses most in states, and the one that holds it up most."""
        if self.causes is None:
            return None
        chosen = np.isin(self.causes.code, self.codes(names))
        if not chosen.any():
            return None
        waiter = int(np.bincount(self.causes.waiter[chosen], self.causes.count[chosen]).argmax())
        mine = chosen & (self.causes.waiter == waiter)
        return waiter, int(np.bincount(self.causes.holder[mine], self.causes.count[mine]).argmax())

    @cached_property
    def unused_slots(self) -> tuple[int, str, str]:
        """Return how many warp slots the launches never fill, what limits them, and what would fill more."""
        launch = max(self.info.launches, key=lambda one: one.warps_per_cta * min(one.resident_ctas, prod(one.grid)))
        ctas, warps = min(launch.resident_ctas, prod(launch.grid)), launch.warps_per_cta
        blocks = f"{plural(ctas, 'CTA')} of {plural(warps, 'warp')}"
        most = self.config["max_ctas"]
        rows = self.config["num_banks"] * self.config["rows_per_bank"]
        fewer = rows // ((ctas + 1) * warps)
        fewer -= fewer % max(1, self.info.number("sm.register_unit", 1))
        if prod(launch.grid) <= launch.resident_ctas:
            why, lift = f"the grid has only {blocks}", "a larger grid"
        elif launch.resident_ctas == most:
            why, lift = f"{blocks} are as many as an SM takes", "larger CTAs"
        elif launch.shared_bytes and (launch.resident_ctas + 1) * launch.shared_bytes > self.config["shared_bytes"]:
            why, lift = f"{launch.shared_bytes:,} bytes of shared memory leave room for {blocks}", "less shared memory a CTA"
        elif (launch.resident_ctas + 1) * warps * launch.registers > rows:
            why, lift = f"{launch.registers} registers a thread leave room for {blocks}", "fewer registers a thread"
            lift += f" (`--set kernel.max_registers={fewer}`)" if not self.info.is_machine_code else f" ({fewer} would do)"
        else:
            why, lift = f"CTAs have {plural(warps, 'warp')}, and {ctas} fit", "smaller CTAs"
        return max(0, self.info.num_warps - ctas * warps), why, lift
