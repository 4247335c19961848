"""The cycles that each unit needs at least, from counts alone: what no setting of another unit can mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain as chain_of
from typing import Any

from rfview.engine import plugin
from rfview.engine.errors import InputError
from rfview.engine.machine.cores.subcore.state import NUM_SUBCORES

BANKS, ISSUE = "register banks", "issue"


@dataclass(frozen=True)
class Floor:
    """One unit. cycles: the fewest that its work takes. what: that work, "141,312 cache lines and passes, one a cycle"."""

    unit: str
    cycles: int
    what: str

    @property
    def subject(self) -> str:
        """The unit as the subject of a sentence: "LD/ST", "the memory port", "instruction issue"."""
        return "instruction issue" if self.unit == ISSUE else self.unit if self.unit[:1].isupper() else f"the {self.unit}"

    @property
    def is_plural(self) -> bool:
        """Whether it is several: "the register banks need"."""
        return self.unit.endswith("s")

    @property
    def needs(self) -> str:
        """Return "LD/ST needs", "the register banks need"."""
        return f"{self.subject} need{'' if self.is_plural else 's'}"


def machine_floors(counts: Mapping[str, int], values: Mapping[str, Any], config: Mapping[str, int]) -> list[Floor]:
    """Return the floors of the machine's own units. counts: events by name. values, config: the machine's numbers in use."""
    sent = counts.get("transactions", 0) + counts.get("shared_passes", 0) + counts.get("const_accesses", 0)
    issued, schedulers = counts.get("instructions", 0), max(1, config["num_schedulers"])
    accesses = counts.get("rf_reads", 0) + counts.get("rf_writes", 0)
    width = max(1, config["num_banks"] * config["bank_ports"])
    if config["max_banks_per_cycle"]:
        width = min(width, config["max_banks_per_cycle"])
    moved, rate = counts.get("dram_bytes", 0), config["bytes_per_cycle_x256"] / 256
    return [Floor("LD/ST", sent, f"{sent:,} cache lines and passes, one a cycle"),
            Floor(ISSUE, -(-issued // schedulers), f"{issued:,} instructions, {schedulers} a cycle"),
            Floor(BANKS, -(-accesses // width), f"{accesses:,} reads and writes, {width} a cycle"),
            Floor("memory port", int(moved / rate) if rate else 0, f"{moved:,} bytes, {rate:.1f} a cycle"),
            *_pipes(counts, values)]


def _pipes(counts: Mapping[str, int], values: Mapping[str, Any]) -> list[Floor]:
    """Return the floors of the arithmetic pipes that had work: each instruction takes one's input for some cycles."""
    if str(values.get("sm.core", "")) == "subcore":
        double = 1 if int(values["core.shared_double"]) else NUM_SUBCORES
        pipes = [("FMA and ALU pipes", "sp_cycles", 2 * NUM_SUBCORES), ("XU", "sfu_cycles", NUM_SUBCORES),
                 ("FP64", "fp64_cycles", double)]
    else:
        pipes = [("SP", "sp_cycles", max(1, int(values.get("sm.num_sp", 1)))), ("SFU", "sfu_cycles", 1)]
    return [Floor(unit, taken // number,
                  f"instructions take {f'one of {number}' if number > 1 else 'it'} for {taken:,} cycles")
            for unit, name, number in pipes if (taken := counts.get(name, 0))]


def design_floors(name: str, counts: Mapping[str, int], values: Mapping[str, Any], config: Mapping[str, int]) -> list[Floor]:
    """Return the floors that a design gives in its file: floors(counts, values, config) of (unit, cycles, what).

    A design that is not installed, or has no such function, gives none. Raises InputError for a wrong answer.
    """
    try:
        design = plugin.find(name)
    except InputError:
        return []
    if not hasattr(design, "floors"):
        return []
    rows = plugin.host_functions.call(design, "floors", counts, values, config)
    try:
        return [Floor(str(unit), int(cycles), str(what)) for unit, cycles, what in rows]
    except (TypeError, ValueError):
        raise InputError(f"{name}: its floors() returns {rows!r}, expected (unit, cycles, what) each") from None


def all_floors(chain: tuple[str, ...], counts: Mapping[str, int], values: Mapping[str, Any], config: Mapping[str, int],
               cycles: int) -> list[Floor]:
    """Return the floors of all units of a run of so many cycles, the highest first."""
    found, own = machine_floors(counts, values, config), [design_floors(name, counts, values, config) for name in chain]
    if own[-1]:             # the banks of such a main file are not those of a plain one
        found = [floor for floor in found if floor.unit != BANKS]
    # what was asked for and is still under way at the end, as stores are, does not make a floor higher than the run
    return sorted((replace(floor, cycles=min(floor.cycles, cycles)) for floor in chain_of(found, *own)),
                  key=lambda floor: -floor.cycles)
